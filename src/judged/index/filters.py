"""Filters: what vectors are filtered by, as whole numbers, and the conditions that users write.

Engines filter by whole numbers alone. Texts and fractions become the place of their value among all values, in order, and a
tag becomes a column of 0 and 1, so that every engine can be asked for every condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadProtocol, UnknownName
from judged.index.engine import Filter
from judged.index.vectors import Tags, Vectors

LADDER = "judged_rank"
"""The attribute that a ladder of selectivities filters by: the ranks of a random order."""
REGION = "judged_place"
"""The attribute of filters that are correlated with queries: the ranks along the direction in which vectors vary most."""
SAMPLE = 10_000
"""Vectors from which that direction is found."""

Side: TypeAlias = Literal["inside", "outside"]
_NUMBER = r"[-+]?+(?:\d++\.?+\d*+|\.\d++)(?:e[-+]?+\d++)?+"
_CONDITION = re.compile(
    rf"(?:(?P<low>{_NUMBER})\s*+(?P<low_operator><=?+)\s*+)?(?P<name>\w++)\s*+(?P<operator><=?+|>=?+|==?+|:)(?P<value>.++)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Meaning:
    """What a text means: the condition, and the columns that an engine needs for it."""

    filter: Filter
    columns: Mapping[str, Ints]


def draw_ladder(count: int, seed: int) -> NDArray[np.int64]:
    """Return the ranks of a random order, so that `rank < n` is met by n vectors."""
    return np.random.default_rng([seed, 1]).permutation(count).astype(np.int64)


def find_direction(vectors: Vectors, seed: int) -> Floats:
    """Return the direction in which the vectors vary most."""
    rows = np.random.default_rng([seed, 5]).permutation(len(vectors))[:SAMPLE]
    sample = _to_numbers(vectors, rows)
    direction: Floats = np.linalg.eigh(np.cov(sample, rowvar=False).reshape(sample.shape[1], -1))[1][:, -1]
    # an eigenvector has no sign of its own
    return np.asarray(direction * np.sign(direction[np.abs(direction).argmax()]))


def project(vectors: Vectors, direction: Floats) -> Floats:
    """Return how far the vectors reach along a direction."""
    parts = [
        _to_numbers(vectors, np.arange(first, min(first + SAMPLE, len(vectors)))) @ direction
        for first in range(0, len(vectors), SAMPLE)
    ]
    return np.concatenate(parts)


def _to_numbers(vectors: Vectors, rows: Ints) -> Floats:
    array = vectors.array[rows]
    bits = np.unpackbits(array.view(np.uint8), axis=1) if vectors.bits else array
    return np.asarray(bits, dtype=np.float64)


def find_columns(texts: tuple[str, ...], vectors: Vectors, seed: int) -> dict[str, Ints]:
    """Return the columns that the filters ask for: what an engine has to store beside the vectors."""
    columns: dict[str, Ints] = {}
    for text in texts:
        columns |= read_filter(text, vectors, seed).columns
    return columns


def make_filter(text: str, vectors: Vectors, seed: int) -> Filter:
    """Return the condition that a text means, with the ids of the vectors that meet it."""
    return read_filter(text, vectors, seed).filter


def read_filter(text: str, vectors: Vectors, seed: int) -> Meaning:
    """Return what a text means: conditions joined by `&`, each a share, a region of a share, or one of an attribute.

    `0.01`, `region:0.1`, `price<20`, `10<=price<20`, `colour==red & price<20`, and `tags==new` for lists of tags.
    """
    conditions: list[Filter] = []
    columns: dict[str, Ints] = {}
    for part in text.split("&"):
        for field, operator, value, column in _read_part(part.strip(), text, vectors, seed):
            conditions.append(Filter(field, operator, value))
            columns[field] = column
    first, *others = conditions
    whole = Filter(first.field, first.operator, first.value, also=tuple(others))
    ids = np.flatnonzero(whole.matches(columns)).astype(np.int64)
    if not len(ids):
        msg = f"no vector meets the filter `{text}`"
        raise BadProtocol(msg)
    return Meaning(Filter(first.field, first.operator, first.value, ids, tuple(others)), columns)


_Part: TypeAlias = tuple[str, Literal["<", "==", ">="], int, Ints]


def _read_part(part: str, text: str, vectors: Vectors, seed: int) -> Iterator[_Part]:
    """Yield the conditions of a part, each with its column."""
    share, region = _read_share(part)
    if share is not None:
        if not 0 < share <= 1:
            msg = f"the filter is a share of {share:g}, expected one above 0 and at most 1"
            raise BadProtocol(msg)
        count = max(1, round(share * len(vectors)))
        if region:
            yield REGION, "<", count, _rank(project(vectors, find_direction(vectors, seed)))
        else:
            yield LADDER, "<", count, draw_ladder(len(vectors), seed)
        return
    matched = _CONDITION.fullmatch(part)
    if matched is None or not matched["value"].strip():
        msg = f"the filter is `{text}`, expected a share such as 0.01, or a condition such as `price<20`"
        raise BadProtocol(
            msg, hint="also 10<=price<20, colour==red, tags==new, region:0.1; & joins conditions"
        )
    name, operator, value = matched["name"], matched["operator"], matched["value"].strip().strip("'\"")
    if name in vectors.tags:
        if operator not in {"=", "=="} or matched["low"]:
            msg = f"the filter is `{text}`, and `{name}` has lists of tags, expected `{name}==TAG`"
            raise BadProtocol(msg)
        yield _read_tag(name, value, vectors.tags[name])
        return
    if name not in vectors.attributes:
        raise UnknownName("attribute of the vectors", name, [*vectors.attributes, *vectors.tags])
    column, values = vectors.attributes[name], vectors.values.get(name)
    yield name, *_bound(operator, value, values, name), column
    if matched["low"]:
        turned = {"<": ">", "<=": ">="}[matched["low_operator"]]
        yield name, *_bound(turned, matched["low"], values, name), column


def _read_share(part: str) -> tuple[float | None, bool]:
    region = part.startswith("region:")
    try:
        return float(part.removeprefix("region:")), region
    except ValueError:
        return None, region


def _read_tag(name: str, value: str, tags: Tags) -> _Part:
    known = [str(tag) for tag in tags.values.tolist()]
    if value not in known:
        kind = f"tag of `{name}`"
        raise UnknownName(kind, value, known)
    place = known.index(value)
    return f"{name}_{place}", "==", 1, tags.has(place).astype(np.int64)


def _bound(
    operator: str, text: str, values: NDArray[np.generic] | None, name: str
) -> tuple[Literal["<", "==", ">="], int]:
    """Return a condition on whole numbers, or on the places of values, that is met by the same rows."""
    if values is not None and values.dtype.kind == "U":
        wanted: object = np.str_(text)
    else:
        wanted = _read_number(text, name)
    if values is None:
        number = float(str(wanted))
        below, through = int(np.ceil(number)), int(np.floor(number)) + 1
    else:
        below, through = (int(np.searchsorted(values, wanted, side=side)) for side in ("left", "right"))  # type: ignore[call-overload]
    if operator in {"=", "==", ":"}:
        if through <= below:
            return "<", -(2**62)  # nothing is equal to a value that is not there
        return "==", below
    if operator in {"<", "<="}:
        return "<", below if operator == "<" else through
    return ">=", below if operator == ">=" else through


def _read_number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        msg = f"the filter compares `{name}` with `{text}`, expected a number, as the attribute has"
        raise BadProtocol(msg) from None


def _rank(values: Floats) -> Ints:
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return ranks


def find_side(text: str, vectors: Vectors, queries: Vectors, seed: int) -> Flags | None:
    """Return which queries are in the region that a filter asks for; None if it asks for none."""
    regions = [part.strip() for part in text.split("&") if part.strip().startswith("region:")]
    if not regions:
        return None
    direction = find_direction(vectors, seed)
    ordered = np.sort(project(vectors, direction))
    count = max(1, round(float(regions[0].removeprefix("region:")) * len(vectors)))
    return np.asarray(project(queries, direction) <= ordered[count - 1])
