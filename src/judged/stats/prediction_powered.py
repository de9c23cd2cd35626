"""Human values from a few human labels and many of a machine: prediction-powered means, stratified means, corrected rates."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import BadSample, UnknownName
from judged.stats.intervals import is_binary
from judged.stats.outcome import NO_SPREAD, Cell, Undefined, as_row
from judged.stats.paired import Values, check_level, check_values
from judged.stats.rater_agreement import sort_labels

Trust: TypeAlias = Literal["tuned", "full", "none"]
"""Reliance on the machine: as far as it helps (PPI++), fully (PPI), not at all (classical)."""
METHODS = {"tuned": "PPI++", "full": "PPI", "none": "classical"}


ENOUGH_VALUES, ENOUGH_RATES = 15, 30
"""With fewer human values (or clusters), and fewer that are 0 or 1, intervals cover less than their level: see the guide's table."""
ROUNDING = 1e-12
"""A standard error below this share of the largest value is a rounding error of 0."""


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """A mean of human values with its interval, estimated with the help of a machine's values."""

    method: str
    """`PPI++`, `PPI` or `classical`; with ` by cluster` if items are not independent."""
    mean: float
    error: float | Undefined
    """The standard error of the mean; undefined if values have no spread, and so are the bounds."""
    low: float | Undefined
    high: float | Undefined
    level: float
    weight: float
    """λ, how far the estimate relies on the machine: 0 not at all, 1 fully."""
    human: int
    """The number of items with values of both."""
    machine: int
    """The number of items with a value of the machine only."""
    freedom: float
    """The degrees of freedom of the interval's Student's t."""
    clusters: int | None = None
    """The number of clusters with human values; None if items are independent."""
    warning: str = ""
    """Why the interval may cover less than its level; empty if there is no reason."""

    def rows(self) -> list[dict[str, Cell]]:
        """Return one dict."""
        return [as_row(self)]


def prediction_powered_mean(
    human: Values,
    machine: Values,
    others: Values = (),
    *,
    trust: Trust | float = "tuned",
    clusters: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
    level: float = 0.95,
) -> PoweredMean:
    r"""Return the mean of human values over a population, of which people saw a random sample and a machine all items.

    $$\hat\theta = \bar{y} + \lambda (\bar{f}_N - \bar{f}_n), \qquad
      \hat{s}^2 = \frac{\widehat{var}(y - \lambda f)}{n} + \lambda^2 \frac{\widehat{var}(f_N)}{N}$$

    with $y$ (`human`) and $f$ (`machine`) the values of the $n$ items in the sample, $f_N$ (`others`) the machine's of the
    $N$ items outside it, and λ (`trust`) chosen to make the interval narrow (`tuned`: PPI++), 1 (`full`: PPI), 0 (`none`: the
    classical interval, of the human values alone), or a number. The machine may be biased in any way, but the sample
    must be a random sample of the population. An interval of the machine's labels alone has no such guarantee, however
    narrow it is.

    The interval is of Student's t with $n - 1$ degrees of freedom, $n - 2$ if λ is tuned, and fewer if there are fewer
    other items than human values (Satterthwaite). It needs two human values, three to tune λ.

    `clusters` names the cluster of each item in the sample, and of each other item: sessions, or topics. Then clusters, not
    items, are independent draws: those with human values replace $n$ above, and if λ is given, the degrees of freedom are
    Satterthwaite's for both kinds of clusters. It generalises to new clusters; without `clusters`, the interval
    generalises to new items of the same ones.

    Without two other items (or clusters), or if the machine gives the same value to all, a tuned λ is 0. Values without any
    spread have no interval. `warning` says if there are too few human values for the interval to cover as it claims.

    Example:
        >>> human, machine = [1, 0, 1, 1, 0, 0, 1, 0], [1, 0, 1, 1, 1, 0, 1, 0]
        >>> found = prediction_powered_mean(human, machine, [1, 0, 1, 0] * 25)
        >>> round(found.mean, 4), round(found.weight, 4), round(found.low, 4), round(found.high, 4)
        (0.414, 0.6883, 0.1054, 0.7225)
        >>> found.warning
        '8 human values of 0 or 1, fewer than 30: the interval may cover less than its level'

    References:
        Angelopoulos, Duchi and Zrnic. PPI++: Efficient prediction-powered inference. 2023. arXiv:2311.01453

        Satterthwaite. An approximate distribution of estimates of variance components. Biometrics Bulletin 2(6),
        1946. doi:10.2307/3002019
    """
    check_level(level)
    y, f = check_values(human, name="human"), check_values(machine, name="machine")
    rest = check_values(others, name="others") if len(others) else np.zeros(0)
    _check_same_items(y, f)
    of_human, of_others = _number_clusters(len(y), len(rest), clusters)
    draws, other_draws = len(np.unique(of_human)), len(np.unique(of_others))
    weight, tuned = _choose_weight(y, f, rest if other_draws > 1 or trust != "tuned" else rest[:0], trust)
    _check_draws(draws, other_draws if weight else None, tuned=tuned, clustered=clusters is not None)
    residuals, predictions = y - weight * f, weight * rest
    spread = combine_parts(_parts(residuals), of_human, _parts(predictions), of_others, tuned=tuned)
    # Simulated: with a tuned λ, Satterthwaite's degrees of freedom above those of the sample cover only 0.926.
    freedom = min(spread.freedom, spread.human_freedom) if tuned or clusters is None else spread.freedom
    mean = _mean(y) + weight * (_mean(rest) - _mean(f)) if weight else _mean(y)
    error, low, high = bound_mean(
        mean, spread.error, freedom, level, largest=max(np.abs(y).max(), np.abs(f).max())
    )
    return PoweredMean(
        method=METHODS.get(str(trust), "PPI") + ("" if clusters is None else " by cluster"),
        mean=mean,
        error=error,
        low=low,
        high=high,
        level=level,
        weight=weight,
        human=len(y),
        machine=len(rest),
        freedom=freedom,
        clusters=None if clusters is None else draws,
        warning=describe_small_sample(y, None if clusters is None else draws),
    )


