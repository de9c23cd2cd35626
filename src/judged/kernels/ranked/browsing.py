"""User models: how far a reader goes down a list, and what the reader gains on the way.

Three equivalent sequences describe a browsing model (C/W/L): C, the probability of continuing from each rank; W, the
share of all views that falls on it; L, the probability of stopping there. Here C is given and the rest follows from
it. The cascade of ERR and the persistence of RBP are also here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from judged.kernels.ranked.gains import Gain, grade_gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, Ints, divide, segment_cumprod_before, segment_sum

__all__ = [
    "BrowsingOutcome",
    "Continuation",
    "Reader",
    "ReaderModel",
    "best_reciprocal_rank",
    "bpm_reader",
    "browse",
    "expected_reciprocal_rank",
    "gain_share",
    "insq_reader",
    "inst_reader",
    "make_reader",
    "nerr8_reader",
    "nerr9_reader",
    "nerr10_reader",
    "nerr11_reader",
    "rbp_reader",
    "reach_probability",
    "sdcg_reader",
    "stop_probability",
]

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
class BrowsingOutcome:
    """What a reader meets with in the results of each query."""

    gain: Floats
    """The expected gain, all together (ETU)."""
    looked: Floats
    """The expected number of results looked at (ED); with a cost of 1 each, also the expected cost (ETC)."""

    @property
    def rate(self) -> Floats:
        """The expected gain for each result looked at (EU)."""
        return divide(self.gain, self.looked)


def browse(ranking: Ranking, share: Floats, reader: Reader, *, unjudged: float = 0.0) -> BrowsingOutcome:
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
    return BrowsingOutcome(gain, looked)


def gain_share(ranking: Ranking, gain: Gain = "linear", max_grade: float | None = None) -> Floats:
    """The gain of each retrieved judged document as a share of the highest grade's; 1 for grades above it."""
    top = np.array(max(ranking.highest if max_grade is None else max_grade, 0.0))
    return divide(grade_gains(np.minimum(ranking.grade, top), gain), grade_gains(top, gain))


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


ReaderModel: TypeAlias = Literal["rbp", "insq", "inst", "bpm", "sdcg", "nerr8", "nerr9", "nerr10", "nerr11"]
"""The measures whose readers are known here."""


def rbp_reader(p: float, depth: int) -> Reader:
    """Goes on with the same chance everywhere (RBP)."""
    return Reader(lambda _rank, _gain, _total: np.array(p), depth)


def insq_reader(T: float, depth: int) -> Reader:
    """Goes on the more readily the more results have been looked at (INSQ)."""
    return Reader(lambda rank, _gain, _total: _inverse_square(rank + 2.0 * T), depth)


def inst_reader(T: float, depth: int) -> Reader:
    """The same, and the less readily the more has been gained (INST)."""
    return Reader(lambda rank, _gain, total: _inverse_square(rank + 2.0 * T - total), depth)


def bpm_reader(
    T: float, cutoff: int, hb: float = 0.0, hc: float = 0.0, gain_med: float = 0.5, depth: int = 1000
) -> Reader:
    """Stops with the gain `T` or after `cutoff` results; both move with what is found, if told to (BPM)."""

    def goes_on(rank: Floats, gain: Floats, total: Floats) -> Floats:
        surplus = (total - gain) - gain_med * (rank - 1.0)
        wanting, able = total < T + hb * surplus, rank < cutoff + hc * surplus
        return np.where(wanting & able, 1.0, 0.0)

    return Reader(goes_on, depth if hc else min(cutoff, depth))


def sdcg_reader(cutoff: int) -> Reader:
    """Reaches each of the first `cutoff` results with the chance that is its discount in DCG (SDCG)."""
    return Reader(lambda rank, _gain, _total: np.log2(rank + 1.0) / np.log2(rank + 2.0), cutoff)


