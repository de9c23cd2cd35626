"""`judged.compare`: alignment, intervals, contrasts, slices, latency, tables."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

import judged
from judged.comparison.blocks import find_pareto_optimal
from judged.comparison.contrasts import t_test_against_first
from judged.comparison.settings import CORRECTIONS, TESTS
from judged.comparison.systems import to_system
from judged.errors import BadMeasure, BadSample, UnknownName, Unusable
from judged.result import load
from judged.scoring.evaluate import evaluate_many
from judged.stats.corrections import CORRECTIONS as RULES
from judged.stats.intervals import Interval
from judged.stats.outcome import Undefined
from judged.stats.paired_tests import TESTS as FUNCTIONS

RNG = np.random.default_rng(4)
QUERIES = [f"q{number:02}" for number in range(40)]
QRELS = {query: {"a": 1, "b": 1} for query in QUERIES}


def run_with(chance: float) -> dict[str, dict[str, float]]:
    """A run that ranks `a` first with some chance, and `b` second with some."""
    return {
        query: {
            "a": 5.0 if RNG.random() < chance else 0.5,
            "x": 3.0,
            "b": 4.0 if RNG.random() < chance else 1.0,
        }
        for query in QUERIES
    }


RUNS = {"low": run_with(0.2), "middle": run_with(0.5), "high": run_with(0.95)}
SLICES = {query: {"kind": "even" if place % 2 == 0 else "odd"} for place, query in enumerate(QUERIES)}


@pytest.fixture(scope="module")
def comparison() -> judged.Comparison:
    """Three systems against one, by two measures and by slice."""
    return judged.compare(
        QRELS,
        RUNS,
        ["nDCG@10", "Success@1"],
        baseline="low",
        slices=SLICES,
        timings={"low": [0.01, 0.03], "high": [0.2]},
    )


def scores(name: str, measure: str) -> np.ndarray:
    """The values that `judged.evaluate` gives."""
    return judged.evaluate(QRELS, RUNS[name], measure).per_query()[measure]


def test_means_and_differences_are_those_of_evaluate(comparison: judged.Comparison) -> None:
    """No second arithmetic: means, and the mean of the differences; with Holm's rule, Student's interval of SciPy."""
    d = scores("high", "nDCG@10") - scores("low", "nDCG@10")
    contrast = judged.compare(QRELS, RUNS, "nDCG@10", baseline="low", correction="holm").contrast("high")
    expected = stats.ttest_rel(scores("high", "nDCG@10"), scores("low", "nDCG@10")).confidence_interval()

    assert comparison.mean("high").mean == pytest.approx(
        judged.evaluate(QRELS, RUNS["high"], "nDCG@10")["nDCG@10"]
    )
    assert contrast.difference == pytest.approx(d.mean())
    assert isinstance(contrast.interval, Interval)
    assert (contrast.interval.low, contrast.interval.high) == pytest.approx((expected.low, expected.high))
    assert comparison.differences("high")["q07"] == pytest.approx(d[7])


def test_measures_of_zeros_and_ones_have_wilsons_interval(comparison: judged.Comparison) -> None:
    """Success@1, but not nDCG@10."""
    methods = {
        mean.measure: mean.interval.method for mean in comparison.means if isinstance(mean.interval, Interval)
    }

    assert methods == {"nDCG@10": "student", "Success@1": "wilson"}


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "bootstrap", "welch"])
def test_every_test_can_be_chosen(test: str) -> None:
    """And is corrected by Holm's rule unless set otherwise."""
    made = judged.compare(QRELS, RUNS, "nDCG@10", baseline="low", test=test)
    ps = [contrast.p for contrast in made.contrasts]

    assert made.settings.correction == "holm"
    assert [contrast.corrected for contrast in made.contrasts] == pytest.approx(RULES["holm"](ps))


def test_the_names_that_can_be_chosen_are_those_that_there_are() -> None:
    """The command line's choices, which import nothing, and the functions."""
    assert set(TESTS) == set(FUNCTIONS)
    assert set(CORRECTIONS) == {"maxT", "maxT-step-down", *RULES}


def test_without_a_baseline_each_is_compared_with_each() -> None:
    """Three systems make three pairs; two baselines meet once."""
    made = judged.compare(QRELS, RUNS, "nDCG@10")
    several = judged.compare(QRELS, RUNS, "nDCG@10", baseline=["low", "high"])

    assert [(contrast.system, contrast.baseline) for contrast in made.contrasts] == [
        ("middle", "low"),
        ("high", "low"),
        ("high", "middle"),
    ]
    assert [(contrast.system, contrast.baseline) for contrast in several.contrasts] == [
        ("middle", "low"),
        ("high", "low"),
        ("middle", "high"),
    ]


