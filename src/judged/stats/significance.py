"""The tests of two systems on the same queries, by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from judged.errors import UnknownName
from judged.stats.bootstrap import shifted_bootstrap_p
from judged.stats.outcome import Outcome
from judged.stats.paired import Floats, Values, differences
from judged.stats.randomisation import randomise
from judged.stats.sign import sign_test
from judged.stats.t_test import paired_t, welch_t
from judged.stats.undefined import NO_SPREAD, ONE_QUERY, Undefined
from judged.stats.wilcoxon import wilcoxon

__all__ = ["TESTS", "difference_test"]


def difference_test(
    first: Values, second: Values, test: str = "randomisation", *, resampled: int = 10_000, seed: int = 0
) -> Outcome | Undefined:
    """What a two-sided test says of the difference between two systems on the same queries.

    `test` is one of `randomisation`, `t`, `wilcoxon`, `sign`, `bootstrap` and `welch`; the last takes the samples as
    not paired. `resampled` and `seed` are for the tests that draw.

    Example:
        >>> difference_test([0.5, 0.6, 0.9], [0.4, 0.6, 0.6], "sign")
        Outcome(test='sign', statistic=2.0, p=0.5)
        >>> print(difference_test([0.5, 0.6], [0.4, 0.5], "t"))
        undefined: no spread
    """
    if test not in TESTS:
        kind = "test"
        raise UnknownName(kind, test, list(TESTS))
    if test == "welch":
        return _of_t(welch_t(first, second).statistic, welch_t(first, second).p, "welch", len(first))
    return TESTS[test](differences(first, second), resampled, seed)


def _t(difference: Floats, _resampled: int, _seed: int) -> Outcome | Undefined:
    result = paired_t(difference, np.zeros_like(difference))
    return _of_t(result.statistic, result.p, "t", len(difference))


def _of_t(statistic: float, p: float, test: str, size: int) -> Outcome | Undefined:
    """The outcome, or why there is none; without any difference there is nothing to doubt."""
    if size == 1:
        return ONE_QUERY
    return Outcome(test, statistic, p) if np.isfinite(statistic) else NO_SPREAD


def _wilcoxon(difference: Floats, _resampled: int, _seed: int) -> Outcome | Undefined:
    return wilcoxon(difference)


def _sign(difference: Floats, _resampled: int, _seed: int) -> Outcome:
    return sign_test(difference)


def _randomisation(difference: Floats, resampled: int, seed: int) -> Outcome:
    both = np.column_stack([difference, np.zeros_like(difference)])
    result = randomise(both, flips=resampled, seed=seed)
    return Outcome("randomisation", float(difference.mean()), float(result.p[0]))


def _bootstrap(difference: Floats, resampled: int, seed: int) -> Outcome | Undefined:
    if len(difference) == 1:
        return ONE_QUERY
    if (difference == difference[0]).all() and difference[0] != 0:
        return NO_SPREAD
    p = shifted_bootstrap_p(difference, resampled=resampled, seed=seed)
    return Outcome("bootstrap", float(difference.mean()), p)


TESTS: dict[str, Callable[[Floats, int, int], Outcome | Undefined]] = {
    "randomisation": _randomisation,
    "t": _t,
    "wilcoxon": _wilcoxon,
    "sign": _sign,
    "bootstrap": _bootstrap,
    "welch": _t,
}
"""Every test, by name; Welch's, which is not of differences, is called apart."""
