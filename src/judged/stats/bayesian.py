"""Bayesian comparison of two systems: how likely the first is worse, practically equivalent, or better."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judged.arrays import Floats
from judged.errors import BadSample
from judged.stats.outcome import NO_SPREAD, ONE_QUERY, Cell, Undefined, as_row
from judged.stats.paired import Paired, SystemValues, check_level, pair_scores

BLOCK = 2**16
"""About how many random numbers are drawn at a time; the result does not depend on it."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """The probabilities that the first system is worse than, equivalent to, or better than the second."""

    test: Literal["correlated t", "signed rank"]
    rope: float
    """Differences up to this, either way, have no practical consequence."""
    difference: float
    """The mean difference, first minus second."""
    low: float | Undefined | None
    """The bounds of the credible interval of the mean difference; None if the test has none."""
    high: float | Undefined | None
    worse: float | Undefined
    equivalent: float | Undefined
    better: float | Undefined

    def rows(self) -> list[dict[str, Cell]]:
        """Return one dict, an undefined number as its text."""
        return [as_row(self)]


def correlated_t_posterior(
    first: SystemValues,
    second: SystemValues,
    *,
    rope: float = 0.01,
    correlation: float = 0.0,
    level: float = 0.95,
) -> Posterior:
    r"""Return the posterior of the mean difference of two systems on the same queries, by Student's t.

    $$\mu \mid d \sim t_{n-1}\left(\bar{d},\ \left(\frac{1}{n} + \frac{\rho}{1 - \rho}\right) s_d^2\right)$$

    $\rho$ (`correlation`) is the correlation between the differences: 0 for independent queries; for scores from
    cross-validation the share of the data in a test fold. The probabilities are those of $\mu$ below −`rope`, within it
    and above. The prior is flat, so the probability of $\mu < 0$ is the one-sided p of the paired t-test. They are
    undefined for one query, and for the same difference on every query.

    Example:
        >>> belief = correlated_t_posterior([0.5, 0.6, 0.9], [0.4, 0.6, 0.6], rope=0)
        >>> round(belief.worse, 4)  # half of 0.2697, the paired t-test's p
        0.1349

    References:
        Benavoli, Corani, Demšar and Zaffalon. Time for a change: a tutorial for comparing multiple classifiers through
        Bayesian analysis. JMLR 18(77), 2017.
        Corani and Benavoli. A Bayesian approach for comparing cross-validated algorithms on multiple data sets.
        Machine Learning 100, 2015. doi:10.1007/s10994-015-5486-z
    """
    check_level(level)
    _check_rope(rope)
    if not 0 <= correlation < 1:
        msg = f"the correlation is {correlation}, expected a number from 0 to below 1"
        raise BadSample(msg, hint="independent queries, each scored once, have correlation 0")
    of = _pair(first, second)
    differences = _differences(of)
    mean, spread = float(differences.mean()), _spread(of, differences)
    if isinstance(spread, Undefined):
        return Posterior("correlated t", rope, mean, spread, spread, spread, spread, spread)
    scale = spread * math.sqrt(1 / of.queries + correlation / (1 - correlation))
    return _student_posterior(mean, scale, of.queries - 1, rope, level)


def signed_rank_posterior(
    first: SystemValues,
    second: SystemValues,
    *,
    rope: float = 0.01,
    prior: float = 0.5,
    resamples: int = 50_000,
    seed: int = 0,
) -> Posterior:
    r"""Return the posterior of the Bayesian signed-rank test of two systems on the same queries.

    $$\theta_{\mathrm{better}} = \sum_{ij} w_i w_j [d_i + d_j > 2 r], \qquad
      w \sim \mathrm{Dirichlet}(s, 1, \ldots, 1)$$

    with $d$ the differences after a pseudo-observation of 0 with the weight $s$ (`prior`), and $r$ the `rope`; likewise
    for worse (below $-2r$) and equivalent (between; a sum on the border counts half to either side). The probabilities are
    the shares of `resamples` of the weights for which each of the three is the greatest, ties shared. Nothing is assumed
    about the distribution of the differences. With a rope of 0 nothing is equivalent. One seed gives one result.

    Example:
        >>> belief = signed_rank_posterior([0.5, 0.6, 0.9, 0.7], [0.4, 0.6, 0.6, 0.5], rope=0.01)
        >>> belief.better > 0.9 > 0.1 > belief.worse
        True

    References:
        Benavoli, Mangili, Corani, Zaffalon and Ruggeri. A Bayesian Wilcoxon signed-rank test based on the Dirichlet
        process. ICML 2014.
        Benavoli, Corani, Demšar and Zaffalon. Time for a change. JMLR 18(77), 2017.
    """
    _check_rope(rope)
    if not (prior >= 0 and math.isfinite(prior)) or resamples < 1:
        msg = f"`prior` is {prior} and `resamples` {resamples}, expected a number from 0 and one from 1"
        raise BadSample(msg)
    of = _pair(first, second)
    differences = _differences(of)
    worse, better = _posterior_shares(
        differences, rope, of.rounding, prior=prior, resamples=resamples, seed=seed
    )
    mean = float(differences.mean())
    return Posterior("signed rank", rope, mean, None, None, worse, max(0.0, 1 - worse - better), better)


def _pair(first: SystemValues, second: SystemValues) -> Paired:
    return pair_scores({"the first system": first, "the second system": second})


def _differences(of: Paired) -> Floats:
    return of.values[:, 0] - of.values[:, 1]


def _spread(of: Paired, differences: Floats) -> float | Undefined:
    """Return the standard deviation of the differences."""
    if of.queries == 1:
        return ONE_QUERY
    if np.ptp(differences) <= of.rounding:
        return NO_SPREAD
    return float(differences.std(ddof=1))


def _check_rope(rope: float) -> None:
    if not (rope >= 0 and math.isfinite(rope)):
        msg = f"the region of practical equivalence `rope` is {rope}, expected a number from 0"
        raise BadSample(msg, hint="with 0.01, differences up to 0.01 either way do not matter")


def _student_posterior(mean: float, scale: float, freedom: int, rope: float, level: float) -> Posterior:
    from scipy.special import stdtr, stdtrit

    worse = float(stdtr(freedom, (-rope - mean) / scale))
    better = float(stdtr(freedom, (mean - rope) / scale))
    margin = float(stdtrit(freedom, (1 + level) / 2)) * scale
    equivalent = max(0.0, 1 - worse - better) if rope else 0.0
    return Posterior("correlated t", rope, mean, mean - margin, mean + margin, worse, equivalent, better)


def _posterior_shares(
    differences: Floats,
    rope: float,
    rounding: float,
    *,
    prior: float,
    resamples: int,
    seed: int,
    block: int = BLOCK,
) -> tuple[float, float]:
    """Return the shares of the weights for which worse, and for which better, is the most likely."""
    z, strength = np.append(differences, 0.0), np.append(np.ones(len(differences)), prior)
    order = np.argsort(z, kind="stable")
    worse = better = 0.0
    for w in _draw_weights(strength[order], resamples, max(1, block // len(z)), seed):
        below, above = _sums_beyond(z[order], w, 2 * rope, rounding)
        chances = np.stack([below, 1 - below - above, above])
        most = chances >= chances.max(axis=0) - 1e-12
        shared = most / most.sum(axis=0)
        worse, better = worse + float(shared[0].sum()), better + float(shared[2].sum())
    return worse / resamples, better / resamples


def _draw_weights(strength: Floats, resamples: int, rows: int, seed: int) -> Iterator[Floats]:
    """Yield weights from the Dirichlet distribution in blocks, all from one stream of random numbers."""
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, rows):
        drawn = rng.standard_gamma(strength, size=(min(rows, resamples - start), len(strength)))
        yield drawn / drawn.sum(axis=1, keepdims=True)


def _sums_beyond(z: Floats, w: Floats, border: float, rounding: float) -> tuple[Floats, Floats]:
    """Return, for each row of weights, the weight of pairs of differences whose sum lies below −border, and above it.

    The differences are sorted, so the partners of each difference are those before, or after, one place.
    """
    total = np.concatenate([np.zeros((len(w), 1)), np.cumsum(w, axis=1)], axis=1)

    def before(limit: Floats) -> Floats:
        """Return the weight of differences below each limit, and half of those on it."""
        ends = [np.searchsorted(z, limit - rounding, "left"), np.searchsorted(z, limit + rounding, "right")]
        half: Floats = (total[:, ends[0]] + total[:, ends[1]]) / 2
        return half

    below: Floats = (w * before(-border - z)).sum(axis=1)
    above: Floats = (w * (total[:, -1:] - before(border - z))).sum(axis=1)
    return below, above