def _check_same_items(human: Floats, machine: Floats) -> None:
    if len(human) != len(machine):
        msg = f"{len(human):,} human values and {len(machine):,} of the machine were given, expected one of each for an item"
        raise BadSample(msg, hint="the machine's values of items that nobody saw are `others`")


def _number_clusters(
    human: int, others: int, clusters: tuple[Sequence[Hashable], Sequence[Hashable]] | None
) -> tuple[Ints, Ints]:
    """Return the number of each item's cluster, in the sample and outside; without clusters, every item is its own."""
    if clusters is None:
        return np.arange(human), np.arange(human, human + others)
    of_sample, of_others = clusters
    if len(of_sample) != human or (others and len(of_others) != others):
        msg = f"`clusters` names those of {len(of_sample):,} and {len(of_others):,} items, expected {human:,} and {others:,}"
        raise BadSample(msg, hint="give two sequences: for the sample, and for the other items")
    names = [*of_sample, *(of_others if others else ())]
    number = {name: at for at, name in enumerate(dict.fromkeys(names))}
    numbers = np.array([number[name] for name in names])
    return numbers[:human], numbers[human:]


def _choose_weight(
    human: Floats, machine: Floats, others: Floats, trust: Trust | float
) -> tuple[float, bool]:
    """Return λ and whether it was tuned; the narrowest interval's follows from the covariance, and lies between 0 and 1."""
    if isinstance(trust, str) and trust not in METHODS:
        raise UnknownName("trust in the machine", trust, list(METHODS))
    if len(others) == 0 or trust == "none":
        return 0.0, False
    if trust == "full":
        return 1.0, False
    if not isinstance(trust, str):
        if not 0 <= trust <= 1:
            msg = f"the trust in the machine is {trust}, expected a number from 0 to 1"
            raise BadSample(msg, hint='`trust="tuned"` finds it')
        return float(trust), False
    spread = float(np.concatenate([machine, others]).var(ddof=1))
    if spread == 0:
        return 0.0, False
    shared = float(((human - human.mean()) * (machine - machine.mean())).mean())
    return min(max(shared / ((1 + len(human) / len(others)) * spread), 0.0), 1.0), True


def _check_draws(human: int, others: int | None, *, tuned: bool, clustered: bool) -> None:
    """Raise `BadSample` if there are too few independent draws; `others` is None if the machine is not relied on."""
    draws = "clusters of human values" if clustered else "human values"
    if human < 2 + tuned:
        needed = "three or more to tune λ" if tuned else "two or more to estimate their spread"
        hint = (
            '`trust="none"` needs two'
            if tuned
            else "`clusters` are independent draws, not their items"
            if clustered
            else None
        )
        msg = f"the number of {draws} is {human}, expected {needed}"
        raise BadSample(msg, hint=hint)
    if others is not None and others < 2:
        msg = f"the number of other {'clusters' if clustered else 'items'} is 1, expected two or more to estimate their spread"
        raise BadSample(msg, hint='`trust="none"` does not use other items')


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard error of an estimate, and how well it is known."""

    error: float
    freedom: float
    """Satterthwaite's degrees of freedom."""
    human_freedom: int
    """The degrees of freedom of the draws with human values alone."""


