"""`stream_sessions` and `read_sessions`: agents' traces of any format as sessions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from judged.agents.tables import Session, Sessions
from judged.agents.traces import TurnChoice
from judged.agents.traces.context import ReadContext, TraceProblems
from judged.agents.traces.format import TRACE_FORMATS, Head, TraceFormat, find_format, shows_calls
from judged.agents.traces.open import FIRST_DOCUMENTS, FIRST_TEXT, Trace, TraceSource, open_traces
from judged.agents.traces.results.ranks import set_ranks_aside
from judged.agents.traces.results.tools import Tools, load_tools
from judged.errors import BadInput
from judged.problem import Problem

LOOKS = (1, 8, 64)
"""Sizes of detection's looks at a trace, in multiples of the first; the last bounds the memory that detection takes."""


class ReadOptions(TypedDict, total=False):
    """Options for reading traces."""

    format: str | None
    """The trace format; detected by default."""
    tools: Tools | str | Path | None
    """The tools that search, and the location of their results."""
    strict: bool
    """Whether traces with malformed parts are refused, instead of leaving these out and counting them."""


class ReadArguments(ReadOptions, total=False):
    """The arguments of readers of traces, besides the source and its name."""

    turn: TurnChoice
    """The turn of a conversation that counts."""


def stream_sessions(
    source: object,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    name: str | None = None,
    tools: Tools | str | Path | None = None,
    strict: bool = False,
    turn: TurnChoice = "last",
    problems: TraceProblems | None = None,
) -> Iterator[Session]:
    """Yield the sessions of a source, one at a time; `problems` collects what was left out, and notes.

    The source is a path (`-` is standard input), a folder of files, bytes, an open file, an iterable of objects
    as in the lines of a file, or a table of sessions. `format` names the format if detection is not wanted; `name` is
    the system of sessions that name none; `tools` is a mapping of tools or a file of one. Results, searches and sessions
    with problems are left out and counted; `strict` refuses the first session that has any, with all of them.
    """
    if isinstance(source, Sessions):
        yield from source
        return
    opened = open_traces(source)
    context = ReadContext(
        label=opened.label,
        name=name or opened.name or "system",
        tools=load_tools(tools),
        lenient=not strict,
        turn=turn,
        problems=TraceProblems() if problems is None else problems,
    )
    yield from read_source(opened, context, format=format)


def read_sessions(
    source: object,
    *,
    format: str | None = None,  # noqa: A002
    name: str | None = None,
    tools: Tools | str | Path | None = None,
    strict: bool = False,
    turn: TurnChoice = "last",
) -> Sessions:
    """Return the sessions of a source as a table; its notes say what was left out, and what is worth knowing.

    Source and options are those of `stream_sessions`, which holds one session at a time.

    >>> search = {"results": [{"url": "https://example.org", "gain": 3}]}
    >>> read_sessions([{"conversation": "c1", "turns": [{"iterations": [{"searches": [search]}]}]}])
    Sessions(sessions: 1)
    """
    if isinstance(source, Sessions):
        return source if name is None else replace(source, name=name)
    problems = TraceProblems()
    streamed = stream_sessions(
        source, format=format, name=name, tools=tools, strict=strict, turn=turn, problems=problems
    )
    sessions = list(streamed)
    return Sessions.from_sessions(sessions, name=name or "sessions", notes=problems.sentences())


def stream_answers(source: object, *, name: str | None = None) -> Iterator[tuple[Session, str | None]]:
    """Yield every session of a source with the final answer; None where the format, or the trace, has none."""
    opened = open_traces(source)
    answers: dict[tuple[str, str], str | None] = {}
    context = ReadContext(label=opened.label, name=name or opened.name or "system", answers=answers)
    for session in read_source(opened, context):
        yield session, answers.pop((session.system, session.conversation), None)


