"""Several gates at once, for people and CI servers: text, JUnit XML, Markdown of limited size."""

from __future__ import annotations

from dataclasses import replace

from judged.blocks import Display
from judged.gates.result import GateReport, GateSummary, MeasureGate, measure_table
from judged.gates.verdict_text import describe_looks, format_figure, shorten
from judged.report.junit import Case, Suite, to_junit
from judged.report.markdown import to_markdown
from judged.report.text import render_blocks
from judged.wording import counted

LIMIT = 1_000_000
"""The largest Markdown in bytes: GitHub shows no summary beyond 1 MiB."""
ROWS = 500
"""More measures than this are counted in Markdown, the worst shown first."""
MARKS = {"pass": "✅ pass", "fail": "❌ fail", "inconclusive": "⚠️ inconclusive", "error": "💥 error"}
_WORST_FIRST = ("error", "fail", "inconclusive", "pass")


def render_text(summary: GateSummary, display: Display) -> str:
    """Return the verdict of the whole, a table of all measures, and the reason of each."""
    return render_blocks(list(summary.blocks(display)), display)


def render_markdown(summary: GateSummary, display: Display) -> str:
    """Return the same as Markdown for the summary of a CI server, the worst first, within the limit of size."""
    refused = [f"**{_escape(gate.name)}**: {_escape(gate.message)}" for gate in summary.refused]
    several = len(summary.outcomes) > 1
    single = [replace(report, results=(result,)) for report in summary.gates for result in report.results]
    ordered = sorted(single, key=lambda report: _WORST_FIRST.index(report.verdict))
    shown, more = ordered[:ROWS], len(ordered) - ROWS
    table = measure_table(shown, several=several, marks=MARKS)
    parts = [to_markdown(table, digits=display.digits)] if shown else []
    parts += [f"… and {counted(more, 'measure')} more, none worse."] if more > 0 else []
    looked = [(report, describe_looks(report)) for report in summary.gates]
    parts += [_escape(_prefix(report, several=several) + text) for report, text in looked if text]
    parts += [_escape(_prefix(report, several=several) + report.results[0].text) for report in shown]
    return _limit([f"## {_title(summary)}", *refused, *parts])


def render_junit(summary: GateSummary, *, inconclusive_passes: bool, seconds: float = 0.0) -> str:
    """Return a suite for each gate and a test for each measure; an inconclusive one that may pass is skipped."""
    suites = [
        Suite(gate.name, [Case(gate.name, "error", gate.message.split("\n")[0], gate.message)])
        if gate.verdict == "error"
        else Suite(
            gate.name,
            [
                _to_case(result, describe_looks(gate), inconclusive_passes=inconclusive_passes)
                for result in gate.results
            ],
        )
        for gate in summary.outcomes
    ]
    return to_junit(suites, name="judged gate", seconds=seconds)


def _prefix(report: GateReport, *, several: bool) -> str:
    return f"{shorten(report.name)}, " if several else ""


def _title(summary: GateSummary) -> str:
    gates = summary.outcomes
    subject = _escape(shorten(gates[0].name)) if len(gates) == 1 else counted(len(gates), "gate")
    return f"{MARKS[summary.verdict]}: {subject}"


def _to_case(result: MeasureGate, looked: str, *, inconclusive_passes: bool) -> Case:
    test, text = result.test, " ".join(filter(None, (result.text, looked)))
    line = (
        f"{result.verdict}: {format_figure(test.difference)}, margin {format_figure(test.margin)}, "
        f"{counted(test.queries, result.unit)}"
    )
    if result.verdict == "pass":
        return Case(result.measure, "passed", line, text)
    lenient = result.verdict == "inconclusive" and inconclusive_passes
    return Case(result.measure, "skipped" if lenient else "failure", line, text, kind=result.verdict)


def _escape(text: str) -> str:
    """Escape the characters that Markdown interprets, and join lines."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in " ".join(text.split()))


def _limit(parts: list[str]) -> str:
    """Join as many parts, from the first, as fit into the limit; count the others."""
    kept: list[str] = []
    room = LIMIT - 200  # for the sentence that counts the others
    for part in parts:
        room -= len(part.encode()) + 2
        if room < 0:
            break
        kept.append(part.rstrip("\n"))
    left = len(parts) - len(kept)
    more = [f"… and {counted(left, 'paragraph')} more, left out to stay below a megabyte."] if left else []
    return "\n\n".join([*kept, *more]) + "\n"
