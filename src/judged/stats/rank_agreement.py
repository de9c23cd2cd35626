"""How far two rankings of the same systems agree: Kendall's τ, τ_AP, Spearman's ρ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.stats.layout import Floats
from judged.stats.ranking_levels import Ints, levels_of_both
from judged.stats.rows import Cell, as_row
from judged.stats.undefined import Undefined

__all__ = ["RankAgreement", "kendall_tau", "spearman_rho", "tau_ap", "tau_ap_b"]

ONE_SYSTEM = Undefined("one system")
ALL_TIED = Undefined("no spread: a ranking ties all systems")
TIED_TRUTH = Undefined("the true ranking has ties; `tau_ap_b` allows them")


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """A coefficient by its name, with how many systems it is of."""

    name: str
    value: float | Undefined
    """From −1 (reversed) to 1 (the same ranking); RBO from 0 (nothing in common)."""
    systems: int

    def rows(self) -> list[dict[str, Cell]]:
        """One dict; what is undefined as its words."""
        return [as_row(self)]


def kendall_tau(first: Any, second: Any) -> RankAgreement:
    r"""Kendall's τ_b: pairs of systems in the same order less those in reverse, corrected for ties in either.

    $$\tau_b = \frac{C - D}{\sqrt{(N - T_1)(N - T_2)}}$$

    with $N$ pairs of which $C$ are ordered alike, $D$ in reverse, and $T_1$, $T_2$ tied in each ranking. Rankings are
    given by scores, as mappings from system to score or sequences in one order; a higher score is better. Scores that
    differ by rounding alone are tied. One system, or a ranking that ties all, leaves τ_b undefined.

    Example:
        >>> kendall_tau({"a": 0.3, "b": 0.2, "c": 0.1}, {"a": 0.9, "b": 0.4, "c": 0.5}).value
        0.3333333333333333

    References:
        Kendall. The treatment of ties in ranking problems. Biometrika 33(3), 1945. doi:10.1093/biomet/33.3.239
    """
    a, b = levels_of_both(first, second)
    undefined = _undefined(a, b)
    return RankAgreement("τ_b", _tau_b(a, b) if undefined is None else undefined, len(a))


def spearman_rho(first: Any, second: Any) -> RankAgreement:
    """Spearman's ρ: the correlation of the ranks, tied systems having the mean of theirs.

    Rankings are given, and undefined, as for `kendall_tau`.

    Example:
        >>> spearman_rho([0.3, 0.2, 0.1], [0.9, 0.4, 0.5]).value
        0.5
    """
    a, b = levels_of_both(first, second)
    undefined = _undefined(a, b)
    return RankAgreement("ρ", _correlation(a, b) if undefined is None else undefined, len(a))


def tau_ap(truth: Any, estimate: Any) -> RankAgreement:
    r"""τ_AP: Kendall's τ with more weight on the top of the estimated ranking.

    $$\tau_{AP} = \frac{2}{m - 1} \sum_{i=2}^{m} \frac{C(i)}{i - 1} - 1$$

    with $C(i)$ the number of systems above rank $i$ of the estimate that the truth too puts above the one there.
    It is not symmetrical: the truth comes first. Tied estimates count as the mean over all their orders (τ_AP,a of
    Urbano and Marrero); with ties in the truth it is undefined, and `tau_ap_b` is meant.

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
    a, b = levels_of_both(truth, estimate)
    if len(a) == 1:
        return RankAgreement("τ_AP,a", ONE_SYSTEM, 1)
    tied = len(np.unique(a)) < len(a)
    return RankAgreement("τ_AP,a", TIED_TRUTH if tied else _tau_ap_a(a, b), len(a))


def tau_ap_b(first: Any, second: Any) -> RankAgreement:
    r"""The symmetrical τ_AP: the mean of both directions, with ties in either ranking.

    $$\tau_{AP,b} = \frac{t(x, y) + t(y, x)}{2}, \qquad
      t(x, y) = \frac{2}{|\{i : p_i > 1\}|} \sum_{i : p_i > 1} \frac{C(i)}{p_i - 1} - 1$$

    with $p_i$ the rank in $y$ at which the tied group of system $i$ begins, and $C(i)$ the number of systems above that
    group which $x$ too puts above $i$. A ranking that ties all systems leaves it undefined. Without ties it is the mean
    of `tau_ap` in both directions.

    Example:
        >>> round(tau_ap_b([0.4, 0.3, 0.3, 0.1], [0.3, 0.4, 0.2, 0.1]).value, 4)
        0.1667

    References:
        Urbano and Marrero. The treatment of ties in AP correlation. ICTIR 2017. doi:10.1145/3121050.3121106
    """
    a, b = levels_of_both(first, second)
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
    """The rank of each system less the mean of all ranks; ties have the mean of theirs."""
    size = np.bincount(levels)
    ends = np.cumsum(size)
    ranks: Floats = (ends - (size - 1) / 2)[levels] - (len(levels) + 1) / 2
    return ranks


def _above(truth: Ints, estimate: Ints) -> tuple[Ints, Ints]:
    """Of each system, how many the estimate puts above it, and how many of these the truth does too."""
    higher = estimate > estimate[:, None]
    return higher.sum(axis=1), (higher & (truth > truth[:, None])).sum(axis=1)


def _tau_ap_a(truth: Ints, estimate: Ints) -> float:
    """The mean over the orders of each tied group: its places are equally likely for each of its systems."""
    above, concordant = _above(truth, estimate)
    size = np.bincount(estimate)[estimate]
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, len(truth) + 1))])
    later = (
        harmonic[above + size - 1] - harmonic[above]
    )  # Σ 1/(rank − 1) over the group's places but its first
    first = np.divide(1, above, out=np.zeros(len(above)), where=above > 0)
    outside = concordant * (first + later) / size
    inside = ((size - 1) - above * later) / (2 * size)
    return float(2 * (outside + inside).sum() / (len(truth) - 1) - 1)


def _tau_ap_b(truth: Ints, estimate: Ints) -> float:
    above, concordant = _above(truth, estimate)
    below_top = above > 0
    return float(2 * (concordant[below_top] / above[below_top]).mean() - 1)
