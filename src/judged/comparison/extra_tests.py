"""Extra tests of a comparison, by name: rows for each measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from judged import stats  # imports a test when it is used
from judged.arrays import Floats
from judged.comparison.clusters import check_test
from judged.comparison.contrasts import PairedScores
from judged.errors import BadMeasure, BadSample, UnknownName
from judged.stats.effects import detectable_difference, queries_needed
from judged.stats.outcome import Cell, Undefined, as_cell, as_row
from judged.stats.paired import differences

if TYPE_CHECKING:
    from judged.comparison.result import Comparison
    from judged.stats.bayesian import Posterior
    from judged.stats.multiple import Friedman

Rows: TypeAlias = list[dict[str, Cell]]
ExtraTest: TypeAlias = "Callable[[Comparison, PairedScores, float], Rows]"
ROPE = 0.01
"""Differences up to this, in either direction, have no practical consequence (the default)."""


def run_extra_test(comparison: Comparison, name: str, *, rope: float = ROPE) -> dict[str, Rows]:
    """Run the test of that name for each measure; `rope` is the least difference that matters.

    `rope` is for `bayesian`, `equivalence` and `power`. Where the scores do not allow the test, a row says why.
    """
    if name not in EXTRA_TESTS:
        raise UnknownName("extra test", name, list(EXTRA_TESTS))
    if comparison.cluster:
        check_test(name, comparison.cluster)
    _, test = EXTRA_TESTS[name]
    found: dict[str, Rows] = {}
    for scores in comparison.scores:
        try:
            found[scores.measure] = test(comparison, scores, rope)
        except (BadSample, BadMeasure) as error:
            found[scores.measure] = [{"outcome": str(error)}]
    return found


def rank_systems(comparison: Comparison, scores: PairedScores) -> Friedman:
    """Run Friedman's test; the best system has rank 1, in either direction of the measure."""
    return stats.friedman_test(
        scores.oriented.values, systems=scores.systems, level=comparison.settings.level
    )


def _anova(_comparison: Comparison, scores: PairedScores, _rope: float) -> Rows:
    return stats.two_way_anova(scores.values, systems=scores.systems).rows()


def _tukey(comparison: Comparison, scores: PairedScores, _rope: float) -> Rows:
    return stats.tukey_hsd(scores.values, systems=scores.systems, level=comparison.settings.level).rows()


def _randomised_tukey(comparison: Comparison, scores: PairedScores, _rope: float) -> Rows:
    settings = comparison.settings
    return stats.randomised_tukey_hsd(
        scores.values, systems=scores.systems, resamples=settings.resamples, seed=settings.seed
    ).rows()


def _friedman(comparison: Comparison, scores: PairedScores, _rope: float) -> Rows:
    friedman = rank_systems(comparison, scores)
    whole = {
        "chi2": as_cell(friedman.statistic),
        "chi2_p": as_cell(friedman.p),
        "f": as_cell(friedman.f),
        "f_p": as_cell(friedman.f_p),
        "critical_difference": friedman.critical_difference,
    }
    return [{**row, **whole} for row in friedman.rows()]


def _posteriors(comparison: Comparison, scores: PairedScores, rope: float) -> Rows:
    level, seed = comparison.settings.level, comparison.settings.seed
    rows: Rows = []
    for names, first, second in _pairs(comparison, scores.oriented):
        t = stats.correlated_t_posterior(first, second, rope=rope, level=level)
        ranks = stats.signed_rank_posterior(first, second, rope=rope, seed=seed)
        posteriors = (t, ranks) if scores.higher_is_better else (_as_measured(t), _as_measured(ranks))
        rows += [{**names, **row} for posterior in posteriors for row in posterior.rows()]
    return rows


def _as_measured(posterior: Posterior) -> Posterior:
    """Return a posterior of oriented scores with the difference and its interval as the measure has them."""
    low, high = (-bound if isinstance(bound, float) else bound for bound in (posterior.high, posterior.low))
    return replace(posterior, difference=0.0 - posterior.difference, low=low, high=high)


