"""`stream_sessions` and `read_sessions`: whatever holds traces of agents, as sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from judged.errors import BadInput, Fault
from judged.formats.files import open_bytes, open_file, open_stream
from judged.formats.format import File
from judged.formats.traces.catalogue import TRACE_FORMATS
from judged.formats.traces.format import Head, TraceFormat
from judged.formats.traces.reading import Reading, TurnChoice
from judged.formats.traces.skipped import Skipped
from judged.formats.traces.tools import Tools
from judged.formats.traces.trace import SHOWN, Trace
from judged.tables.session import Session
from judged.tables.sessions import Sessions

__all__ = ["detect", "read_sessions", "stream_sessions"]


def stream_sessions(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    name: str | None = None,
    tools: Tools | None = None,
    lenient: bool = False,
    turn: TurnChoice = "last",
    skipped: Skipped | None = None,
) -> Iterator[Session]:
    """The sessions of a source, one at a time; `skipped` takes what was left out and what was noticed."""
    if isinstance(source, Sessions):
        yield from source
        return
    trace = Trace(_open(source))
    reading = Reading(
        trace.label,
        name or trace.name or "system",
        tools or Tools(),
        lenient,
        turn,
        Skipped() if skipped is None else skipped,
    )
    written = detect(trace) if format is None else TRACE_FORMATS[format]
    for session in written.sessions(trace, reading):
        reading.settle()
        yield session
    reading.settle()


def read_sessions(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002
    name: str | None = None,
    tools: Tools | None = None,
    lenient: bool = False,
    turn: TurnChoice = "last",
) -> Sessions:
    """The sessions of a source as a table."""
    skipped = Skipped()
    streamed = stream_sessions(
        source, format=format, name=name, tools=tools, lenient=lenient, turn=turn, skipped=skipped
    )
    sessions = list(streamed)
    return Sessions.from_sessions(sessions, name=name or "sessions", notes=skipped.sentences())


def detect(trace: Trace) -> TraceFormat:
    """The format of a trace, by its first documents or its first text."""
    head = _head(trace)
    for each in TRACE_FORMATS:
        if TRACE_FORMATS[each].recognises(head):
            return TRACE_FORMATS[each]
    raise BadInput(trace.label, [Fault("unknown formats", trace.label, "is in no trace format known here")])


def _head(trace: Trace) -> Head:
    if trace.is_json():
        return Head(documents=tuple(each.value for each in islice(trace.documents(), SHOWN)))
    return Head(text=trace.text()[:65_536])


def _open(source: Any) -> File:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return open_bytes(source, label="bytes", name="")
    if hasattr(source, "read"):
        return open_stream(source)
    if isinstance(source, Iterable) and not isinstance(source, str):
        return open_bytes(b"\n".join(msgspec.json.encode(each) for each in source), label="objects", name="")
    return open_file(source)
