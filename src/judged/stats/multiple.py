"""Several systems at once: analysis of variance, Tukey's HSD (also randomised), and Friedman's test with Nemenyi's pairs.

Every function takes scores as `judged.stats.paired.pair_scores` does: a table of queries × systems, or a mapping from
system to scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Floats
from judged.stats.outcome import NO_SPREAD, ONE_QUERY, Cell, Undefined, as_row
from judged.stats.paired import Paired, SystemValues, check_level, check_resamples, pair_scores
from judged.stats.studentized_range import range_quantile, range_tail

SystemScores: TypeAlias = Mapping[str, SystemValues] | Sequence[Sequence[float]] | Floats

EXACT_ARRANGEMENTS = 2**19
"""Up to this many arrangements of labels all are enumerated: 20 queries and two systems, the first query's order fixed."""
BLOCK = 2**16
"""About how many scores are permuted at a time; the result does not depend on it."""
ALL_TIED = Undefined("no spread: the systems tie on every query")
ALL_ALIKE = Undefined("no spread: every query ranks the systems alike")


@dataclass(frozen=True, slots=True)
class Source:
    """A source of variance: one row of the table of an analysis of variance."""

    name: str
    squares: float
    """The sum of squares."""
    freedom: int
    mean_square: float | Undefined
    f: float | Undefined | None
    """The F statistic; None for the residual, which the others are measured by."""
    p: float | Undefined | None
    omega: float | Undefined | None
    """Partial ω², the unbiased share of the variance that the source explains; below 0 means none."""


@dataclass(frozen=True, slots=True)
class Anova:
    """The table of a two-way analysis of variance without interaction."""

    systems: Source
    queries: Source
    residual: Source

    def rows(self) -> list[dict[str, Cell]]:
        """Return a dict for each row of the table, an undefined number as its text."""
        return [as_row(source) for source in (self.systems, self.queries, self.residual)]


def two_way_anova(
    scores: SystemScores, *, systems: Sequence[str] | None = None, measure: object = None
) -> Anova:
    r"""Analyse the variance of systems and queries, each query a block, without interaction.

    $$x_{qs} = \mu + \alpha_q + \beta_s + \varepsilon_{qs}, \qquad
      F_s = \frac{n \sum_s (\bar{x}_s - \bar{x})^2 / (m - 1)}{\sum_{qs} \varepsilon_{qs}^2 / ((n - 1)(m - 1))}$$

    for $n$ queries and $m$ systems. F is undefined for one query, and for systems that differ by the same on every
    query: nothing is left to measure chance by. With two systems, F is the square of the paired t.

    Example:
        >>> table = two_way_anova([[0.5, 0.4], [0.6, 0.6], [0.9, 0.6]])
        >>> round(table.systems.f, 4), round(table.systems.p, 4)  # paired t is 1.5119
        (2.2857, 0.2697)

    References:
        Tague-Sutcliffe and Blustein. A statistical analysis of the TREC-3 data. TREC 1994.
        Ferro and Silvello. Toward an anatomy of IR system component performances. JASIST 69(2), 2018.
        doi:10.1002/asi.23910
    """
    return _analyse(pair_scores(scores, systems=systems, measure=measure))


def _analyse(paired: Paired) -> Anova:
    n, m = paired.values.shape
    squares, freedom = float((paired.residuals**2).sum()), (n - 1) * (m - 1)
    chance = squares / freedom if freedom else ONE_QUERY
    residual = Source("residual", squares, freedom, chance, None, None, None)
    centred = paired.values - paired.values.mean()

    def between(axis: int) -> float:
        means = centred.mean(axis=axis)
        return float((means[abs(means) > paired.rounding] ** 2).sum())

    by_system = _explain("systems", n * between(0), m - 1, residual, paired.values.size)
    by_query = _explain("queries", m * between(1), n - 1, residual, paired.values.size)
    return Anova(by_system, by_query, residual)


def _explain(name: str, squares: float, freedom: int, residual: Source, size: int) -> Source:
    from scipy.special import fdtrc

    mean = squares / freedom if freedom else ONE_QUERY
    chance = residual.mean_square
    if isinstance(mean, Undefined) or isinstance(chance, Undefined):
        return Source(name, squares, freedom, mean, ONE_QUERY, ONE_QUERY, ONE_QUERY)
    if chance == 0:
        return Source(name, squares, freedom, mean, NO_SPREAD, NO_SPREAD, NO_SPREAD)
    f = mean / chance
    omega = freedom * (f - 1) / (freedom * (f - 1) + size)
    return Source(name, squares, freedom, mean, f, float(fdtrc(freedom, residual.freedom, f)), omega)


