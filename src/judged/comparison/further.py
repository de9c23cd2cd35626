"""Further statistics of a comparison, by name: each gives a table for each measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from judged.arrays import Floats
from judged.blocks import Table, format_p
from judged.comparison.comparison import Comparison
from judged.comparison.shared import Shared
from judged.errors import BadSample, UnknownName
from judged.report.critical_difference import critical_difference_svg
from judged.stats.bayesian import correlated_t_posterior, signed_rank_posterior
from judged.stats.effects import detectable_difference, queries_needed
from judged.stats.margin import equivalence_test
from judged.stats.multiple import Friedman, friedman_test, randomised_tukey_hsd, tukey_hsd, two_way_anova
from judged.stats.outcome import Cell, Undefined, as_row
from judged.stats.rank_correlation import kendall_tau, rank_biased_overlap, spearman_rho, tau_ap
from judged.stats.risk import georisk, trisk

__all__ = ["FURTHER", "ROPE", "diagram", "further", "rows_of"]

Rows: TypeAlias = list[dict[str, Cell]]
Statistic: TypeAlias = Callable[[Comparison, Shared, float], Rows]
ROPE = 0.01
"""Differences up to this, either way, are of no practical consequence, unless something else is said."""


def further(comparison: Comparison, name: str, *, rope: float = ROPE, digits: int = 4) -> tuple[Table, ...]:
    """The statistic of that name, a table for each measure; `rope` is the least difference that matters.

    It is for `bayesian`, `equivalence` and `power`.
    """
    every = rows_of(comparison, name, rope=rope)
    return tuple(_table(f"{FURTHER[name][0]}: {measure}", rows, digits) for measure, rows in every.items())


def rows_of(comparison: Comparison, name: str, *, rope: float = ROPE) -> dict[str, Rows]:
    """The same as plain data, by measure, every number in full."""
    if name not in FURTHER:
        raise UnknownName("further statistic", name, list(FURTHER))
    _, rows = FURTHER[name]
    return {str(shared.measure): _told(rows, comparison, shared, rope) for shared in comparison.scores}


def diagram(comparison: Comparison) -> str:
    """The critical-difference diagram of the first measure, as an SVG."""
    shared = comparison.scores[0]
    return critical_difference_svg(_friedman(comparison, shared), title=f"Average ranks by {shared.measure}")


def _told(rows: Statistic, comparison: Comparison, shared: Shared, rope: float) -> Rows:
    """The rows, or the reason why these scores allow of none."""
    try:
        return rows(comparison, shared, rope)
    except BadSample as error:
        return [{"outcome": str(error)}]


def _table(title: str, rows: Rows, digits: int) -> Table:
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    cells = (tuple(_cell(name, row.get(name), digits) for name in columns) for row in rows)
    return Table(columns, tuple(cells), title=title)


def _cell(column: str, value: Cell, digits: int) -> Cell:
    """What a reader sees: a p-value that is too small to be shown is said to be."""
    chance = column.startswith("p_") or column.endswith("_p") or column == "p"
    return format_p(value, digits=digits) if chance and isinstance(value, float) else value


def _anova(_comparison: Comparison, shared: Shared, _rope: float) -> Rows:
    return two_way_anova(shared.values, systems=shared.systems).rows()


def _tukey(comparison: Comparison, shared: Shared, _rope: float) -> Rows:
    return tukey_hsd(shared.values, systems=shared.systems, level=comparison.settings.level).rows()


def _randomised_tukey(comparison: Comparison, shared: Shared, _rope: float) -> Rows:
    settings = comparison.settings
    return randomised_tukey_hsd(
        shared.values, systems=shared.systems, resamples=settings.resamples, seed=settings.seed
    ).rows()


def _friedman(comparison: Comparison, shared: Shared) -> Friedman:
    """Ranks go from the best, so that what is better when lower is turned round."""
    return friedman_test(shared.sign * shared.values, systems=shared.systems, level=comparison.settings.level)


def _ranks(comparison: Comparison, shared: Shared, _rope: float) -> Rows:
    found = _friedman(comparison, shared)
    whole = as_row(found)
    told = {
        "chi2": whole["statistic"],
        "chi2_p": whole["p"],
        "f": whole["f"],
        "f_p": whole["f_p"],
        "critical_difference": whole["critical_difference"],
    }
    return [{**row, **told} for row in found.rows()]


def _posteriors(comparison: Comparison, shared: Shared, rope: float) -> Rows:
    rows: Rows = []
    for names, first, second in _pairs(comparison, shared):
        for belief in (
            correlated_t_posterior(first, second, rope=rope, level=comparison.settings.level),
            signed_rank_posterior(first, second, rope=rope, seed=comparison.settings.seed),
        ):
            rows.append({**names, **belief.rows()[0]})
    return rows


def _power(comparison: Comparison, shared: Shared, rope: float) -> Rows:
    """What these queries can detect, and how many would be needed for the least difference that matters."""
    rows: Rows = []
    alpha = comparison.settings.alpha
    for names, first, second in _pairs(comparison, shared):
        needed = queries_needed(first - second, rope, alpha=alpha) if rope else Undefined("nothing is wanted")
        detectable = detectable_difference(first - second, alpha=alpha)
        told = {
            "queries": len(first),
            "detectable": _plain(detectable),
            "wanted": rope,
            "needed": _plain(needed),
        }
        rows.append({**names, **told})
    return rows


def _equivalence(comparison: Comparison, shared: Shared, rope: float) -> Rows:
    """The two one-sided tests of a difference within the least one that matters."""
    rows: Rows = []
    for names, first, second in _pairs(comparison, shared):
        found = equivalence_test(first - second, margin=rope)
        told = {"outcome": str(found)} if isinstance(found, Undefined) else {**as_row(found), "p": found.p}
        rows.append({**names, **told})
    return rows


def _agreement(comparison: Comparison, shared: Shared, _rope: float) -> Rows:
    """How alike the measure and each other one rank the systems."""
    rows: Rows = []
    own = shared.sign * shared.values.mean(axis=0)
    for other in comparison.scores:
        if other is not shared:
            theirs = other.sign * other.values.mean(axis=0)
            coefficients = {
                "tau_b": kendall_tau(own, theirs),
                "tau_ap": tau_ap(own, theirs),
                "rho": spearman_rho(own, theirs),
                "rbo": rank_biased_overlap(own, theirs),
            }
            rows.append(
                {"other measure": str(other.measure), **{n: _plain(c.value) for n, c in coefficients.items()}}
            )
    return rows or [{"outcome": "one measure only, expected two or more to agree"}]


def _pairs(comparison: Comparison, shared: Shared) -> Iterator[tuple[dict[str, Cell], Floats, Floats]]:
    """The contrasts of the measure: their names, and the scores of both."""
    for each in comparison.contrasts:
        if each.measure == str(shared.measure):
            first, second = (
                shared.values[:, shared.systems.index(name)] for name in (each.system, each.baseline)
            )
            yield {"system": each.system, "baseline": each.baseline}, first, second


def _plain(value: float | Undefined) -> Cell:
    return str(value) if isinstance(value, Undefined) else value


def _risks(comparison: Comparison, shared: Shared, _rope: float) -> Rows:
    """GeoRisk of each system among all, and its risk against each baseline."""
    by_system = {name: shared.sign * shared.values[:, at] for at, name in enumerate(shared.systems)}
    among = georisk(by_system)
    rows: Rows = []
    for name in comparison.ranked():
        row: dict[str, Cell] = {"system": name, "mean": among[name].mean, "georisk": among[name].georisk}
        for baseline in comparison.baselines:
            if baseline != name:
                against = trisk(by_system[name], by_system[baseline])
                row |= {f"urisk ({baseline})": against.urisk, f"trisk ({baseline})": against.trisk}
        rows.append(row)
    return rows


FURTHER: dict[str, tuple[str, Statistic]] = {
    "anova": ("Analysis of variance", _anova),
    "tukey": ("Tukey's HSD", _tukey),
    "randomised-tukey": ("Randomised Tukey HSD", _randomised_tukey),
    "friedman": ("Friedman's test and Nemenyi's pairs", _ranks),
    "bayesian": ("Posterior of the difference", _posteriors),
    "equivalence": ("Equivalence (two one-sided tests)", _equivalence),
    "power": ("Power", _power),
    "agreement": ("Agreement of rankings", _agreement),
    "risk": ("Risk", _risks),
}
"""The words and the rows of each."""
