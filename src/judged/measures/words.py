"""The parts of a text that names measures: cut at spaces and commas, then into name, parameters and numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from judged.errors import BadMeasure, UnknownName

__all__ = ["WRITTEN", "Words", "parameters_within", "split_measures", "unknown_measure", "words_of"]

_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
WRITTEN = re.compile(
    rf"""(?P<name>[A-Za-z0-9_αΑ-]+?)
         (?:\((?P<inside>.*)\))?
         (?:(?P<mark>@|_at_|[_.])(?P<numbers>{_NUMBER}(?:,{_NUMBER})*))?
         (?:-l(?P<level>[0-9]+))?""",
    re.VERBOSE | re.DOTALL,
)
_NEXT = re.compile(rf",\s*(?!{_NUMBER}(?:,|\s|$))|\s")
"""What stands between two measures of one string: a space, or a comma that no further cutoff follows."""


@dataclass(frozen=True, slots=True)
class Words:
    """The parts of a text that names a measure, before anyone has said what they mean."""

    name: str
    inside: Mapping[str, object] = field(default_factory=dict)
    """The parameters between brackets."""
    mark: str = ""
    """What stands before the numbers: `@`, `_at_`, `_` or a full stop."""
    numbers: tuple[str, ...] = ()
    level: int | None = None
    """The number after `-l`."""


def words_of(text: str) -> Words | None:
    """The parts of a text that has the form of a measure; None where it has another.

    >>> words_of("ndcg@5,10-l2")
    Words(name='ndcg', inside={}, mark='@', numbers=('5', '10'), level=2)
    """
    found = WRITTEN.fullmatch(text.strip())
    if found is None:
        return None
    inside = parameters_within(text, found["inside"]) if found["inside"] else {}
    numbers = tuple(found["numbers"].split(",")) if found["numbers"] else ()
    return Words(
        found["name"], inside, found["mark"] or "", numbers, int(found["level"]) if found["level"] else None
    )


def split_measures(text: str) -> list[str]:
    """The parts of a string that names several measures, cut at spaces and commas outside brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth <= 0 and _NEXT.match(text, place):
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def parameters_within(text: str, inside: str) -> dict[str, object]:
    """The parameters written between the brackets."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        keywords = call.keywords if isinstance(call, ast.Call) and not call.args else []
        values = {str(word.arg): ast.literal_eval(word.value) for word in keywords if word.arg is not None}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        values = {}
    if not values or len(values) != len(keywords):
        msg = f"the parameters of `{text}` cannot be read"
        raise BadMeasure(msg, hint='write them as `name=value`, text in quotes: `nDCG(gain="exp")@10`')
    return values


def unknown_measure(kind: str, name: str, known: Sequence[str], *, example: str) -> UnknownName:
    """The error that no measure of that kind has that name, with the nearest name or where all of them stand."""
    close = get_close_matches(name.lower(), [each.lower() for each in known])
    hint = None if close else f"`judged measures` lists them all; for example `{example}`"
    return UnknownName(kind, name, known, hint=hint)
