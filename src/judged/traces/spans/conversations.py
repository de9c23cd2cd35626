"""Spans → conversations: each trace is a turn, and traces of one session are one conversation."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from judged.tables.sessions import Session
from judged.traces.assemble import to_sessions
from judged.traces.context import ReadContext
from judged.traces.conversation import Conversation
from judged.traces.open import Document, Trace
from judged.traces.spans.forest import Forest
from judged.traces.spans.payloads import unwrap_output
from judged.traces.spans.span import Span
from judged.traces.spans.turns import to_turn

__all__ = ["Traces", "add_implied_tools", "make_reader", "to_conversations"]

Traces = dict[str, dict[str, Span]]
"""Spans by their id, by their trace."""


def add_implied_tools(traces: Traces) -> Traces:
    """The traces, where a tool was recorded as they are; else joined, with a span for each tool call in messages.

    A program that calls its tools itself leaves a trace for each call of a model. One that is sent what a tool gave
    back goes on with the turn in which the tool was asked for; one that is not begins a turn.
    """
    bare = {name: spans for name, spans in traces.items() if not _has_tools(spans)}
    joined = _joined(bare)
    return {name: spans for name, spans in traces.items() if name not in bare} | {
        name: spans | {each.id: each for each in _tools(spans)} for name, spans in joined.items()
    }


def _has_tools(spans: dict[str, Span]) -> bool:
    return any(span.kind in {"tool", "search"} for span in spans.values())


def _models(spans: dict[str, Span]) -> list[Span]:
    """The calls of models in a trace by their start, without those that lie within another."""
    outer = (each for each in spans.values() if each.kind == "llm" and not _is_within(each, spans))
    return sorted(outer, key=lambda span: span.rank)


def _is_within(span: Span, spans: dict[str, Span]) -> bool:
    met = {span.id}
    while span.parent in spans and span.parent not in met:
        span = spans[span.parent]
        met.add(span.id)
        if span.kind == "llm":
            return True
    return False


def _joined(traces: Traces) -> Traces:
    """Traces put together that answer each other's tool calls, under the name of the first."""
    firsts = {name: models[0] for name, spans in traces.items() if (models := _models(spans))}
    askers: dict[str, list[Span]] = defaultdict(list)
    for model in sorted((each for name in firsts for each in _models(traces[name])), key=_moment):
        for call in model.calls:
            askers[call].append(model)
    whole: Traces = {name: spans for name, spans in traces.items() if name not in firsts}
    home: dict[str, str] = {}
    for name in sorted(firsts, key=lambda each: _moment(firsts[each])):
        asker = _asker(firsts[name], askers)
        home[name] = name if asker is None else home.get(asker.trace, name)
        there = whole.setdefault(home[name], {})
        for span in traces[name].values():
            span.trace = home[name]
            there[span.id] = span
    return whole


def _asker(model: Span, askers: dict[str, list[Span]]) -> Span | None:
    """The last call of a model before this one, in its session, that asked for a tool whose output it was sent."""
    for call in model.answers:
        models = askers.get(call, [])
        before = models[: bisect_left(models, _moment(model), key=_moment)]
        for each in reversed(before):
            if each.trace != model.trace and each.session == model.session:
                return each
    return None


def _moment(span: Span) -> int:
    return -1 if span.start is None else span.start


def _tools(spans: dict[str, Span]) -> Iterator[Span]:
    """A span for each tool call that the models of a trace asked for, over when the next model was told of it."""
    models = _models(spans)
    for at, model in enumerate(models):
        for ask in model.asks:
            told = next((each for each in models[at + 1 :] if ask.id in each.answers), None)
            yield Span(
                id=f"{model.id}/{ask.id}",
                trace=model.trace,
                parent=model.parent,
                start=model.end,
                end=told.start if told else None,
                kind="tool",
                name=ask.tool,
                arguments=ask.arguments,
                outputs=() if told is None else _given(told.answers[str(ask.id)]),
                call=ask.id,
                place=model.place,
            )


def _given(output: object) -> tuple[object, ...]:
    given = unwrap_output(output)
    return () if given is None else (given,)


_MALFORMED = "malformed-span"


def make_reader(
    read_spans: Callable[[Any], Iterator[Span | None]],
) -> Callable[[Trace, ReadContext], Iterator[Session]]:
    """A reader of traces, out of what finds the spans of one JSON document; None stands for what is no span."""

    def sessions(trace: Trace, context: ReadContext) -> Iterator[Session]:
        spans = (span for each in trace.documents() for span in _sound(read_spans, each, context))
        return to_sessions(to_conversations(spans, context), context)

    return sessions


def _sound(
    read_spans: Callable[[Any], Iterator[Span | None]], document: Document, context: ReadContext
) -> Iterator[Span]:
    """The spans of one document; what is none becomes a fault."""
    try:
        for span in read_spans(document.value):
            if span is None:
                context.fault(_MALFORMED, document.place, "is no span: it has no id, or its trace has none")
            else:
                span.place = document.place
                yield span
    except RecursionError:
        context.fault(_MALFORMED, document.place, "holds objects within objects, too deep to be read")


def to_conversations(spans: Iterable[Span], context: ReadContext) -> Iterator[Conversation]:
    """The conversations that spans belong to, by their start, each with its turns by theirs.

    Spans may come in any order, of many traces at once. One that is there twice is one; one whose parent is
    missing is a root, and so is the first of those that are their own ancestors.
    """
    held: dict[tuple[str | None, str], list[Forest]] = defaultdict(list)
    for trace in sorted(_traces(spans, context), key=lambda each: each.rank):
        held[trace.system, trace.session or trace.id].append(trace)
    for (_, name), traces in held.items():
        yield _conversation(name, traces, context)


def _traces(spans: Iterable[Span], context: ReadContext) -> list[Forest]:
    """The traces in which a model or a tool was called; others, such as of web requests, are noted."""
    found: Traces = defaultdict(dict)
    for span in spans:
        there = found[span.trace].get(span.id)
        found[span.trace][span.id] = span if there is None else max(there, span, key=_fullness)
    found = add_implied_tools(found)
    acting = [each for each in found.values() if any(span.kind != "other" for span in each.values())]
    if len(acting) < len(found):
        context.problems.note(
            f"{len(found) - len(acting):,} traces without any call of a model or tool are no turns"
        )
    return [Forest(list(each.values())) for each in acting]


def _fullness(span: Span) -> tuple[bool, int, bytes]:
    """How much a copy of a span tells; of two that tell as much, one by what it says and not by its place."""
    told = msgspec.json.encode(msgspec.structs.replace(span, place=""))
    return span.end is not None, len(told), told


def _conversation(name: str, traces: list[Forest], context: ReadContext) -> Conversation:
    last = traces[-1]
    turns = [to_turn(each, context) for each in traces]
    # no other system can have met the same task under the id of a trace, which is drawn at random
    unnamed = turns[-1].question if last.session is None else None
    return Conversation(id=name, place=last.place, turns=turns, system=last.system, task=last.task or unnamed)