def test_marks_are_the_letters_of_the_beaten() -> None:
    """The best is a and beats b and c; who loses has no mark."""
    made = judged.compare(QRELS, RUNS, "nDCG@10")

    assert made.letters == {"high": "a", "middle": "b", "low": "c"}
    assert made.beaten("high", "nDCG@10") == ["middle", "low"]
    assert made.beaten("low", "nDCG@10") == []


def test_several_baselines_have_the_letters_and_a_single_one_needs_none() -> None:
    """Only pairs with a baseline are tested, so no other system has a letter to be marked with."""
    several = judged.compare(QRELS, RUNS, "nDCG@10", baseline=["low", "middle"])
    single = judged.compare(QRELS, RUNS, "nDCG@10", baseline="low")

    assert several.letters == {"middle": "a", "low": "b"}
    assert single.letters == {}
    assert (
        "▲ significantly better, ▼ significantly worse than low (p < 0.05, maxT over 2 comparisons)"
        in " ".join(str(single).split())
    )


def test_less_may_be_better() -> None:
    """Of FallOut the lowest comes first, wins where it is lower, and beats the others."""
    qrels = {query: {"a": 1, "x": 0, "y": 0} for query in QUERIES}
    bad = {query: {"x": 3.0, "y": 2.0} for query in QUERIES}
    good = {query: {"a": 3.0, **({"x": 1.0} if place < 3 else {})} for place, query in enumerate(QUERIES)}
    made = judged.compare(qrels, {"bad": bad, "good": good}, "FallOut@2", baseline="bad")

    assert made.ranked() == ["good", "bad"]
    assert made.contrast("good").count.wins == 40
    assert made.contrast("good").difference < 0
    assert made.beaten("good", "FallOut@2") == ["bad"]
    assert made.most_helped("good", count=1)[0].difference == -1.0
    assert made.most_hurt("good") == []


def test_queries_that_a_system_lacks_are_left_out_and_counted() -> None:
    """With `missing="skip"` the shared queries are compared, and the others named; with zero all are there."""
    less = {query: RUNS["high"][query] for query in QUERIES[2:]}
    skip = judged.compare(
        QRELS, {"low": RUNS["low"], "less": less}, "AP", protocol=judged.Protocol(missing="skip")
    )
    zero = judged.compare(QRELS, {"low": RUNS["low"], "less": less}, "AP")

    assert skip.contrasts[0].queries == 38
    assert [str(note) for note in skip.notes if note.code == "left-out"] == [
        "AP: 2 queries (q00, q01) without a value in every system were left out"
    ]
    assert zero.contrasts[0].queries == 40
    assert "left-out" not in {note.code for note in zero.notes}


def test_most_helped_and_most_hurt_are_the_extremes() -> None:
    """In order, greatest first, and only queries that changed."""
    base = {"q1": {"a": 1.0}, "q2": {"x": 2.0, "a": 1.0}, "q3": {"a": 1.0}}
    other = {"q1": {"x": 2.0, "y": 1.5, "a": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 1.0}}
    made = judged.compare({q: {"a": 1} for q in base}, {"base": base, "other": other}, "RR", baseline="base")

    assert made.most_helped("other") == [("q2", 0.5)]
    assert [query for query, _ in made.most_hurt("other")] == ["q1"]


def test_slices_are_the_same_on_some_queries(comparison: judged.Comparison) -> None:
    """A slice is what comparing its queries alone gives, and keeps the letters of the whole."""
    even = {query: RUNS["high"][query] for query in QUERIES[::2]}
    low = {query: RUNS["low"][query] for query in QUERIES[::2]}
    alone = judged.compare(
        {query: QRELS[query] for query in even}, {"low": low, "high": even}, "nDCG@10", baseline="low"
    )
    part = comparison.slices["kind", "even"]

    assert part.contrast("high").difference == pytest.approx(alone.contrast("high").difference)
    assert part.letters == comparison.letters


def test_interactions_are_found_where_there_are_any() -> None:
    """A system better on one slice and worse on the other depends on it; the same system elsewhere does not."""
    mixed = {query: RUNS["high" if place % 2 == 0 else "low"][query] for place, query in enumerate(QUERIES)}
    against = {query: RUNS["low" if place % 2 == 0 else "high"][query] for place, query in enumerate(QUERIES)}
    made = judged.compare(
        QRELS, {"against": against, "mixed": mixed}, "AP", baseline="against", slices=SLICES
    )
    (found,) = made.interactions

    assert found.corrected is not None
    assert found.corrected < 0.001
    assert found.verdict(0.05) == "depends on kind"
    assert "even +" in found.slices
    assert "odd -" in found.slices


