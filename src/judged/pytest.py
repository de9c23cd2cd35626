"""An opt-in plugin for pytest, `-p judged.pytest`: the fixture `judged_gate`, and a summary of all gates at the end.

No entry point names it: it is never loaded into a session that did not ask for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Unpack

import pytest

from judged.comparison.systems import ScoresLike
from judged.gates.api import GateSettings, gate
from judged.gates.result import Delta, GateReport, MeasureGate
from judged.gates.verdict_text import format_figure
from judged.scoring.family import Measures
from judged.tables.inputs import RunLike, TruthLike
from judged.testing import assert_passed
from judged.wording import counted

__all__ = ["judged_gate", "pytest_terminal_summary"]

PROPERTY = "judged_gate"
"""Key of a gate in a test's properties: they reach the summary from other processes too, and JUnit files."""


@pytest.fixture
def judged_gate(request: pytest.FixtureRequest) -> Callable[..., GateReport]:
    """Return `judged.testing.assert_no_regression`, whose outcome is also listed at the end of the session."""

    def check(
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
        __tracebackhide__ = True
        chosen = "nDCG@10" if measures is None and run is not None else measures
        report = gate(qrels, run, chosen, baseline=baseline, min_delta=min_delta, alpha=alpha, **settings)
        request.node.user_properties += [(PROPERTY, _describe(report, measure)) for measure in report.results]
        assert_passed(report, inconclusive=inconclusive)
        return report

    return check


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line for each measure of each gate, under its test."""
    gates: dict[str, list[str]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            lines = [text for name, text in getattr(report, "user_properties", ()) if name == PROPERTY]
            if len(lines) > len(gates.get(getattr(report, "nodeid", ""), ())):
                gates[report.nodeid] = lines
    if not gates:
        return
    terminalreporter.section("judged gates")
    for test, lines in gates.items():
        terminalreporter.write_line(test)
        for line in lines:
            terminalreporter.write_line(f"  {line}")


def _describe(report: GateReport, gate: MeasureGate) -> str:
    test = gate.test
    return (
        f"{gate.verdict}: {gate.measure} of {report.name}, {format_figure(test.difference)} "
        f"(margin {format_figure(test.margin)}, {counted(test.queries, gate.unit)})"
    )
