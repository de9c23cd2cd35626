"""Spans → conversations: each trace is a turn, and traces of one session are one conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from judged.tables.sessions import Session
from judged.traces.assemble import sessions_of
from judged.traces.conversation import Conversation
from judged.traces.reading import Reading
from judged.traces.spans.forest import Forest
from judged.traces.spans.span import Span
from judged.traces.spans.turns import turn_of
from judged.traces.spans.unrecorded import Traces, with_unrecorded
from judged.traces.trace import Document, Trace

__all__ = ["conversations_of", "reader"]

_MALFORMED = "malformed-span"


def reader(
    spans_of: Callable[[Any], Iterator[Span | None]],
) -> Callable[[Trace, Reading], Iterator[Session]]:
    """A reader of traces, out of what finds the spans of one JSON document; None stands for what is no span."""

    def sessions(trace: Trace, reading: Reading) -> Iterator[Session]:
        spans = (span for each in trace.documents() for span in _sound(spans_of, each, reading))
        return sessions_of(conversations_of(spans, reading), reading)

    return sessions


def _sound(
    spans_of: Callable[[Any], Iterator[Span | None]], document: Document, reading: Reading
) -> Iterator[Span]:
    """The spans of one document; what is none becomes a fault."""
    try:
        for span in spans_of(document.value):
            if span is None:
                reading.fault(_MALFORMED, document.place, "is no span: it has no id, or its trace has none")
            else:
                span.place = document.place
                yield span
    except RecursionError:
        reading.fault(_MALFORMED, document.place, "holds objects within objects, too deep to be read")


def conversations_of(spans: Iterable[Span], reading: Reading) -> Iterator[Conversation]:
    """The conversations that spans belong to, by their start, each with its turns by theirs.

    Spans may come in any order, of many traces at once. One that is there twice is one; one whose parent is
    missing is a root, and so is the first of those that are their own ancestors.
    """
    held: dict[tuple[str | None, str], list[Forest]] = defaultdict(list)
    for trace in sorted(_traces(spans, reading), key=lambda each: each.rank):
        held[trace.system, trace.session or trace.id].append(trace)
    for (_, name), traces in held.items():
        yield _conversation(name, traces, reading)


def _traces(spans: Iterable[Span], reading: Reading) -> list[Forest]:
    """The traces in which a model or a tool was called; others, such as of web requests, are noted."""
    found: Traces = defaultdict(dict)
    for span in spans:
        there = found[span.trace].get(span.id)
        found[span.trace][span.id] = span if there is None else max(there, span, key=_fullness)
    found = with_unrecorded(found)
    acting = [each for each in found.values() if any(span.kind != "other" for span in each.values())]
    if len(acting) < len(found):
        reading.skipped.note(
            f"{len(found) - len(acting):,} traces without any call of a model or tool are no turns"
        )
    return [Forest(list(each.values())) for each in acting]


def _fullness(span: Span) -> tuple[bool, int, bytes]:
    """How much a copy of a span tells; of two that tell as much, one by what it says and not by its place."""
    told = msgspec.json.encode(msgspec.structs.replace(span, place=""))
    return span.end is not None, len(told), told


def _conversation(name: str, traces: list[Forest], reading: Reading) -> Conversation:
    last = traces[-1]
    turns = [turn_of(each, reading) for each in traces]
    # no other system can have met the same task under the id of a trace, which is drawn at random
    unnamed = turns[-1].question if last.session is None else None
    return Conversation(id=name, place=last.place, turns=turns, system=last.system, task=last.task or unnamed)
