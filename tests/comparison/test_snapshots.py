"""Systems through time: worked numbers, pairing as other tests know it, the command, wrong input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st
from scipy import stats

import judged
from judged.cli.main import judged as main
from judged.errors import JudgedError
from judged.stats.unpaired import estimate_contrast, estimate_difference, p_of

Hits = list[int]
OLD, NEW = [5, 3, 4, 4, 4, 6, 2, 4, 4, 4], [3, 3, 4, 4, 4, 4, 4, 4, 3, 3]
OLD_PIVOT, NEW_PIVOT = [3, 2, 4, 3, 3, 3, 3, 3, 4, 2], [3, 3, 3, 4, 3, 4, 3, 3, 4, 3]


def judge(queries: range) -> dict[str, dict[str, int]]:
    """Return ten relevant documents for every query."""
    return {str(query): {f"r{at}": 1 for at in range(10)} for query in queries}


def rank(hits: Hits, start: int = 0) -> dict[str, dict[str, float]]:
    """Return a run with that many relevant documents among the first ten."""
    return {
        str(query): {
            **{f"r{at}": 20.0 - at for at in range(count)},
            **{f"x{at}": 10.0 - at for at in range(10 - count)},
        }
        for query, count in enumerate(hits, start=start)
    }


def compare(*dates: tuple[Hits, Hits], shift: int = 0, **options: Any) -> Any:
    """Return the snapshots of a system and its pivot; `shift` gives queries of later dates other ids."""
    return judged.compare_snapshots(
        {
            f"2025-{at + 1:02}": (
                judge(range(at * shift, at * shift + len(hits))),
                {"a": rank(hits, at * shift), "pivot": rank(pivot, at * shift)},
            )
            for at, (hits, pivot) in enumerate(dates)
        },
        "P@10",
        **options,
    )


def test_the_worked_numbers() -> None:
    """M .40 → .36, pivot .30 → .33: relative drop .10, ΔRI .2424, effect ratio .30."""
    found = compare((OLD, OLD_PIVOT), (NEW, NEW_PIVOT), pivot="pivot")
    means = {(row["system"], row["snapshot"]): round(row["mean"], 10) for row in found.rows("means")}
    change, of_pivot = found.rows("changes")

    assert means == {
        ("a", "2025-01"): 0.40,
        ("pivot", "2025-01"): 0.30,
        ("a", "2025-02"): 0.36,
        ("pivot", "2025-02"): 0.33,
    }
    assert round(change["relative_drop"], 4) == 0.1
    assert round(change["delta_ri"], 4) == 0.2424
    assert round(change["effect_ratio"], 4) == 0.3
    assert of_pivot["delta_ri"] is None
    assert of_pivot["effect_ratio"] is None


def test_repro_eval_has_the_same_effect_ratio() -> None:
    """`ER` and `DRI` of `repro_eval.measure.overall_effects`, version 0.5, on these twelve values by run."""
    old, old_pivot = [8, 1, 2, 3, 2, 8, 8, 6, 1, 1, 3, 4], [6, 5, 3, 2, 7, 7, 1, 2, 5, 4, 8, 5]
    new, new_pivot = [4, 4, 6, 6, 2, 7, 7, 9, 8, 3, 3, 6], [6, 7, 8, 3, 9, 1, 1, 9, 9, 3, 2, 3]
    change = compare((old, old_pivot), (new, new_pivot), pivot="pivot").rows("changes")[0]

    assert change["effect_ratio"] == pytest.approx(-0.5000000000000001)
    assert change["delta_ri"] == pytest.approx(-0.21102831594634847)


def test_same_queries_are_paired_as_scipy_does() -> None:
    """The difference, its interval and its p-value are those of the paired t-test."""
    change = compare((OLD, OLD_PIVOT), (NEW, NEW_PIVOT)).rows("changes")[0]
    expected = stats.ttest_rel(np.array(NEW) / 10, np.array(OLD) / 10)

    assert change["paired"] == 10
    assert change["p"] == pytest.approx(expected.pvalue)
    assert [change["low"], change["high"]] == pytest.approx(list(expected.confidence_interval()))


@pytest.mark.parametrize("options", [{"shift": 100}, {"paired": False}])
def test_other_queries_are_not_paired(options: dict[str, Any]) -> None:
    """By their ids, or because the user says so: Welch's test; no lists are compared."""
    found = compare((OLD, OLD_PIVOT), (NEW[:7], NEW_PIVOT[:7]), **options)
    change = found.rows("changes")[0]
    expected = stats.ttest_ind(np.array(NEW[:7]) / 10, np.array(OLD) / 10, equal_var=False)

    assert change["paired"] == 0
    assert change["p"] == pytest.approx(expected.pvalue)
    assert [change["low"], change["high"]] == pytest.approx(list(expected.confidence_interval()))
    assert "overlaps" not in found.tables()


