"""The results of a search that was recorded several times: those of the copy that tells most."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from judged.tables.sessions import Result
from judged.traces.results.fields import result_of
from judged.traces.results.search_tools import Unparsed
from judged.traces.spans.actors import Actors
from judged.traces.spans.span import Span

__all__ = ["output_of"]

_Telling = tuple[int, int]
"""How many results, and how many of their fields are filled."""


def output_of(span: Span, actors: Actors) -> Any:
    """What a search gave back, from whichever span on its path has most results, then most of their fields.

    Where it searched in several places at once, what it gave back itself counts, or else all of theirs in turn.
    """
    told = actors.known.told(span.name)
    if told is not None and (told.results or told.whole or told.fields) and span.outputs:
        return span.outputs[0]  # the user said where the results lie in this very output
    searches = [span, *(each for each in actors.forest.below(span) if actors.role(each) == "search")]
    found: dict[str, Any] = {}
    for each in reversed(searches):  # the innermost first
        found[each.id] = _chosen(each, [found[copy.id] for copy in _copies(each, actors)], actors)
    return found[span.id]


def _chosen(span: Span, inner: list[Any], actors: Actors) -> Any:
    """The output of a span, or of the searches beneath it."""
    own = _richest(list(span.outputs), span, actors)
    told = [each for each in inner if each is not UNSET]
    if len(inner) < 2:
        return _richest([each for each in (own, *told) if each is not UNSET], span, actors)
    if not told or _telling(own, span, actors) > (0, 0):
        return own
    return [value for each in told for value in _values(each, span, actors)]


def _copies(span: Span, actors: Actors) -> list[Span]:
    """The searches beneath a search, without those beneath them."""
    return actors.forest.nearest(span, lambda each: actors.role(each) == "search")


def _richest(outputs: list[Any], span: Span, actors: Actors) -> Any:
    """The output that tells most, the first of several such; UNSET where there is none."""
    if len(outputs) < 2:
        return outputs[0] if outputs else UNSET
    return max(outputs, key=lambda each: _telling(each, span, actors))


def _telling(output: Any, span: Span, actors: Actors) -> _Telling:
    results = [
        found for value in _values(output, span, actors) if isinstance(found := result_of(value), Result)
    ]
    return len(results), sum(
        getattr(each, name) is not None for each in results for name in Result.__struct_fields__
    )


def _values(output: Any, span: Span, actors: Actors) -> list[Any]:
    """The values of the results in an output; none where it cannot be read."""
    if output is UNSET:
        return []
    try:
        groups = actors.known.found(span.name, output, [])
    except Unparsed:
        return []
    return [value for _, values in groups for value in values]