@dataclass(frozen=True, slots=True)
class TukeyPair:
    """The difference of two systems, the first minus the second."""

    first: str
    second: str
    difference: float
    low: float | Undefined | None
    """The bounds of the difference; the intervals of all pairs hold simultaneously. None if the method has none."""
    high: float | Undefined | None
    p: float | Undefined
    """The p-value, corrected for all pairs."""
    effect: float | Undefined
    """The difference in residual standard deviations of the two-way layout (Sakai's effect size)."""


@dataclass(frozen=True, slots=True)
class Tukey:
    """All pairs of systems, in the order of the columns."""

    method: Literal["studentized range", "randomisation", "exact randomisation"]
    level: float | None
    """The confidence of the intervals; None if there are none."""
    pairs: tuple[TukeyPair, ...]
    means: dict[str, float]
    arrangements: int | None = None
    """Number of arrangements of the labels examined; None for the studentized range."""

    def rows(self) -> list[dict[str, Cell]]:
        """Return a dict for each pair, an undefined number as its text."""
        return [as_row(pair) for pair in self.pairs]


def tukey_hsd(
    scores: SystemScores,
    *,
    level: float = 0.95,
    systems: Sequence[str] | None = None,
    measure: object = None,
) -> Tukey:
    r"""Compare every pair of systems by Tukey's HSD: interval, p-value and effect size, corrected for all pairs.

    $$q_{st} = \frac{|\bar{x}_s - \bar{x}_t|}{\sqrt{V_E / n}}, \qquad
      p = P(Q_{m, (n-1)(m-1)} > q_{st}), \qquad ES = (\bar{x}_s - \bar{x}_t) / \sqrt{V_E}$$

    with $V_E$ the residual mean square of the two-way analysis of variance (`two_way_anova`) of $n$ queries and $m$
    systems, and $Q$ the studentized range. Interval, p and effect are undefined for one query, and for differences that
    are the same on every query.

    Example:
        >>> (pair,) = tukey_hsd([[0.5, 0.4], [0.6, 0.6], [0.9, 0.6]], systems=["a", "b"]).pairs
        >>> pair.first, pair.second, round(pair.p, 4)  # two systems: the paired t-test
        ('a', 'b', 0.2697)

    References:
        Sakai. Laboratory Experiments in Information Retrieval, ch. 5. Springer 2018.
        doi:10.1007/978-981-13-1199-4
    """
    check_level(level)
    paired = pair_scores(scores, systems=systems, measure=measure)
    residual = _analyse(paired).residual
    variance, gaps, groups = _variance(residual), abs(_gaps(paired)), len(paired.systems)
    if isinstance(variance, Undefined):
        undefined = _tukey_pairs(paired, [variance] * len(gaps), variance, variance)
        return Tukey("studentized range", level, undefined, _means(paired))
    error = math.sqrt(variance / paired.queries)
    ps = range_tail(gaps / error, groups=groups, freedom=residual.freedom).tolist()
    margin = error * range_quantile(1 - level, groups=groups, freedom=residual.freedom)
    return Tukey("studentized range", level, _tukey_pairs(paired, ps, margin, variance), _means(paired))


def randomised_tukey_hsd(
    scores: SystemScores,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    systems: Sequence[str] | None = None,
    measure: object = None,
) -> Tukey:
    r"""Compare every pair of systems by exchanging the systems' labels within each query.

    $$p = \frac{1 + |\{b : \max_s \bar{x}^{(b)}_s - \min_s \bar{x}^{(b)}_s \geq |\bar{x}_s - \bar{x}_t|\}|}{1 + B}$$

    Each of the $B$ `resamples` permutes the labels of each query independently. Up to 2¹⁹ arrangements (20 queries of
    two systems), all are enumerated and p is the exact share. No normal distribution is assumed, and p is
    defined for any scores: one query, or systems that do not differ, have p = 1. One seed gives one result. There is
    no interval.

    Example:
        >>> (pair,) = randomised_tukey_hsd([[0.5, 0.4], [0.6, 0.5], [0.9, 0.6]]).pairs
        >>> pair.p  # as great a range in 2 of 8 arrangements
        0.25

    References:
        Carterette. Multiple testing in statistical analysis of systems-based information retrieval experiments.
        TOIS 30(1), 2012. doi:10.1145/2094072.2094076
    """
    paired = pair_scores(scores, systems=systems, measure=measure)
    ps, arrangements, exact = _range_p_values(paired, abs(_gaps(paired)), resamples=resamples, seed=seed)
    pairs = _tukey_pairs(paired, ps.tolist(), None, _variance(_analyse(paired).residual))
    method: Literal["randomisation", "exact randomisation"] = (
        "exact randomisation" if exact else "randomisation"
    )
    return Tukey(method, None, pairs, _means(paired), arrangements)


