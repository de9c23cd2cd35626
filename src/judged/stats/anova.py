"""Analysis of variance of the two-way layout: what part of the scores queries and systems explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judged.stats.layout import Floats, Layout, layout
from judged.stats.rows import Cell, as_row
from judged.stats.undefined import NO_SPREAD, ONE_QUERY, Undefined

__all__ = ["Anova", "Source", "analyse", "two_way_anova"]


@dataclass(frozen=True, slots=True)
class Source:
    """One line of the table: a source of variance, and whether it has more than chance would give it."""

    name: str
    squares: float
    """The sum of squares."""
    freedom: int
    mean_square: float | Undefined
    f: float | Undefined | None
    """The F statistic; None for the residual, which is what the others are measured in."""
    p: float | Undefined | None
    omega: float | Undefined | None
    """Partial ω², the share of the variance that is the source's, freed of chance; below 0 means none."""


@dataclass(frozen=True, slots=True)
class Anova:
    """The table of a two-way analysis of variance without interaction."""

    systems: Source
    queries: Source
    residual: Source

    def rows(self) -> list[dict[str, Cell]]:
        """A dict for each line of the table; what is undefined as its words."""
        return [as_row(source) for source in (self.systems, self.queries, self.residual)]


def two_way_anova(scores: Any, *, systems: Sequence[str] | None = None, measure: object = None) -> Anova:
    r"""The analysis of variance of systems and queries, each query a block, without interaction.

    $$x_{qs} = \mu + \alpha_q + \beta_s + \varepsilon_{qs}, \qquad
      F_s = \frac{n \sum_s (\bar{x}_s - \bar{x})^2 / (m - 1)}{\sum_{qs} \varepsilon_{qs}^2 / ((n - 1)(m - 1))}$$

    `scores` is a table of $n$ queries and $m$ systems, or a mapping from system to scores, as in
    `judged.stats.layout.layout`. One query leaves nothing to measure chance by, and neither do systems that differ by
    the same on every query: F is then undefined, and the reason stands in its place. With two systems, F is the square
    of the paired t.

    Example:
        >>> table = two_way_anova([[0.5, 0.4], [0.6, 0.6], [0.9, 0.6]])
        >>> round(table.systems.f, 4), round(table.systems.p, 4)  # paired t is 1.5119
        (2.2857, 0.2697)

    References:
        Tague-Sutcliffe and Blustein. A statistical analysis of the TREC-3 data. TREC 1994.
        Ferro and Silvello. Toward an anatomy of IR system component performances. JASIST 69(2), 2018.
        doi:10.1002/asi.23910
    """
    return analyse(layout(scores, systems=systems, measure=measure))


def analyse(of: Layout) -> Anova:
    """The table of a layout already checked."""
    n, m = of.values.shape
    residual = _residual(of)
    centred = of.values - of.values.mean()
    between_systems = n * _squares(centred.mean(axis=0), of.rounding)
    between_queries = m * _squares(centred.mean(axis=1), of.rounding)
    return Anova(
        _source("systems", between_systems, m - 1, residual, of.values.size),
        _source("queries", between_queries, n - 1, residual, of.values.size),
        residual,
    )


def _residual(of: Layout) -> Source:
    n, m = of.values.shape
    squares, freedom = float((of.residuals**2).sum()), (n - 1) * (m - 1)
    return Source("residual", squares, freedom, squares / freedom if freedom else ONE_QUERY, None, None, None)


def _source(name: str, squares: float, freedom: int, residual: Source, size: int) -> Source:
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


def _squares(means: Floats, rounding: float) -> float:
    """The sum of the squares of deviations from 0, of which rounding is none."""
    return float((means[abs(means) > rounding] ** 2).sum())
