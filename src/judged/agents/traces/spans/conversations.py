"""Spans → conversations: each trace is a turn, and traces of one session are one conversation."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

import msgspec
from msgspec import UNSET

from judged.agents.tables import Hit, Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Call, Conversation, Step, Turn
from judged.agents.traces.json_values import Json, JsonObject
from judged.agents.traces.open import Document, Trace
from judged.agents.traces.results.fields import parse_result
from judged.agents.traces.results.outputs import Unparsed
from judged.agents.traces.spans.forest import Forest, Roles
from judged.agents.traces.spans.payloads import find_question, unwrap_output
from judged.agents.traces.spans.span import Span

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
    by_trace: Traces = defaultdict(dict)
    for span in spans:
        there = by_trace[span.trace].get(span.id)
        by_trace[span.trace][span.id] = span if there is None else max(there, span, key=_completeness)
    by_trace = add_implied_tools(by_trace)
    acting = [spans for spans in by_trace.values() if any(map(_is_acting, spans.values()))]
    if len(acting) < len(by_trace):
        context.problems.note(
            f"{len(by_trace) - len(acting):,} traces without model or tool calls were skipped"
        )
    return [Forest(list(spans.values())) for spans in acting]


def _is_acting(span: Span) -> bool:
    return span.kind != "other" or bool(span.steps)


def _completeness(span: Span) -> tuple[bool, int, bytes]:
    """Return a sort key for copies of a span: how complete it is, then its content, never its place."""
    content = msgspec.json.encode(msgspec.structs.replace(span, place=""))
    return span.end is not None, len(content), content


def _conversation(name: str, traces: list[Forest], context: ReadContext) -> Conversation:
    last = traces[-1]
    turns = [to_turn(trace, context) for trace in traces]
    return Conversation(id=name, place=last.place, turns=turns, system=last.system, task=last.task)


_Made: TypeAlias = list[tuple[int | None, Span]]
"""Tool calls, each with its position among those that its model requested, if known."""


def to_turn(forest: Forest, context: ReadContext) -> Turn:
    """Return a trace as a turn: its steps in order of time, with their tool calls."""
    roles = Roles(forest, context.tools)
    made: dict[str | None, _Made] = defaultdict(list)
    for span in roles.tools:
        requester, place = roles.requester(span)
        made[requester.id if requester else None].append((place, span))
    sent = {call: group for span in forest.spans for group in span.sent for call in group}
    unrequested = _group_unrequested(made.pop(None, []), sent, alone=not roles.models)
    groups = [(None, group) for group in unrequested]
    steps = [(model, made[model.id]) for model in roles.models if model.id in made or roles.is_step(model)]
    return Turn(
        question=_find_question(forest, roles),
        answer=_find_answer(forest, roles),
        cited=list(roles.models[-1].cited) if roles.models else [],
        steps=[
            *(_step(model, _order_calls(group), roles) for model, group in (*groups, *steps)),
            *_reported_steps(forest),
        ],
    )


def _reported_steps(forest: Forest) -> Iterator[Step]:
    """Yield the steps that agents report themselves, where no span inside them does."""
    for span in forest.spans:
        if span.steps and not any(map(_is_acting, forest.below(span))):
            yield from span.steps


def _group_unrequested(made: _Made, sent: Mapping[str, tuple[str, ...]], *, alone: bool) -> Iterator[_Made]:
    """Yield tool calls that no model call precedes: one step, since a model call follows.

    In a trace without model calls, calls of one message are one step (`sent` has them), or else calls that overlap in time.
    """
    step: _Made = []
    until = -1
    for item in made:
        start, end = item[1].start, item[1].end
        before, message = (sent.get(other[1].call or "") for other in (step[-1] if step else item, item))
        apart = start is None or start >= until if before is None or message is None else before != message
        if step and alone and apart:
            yield step
            step, until = [], -1
        step.append(item)
        until = max(until, -1 if end is None else end)
    if step:
        yield step


def _order_calls(made: _Made) -> list[Span]:
    """Return calls in the order of the model's requests, if known of all, else by start."""
    if all(place is not None for place, _ in made):
        made = sorted(made, key=lambda item: (item[0], item[1].rank))
    return [span for _, span in made]


