"""Browsing (C/W/L): a reader goes on from each result with a chance, and gains from what is looked at.

Three sequences say the same thing: C, the chance of going on from each rank; W, the share of all looks that
falls on it; L, the chance of stopping there. Here C is given, and everything else follows from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from judged.kernels.ranked.gains import Gain, worth
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide

__all__ = ["Browsed", "Continuation", "Reader", "browse", "gain_share"]

Continuation: TypeAlias = Callable[[Floats, Floats, Floats], Floats]
"""The chance of going on: from ranks (a row), gains there, and gains up to and with them (rows of queries)."""

CELLS = 262_144
"""How many ranks are followed at once, over all queries, so that the work stays in the cache."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A way of going through results: when to go on, and after how many results to stop in any case."""

    goes_on: Continuation
    depth: int


@dataclass(frozen=True, slots=True)
class Browsed:
    """What a reader meets with in the results of each query."""

    gain: Floats
    """The expected gain, all together (ETU)."""
    looked: Floats
    """The expected number of results looked at (ED); with a cost of 1 each, also the expected cost (ETC)."""

    @property
    def rate(self) -> Floats:
        """The expected gain for each result looked at (EU)."""
        return divide(self.gain, self.looked)


def browse(ranking: Ranking, share: Floats, reader: Reader, *, unjudged: float = 0.0) -> Browsed:
    """What the reader meets with, where judged documents bring `share` and all others `unjudged`.

    All others are the unjudged results, those with a negative grade, and what lies beyond the last result.
    """
    each = max(CELLS // reader.depth, 1)
    blocks = [
        _followed(
            _gains(ranking, share, first, min(first + each, len(ranking)), reader.depth, unjudged), reader
        )
        for first in range(0, len(ranking), each)
    ]
    gain, looked = (
        (np.concatenate(parts) for parts in zip(*blocks, strict=True)) if blocks else (np.zeros(0),) * 2
    )
    return Browsed(gain, looked)


def gain_share(ranking: Ranking, gain: Gain = "linear", max_grade: float | None = None) -> Floats:
    """The gain of each retrieved judged document as a share of the highest grade's; 1 for grades above it."""
    top = np.array(max(ranking.highest if max_grade is None else max_grade, 0.0))
    return divide(worth(np.minimum(ranking.grade, top), gain), worth(top, gain))


def _gains(ranking: Ranking, share: Floats, first: int, last: int, depth: int, unjudged: float) -> Floats:
    """The gains of the queries from `first` to before `last`, a row each, rank by rank."""
    owned = slice(int(ranking.offset[first]), int(ranking.offset[last]))
    rank, grade, value = ranking.rank[owned], ranking.grade[owned], share[owned]
    known = (rank <= depth) & (grade >= 0)
    gains = np.full((last - first, depth), unjudged)
    gains[ranking.query[owned][known] - first, rank[known] - 1] = value[known]
    return gains


def _followed(gains: Floats, reader: Reader) -> tuple[Floats, Floats]:
    """The gain and the looks of each row: a result counts as far as the reader gets to it."""
    rank = np.arange(1.0, gains.shape[1] + 1)
    going_on = np.broadcast_to(reader.goes_on(rank, gains, np.cumsum(gains, axis=1)), gains.shape)
    reached = np.ones_like(gains)
    np.cumprod(going_on[:, :-1], axis=1, out=reached[:, 1:])
    return (reached * gains).sum(axis=1), reached.sum(axis=1)
