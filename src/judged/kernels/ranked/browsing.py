"""User models: how far a reader goes down a list, and what the reader gains on the way.

Three equivalent sequences describe a browsing model (C/W/L): C, the probability of continuing from each rank; W, the
share of all views that falls on it; L, the probability of stopping there. Here C is given and the rest follows from
it. The cascade of ERR and the persistence of RBP are here too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Floats, Ints
from judged.kernels.elementary import log2, powers
from judged.kernels.ranked.gains import LARGEST_EXPONENT, Gain, gain_ratio, grade_gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import divide, segment_cumprod_before, segment_max, segment_sum

Continuation: TypeAlias = Callable[[Floats, Floats, Floats], Floats]
"""The probability of continuing, from the ranks (a row), the gains there, and the cumulated gains (rows of queries)."""
ROUNDING = 1e-9
"""Difference within which a limit of BPM that has moved counts as reached."""
ReaderModel: TypeAlias = Literal["rbp", "insq", "inst", "bpm", "sdcg", "nerr8", "nerr9", "nerr10", "nerr11"]
"""The measures that have a reader."""

CELLS = 262_144
"""The number of ranks processed at once, over all queries, so that the work stays in the cache."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A browsing model: when the reader continues, and the depth at which every reader stops."""

    continuation: Continuation
    depth: int


@dataclass(frozen=True, slots=True)
class BrowsingOutcome:
    """Gain of a reader from the results of every query, and the number of results viewed."""

    gain: Floats
    """The expected total gain (ETU)."""
    viewed: Floats
    """The expected number of results viewed (ED); at a cost of 1 per result also the expected cost (ETC)."""

    @property
    def rate(self) -> Floats:
        """The expected gain per result viewed (EU)."""
        return divide(self.gain, self.viewed)


