"""`judged.gate`: verdicts, pairs of queries, margins, and what is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest

import judged
from gates.conftest import collection, reversed_run
from judged.errors import BadMeasure, BadProtocol, BadSample, UnknownName
from judged.gates.result import Delta, parse_delta
from judged.stats.outcome import NO_SPREAD

scipy_stats = pytest.importorskip("scipy.stats")


def test_the_outcome_is_the_test_of_the_per_query_differences() -> None:
    """The p-value and the bound are scipy's, of what `judged.evaluate` says of each query."""
    qrels, old, new = collection()
    report = judged.gate(qrels, new, ["nDCG@10", "AP"], baseline=old, min_delta=-0.03)
    for measure in ("nDCG@10", "AP"):
        first, second = (judged.evaluate(qrels, run, measure).scores[measure] for run in (new, old))
        wanted = scipy_stats.ttest_1samp(first - second, -0.03, alternative="greater")

        assert report[measure].test.p_above == pytest.approx(wanted.pvalue, rel=1e-9)
        assert report[measure].test.low == pytest.approx(wanted.confidence_interval(0.95).low, rel=1e-9)
    assert report.passed
    assert report.verdict == "pass"


def test_measures_may_come_from_a_generator() -> None:
    """They are read once."""
    qrels, old, new = collection()
    report = judged.gate(qrels, new, (name for name in ("AP", "RR")), baseline=old, min_delta=-0.5)

    assert list(report.verdicts) == ["AP", "RR"]


def test_the_verdict_of_the_whole_is_the_worst_of_any_measure() -> None:
    """A pass, and a fail, make a fail."""
    qrels, old, _ = collection()
    worse = reversed_run(old)
    report = judged.gate(qrels, worse, ["nDCG@10", "R@100"], baseline=old)

    assert report.verdicts == {"nDCG@10": "fail", "R@100": "pass"}
    assert report.verdict == "fail"
    assert not report.passed


def test_a_report_is_frozen_and_says_why() -> None:
    """The text has the verdict and a paragraph with the numbers that decided."""
    qrels, old, new = collection()
    report = judged.gate(qrels, new, "AP", baseline=old, min_delta=-0.05, run_name="new", baseline_name="old")
    test = report["AP"].test

    decided = f"the difference is at least {test.low:+.4f}, above the margin of -0.0500 (p < 0.0001)."
    assert report.text.startswith(f"new against old: pass\n\nAP passes: {decided}")
    assert "Over 30 queries, the mean of new is " in report.text
    assert f"detect a difference of {test.detectable:.4f} from the margin 80 % of the time" in report.text
    assert report["AP"].reason == f"AP passes: {decided}"
    with pytest.raises(FrozenInstanceError):
        report.name = "other"  # type: ignore[misc]


def test_an_inconclusive_gate_says_how_many_queries_would_do() -> None:
    """Few queries, and a narrow margin."""
    qrels, old, _ = collection(6)
    _, other, _ = collection(6, seed=9)
    report = judged.gate(qrels, other, "AP", baseline=old, min_delta=-0.01)

    assert report.verdict == "inconclusive"
    assert f"{report['AP'].test.needed:,} queries would decide between equally good systems" in report.text


def test_measures_of_preferences_and_of_intents_are_gates_too() -> None:
    """Whatever `judged.evaluate` scores."""
    prefs = b"q1 ann 1 a 2\nq1 ann 1 b 1\nq2 ann 1 a 2\nq2 ann 1 b 1\n"
    intents = b"q1 1 a 1\nq1 2 b 1\nq2 1 a 1\nq2 2 b 1\n"
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0, "b": 2.0}}

    assert judged.gate(prefs, run, "prefs_simp", baseline=run).passed
    assert judged.gate(intents, run, "alpha_nDCG@2", baseline=run).passed


def test_runs_of_one_name_are_distinguished() -> None:
    """Two dicts are both called `run`."""
    qrels, old, new = collection()
    report = judged.gate(qrels, new, "AP", baseline=old)

    assert (report.run, report.baseline) == ("run", "run (baseline)")


def test_less_is_better_where_the_measure_says_so() -> None:
    """A run with fewer nonrelevant documents is the better one, and a difference above 0 says so."""
    qrels, old, _ = collection()
    better = judged.gate(qrels, old, "FallOut@5", baseline=reversed_run(old))
    worse = judged.gate(qrels, reversed_run(old), "FallOut@5", baseline=old)

    assert (better.verdict, worse.verdict) == ("pass", "fail")
    assert judged.measures.FallOut.higher_is_better is False
    assert better["FallOut@5"].test.difference == pytest.approx(-worse["FallOut@5"].test.difference)
    assert "the difference, in the good direction, is at least +0." in better.text
    assert "the difference, in the good direction, is at most -0." in worse.text
    assert "(lower is better)" in better.text


def test_a_share_of_the_baseline_is_a_test_of_the_ratio() -> None:
    """`-2%` tests run − 0.98 · baseline, so the spread of the baseline's mean is part of it."""
    qrels, old, new = collection()
    found = judged.gate(qrels, new, "AP", baseline=old, min_delta="-2%")["AP"]
    first, second = (judged.evaluate(qrels, run, "AP").scores["AP"] for run in (new, old))
    wanted = scipy_stats.ttest_1samp(first - 0.98 * second, 0.0, alternative="greater")

    assert found.test.p_above == pytest.approx(wanted.pvalue, rel=1e-9)
    assert found.test.margin == pytest.approx(-0.02 * second.mean())
    assert ", -2% of the baseline's mean (p < 0.0001)" in found.reason


