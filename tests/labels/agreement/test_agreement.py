"""Labels against human grades: the pairs of TREC RAG 2025, matching, means, rankings, warnings, what is refused."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binomtest

import judged
from judged.errors import BadInput, BadSample, UnknownName, Unusable
from judged.labels.agreement.system_order import rank_systems
from judged.result import load
from judged.stats import Undefined
from judged.stats.prediction_powered import PoweredMean
from judged.tables.labels import Label, Labels
from support.rag25_data import COUNTS, PUBLISHED, pairs

Grades = dict[str, dict[str, int]]

HUMAN: Grades = {"t1": {"d1": 3, "d2": 0, "d3": 2}, "t2": {"d1": 0, "d4": 4}}
LABELS: Grades = {"t1": {"d1": 2, "d2": 1, "d3": 3, "d5": 0}, "t2": {"d1": 0, "d4": 1}}

grades = st.dictionaries(
    st.sampled_from(["t1", "t2", "t3"]),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 4), min_size=1),
    min_size=1,
)


def collection(seen: int | None = None) -> tuple[Grades, Grades]:
    """The labels and the human grades of the 10,284 pairs, the latter of the first `seen` in a drawn order."""
    human, machine = pairs()
    order = np.random.default_rng(2025).permutation(len(human))
    labels: Grades = {}
    people: Grades = {}
    for place, at in enumerate(order.tolist()):
        task, document = f"t{at % 22}", f"d{at}"
        labels.setdefault(task, {})[document] = int(machine[at])
        if seen is None or place < seen:
            people.setdefault(task, {})[document] = int(human[at])
    return labels, people


@pytest.fixture(scope="module")
def whole() -> judged.Agreement:
    """All pairs, with the human grade of each."""
    return judged.agreement(*collection())


def test_every_figure_is_the_published_one(whole: judged.Agreement) -> None:
    """Agreement, κ, weighted κ, κ at each threshold, α, bias, precision and recall of TREC RAG 2025."""
    found = {
        "exact": whole.exact,
        "within one": whole.within_one,
        "mean absolute error": whole.mean_absolute_error,
        "bias": whole.bias,
        "κ": whole.kappa().value,
        "κ linear": whole.kappa("linear").value,
        "κ quadratic": whole.kappa("quadratic").value,
        **{f"κ ≥{grade}": whole.kappa_at(grade).value for grade in (1, 2, 3, 4)},
        "precision": whole.precision,
        "recall": whole.recall,
        "good rate, human": whole.good_rate.human.mean,
        "good rate, machine": whole.good_rate.labels.mean,
        "α nominal": whole.alpha("nominal").value,
        "α ordinal": whole.alpha("ordinal").value,
        "α interval": whole.alpha("interval").value,
    }

    assert found == pytest.approx(PUBLISHED, abs=5e-5)


def test_the_confusion_has_a_row_for_each_human_grade(whole: judged.Agreement) -> None:
    """As it was counted."""
    assert whole.confusion.labels == (0, 1, 2, 3, 4)
    assert (whole.confusion.counts == COUNTS).all()


def test_bias_is_given_for_each_grade(whole: judged.Agreement) -> None:
    """Of 88 results that people gave 4, the labels' mean is (0·1 + 1·8 + 2·18 + 3·42 + 4·19) / 88."""
    last = whole.grade_bias.grades[-1]

    assert (last.grade, last.items, last.agreed) == (4, 88, 19 / 88)
    assert last.bias == pytest.approx((8 + 36 + 126 + 76) / 88 - 4)


def test_where_all_are_graded_labels_add_nothing_to_the_means(whole: judged.Agreement) -> None:
    """PPI++ is the human mean then, Rogan and Gladen's rate too, and a note says so."""
    assert whole.good_rate.powered.mean == whole.good_rate.human.mean
    assert whole.good_rate.rate.value == pytest.approx(whole.good_rate.human.mean)
    assert any(note.code == "all-graded" for note in whole.notes)


def test_a_small_sample_corrects_many_labels() -> None:
    """300 of the grades: the interval is narrower than theirs alone, and holds the mean of all 10,284; the labels' does not."""
    found = judged.agreement(*collection(300)).mean_gain
    truth = pairs()[0].mean()

    assert found.powered.high - found.powered.low < found.human.high - found.human.low
    assert found.powered.low <= truth <= found.powered.high
    assert not found.labels.low <= truth <= found.labels.high
    assert found.powered.machine == 10_284 - 300


