"""What type checkers make of the public names; checked by mypy, never run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, assert_type

import judged
from judged import AP, P, R, nDCG, stats
from judged.agents.measures import CG
from judged.explanation.difference import Difference
from judged.explanation.published import Published
from judged.measures import alpha_nDCG
from judged.profiles.profile import Profile
from judged.result import Provenance
from judged.testing import assert_no_regression


def evaluates(path: Path) -> None:
    """Paths, dicts and measures in; floats, dicts and tables out."""
    ev = judged.evaluate(path, {"q": {"d": 1.0}}, [nDCG @ 10, AP, "recall_100"], protocol="trec_eval-10")

    assert_type(ev, judged.Evaluation)
    assert_type(ev["nDCG@10"], float)
    assert_type(ev[AP], float)
    assert_type(ev.mean(), dict[str, float])
    assert_type(ev.per_query(), judged.Scores)
    assert_type(ev.provenance, Provenance)
    assert_type(judged.evaluate_many(path, "runs/*.run", "AP"), judged.Evaluations)
    judged.evaluate({"q": ["d"]}, {"q": {"d": 1}}, "AP")
    judged.evaluate([{"query": "q", "document": "d", "grade": 1}], b"q Q0 d 1 0.5 t", "AP")
    judged.evaluate(7, path, "AP")  # type: ignore[arg-type]
    judged.lint(path, 7)  # type: ignore[arg-type]


def lints(path: Path) -> None:
    """Judgments and any number of runs in; a report of files and findings out."""
    report = judged.lint(path, path, {"q": {"d": 1.0}})

    assert_type(report, judged.LintReport)
    assert_type(report.errors, int)
    assert_type(report.ok, bool)


def labels(path: Path) -> None:
    """A run or traces and a model in; gains, failures and cost out."""
    labelling = judged.label_results(path, endpoint="http://localhost/v1", model="m")

    assert_type(labelling, judged.Labelling)
    assert_type(labelling.labels, judged.Labels)
    assert_type(labelling.complete, bool)
    assert_type(judged.read_labels(path), judged.Labels)


def gates(path: Path) -> None:
    """Judgments, a run and a baseline in; a report with verdicts out."""
    report = judged.gate(path, path, [nDCG @ 10, "AP"], baseline=path, min_delta="-2%", test="randomisation")

    assert_type(report, judged.GateReport)
    assert_type(report.passed, bool)
    assert_type(report["AP"].test.low, float)
    assert_type(assert_no_regression(path, path, AP, baseline=path, inconclusive="pass"), judged.GateReport)


def agrees(path: Path) -> None:
    """Labels and human grades in; figures, tables and means with intervals out."""
    found = judged.agreement(path, {"t": {"d": 2}}, runs={"a": path}, measures=["nDCG@10", AP], threshold=3)
    powered = stats.prediction_powered_mean([1, 0], [1, 1], [0, 1])

    assert_type(found, judged.Agreement)
    assert_type(found.bias, float)
    assert_type(found.warnings, list[str])
    assert_type(powered.mean, float)
    assert_type(found.kappa_at(2).value, float | stats.Undefined)


def measures_are_values() -> None:
    """A measure with parameters or a cutoff is a measure."""
    assert_type(P(rel=2) @ 5, judged.Measure)
    assert_type(R, judged.Measure)
    assert_type(alpha_nDCG @ 20, judged.Measure)
    assert_type(CG @ 3, judged.Measure)
    assert_type(judged.measures.parse_measure("nDCG@10"), judged.Measure)
    assert_type(judged.measures.parse_measure("CG@last", family="session"), judged.Measure)


def measures_are_made(function: Callable[..., list[float]]) -> None:
    """A function and a name make a measure."""
    weight = judged.measures.Parameter.number("how much it counts", low=0)

    assert_type(
        judged.define("Mine", function, at_parameter="cutoff", parameters={"weight": weight}), judged.Measure
    )
    assert_type(judged.measures.define_per_query("Other", lambda *_: 0.5, bounds=(0, 1)), judged.Measure)


def reads(path: Path) -> None:
    """Readers return tables."""
    assert_type(judged.read_judgments(path), judged.Judgments)
    assert_type(judged.read_run(path), judged.Run)
    assert_type(judged.read_sessions(path), judged.Sessions)


def conventions() -> None:
    """Protocols are named or made."""
    assert_type(judged.PROFILES["ranx"], Profile)
    assert_type(judged.Protocol(ties="input-order").replace(depth=10), judged.Protocol)
    judged.Protocol(ties="random")  # type: ignore[arg-type]


def explanations(path: Path) -> None:
    """Each verb returns an explanation of its own kind, with plain data in it."""
    assert_type(judged.explain(path, path, "AP", query="q1"), judged.Explanation)
    assert_type(judged.explain_difference(path, path, "AP", against="ranx"), Difference)
    assert_type(judged.explain_published(path, path, "AP", "0.75"), Published)
    assert_type(judged.explain(path, path, "AP", query="q1").rows(), list[dict[str, Any]])


def statistics(table: list[list[float]]) -> None:
    """Numbers may be undefined, and checkers insist that this is looked at."""
    assert_type(stats.tukey_hsd(table).pairs[0].p, float | stats.Undefined)
    assert_type(stats.friedman_test(table).critical_difference, float)
    assert_type(stats.kendall_tau(table[0], table[1]).value, float | stats.Undefined)
    assert_type(stats.two_way_anova(table).rows(), list[dict[str, str | int | float | None]])
    stats.rank_biased_overlap(table[0], table[1], ties="c")  # type: ignore[arg-type]


def comparisons(path: Path) -> None:
    """A comparison holds means and contrasts, typed."""
    comparison = judged.compare(path, {"a": path, "b": path}, ["AP"], baseline="a")
    assert_type(comparison, judged.Comparison)
    assert_type(comparison.contrast("b").p, float | None)
    assert_type(comparison.differences("b"), dict[str, float])


def sessions(path: Path) -> None:
    """Sessions are evaluated, compared and gated with the types that runs are."""
    evaluation = judged.evaluate_sessions(
        {"a": path, "b": path}, ["CG@3", "SRR"], unit="passage", reference="union"
    )
    assert_type(evaluation, judged.Evaluation)
    assert_type(evaluation["CG@3"], float)
    assert_type(evaluation.per_query(), judged.Scores)
    judged.evaluate_sessions(path, "CG", protocol=judged.SessionProtocol(conflict="max"))
    assert_type(judged.compare(evaluation, baseline="a"), judged.Comparison)
    assert_type(judged.gate(evaluation.systems["b"], baseline=evaluation.systems["a"]), judged.GateReport)
    judged.evaluate_sessions(path, "CG", conflict="least")  # type: ignore[arg-type]