def _variance(residual: Source) -> float | Undefined:
    return NO_SPREAD if residual.mean_square == 0 else residual.mean_square


def _means(paired: Paired) -> dict[str, float]:
    return dict(zip(paired.systems, paired.means.tolist(), strict=True))


def _gaps(paired: Paired) -> Floats:
    """Return the first mean minus the second of every pair; rounding errors are 0."""
    first, second = np.triu_indices(len(paired.systems), k=1)
    gaps = paired.means[first] - paired.means[second]
    kept: Floats = np.where(np.abs(gaps) <= paired.rounding, 0.0, gaps)
    return kept


def _tukey_pairs(
    paired: Paired,
    ps: Sequence[float | Undefined],
    margin: float | Undefined | None,
    variance: float | Undefined,
) -> tuple[TukeyPair, ...]:
    def pair(first: str, second: str, gap: float, p: float | Undefined) -> TukeyPair:
        low, high = (gap - margin, gap + margin) if isinstance(margin, float) else (margin, margin)
        effect = variance if isinstance(variance, Undefined) else gap / math.sqrt(variance)
        return TukeyPair(first, second, gap, low, high, p, effect)

    rows = zip(combinations(paired.systems, 2), _gaps(paired).tolist(), ps, strict=True)
    return tuple(pair(*names, gap, p) for names, gap, p in rows)


def _range_p_values(
    paired: Paired, gaps: Floats, *, resamples: int, seed: int, block: int = BLOCK
) -> tuple[Floats, int, bool]:
    """Return the share of arrangements whose range of means reaches each gap, their number, and whether these are all.

    The range is the same when all queries exchange labels alike, so the first query's labels stay.
    """
    check_resamples(resamples)
    values = paired.values - paired.values.mean(axis=1, keepdims=True)
    total = _count_arrangements(*values.shape)
    exact, rows = total <= EXACT_ARRANGEMENTS, max(1, block // values.size)
    ranges = _all_ranges(values, total, rows) if exact else _random_ranges(values, resamples, rows, seed)
    least = gaps - paired.rounding  # equal ranges differ by rounding, and must count as equal
    count = np.zeros(len(gaps), dtype=np.int64)
    for block_ranges in ranges:
        count += len(block_ranges) - np.searchsorted(np.sort(block_ranges), least)
    return (count / total, total, True) if exact else ((count + 1) / (resamples + 1), resamples, False)


def _count_arrangements(queries: int, systems: int) -> int:
    """Count the arrangements with the first query's order fixed; stop at a number above `EXACT_ARRANGEMENTS`."""
    total = 1
    for _ in range(queries - 1):
        total *= math.factorial(systems)
        if total > EXACT_ARRANGEMENTS:
            break
    return total


def _all_ranges(values: Floats, total: int, rows: int) -> Iterator[Floats]:
    """Yield the ranges of all arrangements in blocks; the digits of an arrangement's number are the queries' orders."""
    systems = values.shape[1]
    orders = np.array(list(permutations(range(systems)))) if total > 1 else np.arange(systems)[None]
    for start in range(0, total, rows):
        number = np.arange(start, min(start + rows, total))
        sums = np.broadcast_to(values[0], (len(number), systems)).copy()
        for query in values[1:]:
            number, order = np.divmod(number, len(orders))
            sums += query[orders[order]]
        yield np.ptp(sums, axis=1) / len(values)


def _random_ranges(values: Floats, resamples: int, rows: int, seed: int) -> Iterator[Floats]:
    """Yield the ranges of random arrangements in blocks, all from one stream of random numbers."""
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, rows):
        shape = (min(rows, resamples - start), *values.shape)
        shuffled = rng.permuted(np.broadcast_to(values, shape), axis=2)
        yield np.ptp(shuffled.sum(axis=1), axis=1) / len(values)


@dataclass(frozen=True, slots=True)
class RankPair:
    """Two systems: by how much the first's average rank is greater (worse), and Nemenyi's p-value."""

    first: str
    second: str
    difference: float
    p: float
    """Corrected for all pairs."""


@dataclass(frozen=True, slots=True)
class Friedman:
    """Test of whether any system is ranked better than others, and which pairs differ."""

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
    """Average ranks further apart than this differ significantly at the given level (Nemenyi)."""
    pairs: tuple[RankPair, ...]
    cliques: tuple[tuple[str, ...], ...]
    """The largest groups of two or more systems that do not differ significantly, best ranks first."""

    def rows(self) -> list[dict[str, Cell]]:
        """Return a dict for each pair, an undefined number as its text."""
        return [as_row(pair) for pair in self.pairs]


