"""Gates for people and for CI servers: a table with paragraphs, Markdown that is never too large, JUnit XML, JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from judged.blocks import Table, Value
from judged.gates.report import GateReport, MeasureGate, RefusedGate, worst
from judged.gates.words import figure, short
from judged.report.junit import Case, Suite, to_junit
from judged.report.markdown import to_markdown
from judged.report.text import to_text
from judged.wording import counted

__all__ = ["LIMIT", "Gated", "as_document", "as_junit", "as_markdown", "as_text", "outcome"]

Gated: TypeAlias = GateReport | RefusedGate
Outcome: TypeAlias = Literal["pass", "fail", "inconclusive", "error"]

LIMIT = 1_000_000
"""No Markdown is larger, in bytes: GitHub shows no summary beyond 1 MiB."""
ROWS = 500
"""More measures than this are counted in Markdown, the gravest shown first."""
MARKS = {"pass": "✅ pass", "fail": "❌ fail", "inconclusive": "⚠️ inconclusive", "error": "💥 error"}
_GRAVE = ("error", "fail", "inconclusive", "pass")


def outcome(gates: Sequence[Gated]) -> Outcome:
    """The verdict of all gates, which is the worst; an error if one could not be decided."""
    if any(isinstance(each, RefusedGate) for each in gates):
        return "error"
    return worst(each.verdict for each in gates if isinstance(each, GateReport))


def as_text(gates: Sequence[Gated], *, digits: int = 4, bold: bool = False) -> str:
    """A table of all measures, the paragraphs below it, and the verdict of the whole."""
    several = len(gates) > 1
    rows = [_row(gate, each, several=several) for gate, each in _measures(gates)]
    parts = [to_text(Table(_columns(several=several), tuple(rows)), digits=digits, bold=bold)] if rows else []
    parts += [f"{_named(gate, several=several)}{each.text}\n" for gate, each in _measures(gates)]
    parts += [f"{each.name}: error. {each.message}\n" for each in gates if isinstance(each, RefusedGate)]
    return "\n".join([*parts, f"Verdict: {outcome(gates)}\n"])


def as_markdown(gates: Sequence[Gated], *, digits: int = 4) -> str:
    """The same in Markdown for the summary of a CI server, the gravest first; never more than a megabyte."""
    grave = sorted(_measures(gates), key=lambda pair: _GRAVE.index(pair[1].verdict))
    refused = [
        f"**{_plain(each.name)}**: {_plain(each.message)}" for each in gates if isinstance(each, RefusedGate)
    ]
    several = len(gates) > 1
    rows = [_row(gate, each, several=several, marks=True) for gate, each in grave[:ROWS]]
    table = [to_markdown(Table(_columns(several=several), tuple(rows)), digits=digits)] if rows else []
    more = len(grave) - len(rows)
    left = [f"… and {counted(more, 'measure')} more, none graver."] if more else []
    why = [f"{_plain(_named(gate, several=several) + each.text)}" for gate, each in grave[:ROWS]]
    return _bounded([f"## {_title(gates)}", *refused, *table, *left, *why])


def as_junit(gates: Sequence[Gated], *, inconclusive_passes: bool, seconds: float = 0.0) -> str:
    """A suite for each gate, a test for each measure; an inconclusive one is skipped where it is let through."""
    suites = [
        Suite(gate.name, [_case(each, inconclusive_passes=inconclusive_passes) for each in gate.results])
        if isinstance(gate, GateReport)
        else Suite(gate.name, [Case(gate.name, "error", gate.message.split("\n")[0], gate.message)])
        for gate in gates
    ]
    return to_junit(suites, name="judged gate", seconds=seconds)


def as_document(gates: Sequence[Gated], *, exit_code: int) -> dict[str, Any]:
    """Everything as one object, for JSON."""
    return {
        "verdict": outcome(gates),
        "exit_code": exit_code,
        "gates": [gate.to_dict() for gate in gates],
    }


def _measures(gates: Sequence[Gated]) -> list[tuple[GateReport, MeasureGate]]:
    return [(gate, each) for gate in gates if isinstance(gate, GateReport) for each in gate.results]


def _columns(*, several: bool) -> tuple[str, ...]:
    names = (
        "measure",
        "baseline",
        "run",
        "difference",
        "at least",
        "at most",
        "margin",
        "queries",
        "verdict",
    )
    return ("gate", *names) if several else names


def _row(gate: GateReport, each: MeasureGate, *, several: bool, marks: bool = False) -> tuple[Value, ...]:
    test = each.test
    verdict = MARKS[each.verdict] if marks else each.verdict
    bounds = (bound if math.isfinite(bound) else None for bound in (test.low, test.high))
    cells: tuple[Value, ...] = (each.measure, each.baseline_mean, each.run_mean, test.difference, *bounds)
    cells = (*cells, test.margin, test.queries, verdict)
    return (short(gate.name), *cells) if several else cells


def _named(gate: GateReport, *, several: bool) -> str:
    return f"{short(gate.name)}, " if several else ""


def _title(gates: Sequence[Gated]) -> str:
    verdict = outcome(gates)
    single = gates[0] if len(gates) == 1 else None
    what = _plain(short(single.name)) if single else counted(len(gates), "gate")
    return f"{MARKS[verdict]}: {what}"


def _case(each: MeasureGate, *, inconclusive_passes: bool) -> Case:
    test = each.test
    line = f"{each.verdict}: {figure(test.difference)}, margin {figure(test.margin)}, {counted(test.queries, each.unit)}"
    if each.verdict == "pass":
        return Case(each.measure, "passed", line, each.text)
    lenient = each.verdict == "inconclusive" and inconclusive_passes
    return Case(each.measure, "skipped" if lenient else "failure", line, each.text, kind=each.verdict)


def _plain(text: str) -> str:
    """Text that means in Markdown what it says, on one line."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in " ".join(text.split()))


def _bounded(parts: list[str]) -> str:
    """The parts, as many from the first as fit into the limit; what is left out is counted."""
    kept: list[str] = []
    room = LIMIT - 200  # for the sentence that counts the others
    for part in parts:
        room -= len(part.encode()) + 2
        if room < 0:
            break
        kept.append(part.rstrip("\n"))
    left = len(parts) - len(kept)
    told = [f"… and {counted(left, 'paragraph')} more, left out to stay below a megabyte."] if left else []
    return "\n\n".join([*kept, *told]) + "\n"
