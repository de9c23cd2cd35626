"""Assertions for test suites: a run that must not be worse than its baseline."""

from __future__ import annotations

from typing import Literal, Unpack

from judged.comparison.systems import ScoresLike
from judged.errors import BadProtocol
from judged.gates.api import GateSettings, gate
from judged.gates.result import Delta, GateReport
from judged.scoring.family import Measures
from judged.tables.inputs import RunLike, TruthLike

__all__ = ["assert_no_regression", "assert_passed"]


def assert_no_regression(
    qrels: TruthLike | ScoresLike,
    run: RunLike | None = None,
    measures: Measures | None = None,
    *,
    baseline: RunLike | ScoresLike,
    min_delta: float | str | Delta | None = None,
    alpha: float = 0.05,
    inconclusive: Literal["pass", "fail"] = "fail",
    **settings: Unpack[GateSettings],
) -> GateReport:
    """Run `judged.gate` with these arguments and raise `AssertionError` unless it passes.

    Without a run, the first argument is scores of any tool, as `judged.gate` takes them; the default measure of a run is
    nDCG@10. An inconclusive gate fails too, unless `inconclusive` is `pass`. Data that cannot be compared raise what
    `judged.gate` raises, not an `AssertionError`.
    """
    __tracebackhide__ = True
    chosen = "nDCG@10" if measures is None and run is not None else measures
    report = gate(qrels, run, chosen, baseline=baseline, min_delta=min_delta, alpha=alpha, **settings)
    assert_passed(report, inconclusive=inconclusive)
    return report


def assert_passed(report: GateReport, *, inconclusive: Literal["pass", "fail"] = "fail") -> None:
    """Raise `AssertionError` with the reasons of the measures that did not pass, if any."""
    __tracebackhide__ = True
    if inconclusive not in {"pass", "fail"}:
        msg = f"`inconclusive` is `{inconclusive}`, expected `pass` or `fail`"
        raise BadProtocol(msg)
    grave = {"fail", "inconclusive"} if inconclusive == "fail" else {"fail"}
    bad = [result.text for result in report.results if result.verdict in grave]
    if bad:
        raise AssertionError("\n\n".join([f"{report.name}: {report.verdict}", *bad]))