def read_source(source: TraceSource, context: ReadContext, *, format: str | None = None) -> Iterator[Session]:  # noqa: A002
    """Yield the sessions of an open source; the context collects counts and problems."""
    count = 0
    for trace, written in _join_files(_detect_each(source, context, format)):
        try:
            for session in written.read(trace, context):
                context.settle()
                count += 1
                yield set_ranks_aside(session, context.ranked)
        except RecursionError:
            context.report("malformed-session", trace.label, "is nested too deeply")
            context.settle()
    if not context.answered:  # who asks for answers takes those of agents that do not search too
        context.finish(count)


def _detect_each(
    source: TraceSource,
    context: ReadContext,
    format: str | None,  # noqa: A002 - what users call it
) -> Iterator[tuple[Trace, TraceFormat]]:
    """Yield every trace that is not empty, with its format."""
    for trace in source.traces:
        if trace.is_empty():
            continue
        trace.on_broken = context.report_broken
        if trace.is_json and not context.begins:
            context.begins = trace.first_documents()
        written = _detect_or_skip(trace, context) if format is None else TRACE_FORMATS[format]
        if written is not None:
            context.formats[written.name] += 1
            yield trace, written


def _join_files(traces: Iterator[tuple[Trace, TraceFormat]]) -> Iterator[tuple[Trace, TraceFormat]]:
    """Yield traces; those of a format that joins are one, under the first, and others come after them."""
    for trace, written in traces:
        if not _goes_on(written, trace):
            yield trace, written
            continue
        # filled while the reader goes through `following`, so that one file is open at a time
        others: list[tuple[Trace, TraceFormat]] = []
        trace.following = _same_kind(traces, written, others)
        yield trace, written
        yield from _join_files(iter(others))


def _goes_on(written: TraceFormat, trace: Trace) -> bool:
    """Return whether a conversation of a trace may go on in another file."""
    return written.joins if isinstance(written.joins, bool) else written.joins(trace)


def _same_kind(
    traces: Iterator[tuple[Trace, TraceFormat]],
    written: TraceFormat,
    others: list[tuple[Trace, TraceFormat]],
) -> Iterator[Trace]:
    """Yield the traces that are read in the same way; keep the others."""
    for trace, other in traces:
        if other.read is written.read and _goes_on(other, trace):
            yield trace
        else:
            others.append((trace, other))


def _detect_or_skip(trace: Trace, context: ReadContext) -> TraceFormat | None:
    """Return the format of a trace; None if it is unknown and the context is lenient."""
    try:
        return detect(trace)
    except BadInput as error:
        if not context.lenient:
            raise
        context.problems.add(error.problems)
        context.undetected = context.undetected or error
        return None


def detect(trace: Trace) -> TraceFormat:
    """Return the format of a trace, by its beginning, which stays to be read.

    A beginning without any search says little about where later ones are, so that more of the trace is looked at.
    """
    head, written = Head(), None
    for scale in LOOKS:
        longer = _take_head(trace, scale)
        if longer.size == head.size:
            break
        head, written = longer, find_format(longer)
        if written is not None and shows_calls(written, head):
            return written
    if written is None:
        raise _unknown_format(trace, head)
    return written


def _take_head(trace: Trace, scale: int) -> Head:
    if trace.is_json:
        return Head(trace.first_documents(scale * FIRST_DOCUMENTS))
    return Head(text=trace.first_text(scale * FIRST_TEXT))


def _unknown_format(trace: Trace, head: Head) -> BadInput:
    """Return the error for a trace of unknown format, with its beginning."""
    if trace.is_json and not head.documents:
        next(trace.documents(), None)  # raises with the place where the JSON breaks, which says more
    if head.mappings:
        keys = ", ".join(f"`{key}`" for key in list(head.mappings[0])[:8])
        message = f"has no known trace format: its first object has {keys or 'no keys'}"
    else:
        begins = " ".join(head.text.split())[:60] or "no JSON object"
        message = f"has no known trace format: it begins with `{begins}`"
    hint = f"name the format (`--trace-format`); known: {', '.join(TRACE_FORMATS)}"
    return BadInput(trace.label, [Problem.error("unknown-format", trace.label, message)], hint=hint)