def friedman_test(
    scores: SystemScores,
    *,
    level: float = 0.95,
    systems: Sequence[str] | None = None,
    measure: object = None,
) -> Friedman:
    r"""Compare several systems by Friedman's test, with average ranks and Nemenyi's critical difference.

    $$\chi^2 = \frac{(m - 1) \sum_s (R_s - n (m + 1) / 2)^2}{\sum_{qs} r_{qs}^2 - n m (m + 1)^2 / 4}, \qquad
      CD = \frac{q_{m,\infty}}{\sqrt{2}} \sqrt{\frac{m (m + 1)}{6 n}}$$

    with $r_{qs}$ the rank of system $s$ on query $q$ (the highest score has rank 1, tied ones the mean of their ranks) and
    $R_s$ their sum. χ² is undefined for one query and where the systems tie on every query; F also where every
    query ranks them alike.
    Nemenyi's comparison is not corrected for ties. Two systems may be compared, though the χ² distribution is then a
    rough approximation.

    Example:
        >>> test = friedman_test({"a": [0.9, 0.8, 0.7], "b": [0.5, 0.6, 0.6], "c": [0.4, 0.6, 0.1]})
        >>> test.ranks, round(test.statistic, 4), round(test.p, 4)
        ({'a': 1.0, 'b': 2.1666666666666665, 'c': 2.8333333333333335}, 5.6364, 0.0597)

    References:
        Demšar. Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
        Iman and Davenport. Approximations of the critical region of the Friedman statistic. 1980.
        doi:10.1080/03610928008827904
    """
    from scipy.special import chdtrc, fdtrc

    check_level(level)
    paired = pair_scores(scores, systems=systems, measure=measure)
    ranks = _rank_within_queries(paired)
    n, m = ranks.shape
    statistic = _chi_square(ranks)
    f = _iman_davenport(statistic, n, m)
    average, unit = ranks.mean(axis=0), math.sqrt(m * (m + 1) / (12 * n))
    critical = unit * range_quantile(1 - level, groups=m, freedom=math.inf)
    return Friedman(
        queries=n,
        level=level,
        statistic=statistic,
        freedom=m - 1,
        p=statistic if isinstance(statistic, Undefined) else float(chdtrc(m - 1, statistic)),
        f=f,
        f_p=f if isinstance(f, Undefined) else float(fdtrc(m - 1, (m - 1) * (n - 1), f)),
        ranks=dict(zip(paired.systems, average.tolist(), strict=True)),
        critical_difference=critical,
        pairs=_rank_pairs(paired.systems, average, unit),
        cliques=_find_cliques(paired.systems, average, critical),
    )


def _rank_within_queries(paired: Paired) -> Floats:
    """Return the rank of each score among those of its query, best first; ties share the mean of their ranks."""
    order = np.argsort(-paired.values, axis=1, kind="stable")
    sorted_ = np.take_along_axis(paired.values, order, axis=1)
    at = np.arange(1, len(paired.systems) + 1)
    falls = sorted_[:, :-1] - sorted_[:, 1:] > paired.rounding
    edge = np.ones((paired.queries, 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.hstack([edge, falls]), at, 0), axis=1)
    ends = np.where(np.hstack([falls, edge]), at, len(at))
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty_like(paired.values)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=1)
    return ranks


def _chi_square(ranks: Floats) -> float | Undefined:
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


def _rank_pairs(systems: tuple[str, ...], average: Floats, unit: float) -> tuple[RankPair, ...]:
    """Return Nemenyi's p-value of every pair; `unit` is a studentized range of 1 in average ranks."""
    first, second = np.triu_indices(len(systems), k=1)
    gaps = average[first] - average[second]
    ps = range_tail(np.abs(gaps) / unit, groups=len(systems), freedom=math.inf)
    rows = zip(combinations(systems, 2), gaps.tolist(), ps.tolist(), strict=True)
    return tuple(RankPair(*names, gap, p) for names, gap, p in rows)


def _find_cliques(systems: tuple[str, ...], average: Floats, critical: float) -> tuple[tuple[str, ...], ...]:
    """Return the longest stretches of systems by rank whose ends do not differ significantly."""
    order = np.argsort(average, kind="stable")
    ranks = average[order]
    ends = np.searchsorted(ranks, ranks + critical, side="right")
    reached, cliques = 0, []
    for start, end in enumerate(ends.tolist()):
        if end > max(reached, start + 1):
            cliques.append(tuple(systems[at] for at in order[start:end]))
        reached = max(reached, end)
    return tuple(cliques)