def _power(comparison: Comparison, scores: PairedScores, rope: float) -> Rows:
    """Return what these queries can detect, and how many the least difference that matters would need."""
    alpha, clusters = comparison.settings.alpha, scores.grouping
    needed_name = "needed" if clusters is None else "clusters needed"
    rows: Rows = []
    for names, first, second in _pairs(comparison, scores):
        d = differences(first, second)
        needed: int | Undefined = Undefined("nothing is wanted")
        if rope:
            needed = queries_needed(d, rope, alpha=alpha, clusters=clusters)
        detectable = as_cell(detectable_difference(d, alpha=alpha, clusters=clusters))
        row = {"queries": len(d), "detectable": detectable, "wanted": rope, needed_name: as_cell(needed)}
        rows.append({**names, **row})
    return rows


def _equivalence(comparison: Comparison, scores: PairedScores, rope: float) -> Rows:
    """Run the two one-sided tests of a difference within the least one that matters."""
    rows: Rows = []
    for names, first, second in _pairs(comparison, scores.oriented):
        d = differences(first, second)
        equivalence = stats.equivalence_test(d, margin=rope, clusters=scores.grouping)
        row = (
            {"outcome": str(equivalence)}
            if isinstance(equivalence, Undefined)
            else {**as_row(equivalence), "p": equivalence.p}
        )
        rows.append({**names, **row})
    return rows


def _agreement(comparison: Comparison, scores: PairedScores, _rope: float) -> Rows:
    """Return how well the measure agrees with each other one on the ranking of the systems."""
    own = scores.oriented.values.mean(axis=0)
    rows: Rows = []
    for other in comparison.scores:
        if other is not scores and other.has_direction:
            theirs = other.oriented.values.mean(axis=0)
            coefficients = {
                "tau_b": stats.kendall_tau(own, theirs),
                "tau_ap": stats.tau_ap(own, theirs),
                "rho": stats.spearman_rho(own, theirs),
                "rbo": stats.rank_biased_overlap(own, theirs),
            }
            values = {name: as_cell(coefficient.value) for name, coefficient in coefficients.items()}
            rows.append({"other measure": other.measure, **values})
    return rows or [{"outcome": "one measure only, expected two or more to agree"}]


def _risks(comparison: Comparison, scores: PairedScores, _rope: float) -> Rows:
    """Return GeoRisk of each system among all, and its risk against each baseline."""
    oriented = scores.oriented
    by_system = {name: oriented.column(name) for name in scores.systems}
    try:
        among: dict[str, Cell] = {name: risk.georisk for name, risk in stats.georisk(by_system).items()}
    except BadSample as error:  # values below 0, as of every measure of which less is better
        among = dict.fromkeys(scores.systems, as_cell(Undefined(str(error))))
    rows: Rows = []
    for name in comparison.ranked():
        row: dict[str, Cell] = {
            "system": name,
            "mean": float(scores.column(name).mean()),
            "georisk": among[name],
        }
        for baseline in comparison.baselines:
            if baseline != name:
                against = stats.trisk(by_system[name], by_system[baseline])
                row |= {f"urisk ({baseline})": against.urisk, f"trisk ({baseline})": against.trisk}
        rows.append(row)
    return rows


def _pairs(comparison: Comparison, scores: PairedScores) -> Iterator[tuple[dict[str, Cell], Floats, Floats]]:
    """Yield the contrasts of the measure: their names, and the scores of both systems."""
    for contrast in comparison.contrasts:
        if contrast.measure == scores.measure:
            names: dict[str, Cell] = {"system": contrast.system, "baseline": contrast.baseline}
            yield names, scores.column(contrast.system), scores.column(contrast.baseline)


EXTRA_TESTS: dict[str, tuple[str, ExtraTest]] = {
    "anova": ("Analysis of variance", _anova),
    "tukey": ("Tukey's HSD", _tukey),
    "randomised-tukey": ("Randomised Tukey HSD", _randomised_tukey),
    "friedman": ("Friedman's test and Nemenyi's pairs", _friedman),
    "bayesian": ("Posterior of the difference", _posteriors),
    "equivalence": ("Equivalence (two one-sided tests)", _equivalence),
    "power": ("Power", _power),
    "agreement": ("Agreement of rankings", _agreement),
    "risk": ("Risk", _risks),
}
"""The title and the function of each test."""
