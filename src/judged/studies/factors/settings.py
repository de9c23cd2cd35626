"""Settings that a study tunes: where they are in a system or its parts, the values they may take, and what searches them.

A place is a path of names: `rerank.diversity`, or `words.search.k1` in the system `words`, which this one consists of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
import numpy as np

from judged.arrays import Floats
from judged.errors import BadProtocol, UnknownName
from judged.studies.fusion.tuning import move_swarm

Scalar: TypeAlias = str | int | float | bool
Values: TypeAlias = tuple[Scalar, ...]
"""A value for each tuned setting; none at all: the settings as they are written."""
Score: TypeAlias = Callable[[Values], float]
"""Returns the training score of values; higher is better."""

MOST_TRIALS = 5_000
"""Combinations of values that a grid may have."""


class RangeSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The numbers between two."""

    low: float = msgspec.field(name="from")
    high: float = msgspec.field(name="to")
    whole: bool = False
    """Whether only whole numbers are tried."""
    scale: Literal["linear", "log"] = "linear"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            msg = f"goes from {self.low:g} to {self.high:g}, expected a smaller and a larger number"
            raise ValueError(msg)
        if self.scale == "log" and self.low <= 0:
            msg = f"goes from {self.low:g} on a log scale, expected a number above 0"
            raise ValueError(msg)

    def at(self, share: float) -> Scalar:
        """Return the number at a share of the way, with six significant digits, which no training set tells apart."""
        if self.scale == "log":
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + share * (self.high - self.low)
        value = min(max(float(f"{value:.6g}"), self.low), self.high)
        return round(value) if self.whole else value


class TuneSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of a system that are chosen on training queries.

    Without training queries of the study, queries are dealt into folds, and each is answered with the settings that were
    chosen on the other folds, so that no query is scored with settings that it helped to choose.
    """

    settings: dict[str, tuple[Scalar, ...] | RangeSpec]
    """The values of each setting, by its place in the system, or in one that it consists of: `words.search.k1`."""
    search: Literal["grid", "random", "swarm"] = "grid"
    measure: str | None = None
    """By default the first measure of the study."""
    steps: Annotated[int, msgspec.Meta(ge=2)] = 5
    """Number of values of a range that a grid tries."""
    trials: Annotated[int, msgspec.Meta(ge=1)] = 50
    """Number of combinations that a random search tries."""
    particles: Annotated[int, msgspec.Meta(ge=1)] = 16
    iterations: Annotated[int, msgspec.Meta(ge=1)] = 20
    folds: Annotated[int, msgspec.Meta(ge=2)] = 5

    def __post_init__(self) -> None:
        empty = [place for place, values in self.settings.items() if values == ()]
        if not self.settings or empty:
            place = f"`settings.{empty[0]}`" if empty else "`settings`"
            msg = f"{place} is empty, expected values to choose from"
            raise ValueError(msg)
        count = prod(len(some) for some in self._lists())
        if self.search == "grid" and count > MOST_TRIALS:
            msg = f"the grid has {count:,} combinations, expected {MOST_TRIALS:,} or fewer; `search: random` or `swarm` take more"
            raise ValueError(msg)

    def find(self, score: Score, seed: int) -> Values:
        """Return the values of the highest score; those as they are written, unless others are better."""
        written: Values = ()
        if self.search == "swarm":
            candidates = [self._search_by_swarm(score, seed)]
        else:
            candidates = list(self._list_points(seed))
        return max([written, *candidates], key=score)

    def _lists(self) -> list[list[Scalar]]:
        """Return the values of each setting that a grid tries."""
        return [
            list(dict.fromkeys(some.at(step / (self.steps - 1)) for step in range(self.steps)))
            if isinstance(some, RangeSpec)
            else list(some)
            for some in self.settings.values()
        ]

    def _list_points(self, seed: int) -> Iterator[Values]:
        if self.search == "grid":
            yield from product(*self._lists())
            return
        rng = np.random.default_rng(seed)
        drawn = (self._point(rng.random(len(self.settings))) for _ in range(20 * self.trials))
        # a small space has fewer points than trials
        yield from islice(_unique(drawn), self.trials)

    def _search_by_swarm(self, score: Score, seed: int) -> Values:
        rng = np.random.default_rng(seed)
        start = rng.random((self.particles, len(self.settings)))
        best = move_swarm(
            lambda place: score(self._point(place)),
            start,
            lambda place: np.clip(place, 0.0, 1.0),
            self.iterations,
            rng,
        )
        return self._point(best)

    def _point(self, place: Floats) -> Values:
        """Return the values at a point of the unit cube."""
        return tuple(
            some.at(float(share))
            if isinstance(some, RangeSpec)
            else some[min(int(share * len(some)), len(some) - 1)]
            for some, share in zip(self.settings.values(), place, strict=True)
        )


def _unique(points: Iterator[Values]) -> Iterator[Values]:
    seen: set[Values] = set()
    for point in points:
        if point not in seen:
            seen.add(point)
            yield point


def find_owner(place: str, names: Mapping[str, str], own: Sequence[str]) -> tuple[str | None, str]:
    """Return the part that a place begins with, None for the system itself, and the rest of the place.

    `names` has the names by which each part may be called, and `own` the settings of systems.

    >>> find_owner("words.search.k1", {"words": "words"}, ["search"])
    ('words', 'search.k1')
    """
    if place.partition(".")[0] in own:
        return None, place
    # names may have dots: the longest one that fits
    for name in sorted(names, key=len, reverse=True):
        rest = place.removeprefix(f"{name}.")
        if rest != place and rest.partition(".")[0] in own:
            return names[name], rest
    known = [*own, *(f"{name}." for name in names)]
    raise UnknownName(
        "setting to tune", place, known, hint="such as `search.k1`, or `words.search.k1` of a part"
    )


def put_setting(content: dict[str, object], place: str, value: Scalar) -> None:
    """Set a value within the settings of a system; a stage that is written as its type alone gets settings."""
    *path, last = place.split(".")
    holder: Any = content  # dicts and lists as they come
    for at, word in enumerate(path):
        key = _find_key(holder, word, place)
        inner = holder.get(key) if isinstance(holder, dict) else holder[key]
        if inner is None and at == 0:
            msg = f"`{place}` cannot be tuned: the system has no `{word}`"
            raise BadProtocol(msg)
        # a fusion may have neither weights nor parameters
        inner = {"type": inner} if isinstance(inner, str) else {} if inner is None else inner
        holder[key] = inner
        holder = inner
    holder[_find_key(holder, last, place)] = value


def _find_key(holder: object, word: str, place: str) -> str | int:
    """Return the key of a dict, or the number of an item of a list."""
    if isinstance(holder, dict):
        return word
    if isinstance(holder, list) and word.isdecimal() and int(word) < len(holder):
        return int(word)
    msg = f"`{place}` cannot be tuned: there is no `{word}`"
    raise BadProtocol(msg, hint="name an item of a list by its number, such as `rerank.0.diversity`")
