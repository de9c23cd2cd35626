"""One trace as a turn: the steps of the agent in time, each with the calls of tools that it made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from judged.traces.conversation import Call, Step, Turn
from judged.traces.reading import Reading
from judged.traces.spans.actors import Actors
from judged.traces.spans.forest import Forest
from judged.traces.spans.payloads import asked
from judged.traces.spans.richest import output_of
from judged.traces.spans.span import Span

__all__ = ["turn_of"]

_Made: TypeAlias = list[tuple[int | None, Span]]
"""Calls of tools: each with its place among the tool calls that its model asked for, where that is known."""


def turn_of(forest: Forest, reading: Reading) -> Turn:
    """The steps of a trace in the order of time, with the calls of tools that each made."""
    actors = Actors(forest, reading.tools)
    made: dict[str | None, _Made] = defaultdict(list)
    for span in actors.tools:
        asker, place = actors.asker(span)
        made[asker.id if asker else None].append((place, span))
    groups = [(None, each) for each in _unasked(made.pop(None, []), alone=not actors.models)]
    steps = [(model, made[model.id]) for model in actors.models if model.id in made or actors.leads(model)]
    return Turn(
        question=_question(forest, actors),
        steps=[_step(model, _in_order(each), actors) for model, each in (*groups, *steps)],
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


def _step(model: Span | None, spans: list[Span], actors: Actors) -> Step:
    """One step: a call of a model and what it asked for, from the start of the one to the end of the others."""
    timed = [*([model] if model else []), *spans]
    starts = [span.start for span in timed if span.start is not None]
    ends = [span.end for span in timed if span.end is not None]
    return Step(
        calls=[_call(span, actors) for span in spans],
        tokens=model.tokens if model else None,
        seconds=(max(ends) - min(starts)) / 1e9 if starts and ends else None,
    )


def _call(span: Span, actors: Actors) -> Call:
    if actors.role(span) != "search":
        # what a tool searches for within itself is told by its own spans
        within = any(actors.role(each) == "search" for each in actors.forest.below(span))
        return Call(tool=span.name, arguments=span.arguments, search=False if within else None)
    copies = [span, *(each for each in actors.forest.below(span) if actors.role(each) == "search")]
    return Call(
        tool=span.name,
        arguments=next((each.arguments for each in copies if each.arguments), None),
        output=output_of(span, actors),
        id=span.call,
        failed=span.failed,
        search=True,
    )


def _question(forest: Forest, actors: Actors) -> str | None:
    """What the user wrote: the input of a root, else of the first call of a model, else of a root that searches."""
    for span in (*forest.roots, *actors.models, *forest.outward()):
        if span.question:
            return span.question
    return next((found for span in forest.roots if (found := asked(span.arguments))), None)