def test_interaction_of_two_slices_is_the_test_of_their_difference() -> None:
    """Against `scipy.stats.permutation_test` of the difference of means, within four standard errors of the draw."""
    made = judged.compare(QRELS, RUNS, "nDCG@10", baseline="low", slices=SLICES)
    d = scores("middle", "nDCG@10") - scores("low", "nDCG@10")
    expected = stats.permutation_test(
        (d[::2], d[1::2]), lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis), vectorized=True, rng=1
    ).pvalue
    p = next(interaction.p for interaction in made.interactions if interaction.system == "middle")

    assert p == pytest.approx(expected, abs=8 * math.sqrt(expected * (1 - expected) / 10_000) + 1e-3)


def test_latency_is_in_milliseconds_and_absence_is_noted(comparison: judged.Comparison) -> None:
    """Mean and percentiles of seconds; a system without timings is named."""
    low, high = comparison.latencies

    assert (low.mean, low.p50, low.p95) == pytest.approx((20.0, 20.0, 29.0))
    assert high.mean == pytest.approx(200.0)
    assert "middle: no timings" in map(str, comparison.notes)


def test_who_is_as_good_and_slower_is_beaten() -> None:
    """Equal in one and worse in another; of two that are equal in all neither is beaten."""
    assert find_pareto_optimal({"fast": [0.5, -1.0], "slow": [0.5, -2.0]}) == ["fast"]
    assert find_pareto_optimal({"one": [0.5, -1.0], "other": [0.5, -1.0]}) == ["one", "other"]


def test_measures_that_happen_to_be_0_and_1_keep_students_interval() -> None:
    """AP of one relevant document, found first or not at all, could have been between."""
    first = {query: {"a" if place % 3 else "x": 1.0} for place, query in enumerate(QUERIES)}
    second = {query: {"a" if place % 4 else "x": 1.0} for place, query in enumerate(QUERIES)}
    made = judged.compare({query: {"a": 1} for query in QUERIES}, {"first": first, "second": second}, "AP")

    assert [mean.interval.method for mean in made.means if isinstance(mean.interval, Interval)] == [
        "student"
    ] * 2


def test_interactions_are_corrected_over_attributes_and_pairs() -> None:
    """Two attributes and two pairs are four questions, by Holm's rule."""
    slices = {query: {**SLICES[query], "half": str(place < 20)} for place, query in enumerate(QUERIES)}
    made = judged.compare(QRELS, RUNS, "AP", baseline="low", slices=slices)

    assert len(made.interactions) == 4
    assert [interaction.corrected for interaction in made.interactions] == RULES["holm"](
        [interaction.p for interaction in made.interactions]
    )


def test_the_trade_off_has_every_timed_system(comparison: judged.Comparison) -> None:
    """A point for each of the two, filled where Pareto-optimal; without timings there is an error."""
    figure: Any = comparison.draw_trade_off().spec
    points = {point["name"]: point for point in figure["data"]["values"]}

    assert set(points) == {"low", "high"}
    assert comparison.pareto_optimal == ["low", "high"]
    assert all(point["filled"] for point in points.values())
    assert points["high"]["x"] == pytest.approx(200.0)
    assert points["high"]["low"] < points["high"]["y"] < points["high"]["high"]
    with pytest.raises(BadSample, match="no timings"):
        judged.compare(QRELS, RUNS, "AP").draw_trade_off()


@pytest.mark.parametrize("part", ["differences", "means", "queries", "interactions", "latency"])
def test_every_table_is_a_frame(comparison: judged.Comparison, part: str) -> None:
    """Arrow, Polars and pandas have the same rows, and no NaN among the numbers."""
    arrow = comparison.to_arrow(part)

    assert arrow.num_rows == len(comparison.to_polars(part)) == len(comparison.to_pandas(part)) > 0
    for name in arrow.column_names:
        values = arrow[name].to_pylist()
        assert not any(isinstance(value, float) and math.isnan(value) for value in values)


def test_it_is_plain_data_without_nan(comparison: judged.Comparison) -> None:
    """Strict JSON takes it."""
    document = json.loads(json.dumps(comparison.to_dict(per_query=True), allow_nan=False))

    assert document["provenance"]["settings"]["test"] == "randomisation"
    assert len(document["tables"]["queries"]) == 2 * 2 * 40