def nerr8_reader(cutoff: int) -> Reader:
    """Goes on unless satisfied, for `cutoff` results (NERR8)."""
    return Reader(lambda _rank, gain, _total: 1.0 - gain, cutoff)


def nerr9_reader(cutoff: int) -> Reader:
    """Goes on unless satisfied, the more readily the further down (NERR9)."""
    return Reader(lambda rank, gain, _total: rank / (rank + 1.0) * (1.0 - gain), cutoff)


def nerr10_reader(p: float, depth: int) -> Reader:
    """Goes on unless satisfied, and then with a fixed chance (NERR10)."""
    return Reader(lambda _rank, gain, _total: p * (1.0 - gain), depth)


def nerr11_reader(T: float, depth: int) -> Reader:
    """Goes on unless satisfied, and then as the reader of INSQ (NERR11)."""
    return Reader(lambda rank, gain, _total: _inverse_square(rank + 2.0 * T) * (1.0 - gain), depth)


def make_reader(model: ReaderModel, *, p: float, T: float, cutoff: int, depth: int) -> Reader:
    """The reader of the measure of that name; each takes what it needs of the parameters."""
    readers = {
        "rbp": lambda: rbp_reader(p, depth),
        "insq": lambda: insq_reader(T, depth),
        "inst": lambda: inst_reader(T, depth),
        "bpm": lambda: bpm_reader(T, cutoff, depth=depth),
        "sdcg": lambda: sdcg_reader(cutoff),
        "nerr8": lambda: nerr8_reader(cutoff),
        "nerr9": lambda: nerr9_reader(cutoff),
        "nerr10": lambda: nerr10_reader(p, depth),
        "nerr11": lambda: nerr11_reader(T, depth),
    }
    return readers[model]()


def _inverse_square(place: Floats) -> Floats:
    """The chance of going on that makes the chance of being reached fall with the square of the place.

    Below 1, where a modest reader of INST has more than was wanted, there is no chance left.
    """
    chance: Floats = (np.maximum(place - 1.0, 0.0) / place) ** 2
    return chance


def stop_probability(grade: Floats, highest: float) -> Floats:
    """The chance that a reader is satisfied by each grade: (2^g − 1) / 2^highest, grades above it as it."""
    top = max(highest, 0.0)
    chance: Floats = (np.exp2(np.clip(grade, 0.0, top)) - 1.0) / np.exp2(top)
    return chance


def expected_reciprocal_rank(ranking: Ranking, highest: float, cutoff: int | None = None) -> Floats:
    """The mean of one over the rank at which a reader of each query's results stops."""
    term = ranking.cached(
        ("cascade", highest),
        lambda: _cascade(stop_probability(ranking.grade, highest), ranking.rank, ranking.offset),
    )
    return segment_sum(np.where(ranking.within(cutoff), term, 0.0), ranking.offset)


def best_reciprocal_rank(ranking: Ranking, highest: float, cutoff: int | None = None) -> Floats:
    """The same for the best order of all judged documents."""
    term = ranking.cached(
        ("best cascade", highest),
        lambda: _cascade(stop_probability(ranking.best, highest), ranking.best_rank, ranking.best_offset),
    )
    near = True if cutoff is None else ranking.best_rank <= cutoff
    return segment_sum(np.where(near, term, 0.0), ranking.best_offset)


def _cascade(stop: Floats, rank: Ints, offset: Ints) -> Floats:
    """The chance of stopping at each result, over its rank."""
    return segment_cumprod_before(1.0 - stop, offset) * stop / rank


def reach_probability(ranking: Ranking, p: float) -> Floats:
    """The chance that the reader reaches each retrieved judged document, p to the power of the ranks above it.

    The powers are made by multiplying on, rank by rank, as trec_eval makes them, so that both round alike.
    """
    powers = np.cumprod(np.full(int(ranking.rank.max(initial=1)), p))
    chance: Floats = np.concatenate(([1.0], powers))[ranking.rank - 1]
    return chance