def browse(ranking: Ranking, share: Floats, reader: Reader, *, unjudged: float = 0.0) -> BrowsingOutcome:
    """Return the outcome for a reader to whom judged documents are worth `share` and all others `unjudged`.

    All others are the unjudged results, those with a negative grade, and the ranks below the last result.
    """
    rows = max(CELLS // reader.depth, 1)
    gain, viewed = np.zeros(len(ranking)), np.zeros(len(ranking))
    for first in range(0, len(ranking), rows):
        last = min(first + rows, len(ranking))
        gains, reached = reader_reach(ranking, share, reader, first, last, unjudged=unjudged)
        gain[first:last] = (reached * gains).sum(axis=1)
        viewed[first:last] = reached.sum(axis=1)
    return BrowsingOutcome(gain, viewed)


def reader_reach(
    ranking: Ranking, share: Floats, reader: Reader, first: int, last: int, *, unjudged: float = 0.0
) -> tuple[Floats, Floats]:
    """Return the gain at every rank and the probability of reaching it, in a row per query `first` to `last` − 1."""
    owned = slice(int(ranking.offset[first]), int(ranking.offset[last]))
    rank, grade, value = ranking.rank[owned], ranking.grade[owned], share[owned]
    known = (rank <= reader.depth) & (grade >= 0)
    gains = np.full((last - first, reader.depth), unjudged)
    gains[ranking.query[owned][known] - first, rank[known] - 1] = value[known]
    ranks = np.arange(1.0, reader.depth + 1)
    continuing = np.broadcast_to(reader.continuation(ranks, gains, np.cumsum(gains, axis=1)), gains.shape)
    reached = np.ones_like(gains)
    np.cumprod(continuing[:, :-1], axis=1, out=reached[:, 1:])
    return gains, reached


def gain_share(ranking: Ranking, gain: Gain = "linear", max_grade: float | None = None) -> Floats:
    """Return the gain of every retrieved judged document as a share of the highest grade's; at most 1."""
    top = np.array(max(ranking.highest if max_grade is None else max_grade, 0.0))
    return gain_ratio(ranking.grade, top, gain)


def rbp_reader(p: float, depth: int) -> Reader:
    """Return the reader of RBP, who continues with the same probability everywhere."""
    return Reader(lambda _rank, _gain, _total: np.array(p), depth)


def insq_reader(T: float, depth: int) -> Reader:
    """Return the reader of INSQ, who is more likely to continue the more results have been viewed."""
    return Reader(lambda rank, _gain, _total: _inverse_square(rank + 2.0 * T), depth)


def inst_reader(T: float, depth: int) -> Reader:
    """Return the reader of INST: as INSQ, and less likely to continue the more has been gained."""
    return Reader(lambda rank, _gain, total: _inverse_square(rank + 2.0 * T - total), depth)


def bpm_reader(
    T: float, cutoff: int, hb: float = 0.0, hc: float = 0.0, gain_med: float = 0.5, depth: int = 1000
) -> Reader:
    """Return the reader of BPM, who stops with the gain `T` or after `cutoff` results.

    With `hb` and `hc` both limits move with what has been found.
    """
    # limits that move are sums of shares such as 1/3, which meet the gain exactly in arithmetic and not in floating point
    slack = ROUNDING if hb or hc else 0.0

    def continuation(rank: Floats, gain: Floats, total: Floats) -> Floats:
        surplus = (total - gain) - gain_med * (rank - 1.0)
        wanting, able = total < T + hb * surplus - slack, rank < cutoff + hc * surplus - slack
        return np.where(wanting & able, 1.0, 0.0)

    return Reader(continuation, depth if hc else min(cutoff, depth))


def sdcg_reader(cutoff: int) -> Reader:
    """Return the reader of SDCG, who reaches the first `cutoff` results with the discount of DCG as probability."""
    return Reader(lambda rank, _gain, _total: log2(rank + 1.0) / log2(rank + 2.0), cutoff)


def nerr8_reader(cutoff: int) -> Reader:
    """Return the reader of NERR8, who continues unless satisfied, for `cutoff` results."""
    return Reader(lambda _rank, gain, _total: 1.0 - gain, cutoff)


def nerr9_reader(cutoff: int) -> Reader:
    """Return the reader of NERR9, who continues unless satisfied, the more likely the further down."""
    return Reader(lambda rank, gain, _total: rank / (rank + 1.0) * (1.0 - gain), cutoff)


def nerr10_reader(p: float, depth: int) -> Reader:
    """Return the reader of NERR10, who continues with a fixed probability unless satisfied."""
    return Reader(lambda _rank, gain, _total: p * (1.0 - gain), depth)


def nerr11_reader(T: float, depth: int) -> Reader:
    """Return the reader of NERR11, who continues as the reader of INSQ unless satisfied."""
    return Reader(lambda rank, gain, _total: _inverse_square(rank + 2.0 * T) * (1.0 - gain), depth)


def make_reader(model: ReaderModel, *, p: float, T: float, cutoff: int, depth: int) -> Reader:
    """Return the reader of the named measure, which takes the parameters that it needs."""
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
    """Return the probability of continuing that makes the reach fall with the square of the place.

    Below place 1, where a reader of INST has gained more than expected, it is 0.
    """
    chance: Floats = (np.maximum(place - 1.0, 0.0) / place) ** 2
    return chance


def stop_probability(grade: Floats, highest: float) -> Floats:
    """Return the probability that a grade satisfies a reader: (2^g − 1) / 2^highest, with g at most `highest`."""
    top = max(highest, 0.0)
    kept = np.clip(grade, 0.0, top)
    if top > LARGEST_EXPONENT:  # where 2^top is too large, 2^(g − top) is what the ratio comes to
        return np.where(kept > 0, powers(2.0)(kept - top) - 2.0**-top, 0.0)
    chance: Floats = grade_gains(kept, "exp") / 2.0**top
    return chance


def cascade_reach(stop: Floats, offset: Ints) -> Floats:
    """Return the probability that a reader reaches every result, given the probability of stopping at each."""
    return segment_cumprod_before(1.0 - stop, offset)


def expected_reciprocal_rank(ranking: Ranking, highest: float, cutoff: int | None = None) -> Floats:
    """Return the expected reciprocal of the rank at which a reader of every query stops."""
    term = ranking.cached(
        ("cascade", highest),
        lambda: _cascade(stop_probability(ranking.grade, highest), ranking.rank, ranking.offset),
    )
    return segment_sum(np.where(ranking.within(cutoff), term, 0.0), ranking.offset)


def best_reciprocal_rank(ranking: Ranking, highest: float, cutoff: int | None = None) -> Floats:
    """Return the same for the best order of all judged documents."""
    term = ranking.cached(
        ("best cascade", highest),
        lambda: _cascade(stop_probability(ranking.best, highest), ranking.best_rank, ranking.best_offset),
    )
    near = True if cutoff is None else ranking.best_rank <= cutoff
    return segment_sum(np.where(near, term, 0.0), ranking.best_offset)


def _cascade(stop: Floats, rank: Ints, offset: Ints) -> Floats:
    """Return the probability of stopping at every result, over its rank."""
    return cascade_reach(stop, offset) * stop / rank


def reach_probability(ranking: Ranking, p: float) -> Floats:
    """Return the probability that a reader of RBP reaches every retrieved judged document, p^(rank − 1).

    The powers are computed by repeated multiplication, as in trec_eval, so that both round alike.
    """
    powers = np.cumprod(np.full(int(ranking.rank.max(initial=1)), p))
    chance: Floats = np.concatenate(([1.0], powers))[ranking.rank - 1]
    return chance


def rbp_gain(
    ranking: Ranking,
    rel: float | None = None,
    gain: Literal["linear", "exp", "grade"] | None = None,
    max_grade: float | Literal["query"] | None = None,
) -> Floats:
    """Return what every retrieved judged document is worth to the reader of RBP.

    Without `gain`, 1 if it is relevant; with `grade`, the grade of relevant documents; else the gain as a share of
    that of the highest grade, of the collection, of the query (`max_grade="query"`), or given.
    """
    if gain is None:
        return ranking.hits(rel).astype(np.float64)
    if gain == "grade":
        return np.where(ranking.hits(rel), ranking.grade, 0.0)
    if max_grade == "query":
        own = np.maximum(segment_max(np.maximum(ranking.best, 0.0), ranking.best_offset), 1.0)
        top = own[ranking.query]
    else:
        top = np.full(len(ranking.rank), max(ranking.highest if max_grade is None else max_grade, 0.0))
    return gain_ratio(ranking.grade, top, gain)