def test_what_only_one_side_has_is_counted() -> None:
    """Pairs are by task and id; d1 of two tasks is two results."""
    found = judged.agreement(LABELS, {**HUMAN, "t3": {"d9": 1}})

    assert (found.items, found.only_labels, found.only_human) == (5, 1, 1)
    assert found.coverage == 5 / 6


def test_results_are_matched_by_whatever_they_are_known_by() -> None:
    """An id, a domain id, a URL or the text; a label of no task holds for any."""
    labels = Labels.from_rows(
        (
            Label(gain=1, task="t1", id="d1", url="https://a.org"),
            Label(gain=2, task="t1", domain="doi", domain_id="10.1/x"),
            Label(gain=3, url="https://b.org"),
            Label(gain=4, task="t2", title="A title", snippet="A snippet"),
        )
    )
    human = [
        {"task": "t1", "url": "https://a.org", "gain": 0},
        {"task": "t1", "domain": "doi", "domain_id": "10.1/x", "gain": 0},
        {"task": "t1", "url": "https://b.org", "gain": 0},
        {"task": "t2", "url": "https://b.org", "gain": 0},
        {"task": "t2", "title": "A title", "snippet": "A snippet", "gain": 0},
    ]
    found = judged.agreement(labels, human)

    assert found.given.tolist() == [1, 2, 3, 3, 4]
    assert (found.only_labels, found.only_human) == (0, 0)


def test_pages_and_tools_are_matched_as_sessions_match_them() -> None:
    """Tracking changes no page, an id is that of its tool or of any, and a human grade of no task holds for any."""
    labels = [
        {"task": "t1", "url": "https://a.org/x?utm_source=openai", "gain": 1},
        {"task": "t1", "id": "1", "tool": "web", "gain": 2},
        {"task": "t1", "id": "1", "tool": "mail", "gain": 3},
        {"task": "t1", "id": "5", "tool": "web", "gain": 4},
        {"task": "t2", "id": "7", "gain": 0},
    ]
    human = [
        {"task": "t1", "url": "http://a.org/x", "gain": 0},
        {"task": "t1", "id": "1", "tool": "mail", "gain": 0},
        {"task": "t1", "id": "1", "tool": "web", "gain": 0},
        {"task": "t1", "id": "5", "gain": 0},
        {"id": "7", "gain": 0},
    ]
    found = judged.agreement(labels, human)

    assert found.given.tolist() == [1, 3, 2, 4, 0]
    assert (found.only_labels, found.only_human) == (0, 0)
    assert not any(note.code == "repeated-grades" for note in found.notes)


def test_the_first_of_two_labels_counts_and_both_are_noted() -> None:
    """A second label of one result is a note, and counted again where it differs."""
    twice = [
        {"task": "t1", "id": "d1", "gain": 3},
        {"task": "t1", "id": "d1", "gain": 3},
        {"task": "t1", "id": "d1", "gain": 0},
        {"task": "t1", "id": "d2", "gain": 0},
    ]
    found = judged.agreement(twice, HUMAN)

    assert found.given.tolist() == [3, 0]
    assert [note.message for note in found.notes[-2:]] == [
        "labels: 2 grades repeat an earlier one of the same result, 1 of them with another value; the first counts",
        "the ranges of grades differ: labels from 0 to 3, human from 0 to 4",
    ]


def test_judgments_may_have_any_grade(tmp_path: Path) -> None:
    """TREC judgments with −2 are read as such, though no label could have it."""
    (tmp_path / "human.qrels").write_text("t1 0 d1 -2\nt1 0 d2 1\nt2 0 d1 5\n")
    found = judged.agreement({"t1": {"d1": 0, "d2": 1}, "t2": {"d1": 4}}, tmp_path / "human.qrels")

    assert found.confusion.labels == (-2, 0, 1, 4, 5)
    assert found.human == "human"


def test_kappa_of_tasks_and_its_interval_over_them() -> None:
    """Two tasks: one of perfect agreement on what is good, one of none; a third where all is bad has no κ."""
    human = {"a": {"1": 4, "2": 0}, "b": {"1": 4, "2": 0}, "c": {"1": 0}}
    labels = {"a": {"1": 3, "2": 1}, "b": {"1": 0, "2": 4}, "c": {"1": 1}}
    found = judged.agreement(labels, human, resamples=50)
    table = dict(found.figures())

    assert [kappa.value for kappa in found.task_kappas.values()] == [
        1.0,
        -1.0,
        Undefined("no spread: both judges gave only `False`"),
    ]
    assert table["tasks"] == 3
    assert table["tasks without κ at ≥2"] == 1
    assert table["κ at ≥2 of a task, median"] == 0.0