def _step(model: Span | None, spans: list[Span], roles: Roles) -> Step:
    """Return one step: a model call and the tool calls it requested."""
    timed = [*([model] if model else []), *spans]
    starts = [span.start for span in timed if span.start is not None]
    ends = [span.end for span in timed if span.end is not None]
    return Step(
        calls=[_call(span, roles) for span in spans],
        tokens=model.tokens if model else None,
        cost=model.cost if model else None,
        seconds=(max(ends) - min(starts)) / 1e9 if starts and ends else None,
    )


def _call(span: Span, roles: Roles) -> Call:
    if roles.role(span) != "search":
        # the searches of a tool have spans of their own
        within = any(roles.role(inner) == "search" for inner in roles.forest.below(span))
        return Call(tool=span.name, arguments=span.arguments, search=False if within else None)
    copies = [span, *(inner for inner in roles.forest.below(span) if roles.role(inner) == "search")]
    return Call(
        tool=span.name,
        arguments=next((copy.arguments for copy in copies if copy.arguments), None),
        output=best_output(span, roles),
        id=span.call,
        failed=span.failed,
        search=True,
    )


def _find_question(forest: Forest, roles: Roles) -> str | None:
    """Return what the user wrote: the input of a root, else of the first call of a model, else of a root that searches."""
    for span in (*forest.roots, *roles.models, *forest.outward()):
        if span.question:
            return span.question
    return next((question for span in forest.roots if (question := find_question(span.arguments))), None)


def _find_answer(forest: Forest, roles: Roles) -> str | None:
    """Return what the program returned, else the last model unless it requested a tool, else an agent within."""
    models = [model for model in roles.models if roles.is_step(model)]
    last = [model for model in models[-1:] if not model.calls]
    others = [span for span in forest.outward() if roles.role(span) == "other"]
    roots = [span for span in reversed(forest.roots) if roles.role(span) == "other"]
    return next((span.answer for span in (*roots, *last, *others) if span.answer and not span.failed), None)


_Filled = tuple[int, int]
"""The number of results, and of their non-empty fields."""


def best_output(span: Span, roles: Roles) -> Json:
    """Return the output of a search, from the recording with the most results, then the most fields.

    If it searched in several places at once, its own output counts, or else theirs combined.
    """
    mapped = roles.known.get(span.name)
    if mapped is not None and mapped.has_places and span.outputs:
        return span.outputs[0]  # the user said where the results lie in this very output
    searches = [span, *(inner for inner in roles.forest.below(span) if roles.role(inner) == "search")]
    outputs: JsonObject = {}
    for search in reversed(searches):  # the innermost first
        outputs[search.id] = _choose(
            search, [outputs[copy.id] for copy in _nested_searches(search, roles)], roles
        )
    return outputs[span.id]


def _choose(span: Span, inner: list[Json], roles: Roles) -> Json:
    """Return the output of a span, or of the searches beneath it."""
    own = _pick_best(list(span.outputs), span, roles)
    recorded = [output for output in inner if output is not UNSET]
    if len(inner) < 2:
        return _pick_best([output for output in (own, *recorded) if output is not UNSET], span, roles)
    if not recorded or _count_fields(own, span, roles) > (0, 0):
        return own
    return [value for output in recorded for value in _result_values(output, span, roles)]


def _nested_searches(span: Span, roles: Roles) -> list[Span]:
    """Return the searches beneath a search, without those beneath them."""
    return roles.forest.nearest(span, lambda item: roles.role(item) == "search")


def _pick_best(outputs: list[Json], span: Span, roles: Roles) -> Json:
    """Return the output with the most results and fields, the first of several; UNSET if there are none."""
    if len(outputs) < 2:
        return outputs[0] if outputs else UNSET
    return max(outputs, key=lambda field: _count_fields(field, span, roles))


def _count_fields(output: Json, span: Span, roles: Roles) -> _Filled:
    results = [
        hit for value in _result_values(output, span, roles) if isinstance(hit := parse_result(value), Hit)
    ]
    return len(results), sum(
        getattr(result, name) is not None for result in results for name in Hit.__struct_fields__
    )


def _result_values(output: Json, span: Span, roles: Roles) -> list[Json]:
    """Return the values of the results in an output; none if it cannot be parsed."""
    if output is UNSET:
        return []
    try:
        groups = roles.known.find_results(span.name, output, [])
    except Unparsed:
        return []
    return [value for _, values in groups for value in values]
