"""The Friedman test on ranks within queries, with Nemenyi's comparison of all pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from judged.stats.layout import Floats, Layout, check_level, layout
from judged.stats.rows import Cell, as_row
from judged.stats.studentized_range import range_quantile, range_tail
from judged.stats.undefined import ONE_QUERY, Undefined

__all__ = ["Friedman", "RankPair", "friedman_test"]

ALL_TIED = Undefined("no spread: the systems tie on every query")
ALL_ALIKE = Undefined("no spread: every query ranks the systems alike")


@dataclass(frozen=True, slots=True)
class RankPair:
    """Two systems: by how much the first's average rank is greater, that is worse, and Nemenyi's p-value."""

    first: str
    second: str
    difference: float
    p: float
    """Corrected for all pairs."""


@dataclass(frozen=True, slots=True)
class Friedman:
    """Whether any system is ranked better than others, and which pairs are told apart."""

    queries: int
    level: float
    statistic: float | Undefined
    """Friedman's χ², corrected for ties."""
    freedom: int
    p: float | Undefined
    f: float | Undefined
    """Iman and Davenport's F, less conservative, with m − 1 and (m − 1)(n − 1) degrees of freedom."""
    f_p: float | Undefined
    ranks: dict[str, float]
    """The average rank of each system; 1 is best."""
    critical_difference: float
    """Average ranks that lie further apart differ at the level asked for (Nemenyi)."""
    pairs: tuple[RankPair, ...]
    cliques: tuple[tuple[str, ...], ...]
    """The largest groups of two systems or more that are not told apart, best ranks first."""

    def rows(self) -> list[dict[str, Cell]]:
        """A dict for each pair; what is undefined as its words."""
        return [as_row(pair) for pair in self.pairs]


def friedman_test(
    scores: Any, *, level: float = 0.95, systems: Sequence[str] | None = None, measure: object = None
) -> Friedman:
    r"""The Friedman test of several systems, with average ranks and Nemenyi's critical difference.

    $$\chi^2 = \frac{(m - 1) \sum_s (R_s - n (m + 1) / 2)^2}{\sum_{qs} r_{qs}^2 - n m (m + 1)^2 / 4}, \qquad
      CD = \frac{q_{m,\infty}}{\sqrt{2}} \sqrt{\frac{m (m + 1)}{6 n}}$$

    with $r_{qs}$ the rank of system $s$ on query $q$ (the highest score has rank 1, tied ones the mean of their ranks) and
    $R_s$ their sum. χ² is undefined for one query and where the systems tie on every query; F also where every
    query ranks them alike.
    Nemenyi's comparison makes no correction for ties. Two systems may be compared, though with so few the
    χ² distribution is a rough approximation.

    Example:
        >>> test = friedman_test({"a": [0.9, 0.8, 0.7], "b": [0.5, 0.6, 0.6], "c": [0.4, 0.6, 0.1]})
        >>> test.ranks, round(test.statistic, 4), round(test.p, 4)
        ({'a': 1.0, 'b': 2.1666666666666665, 'c': 2.8333333333333335}, 5.6364, 0.0597)

    References:
        Demšar. Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
        Iman and Davenport. Approximations of the critical region of the Friedman statistic. 1980.
        doi:10.1080/03610928008827904
    """
    check_level(level)
    of = layout(scores, systems=systems, measure=measure)
    ranks = _ranks(of)
    statistic = _statistic(ranks)
    f = _iman_davenport(statistic, *ranks.shape)
    average, unit = ranks.mean(axis=0), _unit(*ranks.shape)
    critical = unit * range_quantile(1 - level, groups=len(of.systems), freedom=math.inf)
    return Friedman(
        queries=of.queries,
        level=level,
        statistic=statistic,
        freedom=len(of.systems) - 1,
        p=_chi_tail(statistic, len(of.systems) - 1),
        f=f,
        f_p=_f_tail(f, *ranks.shape),
        ranks=dict(zip(of.systems, average.tolist(), strict=True)),
        critical_difference=critical,
        pairs=_pairs(of.systems, average, unit),
        cliques=_cliques(of.systems, average, critical),
    )


def _ranks(of: Layout) -> Floats:
    """The rank of each score among those of its query, best first; ties share the mean of their ranks."""
    order = np.argsort(-of.values, axis=1, kind="stable")
    sorted_ = np.take_along_axis(of.values, order, axis=1)
    at = np.arange(1, len(of.systems) + 1)
    falls = sorted_[:, :-1] - sorted_[:, 1:] > of.rounding
    edge = np.ones((of.queries, 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.hstack([edge, falls]), at, 0), axis=1)
    ends = np.where(np.hstack([falls, edge]), at, len(at))
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty_like(of.values)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=1)
    return ranks


def _statistic(ranks: Floats) -> float | Undefined:
    n, m = ranks.shape
    if n == 1:
        return ONE_QUERY
    spread = float((ranks**2).sum()) - n * m * (m + 1) ** 2 / 4
    if spread == 0:
        return ALL_TIED
    return float((m - 1) * ((ranks.sum(axis=0) - n * (m + 1) / 2) ** 2).sum() / spread)


def _iman_davenport(statistic: float | Undefined, n: int, m: int) -> float | Undefined:
    if isinstance(statistic, Undefined):
        return statistic
    left = n * (m - 1) - statistic
    return ALL_ALIKE if left <= 1e-9 * n * m else (n - 1) * statistic / left


def _chi_tail(statistic: float | Undefined, freedom: int) -> float | Undefined:
    from scipy.special import chdtrc

    return statistic if isinstance(statistic, Undefined) else float(chdtrc(freedom, statistic))


def _f_tail(f: float | Undefined, n: int, m: int) -> float | Undefined:
    from scipy.special import fdtrc

    return f if isinstance(f, Undefined) else float(fdtrc(m - 1, (m - 1) * (n - 1), f))


def _unit(n: int, m: int) -> float:
    """What a studentized range of 1 is in average ranks."""
    return math.sqrt(m * (m + 1) / (12 * n))


def _pairs(systems: tuple[str, ...], average: Floats, unit: float) -> tuple[RankPair, ...]:
    first, second = np.triu_indices(len(systems), k=1)
    gaps = average[first] - average[second]
    ps = range_tail(np.abs(gaps) / unit, groups=len(systems), freedom=math.inf)
    each = zip(combinations(systems, 2), gaps.tolist(), ps.tolist(), strict=True)
    return tuple(RankPair(a, b, gap, p) for (a, b), gap, p in each)


def _cliques(systems: tuple[str, ...], average: Floats, critical: float) -> tuple[tuple[str, ...], ...]:
    """The longest stretches of systems by rank whose ends are not told apart."""
    order = np.argsort(average, kind="stable")
    ranks = average[order]
    ends = np.searchsorted(ranks, ranks + critical, side="right")
    reached, found = 0, []
    for start, end in enumerate(ends.tolist()):
        if end > max(reached, start + 1):
            found.append(tuple(systems[at] for at in order[start:end]))
        reached = max(reached, end)
    return tuple(found)