def test_it_shows_itself_in_notebooks_and_terminals(comparison: judged.Comparison) -> None:
    """Marks are superscripts in HTML, names are escaped, nothing reads nan."""
    made = judged.compare(QRELS, {"<low>": RUNS["low"], "high": RUNS["high"]}, "nDCG@10")
    page = made._repr_html_()

    assert "<sup>b</sup>" in page
    assert "&lt;low&gt;" in page
    assert "<low>" not in page
    assert "nan" not in repr(comparison).lower()
    assert "Pareto-optimal" in repr(comparison)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_little_data_has_stated_outcomes(test: str, count: int) -> None:
    """One to three queries, systems that are the same, and constant differences: words, never nan nor a traceback."""
    queries = QUERIES[:count]
    qrels = {query: {"a": 1} for query in queries}
    first = {query: {"a": 1.0} for query in queries}
    runs = {"first": first, "same": first, "worse": {query: {"x": 2.0, "a": 1.0} for query in queries}}
    made = judged.compare(
        qrels, runs, ["RR", "Success@1"], test=test, slices={q: {"k": "v"} for q in queries}
    )

    assert "nan" not in repr(made).lower()
    json.dumps(made.to_dict(), allow_nan=False)
    for contrast in made.contrasts:
        assert isinstance(contrast.interval, Undefined)
        assert contrast.p is None or 0 < contrast.p <= 1


def test_one_seed_gives_one_result_whatever_the_threads() -> None:
    """The seed alone decides what is drawn."""
    one, two, other = (
        judged.compare(QRELS, RUNS, "AP", threads=threads, seed=seed).to_arrow("differences")
        for threads, seed in ((1, 3), (2, 3), (2, 4))
    )

    assert one == two
    assert one != other


def test_power_and_equivalence_of_a_contrast(comparison: judged.Comparison) -> None:
    """More queries are needed for a smaller difference; a wide margin is kept, a narrow one is not."""
    few, many = (comparison.queries_needed(wanted, "middle") for wanted in (0.2, 0.02))
    wide, narrow = (comparison.equivalence("middle", margin=margin) for margin in (0.9, 0.01))

    assert isinstance(few, int)
    assert isinstance(many, int)
    assert few < many
    assert not isinstance(wide, Undefined)
    assert not isinstance(narrow, Undefined)
    assert wide.p < 0.05 < narrow.p


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"baseline": "hihg"}, UnknownName, "did you mean `high`"),
        ({"test": "tt"}, UnknownName, "no test is called `tt`"),
        ({"correction": "holmes"}, UnknownName, "did you mean `holm`"),
        ({"test": "t", "correction": "maxT"}, BadSample, "needs the resamples"),
        ({"level": 95}, BadSample, "between 0 and 1"),
        ({"resamples": 0}, BadSample, "at least one"),
        ({"slices": {"q00": {}}}, Unusable, "expected an attribute"),
        ({"slices": {q: {"id": q} for q in QUERIES}}, Unusable, "40 different values"),
        ({"timings": {"other": [1.0]}}, UnknownName, "no compared system"),
    ],
)
def test_what_makes_no_sense_is_refused(
    settings: dict[str, object], error: type[Exception], message: str
) -> None:
    """In words, with a way out."""
    with pytest.raises(error, match=message):
        judged.compare(QRELS, RUNS, "AP", **settings)  # type: ignore[arg-type]


def test_one_system_and_measures_without_means_are_refused() -> None:
    """There is nothing to compare, or nothing to compare by."""
    with pytest.raises(BadSample, match="expected two or more"):
        judged.compare(QRELS, {"low": RUNS["low"]}, "AP")
    with pytest.raises(BadMeasure, match="geometric mean") as caught:
        judged.compare(QRELS, RUNS, "gm_AP")
    with pytest.raises(BadMeasure, match="no measure was given"):
        judged.compare(QRELS, RUNS)

    assert "compare by AP" in str(caught.value)


def test_sizes_of_differences_that_only_rounding_makes_are_ties() -> None:
    """0.1 + 0.2 and 0.3 are the same score."""
    from judged.stats.paired import differences

    assert differences([0.1 + 0.2], [0.3]).tolist() == [0.0]