@pytest.mark.parametrize(
    ("given", "delta"),
    [
        ("-0.01", Delta(-0.01)),
        (0, Delta(0.0)),
        ("−2 %", Delta(-0.02, relative=True)),
        ("+1e-3", Delta(0.001)),
    ],
)
def test_differences_are_written_as_numbers_or_percentages(given: Any, delta: Delta) -> None:
    """A true minus sign is a minus sign."""
    assert parse_delta(given) == delta


@pytest.mark.parametrize("given", ["two", "", "%", "nan", math.inf, None, True])
def test_a_difference_that_is_no_number_is_refused(given: Any) -> None:
    """With what was expected."""
    with pytest.raises(BadProtocol, match="expected a number or a percentage"):
        parse_delta(given)


def test_the_same_run_passes_with_nothing_to_test() -> None:
    """No query differs: no spread, and what is seen decides."""
    qrels, old, _ = collection()
    for delta in (-0.01, 0, "-1%"):
        report = judged.gate(qrels, old, "AP", baseline=old, min_delta=delta)

        assert report.passed
        assert report["AP"].test.undefined == NO_SPREAD
        assert "the test is undefined, since no query differs" in report.text


def test_one_query_shows_nothing() -> None:
    """Whatever it says."""
    report = judged.gate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP", baseline={"q": {"b": 1.0}})

    assert report.verdict == "inconclusive"
    assert "AP is inconclusive: one query shows nothing about others." in report.text
    assert report["AP"].to_dict()["low"] is None


def test_a_query_that_one_run_lacks_scores_0_with_a_note() -> None:
    """The protocol's rule, as for any run."""
    qrels, old, new = collection()
    del new["q3"]
    report = judged.gate(qrels, new, "AP", baseline=old, run_name="new")

    assert report["AP"].test.queries == 30
    assert "new: 1 query (q3) judged but missing from the run: scored as 0" in map(str, report.notes)
    assert "q3" in dict(report["AP"].hurt)


def test_under_skip_the_queries_of_both_are_compared_and_the_others_counted() -> None:
    """Never silently dropped."""
    qrels, old, new = collection()
    del new["q3"], old["q4"], old["q5"]
    report = judged.gate(
        qrels,
        new,
        "AP",
        baseline=old,
        protocol=judged.Protocol(missing="skip"),
        run_name="new",
        baseline_name="old",
    )
    found = report["AP"]

    assert (found.test.queries, found.only_in_run, found.only_in_baseline) == (27, ("q4", "q5"), ("q3",))
    assert "2 queries (q4, q5) with a value in new only: not compared." in found.text
    assert "1 query (q3) with a value in old only: not compared." in found.text
    assert (found.to_dict()["only_in_run"], found.to_dict()["only_in_baseline"]) == (2, 1)


def test_no_query_in_common_is_refused() -> None:
    """There is nothing to compare."""
    qrels = {"a": {"d": 1}, "b": {"d": 1}}
    skip = judged.Protocol(missing="skip")
    with pytest.raises(BadSample, match="AP: `run` and `run \\(baseline\\)` have no query in common"):
        judged.gate(qrels, {"a": {"d": 1.0}}, "AP", baseline={"b": {"d": 1.0}}, protocol=skip)


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("NumRet", "NumRet cannot be a gate: neither more nor less of it is better"),
        ("relstring", "relstring cannot be a gate: its values are text"),
        ("gm_AP", "gm_AP cannot be a gate: it is a geometric mean"),
    ],
)
def test_a_measure_that_cannot_be_a_gate_is_refused(measure: str, words: str) -> None:
    """Before anything is read."""
    with pytest.raises(BadMeasure, match=words):
        judged.gate("no such file", "nor this", measure, baseline="nor that")


def test_a_report_goes_into_json_and_its_numbers_come_back(folder: Path) -> None:
    """Nothing in it is NaN or endless."""
    report = judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=folder / "old.run")
    (found,) = json.loads(json.dumps(report.to_dict(), allow_nan=False))["tables"]["measures"]

    assert found["p_above"] == report["AP"].test.p_above
    assert found["better"] + found["equal"] + found["worse"] == found["queries"] == 30


def test_the_run_of_a_report_may_be_named_after_the_fact(folder: Path) -> None:
    """It is a plain frozen dataclass."""
    report = judged.gate(folder / "qrels.txt", folder / "new.run", "AP", baseline=folder / "old.run")

    assert replace(report, name="nightly").text.startswith("nightly: ")
    with pytest.raises(UnknownName, match="no measure of this gate is called `RR`"):
        report["RR"]


def test_published_significance_is_a_gate_passed(shared_data: Callable[[str], Path]) -> None:
    """The keyphrase runs of sigtrec_eval: P_10 .1960 and .2071, paired t 3.1427, two-sided p .0017, as published."""
    place = shared_data("keyphrase_runs_2000q")
    files = [place / name for name in ("qrelFile.qrel.gz", "result_to_compare1.gz", "baseline.gz")]
    found = judged.gate(files[0], files[1], "P@10", baseline=files[2], min_delta=0)["P@10"]

    assert (round(found.baseline_mean, 4), round(found.run_mean, 4)) == (0.1960, 0.2071)
    assert found.test.p_above == pytest.approx(0.0017 / 2, abs=0.00005)
    assert found.verdict == "pass"


def test_the_default_margin_is_a_hundredth_of_the_scale() -> None:
    """-0.01 of RR, which lies between 0 and 1; DCG has no upper end."""
    qrels, old, new = collection()

    assert judged.gate(qrels, new, "RR", baseline=old)["RR"].min_delta == Delta(-0.01)
    with pytest.raises(judged.JudgedError, match="`min_delta` is not given, and DCG has no known scale"):
        judged.gate(qrels, new, ["RR", "DCG"], baseline=old)
    assert judged.gate(qrels, new, "DCG", baseline=old, min_delta="-2%")["DCG"].min_delta == Delta(
        -0.02, True
    )
