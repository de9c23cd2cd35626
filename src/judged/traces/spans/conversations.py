"""Spans → conversations: each trace is a turn, and traces of one session are one conversation."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

import msgspec

from judged.tables.sessions import Session
from judged.traces.assemble import to_sessions
from judged.traces.context import ReadContext
from judged.traces.conversation import Conversation
from judged.traces.json_values import Json
from judged.traces.open import Document, Trace
from judged.traces.spans.forest import Forest
from judged.traces.spans.payloads import unwrap_output
from judged.traces.spans.span import Span
from judged.traces.spans.turns import to_turn

__all__ = ["Traces", "add_implied_tools", "make_reader", "to_conversations"]

Traces = dict[str, dict[str, Span]]
"""Spans by their id, by their trace."""


def add_implied_tools(traces: Traces) -> Traces:
    """Return traces with recorded tools unchanged, and the others joined, with a span per tool call in their messages.

    A program that calls its tools itself leaves one trace per model call. A call that includes the output of a tool
    continues the turn in which the tool was requested; any other starts a turn.
    """
    bare = {name: spans for name, spans in traces.items() if not _has_tools(spans)}
    joined = _join(bare)
    return {name: spans for name, spans in traces.items() if name not in bare} | {
        name: spans | {span.id: span for span in _implied_tools(spans)} for name, spans in joined.items()
    }


def _has_tools(spans: dict[str, Span]) -> bool:
    return any(span.kind in {"tool", "search"} for span in spans.values())


def _models(spans: dict[str, Span]) -> list[Span]:
    """Return the calls of models in a trace by their start, without nested ones."""
    outer = (span for span in spans.values() if span.kind == "llm" and not _is_within(span, spans))
    return sorted(outer, key=lambda span: span.rank)


def _is_within(span: Span, spans: dict[str, Span]) -> bool:
    seen = {span.id}
    while span.parent in spans and span.parent not in seen:
        span = spans[span.parent]
        seen.add(span.id)
        if span.kind == "llm":
            return True
    return False


def _join(traces: Traces) -> Traces:
    """Join traces that answer each other's tool calls, under the name of the first."""
    firsts = {name: models[0] for name, spans in traces.items() if (models := _models(spans))}
    askers: dict[str, list[Span]] = defaultdict(list)
    for model in sorted((model for name in firsts for model in _models(traces[name])), key=_moment):
        for call in model.calls:
            askers[call].append(model)
    whole: Traces = {name: spans for name, spans in traces.items() if name not in firsts}
    home: dict[str, str] = {}
    for name in sorted(firsts, key=lambda name: _moment(firsts[name])):
        asker = _find_requester(firsts[name], askers)
        home[name] = name if asker is None else home.get(asker.trace, name)
        there = whole.setdefault(home[name], {})
        for span in traces[name].values():
            span.trace = home[name]
            there[span.id] = span
    return whole


def _find_requester(model: Span, askers: dict[str, list[Span]]) -> Span | None:
    """Return the last earlier model call of the session that requested a tool whose output this one includes."""
    for call in model.answers:
        models = askers.get(call, [])
        before = models[: bisect_left(models, _moment(model), key=_moment)]
        for earlier in reversed(before):
            if earlier.trace != model.trace and earlier.session == model.session:
                return earlier
    return None


def _moment(span: Span) -> int:
    return -1 if span.start is None else span.start


def _implied_tools(spans: dict[str, Span]) -> Iterator[Span]:
    """Yield a span for each tool call that the models of a trace requested; it ends when a model gets its output."""
    models = _models(spans)
    for at, model in enumerate(models):
        for request in model.asks:
            answered = next((later for later in models[at + 1 :] if request.id in later.answers), None)
            yield Span(
                id=f"{model.id}/{request.id}",
                trace=model.trace,
                parent=model.parent,
                start=model.end,
                end=answered.start if answered else None,
                kind="tool",
                name=request.tool,
                arguments=request.arguments,
                outputs=() if answered is None else _unwrap(answered.answers[str(request.id)]),
                call=request.id,
                place=model.place,
            )


def _unwrap(output: object) -> tuple[object, ...]:
    given = unwrap_output(output)
    return () if given is None else (given,)


_MALFORMED = "malformed-span"


def make_reader(
    read_spans: Callable[[Json], Iterator[Span | None]],
) -> Callable[[Trace, ReadContext], Iterator[Session]]:
    """Make a reader of traces from a function that yields the spans of a JSON document, or None for a malformed one."""

    def sessions(trace: Trace, context: ReadContext) -> Iterator[Session]:
        spans = (
            span for document in trace.documents() for span in _valid_spans(read_spans, document, context)
        )
        return to_sessions(to_conversations(spans, context), context)

    return sessions


def _valid_spans(
    read_spans: Callable[[Json], Iterator[Span | None]], document: Document, context: ReadContext
) -> Iterator[Span]:
    """Yield the spans of one document; malformed ones become problems."""
    try:
        for span in read_spans(document.value):
            if span is None:
                context.report(
                    _MALFORMED, document.place, "is not a span: it has no id, or its trace has none"
                )
            else:
                span.place = document.place
                yield span
    except RecursionError:
        context.report(_MALFORMED, document.place, "is nested too deeply")


def to_conversations(spans: Iterable[Span], context: ReadContext) -> Iterator[Conversation]:
    """Yield the conversations that spans belong to, by their start, each with its turns by theirs.

    Spans may come in any order, from many traces. Repeated ones count once; one whose parent is missing is a root, and
    so is the first of a cycle.
    """
    held: dict[tuple[str | None, str], list[Forest]] = defaultdict(list)
    for trace in sorted(_traces(spans, context), key=lambda trace: trace.rank):
        held[trace.system, trace.session or trace.id].append(trace)
    for (_, name), traces in held.items():
        yield _conversation(name, traces, context)


def _traces(spans: Iterable[Span], context: ReadContext) -> list[Forest]:
    """Return the traces in which a model or a tool was called; others, such as web requests, are noted."""
    found: Traces = defaultdict(dict)
    for span in spans:
        there = found[span.trace].get(span.id)
        found[span.trace][span.id] = span if there is None else max(there, span, key=_completeness)
    found = add_implied_tools(found)
    acting = [spans for spans in found.values() if any(span.kind != "other" for span in spans.values())]
    if len(acting) < len(found):
        context.problems.note(f"{len(found) - len(acting):,} traces without model or tool calls were skipped")
    return [Forest(list(spans.values())) for spans in acting]


def _completeness(span: Span) -> tuple[bool, int, bytes]:
    """Return a sort key for copies of a span: how complete it is, then its content, never its place."""
    content = msgspec.json.encode(msgspec.structs.replace(span, place=""))
    return span.end is not None, len(content), content


def _conversation(name: str, traces: list[Forest], context: ReadContext) -> Conversation:
    last = traces[-1]
    turns = [to_turn(trace, context) for trace in traces]
    # the id of a trace is random, so no other system has the same task under it
    unnamed = turns[-1].question if last.session is None else None
    return Conversation(id=name, place=last.place, turns=turns, system=last.system, task=last.task or unnamed)