def test_published_marks_of_keyphrase_runs(shared_data: Callable[[str], Path]) -> None:
    """The README of sigtrec_eval: P_10 .1960 and .2071, which is significantly better by the paired t-test; others not.

    Published means: recall_10 .1669/.1711, ndcg_cut_10 .2482/.2231, map_cut_10 .0979/.0805, recip_rank .5467/.4004.
    """
    folder = shared_data("keyphrase_runs_2000q")
    runs = {"baseline": folder / "baseline.gz", "first": folder / "result_to_compare1.gz"}
    measures = ["P@10", "R@10", "nDCG@10", "AP@10", "RR"]
    made = judged.compare(folder / "qrelFile.qrel.gz", runs, measures, baseline="baseline", test="t")

    assert [round(made.mean("baseline", measure).mean, 4) for measure in measures] == [
        0.1960,
        0.1669,
        0.2482,
        0.0979,
        0.5467,
    ]
    assert [round(made.mean("first", measure).mean, 4) for measure in measures] == [
        0.2071,
        0.1711,
        0.2231,
        0.0805,
        0.4004,
    ]
    assert made.beaten("first", "P@10") == ["baseline"]
    assert [made.beaten("first", measure) for measure in measures[1:]] == [[]] * 4
    assert made.contrast("first", measure="P@10").p == pytest.approx(0.0017, abs=5e-5)


def test_comparing_loads_no_scipy_stats() -> None:
    """It costs most of a second, and all that is needed is in `scipy.special`."""
    program = (
        "import sys, judged\n"
        "run = {'q1': {'a': 1.0}, 'q2': {'b': 1.0}}\n"
        "for test in ('randomisation', 't', 'wilcoxon', 'sign', 'bootstrap', 'welch'):\n"
        "    repr(judged.compare({'q1': {'a': 1}, 'q2': {'a': 1}}, {'x': run, 'y': run}, 'Success@1', test=test))\n"
        "sys.exit('scipy.stats' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_evaluations_scores_and_files_of_them_are_compared_alike(tmp_path: Path) -> None:
    """Scored already, in memory or saved: every number is that of scoring them now."""
    evaluations = list(judged.evaluate_many(QRELS, RUNS, ["AP", "RR"]).values())
    long = pa.concat_tables(
        [
            evaluation.scores.to_arrow().append_column(
                "run", pa.array([evaluation.system] * len(evaluation.scores))
            )
            for evaluation in evaluations
        ]
    )
    pq.write_table(long, tmp_path / "scores.parquet")
    expected = judged.compare(QRELS, RUNS, ["AP", "RR"], baseline="low").to_arrow()
    many = evaluate_many(QRELS, RUNS, ["AP", "RR"])
    many.save(tmp_path / "evaluations.json")
    made = [
        judged.compare(many, baseline="low"),
        judged.compare([tmp_path / "evaluations.json"], baseline="low"),
        judged.compare(evaluations, baseline="low"),
        judged.compare([named.scores for named in map(_named_scores, evaluations)], baseline="low"),
        judged.compare(dict(zip(RUNS, evaluations, strict=True)), baseline="low"),
        judged.compare([tmp_path / "scores.parquet"], baseline="low"),
    ]

    assert [comparison.to_arrow() for comparison in made] == [expected] * 6
    assert judged.compare(evaluations, measures="RR", baseline="low").measures == ("RR",)


def _named_scores(evaluation: judged.Evaluation) -> judged.Evaluation:
    return replace(evaluation, scores=replace(evaluation.scores, run=evaluation.system))


def test_it_is_saved_and_loaded(comparison: judged.Comparison, tmp_path: Path) -> None:
    """Slices, interactions, latency and extra tests too."""
    whole = comparison.with_extra_tests("anova", "bayesian")
    whole.save(tmp_path / "comparison.json")
    loaded: Any = load(tmp_path / "comparison.json")

    assert dict(loaded.tables()) == dict(whole.tables())
    assert repr(loaded) == repr(whole)
    assert loaded.slices.keys() == whole.slices.keys()


def test_systems_are_tested_against_the_first_over_all_measures() -> None:
    """`scipy.stats.ttest_rel`, with Holm's rule over two systems and two measures."""
    measures = ["nDCG@10", "AP"]
    systems = [
        to_system(replace(judged.evaluate(QRELS, run, measures), system=name)) for name, run in RUNS.items()
    ]
    found = t_test_against_first(systems)
    expected = [
        stats.ttest_rel(scores(name, measure), scores("low", measure))
        for name in ("middle", "high")
        for measure in measures
    ]

    assert [(contrast.system, contrast.measure, contrast.queries) for contrast in found] == [
        (name, measure, 40) for name in ("middle", "high") for measure in measures
    ]
    assert [contrast.test.statistic for contrast in found] == pytest.approx(
        [result.statistic for result in expected]
    )
    assert [contrast.corrected for contrast in found] == pytest.approx(
        RULES["holm"]([float(result.pvalue) for result in expected])
    )