def test_several_judges_are_compared_pair_by_pair() -> None:
    """α is of all of them, and every two have their κ."""
    third = {"t1": {"d1": 3, "d2": 0}, "t2": {"d4": 4}}
    found = judged.agreement(LABELS, HUMAN, judges={"third": third})

    assert list(found.panel) == ["human", "labels", "third"]
    assert found.pairs["human", "third"][0].value == 1.0
    assert found.pairs["human", "third"][0].missing == 2
    assert found.alpha("interval").items == 5
    judges = found.to_arrow("judges").to_pylist()
    assert [(row["judge"], row["other"], row["results"]) for row in judges] == [
        ("human", "labels", 5),
        ("human", "third", 3),
        ("labels", "third", 3),
    ]


def test_systems_are_ranked_under_both() -> None:
    """By hand: under human grades a finds the good result first, under the labels b does."""
    human = {"t1": {"d1": 1, "d2": 0}, "t2": {"d1": 1, "d2": 0}}
    labels = {"t1": {"d1": 0, "d2": 1}, "t2": {"d1": 0, "d2": 1}}
    runs = {
        "a": {"t1": ["d1", "d2"], "t2": ["d1", "d2"]},
        "b": {"t1": ["d2", "d1"], "t2": ["d2", "d1"]},
        "c": {"t1": ["d1", "d2"], "t2": ["d2", "d1"]},
    }
    (found,) = judged.agreement(labels, human, runs=runs, measures="RR").systems

    assert found.human == {"a": 1.0, "c": 0.75, "b": 0.5}
    assert found.labels == {"a": 0.5, "c": 0.75, "b": 1.0}
    assert (found.tau.value, found.tau_ap.value) == (-1.0, -1.0)
    assert [(row["system"], row["human_place"], row["labels_place"]) for row in found.rows()] == [
        ("a", 1, 3),
        ("c", 2, 2),
        ("b", 3, 1),
    ]


def test_the_top_is_looked_at_apart() -> None:
    """Seven systems: the best five in reverse, the others as they are. Of 21 pairs 10 are in reverse: τ = 1 / 21."""
    human = {name: 7.0 - place for place, name in enumerate("abcdefg")}
    labels = {**human, **dict(zip("abcde", [3.0, 4.0, 5.0, 6.0, 7.0], strict=True))}
    found = rank_systems("nDCG@10", human, labels)

    assert found.tau.value == pytest.approx(1 / 21)
    assert found.top_tau.value == -1.0


def test_systems_tied_by_people_have_the_symmetrical_coefficient() -> None:
    """τ_AP itself is undefined then."""
    found = rank_systems("P@5", {"a": 0.5, "b": 0.5, "c": 0.1}, {"a": 0.6, "b": 0.5, "c": 0.1})

    assert found.tau_ap.name == "τ_AP,b"


def test_a_measure_that_is_better_low_ranks_from_the_lowest() -> None:
    """The order of both is turned round."""
    found = rank_systems("cost", {"a": 3.0, "b": 1.0}, {"a": 4.0, "b": 2.0}, higher_is_better=False)

    assert list(found.human) == ["b", "a"]
    assert [row["labels_place"] for row in found.rows()] == [1, 2]
    assert found.tau.value == 1.0


def test_poor_agreement_and_thin_coverage_are_warned_of() -> None:
    """κ at ≥2 below 0.4, labels of less than 95 %, fewer than 30 pairs, one task.

    Of 18 pairs people call 10 good, labels 12, both 4: observed 4/18, chance (10·12 + 8·6) / 18², κ = −0.615.
    """
    human = {"t1": {f"d{at}": at % 5 for at in range(20)}}
    labels = {"t1": {f"d{at}": 4 - at % 5 for at in range(18)}}
    warnings = judged.agreement(labels, human).warnings

    assert [warning.split(":")[0] for warning in warnings] == [
        "κ at ≥2 is -0.615, below 0.4",
        "90.0% of the results that people graded have a label, below 95%",
        "18 results have both grades, fewer than 30",
        "human values of 1 task, fewer than 15",
    ]


def test_agreement_that_is_good_enough_is_not_warned_of(whole: judged.Agreement) -> None:
    """κ at ≥2 is 0.431, and every result has a label."""
    assert whole.warnings == []


