"""`judged sessions inspect`: a summary of what is read from traces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from judged.agents.commands.trace_options import TraceOptions
from judged.cli.command import Command, flag, options
from judged.cli.inputs import InputPath
from judged.wording import counted, to_message

if TYPE_CHECKING:
    from judged.agents.tables import Hit, Session
    from judged.agents.traces.summary import TraceSummary

SHOWN = 3
"""Number of iterations, searches and results of the example that are shown, each."""
WIDE = 100
EXAMPLES = """\b
Examples:
  judged sessions inspect agent.jsonl
  judged sessions inspect spans.json --trace-format otlp --json
  judged sessions inspect agent.jsonl --tools tools.yaml --strict
"""


@dataclass(frozen=True, kw_only=True)
class InspectOptions(TraceOptions):
    """Options for reading traces and printing the summary."""

    as_json: bool = flag("--json", "Print one JSON object, for programs.")


@click.command("inspect", cls=Command, epilog=EXAMPLES)
@click.argument("file", type=InputPath(table=False))
@options("options", InspectOptions)
def inspect(*, file: str, options: InspectOptions) -> None:
    """Summarise what is read from the traces in FILE, a file or a folder.

    Show their format, how many sessions, turns, iterations and searches they have, which tools were taken as searches,
    which fields results have, and one session as an example. Nothing is scored. The exit code is 2 if the traces
    would be refused; what was read before that is shown.
    """
    from judged.agents.traces.summary import summarise

    summary = summarise(file, **options.to_dict())
    click.echo(_json(summary) if options.as_json else to_message("\n".join(_report(summary))), nl=False)
    if summary.refused is not None:
        raise summary.refused


def _json(summary: TraceSummary) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(summary.to_dict())).decode() + "\n"


def _report(summary: TraceSummary) -> Iterator[str]:
    """Yield the parts of the report, each with its final line break."""
    from judged.agents.traces.format import TRACE_FORMATS

    formats = [TRACE_FORMATS[name].title for name in summary.context.formats]
    if formats:
        yield f"{summary.context.label}: {', '.join(formats)} ({', '.join(summary.context.formats)})\n"
    if summary.sessions:
        yield _counts(summary)
    if any(True for _ in summary.tools()):
        yield _tools(summary)
    if summary.results:
        yield _fields(summary)
    if summary.example is not None:
        yield "".join(f"{line}\n" for line in _example(summary.example))
    for sentence in summary.context.problems.sentences():
        yield f"{sentence}\n"


def _counts(summary: TraceSummary) -> str:
    systems = ", ".join(list(summary.systems)[:SHOWN]) + (", …" if len(summary.systems) > SHOWN else "")
    known = f"tokens known for {summary.with_tokens:,}, seconds for {summary.with_seconds:,}"
    known += f", money for {summary.with_cost:,}" if summary.with_cost else ""
    queries = summary.context.queries
    asked = f", with {queries:,} queries" if queries > summary.searches else ""
    which = summary.context.turn.replace("-", " ")
    lines = (
        ("sessions", f"{summary.sessions:,}, {summary.idle:,} of them without a search"),
        ("systems", f"{len(summary.systems):,}: {systems}"),
        ("tasks", f"{len(summary.tasks):,}"),
        ("turns", f"{summary.turns:,}, of which the {which} of each conversation counts"),
        ("steps", f"{summary.steps:,}"),
        ("iterations", f"{summary.iterations:,}, the steps that searched; {known}"),
        ("searches", f"{summary.searches:,}{asked}, {summary.empty:,} of them without results"),
        ("results", f"{summary.results:,}"),
        *([("opened", counted(summary.opened, "page"))] if summary.opened else []),
        *([("cited", counted(summary.cited, "page"))] if summary.cited else []),
    )
    return "".join(f"{name:<12}{words}\n" for name, words in lines)


def _tools(summary: TraceSummary) -> str:
    from judged.blocks import Table
    from judged.cli.output import supports_bold, terminal_width
    from judged.report.text import to_text

    return to_text(
        Table(("tool", "calls", "taken as"), tuple(summary.tools())),
        bold=supports_bold(),
        width=terminal_width(),
    )


def _fields(summary: TraceSummary) -> str:
    from judged.agents.traces.summary import FIELDS
    from judged.blocks import Table
    from judged.cli.output import supports_bold, terminal_width
    from judged.report.text import to_text

    rows = tuple(
        (name.replace("_", " "), summary.fields[name], _share(summary.fields[name], summary.results))
        for name in FIELDS
    )
    return to_text(Table(("field", "results", "share"), rows), bold=supports_bold(), width=terminal_width())


def _share(count: int, total: int) -> str:
    """Return a share in per cent; only all are 100 %, and only none are 0 %."""
    tenths = min(max(round(1000 * count / total), 1), 999) if 0 < count < total else 1000 * count // total
    return f"{tenths / 10:.1f} %"


def _example(session: Session) -> Iterator[str]:
    """One session as a tree: iterations, their searches, and the first results of each."""
    yield f"example: session `{session.conversation}` of {session.system}, task {session.task} ({session.place})"
    if session.question:
        yield f"  asked: {_short(session.question)}"
    for number, iteration in enumerate(session.iterations[:SHOWN], 1):
        yield f"  iteration {number}"
        for search in iteration.searches[:SHOWN]:
            yield f"    {search.tool or 'search'}: {_short(search.query or '(no query)')}"
            for rank, result in enumerate(search.results[:SHOWN], 1):
                yield f"      {rank}. {_shown(result)}"
            if not search.results:
                yield "      (no results)"
            yield from _more(len(search.results), "results", 6)
        yield from _more(len(iteration.searches), "searches", 4)
    yield from _more(len(session.iterations), "iterations", 2)


def _shown(result: Hit) -> str:
    identity = result.id or (f"{result.domain}:{result.domain_id}" if result.domain_id else None)
    gain = None if result.gain is None else f"gain {result.gain}"
    return _short(" · ".join(filter(None, (identity, result.title, result.url, gain, result.snippet))))


def _more(count: int, noun: str, indent: int) -> Iterator[str]:
    if count > SHOWN:
        yield f"{' ' * indent}… and {count - SHOWN:,} more {noun}"


def _short(text: str) -> str:
    """Return a text on one line, cut to a width that terminals have."""
    from judged.blocks import format_value

    flat = format_value(" ".join(text.split()))
    return flat if len(flat) <= WIDE else flat[: WIDE - 1] + "…"