def combine_parts(
    human: Floats, of_human: Ints, others: Floats, of_others: Ints, *, tuned: bool = False
) -> Spread:
    """Return the standard error of an estimate from what each item adds to its deviation.

    `of_human` and `of_others` number the clusters of the items that people graded and of the others. Parts of a cluster are
    added up first: its items vary together, also those that people graded with the others.
    """
    count = 1 + max(of_human.max(initial=0), of_others.max(initial=0))
    graded, labelled = (np.bincount(of, minlength=count) > 0 for of in (of_human, of_others))
    added = np.zeros(count)
    for parts, of, draws in ((human, of_human, graded.sum()), (others, of_others, labelled.sum())):
        # Deviations from a mean of few draws are too small.
        added += np.bincount(of, parts, count) * (math.sqrt(draws / (draws - 1)) if draws > 1 else 1)
    squares, only_labelled = added**2, (labelled & ~graded).sum()
    human_freedom = int(graded.sum()) - 1 - tuned
    variances = np.array([squares[graded].sum(), squares[~graded].sum()])
    # Those that only the machine labelled have their share of the degrees of freedom of all that it labelled.
    freedom = np.array([human_freedom, only_labelled * (1 - 1 / max(labelled.sum(), 1))])
    return Spread(math.sqrt(variances.sum()), satterthwaite_freedom(variances, freedom), human_freedom)


def satterthwaite_freedom(variances: Floats, freedom: Floats) -> float:
    r"""Return the degrees of freedom of a sum of independent variances, $(\sum v)^2 / \sum (v^2 / \nu)$.

    >>> satterthwaite_freedom(np.array([1.0, 1.0, 0.0]), np.array([4, 4, 0]))
    8.0
    """
    there = variances > 0
    if not there.any():
        return float(freedom.max())
    # of shares, whose squares do not underflow as those of tiny variances do
    shares = variances[there] / variances.sum()
    return float(1 / (shares**2 / freedom[there]).sum())


def bound_mean(
    mean: float, error: float, freedom: float, level: float, *, largest: float
) -> tuple[float | Undefined, float | Undefined, float | Undefined]:
    """Return the standard error and the bounds; an interval of width 0 would claim what a sample cannot know."""
    if error <= ROUNDING * largest:
        return NO_SPREAD, NO_SPREAD, NO_SPREAD
    from scipy.special import stdtrit

    margin = float(stdtrit(freedom, (1 + level) / 2)) * error
    return error, mean - margin, mean + margin


def describe_small_sample(human: Floats, clusters: int | None = None, *, noun: str = "cluster") -> str:
    """Return why an interval of these human values, of that many clusters, may cover less than its level; else nothing.

    >>> describe_small_sample(np.arange(40.0) % 5, 6, noun="task")
    'human values of 6 tasks, fewer than 15: the interval may cover less than its level'
    """
    if (human == human[0]).all():
        return "all human values are equal: their spread is unknown"
    values, enough = "human values", ENOUGH_VALUES
    if is_binary(human):
        values, enough = "human values of 0 or 1", ENOUGH_RATES
    if clusters is not None and clusters < ENOUGH_VALUES:
        sample, enough = f"human values of {clusters} {noun}{'s' * (clusters != 1)}", ENOUGH_VALUES
    elif len(human) < enough:
        sample = f"{len(human)} {values}"
    else:
        return ""
    return f"{sample}, fewer than {enough}: the interval may cover less than its level"


def _parts(values: Floats) -> Floats:
    """Return what each value adds to the deviation of the mean."""
    return (values - _mean(values)) / len(values) if len(values) else values


def _mean(values: Floats) -> float:
    """Return the mean; of equal values the value itself, free of rounding."""
    return float(values[0]) if (values == values[0]).all() else float(values.mean())


@dataclass(frozen=True, slots=True)
class StratifiedMean:
    """A mean of human values with its interval, each stratum weighted by its size."""

    mean: float
    error: float | Undefined
    """The standard error of the mean; undefined if values have no spread, and so are the bounds."""
    low: float | Undefined
    high: float | Undefined
    level: float
    strata: int
    human: int
    """The number of items with a human value."""
    freedom: float
    """The degrees of freedom of the interval's Student's t."""
    warning: str = ""
    """Why the interval may cover less than its level; empty if there is no reason."""

    def rows(self) -> list[dict[str, Cell]]:
        """Return one dict."""
        return [as_row(self)]


