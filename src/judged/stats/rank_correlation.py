"""Agreement of two rankings: Kendall's τ, τ_AP, Spearman's ρ, and rank-biased overlap (RBO).

Rankings are given by scores, as mappings from system to score or as sequences in the same order; a higher score is better.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import BadSample, UnknownName
from judged.stats.outcome import Cell, Undefined, as_row
from judged.stats.paired import ROUNDING, check_values

RankingScores: TypeAlias = Mapping[str, float] | Sequence[float] | Floats
Ties: TypeAlias = Literal["a", "b", "w"]

ONE_SYSTEM = Undefined("one system")
ALL_TIED = Undefined("no spread: a ranking ties all systems")
TIED_TRUTH = Undefined("the true ranking has ties; `tau_ap_b` allows them")


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """A coefficient by its name, and the number of systems ranked."""

    name: str
    value: float | Undefined
    """From −1 (reversed) to 1 (the same ranking); RBO from 0 (nothing in common)."""
    systems: int

    def rows(self) -> list[dict[str, Cell]]:
        """Return one dict, an undefined number as its text."""
        return [as_row(self)]


def kendall_tau(first: RankingScores, second: RankingScores) -> RankAgreement:
    r"""Return Kendall's τ_b: pairs of systems in the same order less those in reverse, corrected for ties in either.

    $$\tau_b = \frac{C - D}{\sqrt{(N - T_1)(N - T_2)}}$$

    with $N$ pairs of which $C$ are ordered alike, $D$ in reverse, and $T_1$, $T_2$ tied in each ranking. Rankings are
    given by scores, as mappings from system to score or sequences in the same order; a higher score is better. Scores
    that differ by rounding alone are tied. τ_b is undefined for one system, and for a ranking that ties all.

    Example:
        >>> kendall_tau({"a": 0.3, "b": 0.2, "c": 0.1}, {"a": 0.9, "b": 0.4, "c": 0.5}).value
        0.3333333333333333

    References:
        Kendall. The treatment of ties in ranking problems. Biometrika 33(3), 1945. doi:10.1093/biomet/33.3.239
    """
    a, b = _levels_of_both(first, second)
    undefined = _undefined(a, b)
    return RankAgreement("τ_b", _tau_b(a, b) if undefined is None else undefined, len(a))


def spearman_rho(first: RankingScores, second: RankingScores) -> RankAgreement:
    """Return Spearman's ρ: the correlation of the ranks; tied systems have the mean of their ranks.

    Rankings are given as for `kendall_tau`, and ρ is undefined in the same cases.

    Example:
        >>> spearman_rho([0.3, 0.2, 0.1], [0.9, 0.4, 0.5]).value
        0.5
    """
    a, b = _levels_of_both(first, second)
    undefined = _undefined(a, b)
    return RankAgreement("ρ", _correlation(a, b) if undefined is None else undefined, len(a))


def tau_ap(truth: RankingScores, estimate: RankingScores) -> RankAgreement:
    r"""Return τ_AP: Kendall's τ with more weight on the top of the estimated ranking.

    $$\tau_{AP} = \frac{2}{m - 1} \sum_{i=2}^{m} \frac{C(i)}{i - 1} - 1$$

    with $C(i)$ the number of systems above rank $i$ of the estimate that the truth too puts above the one there.
    It is not symmetrical: the truth comes first. Tied estimates count as the mean over all their orders (τ_AP,a of
    Urbano and Marrero); with ties in the truth it is undefined, and `tau_ap_b` takes its place.

    Example:
        A mistake at the top costs more than one at the bottom:

        >>> truth = [0.4, 0.3, 0.2, 0.1]
        >>> [round(tau_ap(truth, of).value, 4) for of in ([0.3, 0.4, 0.2, 0.1], [0.4, 0.3, 0.1, 0.2])]
        [0.3333, 0.7778]

    References:
        Yilmaz, Aslam and Robertson. A new rank correlation coefficient for information retrieval. SIGIR 2008.
        doi:10.1145/1390334.1390435
        Urbano and Marrero. The treatment of ties in AP correlation. ICTIR 2017. doi:10.1145/3121050.3121106
    """
    a, b = _levels_of_both(truth, estimate)
    if len(a) == 1:
        return RankAgreement("τ_AP,a", ONE_SYSTEM, 1)
    tied = len(np.unique(a)) < len(a)
    return RankAgreement("τ_AP,a", TIED_TRUTH if tied else _tau_ap_a(a, b), len(a))


def tau_ap_b(first: RankingScores, second: RankingScores) -> RankAgreement:
    r"""Return the symmetrical τ_AP: the mean of both directions, with ties in either ranking.

    $$\tau_{AP,b} = \frac{t(x, y) + t(y, x)}{2}, \qquad
      t(x, y) = \frac{2}{|\{i : p_i > 1\}|} \sum_{i : p_i > 1} \frac{C(i)}{p_i - 1} - 1$$

    with $p_i$ the rank in $y$ at which the tied group of system $i$ begins, and $C(i)$ the number of systems above that
    group which $x$ too puts above $i$. It is undefined for a ranking that ties all systems. Without ties it is the mean
    of `tau_ap` in both directions.

    Example:
        >>> round(tau_ap_b([0.4, 0.3, 0.3, 0.1], [0.3, 0.4, 0.2, 0.1]).value, 4)
        0.1667

    References:
        Urbano and Marrero. The treatment of ties in AP correlation. ICTIR 2017. doi:10.1145/3121050.3121106
    """
    a, b = _levels_of_both(first, second)
    undefined = _undefined(a, b)
    value = (_tau_ap_b(a, b) + _tau_ap_b(b, a)) / 2 if undefined is None else undefined
    return RankAgreement("τ_AP,b", value, len(a))


def _undefined(a: Ints, b: Ints) -> Undefined | None:
    if len(a) == 1:
        return ONE_SYSTEM
    return None if a.any() and b.any() else ALL_TIED


def _tau_b(a: Ints, b: Ints) -> float:
    first, second = (np.sign(levels[:, None] - levels) for levels in (a, b))
    untied = float((first != 0).sum()) * float((second != 0).sum())
    return float((first * second).sum()) / math.sqrt(untied)


def _correlation(a: Ints, b: Ints) -> float:
    first, second = (_mean_ranks(levels) for levels in (a, b))
    return float((first * second).sum() / math.sqrt((first**2).sum() * (second**2).sum()))


def _mean_ranks(levels: Ints) -> Floats:
    """Return the rank of each system less the mean of all ranks; ties share the mean of theirs."""
    size = np.bincount(levels)
    ends = np.cumsum(size)
    ranks: Floats = (ends - (size - 1) / 2)[levels] - (len(levels) + 1) / 2
    return ranks


def _above(truth: Ints, estimate: Ints) -> tuple[Ints, Ints]:
    """Return, for each system, how many the estimate puts above it, and how many of these the truth does too."""
    higher = estimate > estimate[:, None]
    return higher.sum(axis=1), (higher & (truth > truth[:, None])).sum(axis=1)


def _tau_ap_a(truth: Ints, estimate: Ints) -> float:
    """Return the mean over the orders of each tied group: its places are equally likely for each of its systems."""
    above, concordant = _above(truth, estimate)
    size = np.bincount(estimate)[estimate]
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, len(truth) + 1))])
    later = harmonic[above + size - 1] - harmonic[above]  # Σ 1/(rank − 1), the group's first place aside
    first = np.divide(1, above, out=np.zeros(len(above)), where=above > 0)
    outside = concordant * (first + later) / size
    inside = ((size - 1) - above * later) / (2 * size)
    return float(2 * (outside + inside).sum() / (len(truth) - 1) - 1)


def _tau_ap_b(truth: Ints, estimate: Ints) -> float:
    above, concordant = _above(truth, estimate)
    below_top = above > 0
    return float(2 * (concordant[below_top] / above[below_top]).mean() - 1)


def rank_biased_overlap(
    first: RankingScores, second: RankingScores, *, p: float = 0.9, ties: Ties = "a"
) -> RankAgreement:
    r"""Return the rank-biased overlap: how much two rankings share, depth by depth, the top weighing most.

    $$\mathrm{RBO} = \frac{1 - p}{p} \sum_{d=1}^{\infty} p^d A_d, \qquad A_d = \frac{\sum_i c_{id}\, c'_{id}}{n_d}$$

    with $c_{id}$ the part of system $i$ that is among the first $d$, and $A$ extrapolated beyond the end of the rankings
    (RBO_EXT). Rankings are given by scores, as mappings from system to score, which may have different systems, or
    sequences in the same order. `ties` says what ties mean, after Corsi and Urbano:

    - `a`: an unknown order ($c$ grows evenly over the group's ranks, $n_d = d$); for rankings of equal length, RBO is the mean
      over all orders, for others the extrapolation makes it differ slightly from that mean;
    - `b`: the same, corrected for the information that ties hide, so that a ranking agrees fully with itself
      ($n_d = \sqrt{\sum_i c_{id}^2 \sum_i c_{id}'^2}$);
    - `w`: systems that are truly equal, all at the group's first rank, as Webber and others define it
      ($n_d$ the mean number of systems in both).

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
    _check_rbo(p, ties)
    a, b = _score_by_system(first, "the first ranking"), _score_by_system(second, "the second ranking")
    shorter, longer = sorted((a, b), key=len)
    systems = list(dict.fromkeys([*shorter, *longer]))
    parts = [_contributions(scores, systems, len(longer), ties) for scores in (shorter, longer)]
    agreement, last = _agreements(*parts, seen=len(shorter), ties=ties)
    weights = p ** np.arange(1, len(longer) + 1)
    value = (1 - p) / p * float((agreement * weights).sum()) + last * p ** len(longer)
    return RankAgreement(f"RBO^{ties}", value, len(systems))


def _check_rbo(p: float, ties: str) -> None:
    if not 0 < p < 1:
        msg = f"the persistence `p` is {p}, expected a number between 0 and 1"
        raise BadSample(msg, hint="0.9 reads about ten systems deep")
    if ties not in get_args(Ties):
        raise UnknownName("treatment of ties", ties, get_args(Ties))


def _contributions(scores: dict[Hashable, float], systems: list[Hashable], depth: int, ties: Ties) -> Floats:
    """Return how much of each system (row) is among the first d (column d − 1) of a ranking; 0 if it is not in it."""
    levels = _levels(scores.values())
    size = np.bincount(levels)
    top = (len(levels) - np.cumsum(size) + 1)[levels]
    reached = np.arange(1, depth + 1) - top[:, None] + 1
    ramp = 1 if ties == "w" else size[levels][:, None]
    contributions = np.zeros((len(systems), depth))
    place = {system: row for row, system in enumerate(systems)}
    contributions[[place[system] for system in scores]] = np.clip(reached / ramp, 0, 1)
    return contributions


def _agreements(short: Floats, long: Floats, *, seen: int, ties: Ties) -> tuple[Floats, float]:
    """Return the agreement at every depth, extrapolated beyond the shorter ranking, and the one beyond the longer."""
    depth = np.arange(1.0, long.shape[1] + 1)
    unseen = np.maximum(depth - seen, 0)  # how many systems of the shorter ranking are unknown at each depth
    overlap = (short * long).sum(axis=0)
    held = (overlap / _divisors(short, long, depth, unseen, ties))[seen - 1]
    overlap = overlap + unseen * held * _mean_part(long[short[:, -1] == 0])
    last = overlap[-1] / depth[-1]
    return overlap / _divisors(short, long, depth, unseen, ties), float(last)


def _mean_part(parts: Floats) -> Floats:
    """Return, at each depth, the mean of the contributions above 0; 0 where there are none."""
    count = (parts > 0).sum(axis=0)
    mean: Floats = parts.sum(axis=0) / np.maximum(count, 1)
    return mean


def _divisors(short: Floats, long: Floats, depth: Floats, unseen: Floats, ties: Ties) -> Floats:
    """Return the divisor of the overlap at each depth; unknown systems count as untied."""
    if ties == "a":
        return depth
    if ties == "w":
        found: Floats = (short.sum(axis=0) + unseen + long.sum(axis=0)) / 2
        return found
    root: Floats = np.sqrt(((short**2).sum(axis=0) + unseen) * (long**2).sum(axis=0))
    return root


def _levels_of_both(first: RankingScores, second: RankingScores) -> tuple[Ints, Ints]:
    """Return the level of each system in both rankings, from 0 for the lowest score up; tied systems share one.

    Mappings are paired by name and must have the same systems; sequences are in the same order.

    >>> _levels_of_both({"a": 0.1, "b": 0.5, "c": 0.5}, {"b": 0.2, "a": 0.3, "c": 0.4})
    (array([0, 1, 1]), array([1, 0, 2]))
    """
    a, b = _score_by_system(first, "the first ranking"), _score_by_system(second, "the second ranking")
    strange = sorted(map(str, set(a) ^ set(b)))
    if strange:
        shown = ", ".join(strange[:3])
        msg = f"the rankings have {len(a):,} and {len(b):,} systems, expected the same in both: {shown} in one only"
        raise BadSample(msg, hint="`rank_biased_overlap` compares rankings of different systems")
    return _levels(a.values()), _levels([b[name] for name in a])


def _score_by_system(scores: RankingScores, name: str) -> dict[Hashable, float]:
    """Return the score of each system by its name, or by its number from 1 if it has no name."""
    try:
        pairs = scores.items() if isinstance(scores, Mapping) else enumerate(scores, start=1)
        found: dict[Hashable, float] = {system: float(score) for system, score in pairs}
    except (TypeError, ValueError):
        msg = f"{name} holds a value that is not a number, expected the score of each system"
        raise BadSample(msg) from None
    check_values(found.values(), name=name)
    return found


def _levels(scores: Iterable[float]) -> Ints:
    """Return the level of each score, from 0 for the lowest; scores that differ by rounding alone share one."""
    values = np.array(list(scores), dtype=np.float64)
    order = np.argsort(values, kind="stable")
    gaps = np.diff(values[order]) > ROUNDING * np.abs(values).max()
    levels = np.empty(len(values), dtype=np.int64)
    levels[order] = np.concatenate([[0], np.cumsum(gaps)])
    return levels
