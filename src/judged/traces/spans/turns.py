"""One trace as a turn: the steps of the agent in time, each with its tool calls and their best recorded outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, TypeAlias

from msgspec import UNSET

from judged.tables.sessions import Result
from judged.traces.context import ReadContext
from judged.traces.conversation import Call, Step, Turn
from judged.traces.results.fields import parse_result
from judged.traces.results.tools import Unparsed
from judged.traces.spans.forest import Forest, Roles
from judged.traces.spans.payloads import find_question
from judged.traces.spans.span import Span

__all__ = ["best_output", "to_turn"]

_Made: TypeAlias = list[tuple[int | None, Span]]
"""Calls of tools: each with its place among the tool calls that its model asked for, where that is known."""


def to_turn(forest: Forest, context: ReadContext) -> Turn:
    """The steps of a trace in the order of time, with the calls of tools that each made."""
    roles = Roles(forest, context.tools)
    made: dict[str | None, _Made] = defaultdict(list)
    for span in roles.tools:
        asker, place = roles.asker(span)
        made[asker.id if asker else None].append((place, span))
    groups = [(None, each) for each in _unasked(made.pop(None, []), alone=not roles.models)]
    steps = [(model, made[model.id]) for model in roles.models if model.id in made or roles.leads(model)]
    return Turn(
        question=_question(forest, roles),
        steps=[_step(model, _in_order(each), roles) for model, each in (*groups, *steps)],
    )


def _unasked(made: _Made, *, alone: bool) -> Iterator[_Made]:
    """Calls that no call of a model came before: one step, for a model comes after them.

    In a trace without any call of a model, calls that overlap in time are one step.
    """
    step: _Made = []
    until = -1
    for each in made:
        start, end = each[1].start, each[1].end
        if step and alone and (start is None or start >= until):
            yield step
            step, until = [], -1
        step.append(each)
        until = max(until, -1 if end is None else end)
    if step:
        yield step


def _in_order(made: _Made) -> list[Span]:
    """Calls as the model asked for them, if it is known of all, else by their start."""
    if all(place is not None for place, _ in made):
        made = sorted(made, key=lambda each: (each[0], each[1].rank))
    return [span for _, span in made]


def _step(model: Span | None, spans: list[Span], roles: Roles) -> Step:
    """One step: a call of a model and what it asked for, from the start of the one to the end of the others."""
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
        # what a tool searches for within itself is told by its own spans
        within = any(roles.role(each) == "search" for each in roles.forest.below(span))
        return Call(tool=span.name, arguments=span.arguments, search=False if within else None)
    copies = [span, *(each for each in roles.forest.below(span) if roles.role(each) == "search")]
    return Call(
        tool=span.name,
        arguments=next((each.arguments for each in copies if each.arguments), None),
        output=best_output(span, roles),
        id=span.call,
        failed=span.failed,
        search=True,
    )


def _question(forest: Forest, roles: Roles) -> str | None:
    """What the user wrote: the input of a root, else of the first call of a model, else of a root that searches."""
    for span in (*forest.roots, *roles.models, *forest.outward()):
        if span.question:
            return span.question
    return next((found for span in forest.roots if (found := find_question(span.arguments))), None)


_Filled = tuple[int, int]
"""How many results, and how many of their fields are filled."""


def best_output(span: Span, roles: Roles) -> Any:
    """What a search gave back, from whichever span on its path has most results, then most of their fields.

    Where it searched in several places at once, what it gave back itself counts, or else all of theirs in turn.
    """
    told = roles.known.told(span.name)
    if told is not None and (told.results or told.whole or told.fields) and span.outputs:
        return span.outputs[0]  # the user said where the results lie in this very output
    searches = [span, *(each for each in roles.forest.below(span) if roles.role(each) == "search")]
    found: dict[str, Any] = {}
    for each in reversed(searches):  # the innermost first
        found[each.id] = _choose(each, [found[copy.id] for copy in _copies(each, roles)], roles)
    return found[span.id]


def _choose(span: Span, inner: list[Any], roles: Roles) -> Any:
    """The output of a span, or of the searches beneath it."""
    own = _pick_best(list(span.outputs), span, roles)
    told = [each for each in inner if each is not UNSET]
    if len(inner) < 2:
        return _pick_best([each for each in (own, *told) if each is not UNSET], span, roles)
    if not told or _count_fields(own, span, roles) > (0, 0):
        return own
    return [value for each in told for value in _values(each, span, roles)]


def _copies(span: Span, roles: Roles) -> list[Span]:
    """The searches beneath a search, without those beneath them."""
    return roles.forest.nearest(span, lambda each: roles.role(each) == "search")


def _pick_best(outputs: list[Any], span: Span, roles: Roles) -> Any:
    """The output that tells most, the first of several such; UNSET where there is none."""
    if len(outputs) < 2:
        return outputs[0] if outputs else UNSET
    return max(outputs, key=lambda each: _count_fields(each, span, roles))


def _count_fields(output: Any, span: Span, roles: Roles) -> _Filled:
    results = [
        found for value in _values(output, span, roles) if isinstance(found := parse_result(value), Result)
    ]
    return len(results), sum(
        getattr(each, name) is not None for each in results for name in Result.__struct_fields__
    )


def _values(output: Any, span: Span, roles: Roles) -> list[Any]:
    """The values of the results in an output; none where it cannot be read."""
    if output is UNSET:
        return []
    try:
        groups = roles.known.found(span.name, output, [])
    except Unparsed:
        return []
    return [value for _, values in groups for value in values]
