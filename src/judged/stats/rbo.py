"""Rank-biased overlap of two rankings, extrapolated, with ties."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from judged.errors import BadSample, UnknownName
from judged.stats.layout import Floats
from judged.stats.rank_agreement import RankAgreement
from judged.stats.ranking_levels import level_of, named_scores

__all__ = ["rank_biased_overlap"]

Ties: TypeAlias = Literal["a", "b", "w"]


def rank_biased_overlap(first: Any, second: Any, *, p: float = 0.9, ties: Ties = "a") -> RankAgreement:
    r"""Rank-biased overlap: how much two rankings share, depth by depth, the top weighing most.

    $$\mathrm{RBO} = \frac{1 - p}{p} \sum_{d=1}^{\infty} p^d A_d, \qquad A_d = \frac{\sum_i c_{id}\, c'_{id}}{n_d}$$

    with $c_{id}$ the part of system $i$ that is among the first $d$, and $A$ held beyond the end of the rankings as
    extrapolation demands (RBO_EXT). Rankings are given by scores, highest first, as mappings from system to score, which
    may be of different systems, or sequences in one order. `ties` says what ties mean, after Corsi and Urbano:

    - `a`: an order not known; RBO is its mean over all orders ($c$ grows evenly over the group's ranks, $n_d = d$);
    - `b`: the same, corrected for what ties hide, so that a ranking agrees fully with itself
      ($n_d = \sqrt{\sum_i c_{id}^2 \sum_i c_{id}'^2}$);
    - `w`: systems that are truly equal, all at the group's first rank, as Webber and others have it
      ($n_d$ the mean of how many systems there are in either).

    Without ties all three are the same.

    Example:
        >>> first, second = {"a": 3, "b": 2, "c": 1}, {"a": 3, "b": 1, "c": 1}
        >>> [round(rank_biased_overlap(first, second, p=0.8, ties=ties).value, 4) for ties in "abw"]
        [0.96, 0.9786, 0.968]

    References:
        Webber, Moffat and Zobel. A similarity measure for indefinite rankings. TOIS 28(4), 2010.
        doi:10.1145/1852102.1852106
        Corsi and Urbano. The treatment of ties in rank-biased overlap. SIGIR 2024. doi:10.1145/3626772.3657700
    """
    _check(p, ties)
    a, b = named_scores(first, "the first ranking"), named_scores(second, "the second ranking")
    shorter, longer = sorted((a, b), key=len)
    systems = list(dict.fromkeys([*shorter, *longer]))
    parts = [_contributions(each, systems, len(longer), ties) for each in (shorter, longer)]
    agreement, last = _agreements(*parts, seen=len(shorter), ties=ties)
    weights = p ** np.arange(1, len(longer) + 1)
    value = (1 - p) / p * float((agreement * weights).sum()) + last * p ** len(longer)
    return RankAgreement(f"RBO^{ties}", value, len(systems))


def _check(p: float, ties: str) -> None:
    if not 0 < p < 1:
        msg = f"the persistence `p` is {p}, expected a number between 0 and 1"
        raise BadSample(msg, hint="0.9 looks at about ten systems")
    if ties not in get_args(Ties):
        raise UnknownName("treatment of ties", ties, get_args(Ties))


def _contributions(scores: dict[Any, float], systems: list[Any], depth: int, ties: Ties) -> Floats:
    """How much of each system (row) is among the first d (column d − 1) of a ranking; 0 if it is not in it."""
    levels = level_of(list(scores.values()))
    size = np.bincount(levels)
    top = (len(levels) - np.cumsum(size) + 1)[levels]
    reached = np.arange(1, depth + 1) - top[:, None] + 1
    ramp = 1 if ties == "w" else size[levels][:, None]
    found = np.zeros((len(systems), depth))
    place = {system: row for row, system in enumerate(systems)}
    found[[place[system] for system in scores]] = np.clip(reached / ramp, 0, 1)
    return found


def _agreements(short: Floats, long: Floats, *, seen: int, ties: Ties) -> tuple[Floats, float]:
    """The agreement at every depth, extrapolated beyond the shorter ranking, and the one held for ever after."""
    depth = np.arange(1.0, long.shape[1] + 1)
    unseen = np.maximum(
        depth - seen, 0
    )  # how many systems of the shorter ranking are not known at each depth
    overlap = (short * long).sum(axis=0)
    held = (overlap / _sizes(short, long, depth, unseen, ties))[seen - 1]
    overlap = overlap + unseen * held * _mean_part(long[short[:, -1] == 0])
    last = overlap[-1] / depth[-1]
    return overlap / _sizes(short, long, depth, unseen, ties), float(last)


def _mean_part(parts: Floats) -> Floats:
    """At each depth, the mean of the contributions that are more than 0; 0 where there are none."""
    count = (parts > 0).sum(axis=0)
    mean: Floats = parts.sum(axis=0) / np.maximum(count, 1)
    return mean


def _sizes(short: Floats, long: Floats, depth: Floats, unseen: Floats, ties: Ties) -> Floats:
    """What the overlap is divided by; systems not known count as untied."""
    if ties == "a":
        return depth
    if ties == "w":
        found: Floats = (short.sum(axis=0) + unseen + long.sum(axis=0)) / 2
        return found
    root: Floats = np.sqrt(((short**2).sum(axis=0) + unseen) * (long**2).sum(axis=0))
    return root