def test_queries_that_are_partly_the_same_are_counted() -> None:
    """With a note."""
    found = compare((OLD, OLD_PIVOT), (NEW, NEW_PIVOT), shift=4)

    assert found.rows("changes")[0]["paired"] == 6
    message = "2025-01 has 10 and 2025-02 10 queries, of which 6 are the same and paired"
    assert any(message in note.message for note in found.notes)


def test_a_trend_of_the_same_queries_is_that_of_their_slopes() -> None:
    """The slope of each query is tested as scipy tests a mean."""
    later = [2, 3, 3, 4, 3, 4, 2, 4, 3, 2]
    trend = compare((OLD, OLD_PIVOT), (NEW, NEW_PIVOT), (later, NEW_PIVOT)).rows("trends")[0]
    slopes = [np.polyfit([0, 1, 2], values, 1)[0] / 10 for values in zip(OLD, NEW, later, strict=True)]

    assert trend["slope"] == pytest.approx(np.mean(slopes))
    assert trend["p"] == pytest.approx(stats.ttest_1samp(slopes, 0).pvalue)
    assert trend["snapshots"] == 3


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9999), shared=st.integers(0, 6))
def test_a_contrast_of_two_samples_is_their_difference(seed: int, shared: int) -> None:
    """However many clusters they share."""
    rng = np.random.default_rng(seed)
    first, second = rng.random(8), rng.random(6)
    labels = [list(range(8)), [at if at < shared else 100 + at for at in range(6)]]
    one = estimate_contrast([first, second], [1.0, -1.0], labels)
    other = estimate_difference(first, second, *labels)

    assert (one.mean, one.error, one.freedom) == pytest.approx((other.mean, other.error, other.freedom))
    three = estimate_contrast([first, rng.random(4), second], [1.0, 0.0, -1.0], [labels[0], None, labels[1]])
    assert (three.mean, three.error) == pytest.approx((other.mean, other.error))


def test_trends_of_noise_are_called_so() -> None:
    """At a level of 0.05, of samples that share some, all or no clusters: 20 to 80 of 1,000 (expected 50)."""
    for shared in (0, 15, 30):
        rng = np.random.default_rng(shared)
        alarms = 0
        for _ in range(1000):
            own = rng.normal(size=120)
            labels = [[at if at < shared else 30 * date + at + 30 for at in range(30)] for date in range(3)]
            samples = [own[label] + rng.normal(size=30) for label in labels]
            alarms += float(p_of(estimate_contrast(samples, [-0.5, 0.0, 0.5], labels))) < 0.05  # type: ignore[arg-type]
        assert 20 <= alarms <= 80


def test_a_change_that_is_real_is_named_first() -> None:
    """And equal lists have an overlap of 1."""
    found = compare(([8, 7, 8, 9, 8, 7, 8, 8], [3] * 8), ([2, 2, 3, 3, 2, 2, 3, 2], [3] * 8))
    text = repr(found)

    assert "P@10: `a` falls from 0.7875 (2025-01) to 0.2375 (2025-02), corrected p < 0.0001" in text
    assert [row["overlap"] for row in found.rows("overlaps") if row["system"] == "pivot"] == [1.0]
    assert next(iter(found.charts())).title == "P@10 through time"


def test_nothing_changes() -> None:
    """The same values at both dates have no p-value, and no interval is made up."""
    found = compare((OLD, OLD_PIVOT), (OLD, OLD_PIVOT), pivot="pivot")
    change = found.rows("changes")[0]

    assert (change["p"], change["low"], change["effect_ratio"], change["delta_ri"]) == (None, None, 1, 0)
    assert "No change of P@10 stands out from noise." in repr(found)


def test_the_same_list_overlaps_fully() -> None:
    """Also where all of its 150 documents are tied; and lists that share nothing have an overlap of 0."""
    qrels = judge(range(2))
    tied = {query: {f"r{at}": 1.0 for at in range(150)} for query in qrels}
    other = {query: {f"y{at}": 200.0 - at for at in range(150)} for query in qrels}
    dates = {"May": (qrels, {"a": tied}), "June": (qrels, {"a": tied}), "July": (qrels, {"a": other})}
    found = judged.compare_snapshots(dates, "P@10").rows("overlaps")

    assert [row["overlap"] for row in found] == pytest.approx([1.0, 0.0])
    assert found[0]["queries"] == 2


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    """With every value."""
    found = compare((OLD, OLD_PIVOT), (NEW, NEW_PIVOT), pivot="pivot")
    found.save(tmp_path / "found.json")
    loaded = judged.load(tmp_path / "found.json")

    assert repr(loaded) == repr(found)
    assert loaded.rows("queries") == found.rows("queries")


