"""Tukey's honestly significant differences of all pairs of systems: by the studentized range, and by randomisation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np

from judged.stats.anova import analyse
from judged.stats.label_permutations import range_p_values
from judged.stats.layout import Floats, Layout, check_level, layout
from judged.stats.rows import Cell, as_row
from judged.stats.studentized_range import range_quantile, range_tail
from judged.stats.undefined import NO_SPREAD, Undefined

__all__ = ["Tukey", "TukeyPair", "randomised_tukey_hsd", "tukey_hsd"]

Method: TypeAlias = Literal["studentized range", "randomisation", "exact randomisation"]


@dataclass(frozen=True, slots=True)
class TukeyPair:
    """What is said of two systems: the first minus the second."""

    first: str
    second: str
    difference: float
    low: float | Undefined | None
    """The bounds of the difference; the intervals of all pairs hold at once. None where the method has none."""
    high: float | Undefined | None
    p: float | Undefined
    """The p-value, corrected for all pairs."""
    effect: float | Undefined
    """The difference in residual standard deviations of the two-way layout (Sakai's effect size)."""


@dataclass(frozen=True, slots=True)
class Tukey:
    """All pairs of systems, in the order of the columns."""

    method: Method
    level: float | None
    """The confidence of the intervals; None where there are none."""
    pairs: tuple[TukeyPair, ...]
    means: dict[str, float]
    arrangements: int | None = None
    """How many arrangements of the labels were looked at, drawn ones or all; None for the studentized range."""

    def rows(self) -> list[dict[str, Cell]]:
        """A dict for each pair; what is undefined as its words."""
        return [as_row(pair) for pair in self.pairs]


def tukey_hsd(
    scores: Any, *, level: float = 0.95, systems: Sequence[str] | None = None, measure: object = None
) -> Tukey:
    r"""Every pair of systems, with interval, p-value and effect size, corrected for all pairs.

    $$q_{st} = \frac{|\bar{x}_s - \bar{x}_t|}{\sqrt{V_E / n}}, \qquad
      p = P(Q_{m, (n-1)(m-1)} > q_{st}), \qquad ES = (\bar{x}_s - \bar{x}_t) / \sqrt{V_E}$$

    with $V_E$ the residual mean square of the two-way analysis of variance (`two_way_anova`) of $n$ queries and $m$
    systems, and $Q$ the studentized range. With one query, or differences that are the same on every query, nothing is
    known of chance: interval, p and effect are undefined, with the reason.

    Example:
        >>> (pair,) = tukey_hsd([[0.5, 0.4], [0.6, 0.6], [0.9, 0.6]], systems=["a", "b"]).pairs
        >>> pair.first, pair.second, round(pair.p, 4)  # two systems: the paired t-test
        ('a', 'b', 0.2697)

    References:
        Sakai. Laboratory Experiments in Information Retrieval, ch. 5. Springer 2018.
        doi:10.1007/978-981-13-1199-4
    """
    check_level(level)
    of = layout(scores, systems=systems, measure=measure)
    table = analyse(of)
    variance, freedom = _variance(table.residual.mean_square), table.residual.freedom
    gaps, groups = abs(_differences(of)), len(of.systems)
    if isinstance(variance, Undefined):
        pairs = _all_pairs(of, [variance] * len(gaps), variance, variance)
        return Tukey("studentized range", level, pairs, _means(of))
    error = math.sqrt(variance / of.queries)
    ps = range_tail(gaps / error, groups=groups, freedom=freedom).tolist()
    margin = error * range_quantile(1 - level, groups=groups, freedom=freedom)
    return Tukey("studentized range", level, _all_pairs(of, ps, margin, variance), _means(of))


def randomised_tukey_hsd(
    scores: Any,
    *,
    rounds: int = 10_000,
    seed: int = 0,
    systems: Sequence[str] | None = None,
    measure: object = None,
) -> Tukey:
    r"""Every pair of systems, with a p-value from exchanging the systems' labels within each query.

    $$p = \frac{1 + |\{b : \max_s \bar{x}^{(b)}_s - \min_s \bar{x}^{(b)}_s \geq |\bar{x}_s - \bar{x}_t|\}|}{1 + B}$$

    Each of the $B$ (`rounds`) draws permutes the labels of each query on its own. Where all arrangements are few (up to
    2¹⁹, so 20 queries of two systems), all are looked at and p is the exact share. No normal distribution is assumed,
    and p is defined for any scores: one query, or systems that do not differ, have p = 1. One seed gives one result.
    There is no interval.

    Example:
        >>> (pair,) = randomised_tukey_hsd([[0.5, 0.4], [0.6, 0.5], [0.9, 0.6]]).pairs
        >>> pair.p  # as great a range in 2 of 8 arrangements
        0.25

    References:
        Carterette. Multiple testing in statistical analysis of systems-based information retrieval experiments.
        TOIS 30(1), 2012. doi:10.1145/2094072.2094076
    """
    of = layout(scores, systems=systems, measure=measure)
    found = range_p_values(of, abs(_differences(of)), rounds=rounds, seed=seed)
    variance = _variance(analyse(of).residual.mean_square)
    method: Method = "exact randomisation" if found.exact else "randomisation"
    return Tukey(
        method, None, _all_pairs(of, found.p.tolist(), None, variance), _means(of), found.arrangements
    )


def _variance(mean_square: float | Undefined) -> float | Undefined:
    return NO_SPREAD if mean_square == 0 else mean_square


def _differences(of: Layout) -> Floats:
    """Of every pair, the first mean minus the second; what is only rounding is 0."""
    first, second = np.triu_indices(len(of.systems), k=1)
    found = of.means[first] - of.means[second]
    kept: Floats = np.where(np.abs(found) <= of.rounding, 0.0, found)
    return kept


def _all_pairs(
    of: Layout,
    ps: Sequence[float | Undefined],
    margin: float | Undefined | None,
    variance: float | Undefined,
) -> tuple[TukeyPair, ...]:
    each = zip(combinations(of.systems, 2), _differences(of).tolist(), ps, strict=True)
    return tuple(_pair(names, difference, p, margin, variance) for names, difference, p in each)


def _pair(
    names: tuple[str, str],
    difference: float,
    p: float | Undefined,
    margin: float | Undefined | None,
    variance: float | Undefined,
) -> TukeyPair:
    low = difference - margin if isinstance(margin, float) else margin
    high = difference + margin if isinstance(margin, float) else margin
    effect = variance if isinstance(variance, Undefined) else difference / math.sqrt(variance)
    return TukeyPair(*names, difference, low, high, p, effect)


def _means(of: Layout) -> dict[str, float]:
    return dict(zip(of.systems, of.means.tolist(), strict=True))