def test_means_are_warned_of_by_the_number_of_graded_tasks() -> None:
    """A thousand grades of six tasks are six draws for other tasks: the interval by task has no more than four degrees of freedom."""
    human = {f"t{task}": {f"d{at}": (at + task) % 5 for at in range(170)} for task in range(6)}
    labels = {f"t{task}": {f"d{at}": (at + task) % 5 for at in range(400)} for task in range(6)}
    found = judged.agreement(labels, human)

    assert found.warnings == [
        "human values of 6 tasks, fewer than 15: the interval may cover less than its level"
    ]
    assert not isinstance(found.mean_gain.by_task, Undefined)
    assert (found.mean_gain.by_task.clusters, found.mean_gain.by_task.freedom) == (6, 4)


def test_equal_human_grades_have_a_mean_without_an_interval() -> None:
    """They say nothing of their spread: not width 0, but the reason."""
    human = {f"t{task}": {"d1": 3, "d2": 3} for task in range(20)}
    labels = {f"t{task}": {"d1": 3, "d2": 2, "d3": 0} for task in range(20)}
    found = judged.agreement(labels, human)
    rows = {(row["mean"], row["estimate"]): row for row in found.to_arrow("means").to_pylist()}

    assert "all human values are equal: their spread is unknown" in found.warnings
    assert rows["mean gain", "human grades alone"] == {
        "mean": "mean gain",
        "estimate": "human grades alone",
        "value": 3.0,
        "low": None,
        "high": None,
        "undefined": "undefined: no spread",
        "error": None,
        "weight": 0.0,
    }


@pytest.mark.parametrize("good", [0, 1, 2, 38, 39, 40])
def test_intervals_of_rates_stay_within_0_and_1(good: int) -> None:
    """Rates near an end, whose Student's intervals would leave it; of shares alone it is Wilson's, as scipy has it."""
    human = {f"t{at}": {"d": 3 if at < good else 0} for at in range(40)}
    labels = {f"t{at}": {"d": 3 if at < good + (at % 2) else 0} for at in range(40)}
    labels |= {f"u{at}": {"d": 3 if at % 40 < good else 0} for at in range(200)}
    found = judged.agreement(labels, human).good_rate
    wilson = binomtest(good, 40).proportion_ci(method="wilson")

    assert isinstance(found.human, PoweredMean)
    assert (found.human.low, found.human.high) == pytest.approx((wilson.low, wilson.high))
    for estimate in found.estimates().values():
        if not isinstance(estimate, Undefined) and not isinstance(estimate.low, Undefined):
            assert 0 <= estimate.low <= estimate.mean <= estimate.high <= 1


def test_nothing_shared_says_what_each_side_has() -> None:
    """A wrong file, or ids of another kind."""
    with pytest.raises(BadInput, match="has no result in common with `human`") as error:
        judged.agreement({"t1": {"d1": 1}}, {"1": {"x": 1}})

    assert "its first result is `d1` of task `t1`, the other's is `x` of task `1`" in str(error.value)


def test_runs_need_tasks() -> None:
    """Grades of no task cannot judge a run."""
    grades = [{"id": "d1", "gain": 1}, {"id": "d2", "gain": 0}]

    with pytest.raises(Unusable, match="has no task, expected tasks that are queries of the runs"):
        judged.agreement(grades, grades, runs={"a": {"t1": ["d1"]}})


def test_runs_are_judged_by_what_both_graded() -> None:
    """Labels of further results change no score: only grades are compared, never how many there are."""
    human = {"t1": {"d1": 1, "d2": 0}}
    labels = {"t1": {"d1": 1, "d2": 0, "d3": 4}}
    runs = {"a": {"t1": ["d3", "d1"]}, "b": {"t1": ["d2", "d1"]}}
    (found,) = judged.agreement(labels, human, runs=runs, measures="RR").systems

    assert found.human == found.labels == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"level": 95}, BadSample, "the confidence level is 95"),
        ({"judges": {"human": HUMAN}}, BadSample, "two judges are called `human`"),
        ({"judges": {"labels": HUMAN}}, BadSample, "two judges are called `labels`"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, Any], error: type, message: str) -> None:
    """Before anything is computed."""
    with pytest.raises(error, match=message):
        judged.agreement(LABELS, HUMAN, **options)


def test_an_unknown_table_is_named() -> None:
    """With what was meant."""
    with pytest.raises(UnknownName, match="did you mean `means`"):
        judged.agreement(LABELS, HUMAN).to_arrow("mean")


