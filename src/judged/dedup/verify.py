"""Phase two: whether two results that share a key are the same, field by field."""

from __future__ import annotations

from typing import NamedTuple

from judged.dedup.keys import Keys
from judged.dedup.rules import Unit, Weights
from judged.dedup.text import related

__all__ = ["Fields", "compare", "confidence", "vetoes"]


class Fields(NamedTuple):
    """Whether two results agree in each field: True, False, or None where they cannot be compared."""

    domain: bool | None
    generic: bool | None
    url: bool | None
    loose_url: bool | None
    title: bool | None
    text: bool | None


def compare(one: Keys, other: Keys) -> Fields:
    """The two results field by field; ids are comparable within one domain, or one tool."""
    same = _equal(one.id, other.id) if one.space == other.space else None
    domain = one.space is not None and one.space.startswith("domain:")
    mine, theirs = one.text, other.text
    return Fields(
        domain=same if domain else None,
        generic=None if domain else same,
        url=_equal(one.url, other.url),
        loose_url=_equal(one.loose_url, other.loose_url),
        title=_equal(one.title, other.title),
        text=None if mine is None or theirs is None else related(mine, theirs),
    )


def vetoes(fields: Fields, unit: Unit) -> tuple[str, ...]:
    """The names of the fields whose disagreement makes two results of them, whatever else agrees."""
    if unit == "strict":
        return tuple(
            name for name in ("domain", "generic", "url", "title", "text") if getattr(fields, name) is False
        )
    against = {
        "domain": fields.domain is False,
        "generic": fields.generic is False and not (fields.title and fields.text),
        "title": fields.title is False and not fields.url,
        "text": fields.text is False and unit == "passage",
    }
    return tuple(name for name, veto in against.items() if veto)


def confidence(fields: Fields, weights: Weights) -> float:
    """The sum of the weights of what agrees, at most 1."""
    said = weights.domain * bool(fields.domain) + weights.generic * bool(fields.generic)
    said += weights.url if fields.url else weights.loose_url * bool(fields.loose_url)
    said += weights.title * bool(fields.title) + weights.text * bool(fields.text)
    return min(1.0, round(said, 9))  # rounded, so that .1 + .5 reaches .6


def _equal(one: str | None, other: str | None) -> bool | None:
    return None if one is None or other is None else one == other
