"""`stream_sessions` and `read_sessions`: whatever holds traces of agents, as sessions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from judged.errors import BadInput
from judged.problem import Problem
from judged.tables.sessions import Session, Sessions
from judged.traces.context import ReadContext, TraceProblems
from judged.traces.conversation import TurnChoice
from judged.traces.format import TRACE_FORMATS, Head, TraceFormat
from judged.traces.open import Trace, TraceSource, open_traces
from judged.traces.results.tools import Tools, load_tools

__all__ = ["detect", "read_sessions", "read_source", "stream_sessions"]


def stream_sessions(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    name: str | None = None,
    tools: Tools | str | Path | None = None,
    lenient: bool = False,
    turn: TurnChoice = "last",
    problems: TraceProblems | None = None,
) -> Iterator[Session]:
    """The sessions of a source, one at a time; `problems` is filled with what was left out or noticed.

    The source is a path (`-` is standard input), a folder of files, bytes, an open file, an iterable of objects
    as the lines of a file would be, or a table of sessions. `format` says how it is written where its content
    does not; `name` is the system of sessions that name none; `tools` is a mapping of tools or the file of one.
    Strictly, the first session with a fault is refused with all its faults; `lenient` leaves out the results,
    searches and sessions that have one.
    """
    if isinstance(source, Sessions):
        yield from source
        return
    opened = open_traces(source)
    context = ReadContext(
        label=opened.label,
        name=name or opened.name or "system",
        tools=load_tools(tools),
        lenient=lenient,
        turn=turn,
        problems=TraceProblems() if problems is None else problems,
    )
    yield from read_source(opened, context, format=format)


def read_sessions(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002
    name: str | None = None,
    tools: Tools | str | Path | None = None,
    lenient: bool = False,
    turn: TurnChoice = "last",
) -> Sessions:
    """The sessions of a source as a table; its notes say what was left out or noticed.

    Source and options are those of `stream_sessions`, which holds one session at a time.

    >>> search = {"results": [{"url": "https://example.org", "gain": 3}]}
    >>> read_sessions([{"conversation": "c1", "turns": [{"iterations": [{"searches": [search]}]}]}])
    Sessions(sessions: 1)
    """
    if isinstance(source, Sessions):
        return source if name is None else replace(source, name=name)
    problems = TraceProblems()
    streamed = stream_sessions(
        source, format=format, name=name, tools=tools, lenient=lenient, turn=turn, problems=problems
    )
    sessions = list(streamed)
    return Sessions.from_sessions(sessions, name=name or "sessions", notes=problems.sentences())


def read_source(source: TraceSource, context: ReadContext, *, format: str | None = None) -> Iterator[Session]:  # noqa: A002
    """The sessions of a source that has been opened; the reading takes what is to be known of it."""
    count = 0
    for trace in source.traces:
        if trace.is_empty():
            continue
        trace.broken = context.broken
        written = _format_of(trace, context) if format is None else TRACE_FORMATS[format]
        if written is None:
            continue
        context.formats[written.name] += 1
        try:
            for session in written.sessions(trace, context):
                context.settle()
                count += 1
                yield session
        except RecursionError:
            context.fault(
                "malformed-session", trace.label, "holds objects within objects, too deep to be read"
            )
            context.settle()
    context.finish(count)


def _format_of(trace: Trace, context: ReadContext) -> TraceFormat | None:
    """The format of a trace; None if nothing recognises it and the reading is lenient."""
    try:
        return detect(trace)
    except BadInput as error:
        if not context.lenient:
            raise
        context.problems.add(error.problems)
        return None


def detect(trace: Trace) -> TraceFormat:
    """The format of a trace, by its first documents or its first text, which stay to be read."""
    head = Head(trace.first_documents()) if trace.is_json else Head(text=trace.first_text())
    if trace.is_json and not head.documents:
        next(trace.documents(), None)  # says what is wrong with them
    for name in TRACE_FORMATS:
        if TRACE_FORMATS[name].recognises(head):
            return TRACE_FORMATS[name]
    raise _unknown(trace, head)


def _unknown(trace: Trace, head: Head) -> BadInput:
    """That a trace is in no format known here, with what it begins with."""
    if head.mappings:
        keys = ", ".join(f"`{key}`" for key in list(head.mappings[0])[:8])
        what = f"is in no trace format known here: its first object has {keys or 'no keys'}"
    else:
        begins = " ".join(head.text.split())[:60] or "no JSON object"
        what = f"is in no trace format known here: it begins with `{begins}`"
    hint = f"say how it is written (`--trace-format`); known: {', '.join(TRACE_FORMATS)}"
    return BadInput(trace.label, [Problem.error("unknown-format", trace.label, what)], hint=hint)