def stratified_mean(
    human: Values, strata: Sequence[Hashable], others: Sequence[Hashable], *, level: float = 0.95
) -> StratifiedMean | Undefined:
    r"""Return the mean of human values over all items, of which people saw a random sample within each stratum.

    $$\hat\theta = \sum_g W_g \bar{y}_g, \qquad
      \hat{s}^2 = \sum_g W_g^2 \frac{s_g^2}{n_g} + \frac{1}{N} \sum_g W_g (\bar{y}_g - \hat\theta)^2$$

    with $W_g$ the share of stratum $g$ among all $N$ items; the last sum accounts for these being a sample themselves.
    `strata` are the labels that the machine gave to the items people saw, `others` those of all other items. Use it if
    labels decided which items people saw, for instance a fixed number of each: `prediction_powered_mean`, which needs a
    random sample of all items, is then biased. It is undefined if a stratum has fewer than two human values.

    The interval is of Student's t with Satterthwaite's degrees of freedom: $n_g - 1$ for each stratum, $N - 1$ for the last sum.

    Example:
        >>> found = stratified_mean([0, 1, 1, 1], ["bad", "bad", "good", "good"], ["bad"] * 94 + ["good"] * 2)
        >>> found.mean, round(found.error, 2)
        (0.52, 0.48)
    """
    check_level(level)
    values = check_values(human, name="human")
    if len(values) != len(strata):
        msg = f"{len(values):,} human values of {len(strata):,} items were given, expected one of each"
        raise BadSample(msg)
    size = Counter(strata) + Counter(others)
    seen = {name: values[[stratum == name for stratum in strata]] for name in sort_labels(size)}
    for name, found in seen.items():
        if len(found) < 2:
            return Undefined(f"`{name}` has {len(found)} human values, expected two or more of each label")
    share = np.array([size[name] for name in seen]) / size.total()
    means = np.array([found.mean() for found in seen.values()])
    mean = float((share * means).sum())
    between = float((share * (means - mean) ** 2).sum() / size.total())
    within = share**2 * [np.var(found, ddof=1) / len(found) for found in seen.values()]
    variances = np.array([*within, between])
    freedom = satterthwaite_freedom(
        variances, np.array([*(len(found) - 1 for found in seen.values()), size.total() - 1])
    )
    largest = float(np.abs(values).max())
    error, low, high = bound_mean(mean, math.sqrt(variances.sum()), freedom, level, largest=largest)
    warning = describe_small_sample(values)
    return StratifiedMean(mean, error, low, high, level, len(size), len(values), freedom, warning)


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """A rate as a judge reports it, and corrected for the judge's known mistakes."""

    value: float | Undefined
    """The corrected rate, from 0 to 1."""
    apparent: float
    """The rate that the judge reports, over all items."""
    sensitivity: float | Undefined
    """The share of good items that the judge calls good."""
    specificity: float | Undefined
    """The share of other items that the judge does not call good."""

    def rows(self) -> list[dict[str, Cell]]:
        """Return one dict, an undefined number as its text."""
        return [as_row(self)]


def rogan_gladen_rate(human: Values, machine: Values, others: Values = ()) -> CorrectedRate:
    r"""Correct a machine's rate of good items by its sensitivity and specificity on the items that people judged.

    $$p = \frac{q + sp - 1}{se + sp - 1}$$

    with $q$ the rate that the machine reports over all items. Values are 0 or 1: `human` and `machine` of the sample,
    `others` the machine's of the rest. It is a point estimate without an interval, a check of `prediction_powered_mean`,
    clipped to 0 and 1. It is undefined for a machine whose labels are unrelated to people's.

    Example:
        >>> found = rogan_gladen_rate([1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0] * 5)
        >>> round(found.value, 4), round(found.sensitivity, 4), found.specificity
        (0.7, 0.6667, 1.0)

    References:
        Rogan and Gladen. Estimating prevalence from the results of a screening test. American Journal of
        Epidemiology 107(1), 1978. doi:10.1093/oxfordjournals.aje.a112510
    """
    truth, given = _check_rates(human, "human"), _check_rates(machine, "machine")
    _check_same_items(truth, given)
    every = np.concatenate([given, _check_rates(others, "others")]) if len(others) else given
    apparent = float(every.mean())
    sensitivity = _share(given[truth == 1], "no item of the sample is good")
    specificity = _share(1 - given[truth == 0], "every item of the sample is good")
    return CorrectedRate(
        _correct_rate(apparent, sensitivity, specificity), apparent, sensitivity, specificity
    )


def _correct_rate(
    apparent: float, sensitivity: float | Undefined, specificity: float | Undefined
) -> float | Undefined:
    if isinstance(sensitivity, Undefined):
        return sensitivity
    if isinstance(specificity, Undefined):
        return specificity
    information = sensitivity + specificity - 1
    if abs(information) < 1e-12:
        return Undefined("the machine calls good items good as often as others")
    return min(max((apparent + specificity - 1) / information, 0.0), 1.0)


def _check_rates(values: Values, name: str) -> Floats:
    array = check_values(values, name=name)
    if not is_binary(array):
        msg = f"`{name}` holds other values than 0 and 1, expected whether each item is good"
        raise BadSample(msg)
    return array


def _share(values: Floats, none: str) -> float | Undefined:
    return float(np.mean(values)) if len(values) else Undefined(none)
