"""Tools that have no span of their own, where only calls of models were recorded: their calls, out of the messages."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from judged.traces.spans.payloads import documents_of
from judged.traces.spans.span import Span

__all__ = ["Traces", "with_unrecorded"]

Traces = dict[str, dict[str, Span]]
"""Spans by their id, by their trace."""


def with_unrecorded(traces: Traces) -> Traces:
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
    given = documents_of(output)
    return () if given is None else (given,)