@given(labels=grades, human=grades)
def test_whatever_is_given_there_is_a_report_without_nan(labels: Grades, human: Grades) -> None:
    """Every table, the document, the text and the figure; or a refusal in words."""
    try:
        found = judged.agreement(labels, human, judges={"other": human}, resamples=10)
    except BadInput as refused:
        assert "has no result in common" in str(refused)
        return
    document = json.dumps(found.to_dict(), allow_nan=False)
    texts = [repr(found), str(found.render("html")), json.dumps(found.figure().spec), document]
    cells = [cell for table in found.tables().values() for row in table.to_pylist() for cell in row.values()]

    assert not any(re.search(r"\bnan\b", text, re.IGNORECASE) for text in texts)
    assert not any(isinstance(cell, float) and math.isnan(cell) for cell in cells)


@given(human=grades)
def test_labels_that_are_the_human_grades_agree_fully(human: Grades) -> None:
    """No error, no bias, κ and α of 1 or undefined."""
    found = judged.agreement(human, human, resamples=10)

    assert (found.exact, found.mean_absolute_error, found.bias) == (1.0, 0.0, 0.0)
    assert all(
        value in {1.0, None} for value in (_defined(found.kappa().value), _defined(found.alpha().value))
    )


@given(labels=grades, human=grades)
def test_exchanging_sides_turns_the_table(labels: Grades, human: Grades) -> None:
    """The confusion is transposed, the bias changes its sign, κ stays."""
    try:
        one = judged.agreement(labels, human, resamples=10)
    except BadInput:
        return
    other = judged.agreement(human, labels, resamples=10)

    assert (one.confusion.counts == other.confusion.counts.T).all()
    assert one.bias == pytest.approx(-other.bias)
    assert _defined(one.kappa("linear").value) == pytest.approx(_defined(other.kappa("linear").value))
    assert (one.only_labels, one.only_human) == (other.only_human, other.only_labels)


def test_the_main_table_has_every_number_with_its_bounds_or_reason(whole: judged.Agreement) -> None:
    """κ at the threshold has an interval; what is undefined has a reason in place of a value."""
    rows = {(row["part"], row["name"]): row for row in whole.to_arrow().to_pylist()}
    kappa, interval = rows["figures", "κ at ≥2"], whole.kappa_interval
    alike = judged.agreement({"t1": {"d1": 1}}, {"t1": {"d1": 1}}).to_arrow().to_pylist()
    undefined = next(row for row in alike if row["name"] == "κ")

    assert (kappa["low"], kappa["high"]) == (interval.low, interval.high)
    assert rows["mean gain", "PPI++"]["low"] == whole.mean_gain.powered.low
    assert rows["confusion", "human 4, label 4"]["value"] == 19
    assert (undefined["value"], undefined["undefined"]) == (None, "no spread: both judges gave only `1`")


def test_a_saved_agreement_is_the_same_again(tmp_path: Path) -> None:
    """Loaded, it prints the same text and has the same tables."""
    runs = {"a": {"t1": ["d1", "d2"]}, "b": {"t1": ["d2", "d1"]}}
    found = judged.agreement(LABELS, HUMAN, judges={"third": HUMAN}, runs=runs, resamples=20)
    found.save(tmp_path / "agreement.json")
    loaded = load(tmp_path / "agreement.json")

    assert repr(loaded) == repr(found)
    assert {name: table.to_pylist() for name, table in loaded.tables().items()} == {
        name: table.to_pylist() for name, table in found.tables().items()
    }


def _defined(value: float | Undefined) -> float | None:
    return None if isinstance(value, Undefined) else value


def test_calibration_is_the_mean_human_grade_of_each_label() -> None:
    """Averaged by hand, with Student's interval where there is one."""
    human = [{"task": "t", "id": f"d{at}", "gain": grade} for at, grade in enumerate((0, 1, 1, 2, 4))]
    labels = [{"task": "t", "id": f"d{at}", "gain": grade} for at, grade in enumerate((0, 0, 2, 2, 4))]
    found = judged.agreement(labels, human, resamples=10).calibration

    assert [(row.label, row.results, row.mean) for row in found] == [(0, 2, 0.5), (2, 2, 1.5), (4, 1, 4.0)]
    assert found[0].interval.low == pytest.approx(0.5 - 12.706204736432095 * 0.5)  # type: ignore[union-attr]
