"""Repeated values: components against mixed models and analysis of variance, coverage, and what would halve an interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats as scipy_stats

from judged.errors import BadSample
from judged.stats import Undefined, student_interval
from judged.stats.repeats import Components, find_components, measure_attempts

ATTEMPTS = np.array(
    [
        [0.62, 0.71, 0.55],
        [0.31, 0.12, 0.28],
        [0.90, 0.95, 0.81],
        [0.44, 0.52, 0.60],
        [0.15, 0.33, 0.21],
        [0.77, 0.58, 0.69],
        [0.05, 0.18, 0.02],
        [0.49, 0.36, 0.47],
    ]
)
# statsmodels 0.15.0: mixedlm("y ~ 1", groups=query).fit(reml=True): cov_re, scale, and the standard error of the intercept
MIXED_QUERY, MIXED_ATTEMPT, MIXED_ERROR = 0.06998693762, 0.00724169092, 0.09513203627


def find(means: np.ndarray, *attempts: np.ndarray) -> Components:
    """Components that are defined."""
    found = find_components(means, attempts)
    assert isinstance(found, Components)
    return found


def draw(
    rng: np.random.Generator,
    queries: int,
    counts: np.ndarray,
    *,
    of_queries: float = 1.0,
    of_attempts: float = 1.0,
) -> np.ndarray:
    """Attempts with a mean of 0: `counts` of them at each query, NaN elsewhere."""
    truth = of_queries * rng.normal(size=(queries, 1))
    values = truth + of_attempts * rng.normal(size=(queries, int(counts.max())))
    values[np.arange(values.shape[1]) >= counts[:, None]] = np.nan
    return values


def test_components_are_those_of_a_mixed_model() -> None:
    """Eight queries, three attempts each: restricted likelihood gives the same in a balanced layout."""
    found = find(ATTEMPTS.mean(axis=1), ATTEMPTS)

    assert found.attempt_variance == pytest.approx(MIXED_ATTEMPT, rel=1e-4)
    assert found.query_variance == pytest.approx(MIXED_QUERY, rel=1e-4)
    assert found.error == pytest.approx(MIXED_ERROR, rel=1e-4)


def test_components_are_those_of_an_analysis_of_variance() -> None:
    """(MS between − MS within) / m, and MS within, by sums of squares (SciPy's F is their ratio)."""
    found = find(ATTEMPTS.mean(axis=1), ATTEMPTS)
    f = scipy_stats.f_oneway(*ATTEMPTS).statistic

    assert f == pytest.approx(3 * found.total / found.attempt_variance)
    assert found.query_variance == pytest.approx(found.attempt_variance * (f - 1) / 3)


def test_the_error_is_that_of_the_means() -> None:
    """S of the queries' means / √n, however many attempts there are."""
    counts = np.array([1, 2, 3, 1, 2, 3, 1, 2])
    attempts = ATTEMPTS.copy()
    attempts[np.arange(3) >= counts[:, None]] = np.nan
    means = np.nanmean(attempts, axis=1)
    found = find(means, attempts)

    assert found.error == pytest.approx(means.std(ddof=1) / math.sqrt(8))
    # the harmonic mean: the sum of 1 / m is 31 / 6
    assert found.attempts == pytest.approx(8 / (31 / 6))
    assert (found.fewest, found.most) == (1, 3)


def test_the_spread_of_attempts_is_pooled() -> None:
    """By hand: ((0.1² + 0.1²) + (0.2² + 0 + 0.2²)) / (1 + 2); a single attempt says nothing."""
    spread = measure_attempts(np.array([[0.1, 0.3, np.nan], [0.2, 0.4, 0.6], [0.9, np.nan, np.nan]]))

    assert spread.variance == pytest.approx(0.1 / 3)
    assert (spread.fewest, spread.most) == (1, 3)


def test_a_difference_has_the_attempts_of_both() -> None:
    """Three attempts of one system and two of the other: s²/3 + s²/2."""
    rng = np.random.default_rng(1)
    first, second = (draw(rng, 30, np.full(30, many)) for many in (3, 2))
    found = find(first.mean(axis=1) - second.mean(axis=1), first, second)
    parts = [measure_attempts(first).variance, measure_attempts(second).variance]

    assert found.within == pytest.approx(parts[0] / 3 + parts[1] / 2)
    assert found.attempt_variance == pytest.approx(sum(parts))


def test_components_are_unbiased_with_unequal_attempts() -> None:
    """3,000 draws of 20 queries with one to five attempts: variances of 0.25 for queries and 1 for attempts.

    The query's is averaged before it is cut off at 0. Dividing by the plain mean of the numbers would give 0.38.
    """
    rng, queries, attempts = np.random.default_rng(2), [], []
    counts = np.tile([1, 1, 2, 5], 5)
    for _ in range(3_000):
        values = draw(rng, 20, counts, of_queries=0.5)
        found = find(np.nanmean(values, axis=1), values)
        queries.append(found.total - found.within)
        attempts.append(found.attempt_variance)

    assert np.mean(queries) == pytest.approx(0.25, abs=0.03)
    assert np.mean(attempts) == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("of_queries", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("unequal", [False, True])
@pytest.mark.parametrize("paired", [False, True])
def test_intervals_of_repeated_values_cover(of_queries: float, unequal: bool, paired: bool) -> None:
    """20 queries with three attempts, or one to five, of one system or of two: 2,000 draws, whose error is 0.005.

    Attempts taken as queries cover far less where queries differ.
    """
    rng, covered, naive = np.random.default_rng(20), 0, 0
    counts = np.tile([1, 2, 3, 4, 5], 4) if unequal else np.full(20, 3)
    for _ in range(2_000):
        values = draw(rng, 20, counts, of_queries=of_queries)
        if paired:
            values = values - draw(rng, 20, counts, of_queries=of_queries / 2)
        interval = student_interval(np.nanmean(values, axis=1))
        covered += interval.low <= 0 <= interval.high
        alone = student_interval(values[~np.isnan(values)])
        naive += alone.low <= 0 <= alone.high

    assert covered / 2_000 == pytest.approx(0.95, abs=0.017)
    if of_queries == 2.0:
        assert naive / 2_000 < 0.85


@pytest.mark.parametrize(("of_queries", "of_attempts"), [(1.0, 1.0), (0.3, 1.0), (0.0, 1.0)])
def test_what_halves_the_interval_does(of_queries: float, of_attempts: float) -> None:
    """With that number of queries, or of attempts, the mean width of intervals is half: 600 draws of each, an error of about 1 %."""
    total = of_queries**2 + of_attempts**2 / 3
    known = Components(0.0, math.sqrt(total / 20), 20, 1.0, 20, 3, 3, 3.0, of_attempts**2)

    def width(queries: int, attempts: int) -> float:
        rng = np.random.default_rng(queries + attempts)
        intervals = []
        for _ in range(600):
            values = draw(
                rng, queries, np.full(queries, attempts), of_queries=of_queries, of_attempts=of_attempts
            )
            interval = student_interval(values.mean(axis=1))
            intervals.append(interval.high - interval.low)
        return float(np.mean(intervals))

    whole = width(20, 3)
    assert known.draws_to_halve is not None
    assert width(known.draws_to_halve, 3) / whole == pytest.approx(0.5, abs=0.02)
    if known.attempts_to_halve is None:
        assert known.floor == pytest.approx(math.sqrt(of_queries**2 / total))
        assert width(20, 200) / whole == pytest.approx(known.floor, abs=0.02)
        assert known.floor > 0.5
    else:
        assert width(20, known.attempts_to_halve) / whole == pytest.approx(0.5, abs=0.02)


def test_identical_attempts_are_no_spread_of_attempts() -> None:
    """Then attempts alone never help, and the share is 0, also where values are rounded."""
    values = np.repeat([[0.1], [0.7], [0.3]], 3, axis=1)
    found = find(values.mean(axis=1), values)

    assert (found.share, found.floor, found.attempts_to_halve) == (0.0, 1.0, None)


def test_what_has_no_components_says_why() -> None:
    """One query, one attempt at each, no spread; a query without an attempt is refused."""
    once = ATTEMPTS[:, :1]

    assert find_components(once[:, 0], [once]) == Undefined("no query has two attempts")
    assert find_components(once[:1, 0], [ATTEMPTS[:1]]) == Undefined("one query")
    assert find_components(np.zeros(8), [ATTEMPTS]) == Undefined("no spread")
    with pytest.raises(BadSample, match="a query has no attempt"):
        measure_attempts(np.array([[np.nan, np.nan], [0.1, 0.2]]))


@given(
    rows=st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=2, max_size=8),
    scale=st.sampled_from([0.25, 1.0, 8.0]),
)
def test_components_are_of_the_scale_of_values_squared(rows: list[list[int]], scale: float) -> None:
    """And the share, the floor and what halves an interval have no scale; order and place of attempts do not matter."""
    values = np.full((len(rows), 4), np.nan)
    turned = values.copy()
    for at, row in enumerate(rows):
        values[at, : len(row)] = row
        turned[at, 4 - len(row) :] = row[::-1]
    means = np.nanmean(values, axis=1)
    found, other = find_components(means, [values]), find_components(means * scale, [turned * scale])

    assert type(found) is type(other)
    if isinstance(found, Components) and isinstance(other, Components):
        assert other.query_variance == pytest.approx(found.query_variance * scale**2, abs=1e-9)
        assert other.share == pytest.approx(found.share)
        assert other.draws_to_halve == found.draws_to_halve
        assert 0 <= found.share <= 1
        assert 0 <= found.floor <= 1