@pytest.mark.parametrize(
    ("snapshots", "options", "message"),
    [
        ({"May": ({"1": {"a": 1}}, {"s": {"1": {"a": 1.0}}})}, {}, "1 snapshot, expected two or more"),
        ([1, 2], {}, "expected judgments and runs by the name"),
        ({"May": 3, "June": 4}, {}, "snapshot `May` is a int, expected judgments and runs"),
        (None, {"pivot": "bm26"}, "bm26"),
        (None, {"level": 2.0}, "level"),
        (None, {"p": 1.0}, "persistence"),
        (None, {"measures": "GMAP"}, "not a mean over queries"),
    ],
)
def test_wrong_input_is_refused_in_words(snapshots: Any, options: dict[str, Any], message: str) -> None:
    """What is wrong, and what was expected."""
    right = (judge(range(2)), {"a": rank([1, 2])})
    given = {"May": right, "June": right} if snapshots is None else snapshots
    with pytest.raises(JudgedError, match=message):
        judged.compare_snapshots(given, **{"measures": "P@10", **options})


def test_systems_must_have_one_name() -> None:
    """And a pivot a run in every snapshot; a system that is missing somewhere is noted."""
    qrels, run = judge(range(2)), rank([1, 2])
    with pytest.raises(JudgedError, match="no system is in two snapshots"):
        judged.compare_snapshots({"May": (qrels, {"a": run}), "June": (qrels, {"b": run})}, "P@10")
    two = {"May": (qrels, {"a": run, "b": run}), "June": (qrels, {"a": run})}
    with pytest.raises(JudgedError, match="the pivot `b` has no run in June"):
        judged.compare_snapshots(two, "P@10", pivot="b")
    notes = judged.compare_snapshots(two, "P@10").notes
    assert ("no run in June", "b") in [(note.message, note.subject) for note in notes]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Judgments and runs of two dates, in folders."""
    monkeypatch.chdir(tmp_path)
    for date, dense, bm25 in (("may", OLD, OLD_PIVOT), ("june", NEW, NEW_PIVOT)):
        (tmp_path / date).mkdir()
        rows = [f"{q} 0 {d} {g}" for q, judged_ in judge(range(10)).items() for d, g in judged_.items()]
        (tmp_path / f"{date}.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
        for name, hits in (("dense", dense), ("bm25", bm25)):
            lines = [
                f"{q} Q0 {d} {at} {score} x"
                for q, scores in rank(hits).items()
                for at, (d, score) in enumerate(scores.items(), 1)
            ]
            (tmp_path / date / f"{name}.run").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


MAY, JUNE = ["--snapshot", "May", "may.txt", "may"], ["--snapshot", "June", "june.txt", "june/*.run"]


@pytest.mark.usefixtures("files")
def test_the_command_compares_folders_and_patterns() -> None:
    """With the numbers of Python, and a report that draws them."""
    arguments = ["compare", *MAY, *JUNE, "-m", "P@10", "--pivot", "bm25", "-o", "report.html"]
    shown = CliRunner().invoke(main, arguments)

    assert shown.exit_code == 0, shown.output
    assert "0.2424" in shown.output
    assert "0.3000" in shown.output
    page = Path("report.html").read_text(encoding="utf-8")
    assert "through-time-1" in page or "P@10 through time" in page


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (MAY, "1 snapshot, expected two or more"),
        ([*MAY, *MAY], "two snapshots are named `May`"),
        ([*MAY, "--snapshot", "June", "june.txt", "jule"], "jule"),
        ([*MAY, "--snapshot", "June", "june.txt"], "requires 3 arguments"),
        ([*MAY, *JUNE, "--pivot", "bm52"], "bm52"),
        ([*MAY, *JUNE, "may.txt"], "unexpected extra argument"),
        ([*MAY, *JUNE, "-o", "may/dense.run"], "dense.run"),
        (["--snapshot", "May", "-", "may", "--snapshot", "June", "-", "june"], "standard input"),
    ],
)
def test_wrong_command_lines_are_refused(arguments: list[str], message: str) -> None:
    """Without a traceback."""
    shown = CliRunner().invoke(main, ["compare", *arguments])

    assert shown.exit_code != 0
    assert message in shown.output + str(shown.exception)
    assert "Traceback" not in shown.output
