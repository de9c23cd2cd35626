"""One trace as a turn: the steps of the agent in time, each with its tool calls and their best recorded outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from msgspec import UNSET

from judged.tables.sessions import Result
from judged.traces.context import ReadContext
from judged.traces.conversation import Call, Step, Turn
from judged.traces.json_values import Json, JsonObject
from judged.traces.results.fields import parse_result
from judged.traces.results.tools import Unparsed
from judged.traces.spans.forest import Forest, Roles
from judged.traces.spans.payloads import find_question
from judged.traces.spans.span import Span

__all__ = ["best_output", "to_turn"]

_Made: TypeAlias = list[tuple[int | None, Span]]
"""Tool calls, each with its position among those that its model requested, if known."""


def to_turn(forest: Forest, context: ReadContext) -> Turn:
    """Return a trace as a turn: its steps in order of time, with their tool calls."""
    roles = Roles(forest, context.tools)
    made: dict[str | None, _Made] = defaultdict(list)
    for span in roles.tools:
        requester, place = roles.requester(span)
        made[requester.id if requester else None].append((place, span))
    groups = [(None, group) for group in _group_unrequested(made.pop(None, []), alone=not roles.models)]
    steps = [(model, made[model.id]) for model in roles.models if model.id in made or roles.is_step(model)]
    return Turn(
        question=_find_question(forest, roles),
        steps=[_step(model, _order_calls(group), roles) for model, group in (*groups, *steps)],
    )


def _group_unrequested(made: _Made, *, alone: bool) -> Iterator[_Made]:
    """Yield tool calls that no model call precedes: one step, since a model call follows.

    In a trace without model calls, tool calls that overlap in time are one step.
    """
    step: _Made = []
    until = -1
    for item in made:
        start, end = item[1].start, item[1].end
        if step and alone and (start is None or start >= until):
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
    return next((found for span in forest.roots if (found := find_question(span.arguments))), None)


_Filled = tuple[int, int]
"""The number of results, and of their non-empty fields."""


def best_output(span: Span, roles: Roles) -> Json:
    """Return the output of a search, from the recording with the most results, then the most fields.

    If it searched in several places at once, its own output counts, or else theirs combined.
    """
    mapped = roles.known.get(span.name)
    if mapped is not None and (mapped.results or mapped.whole or mapped.fields) and span.outputs:
        return span.outputs[0]  # the user said where the results lie in this very output
    searches = [span, *(inner for inner in roles.forest.below(span) if roles.role(inner) == "search")]
    found: JsonObject = {}
    for search in reversed(searches):  # the innermost first
        found[search.id] = _choose(
            search, [found[copy.id] for copy in _nested_searches(search, roles)], roles
        )
    return found[span.id]


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
        found
        for value in _result_values(output, span, roles)
        if isinstance(found := parse_result(value), Result)
    ]
    return len(results), sum(
        getattr(result, name) is not None for result in results for name in Result.__struct_fields__
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
