"""Bootstrap intervals and Wilson's, against scipy 1.17.1 and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from judged.errors import BadSample, UnknownName
from judged.stats.bootstrap import bootstrap_interval, percentile, ratio
from judged.stats.intervals import Interval, student_interval, wilson_interval
from judged.stats.outcome import Undefined

VALUES = np.random.default_rng(1).gamma(2.0, size=80)
OTHERS = np.random.default_rng(2).gamma(3.0, size=80)


def interval(*arguments: object, **settings: object) -> Interval:
    """The interval, where there is one."""
    made = bootstrap_interval(*arguments, **settings)  # type: ignore[arg-type]
    assert isinstance(made, Interval)
    return made


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("mean", np.mean),
        ("median", np.median),
        ("geometric mean", stats.gmean),
        (percentile(90), lambda x, axis: np.percentile(x, 90, axis=axis)),
    ],
    ids=["mean", "median", "geometric mean", "90th percentile"],
)
def test_agrees_with_scipy(method: str, ours: object, theirs: object) -> None:
    """`scipy.stats.bootstrap` with other random numbers: bounds within 10 % of the width, statistics equal."""
    names = {"percentile": "percentile", "bca": "BCa"}
    expected = stats.bootstrap(
        (VALUES,), theirs, method=names[method], n_resamples=20_000, vectorized=True, rng=3
    ).confidence_interval
    made = interval(VALUES, ours, method=method, resamples=20_000)
    width = expected.high - expected.low

    assert made.method == method
    assert made.mean == pytest.approx(float(theirs(VALUES, axis=0)))  # type: ignore[operator]
    assert (made.low, made.high) == pytest.approx((expected.low, expected.high), abs=0.1 * width)


def test_ratios_are_drawn_together() -> None:
    """The interval of a ratio of means, against scipy's of the paired samples."""
    expected = stats.bootstrap(
        (VALUES, OTHERS),
        lambda a, b, axis: a.mean(axis=axis) / b.mean(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=20_000,
        rng=3,
    ).confidence_interval
    made = interval(VALUES, ratio(OTHERS), resamples=20_000)

    assert made.mean == pytest.approx(VALUES.mean() / OTHERS.mean())
    assert (made.low, made.high) == pytest.approx((expected.low, expected.high), rel=0.02)


def test_one_seed_gives_one_interval() -> None:
    """And another seed another."""
    assert interval(VALUES, seed=4) == interval(VALUES, seed=4)
    assert interval(VALUES, seed=4) != interval(VALUES, seed=5)


def test_fewer_resamples_are_the_first_of_more() -> None:
    """What is drawn does not depend on how much is drawn, so nothing depends on blocks."""
    from judged.stats.bootstrap import draw_resamples

    few = np.concatenate(list(draw_resamples(9, resamples=100, seed=1)))
    more = np.concatenate(list(draw_resamples(9, resamples=128, seed=1)))

    assert (few == more[:100]).all()


@pytest.mark.parametrize(
    ("values", "statistic", "message"),
    [
        ([0.5], "mean", "undefined: one query"),
        ([0.5, 0.5, 0.5], "median", "undefined: no spread"),
        ([0.5, 0.2], ratio([0.0, 0.0]), "undefined: a denominator is 0"),
    ],
)
def test_what_has_no_interval_says_why(values: list[float], statistic: object, message: str) -> None:
    """Never a NaN."""
    made = bootstrap_interval(values, statistic)  # type: ignore[arg-type]

    assert isinstance(made, Undefined)
    assert str(made) == message


def test_unknown_names_are_refused() -> None:
    """Of statistics and of methods."""
    with pytest.raises(UnknownName, match="did you mean `median`"):
        bootstrap_interval(VALUES, "medion")
    with pytest.raises(UnknownName, match="did you mean `bca`"):
        bootstrap_interval(VALUES, method="BCa2")  # type: ignore[arg-type]
    with pytest.raises(BadSample, match="from 0 to 100"):
        percentile(101)


@pytest.mark.parametrize("ones", [0, 1, 7, 20])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_wilson_agrees_with_statsmodels(ones: int, level: float) -> None:
    """`proportion_confint(method="wilson")` of statsmodels 0.15.0."""
    made = wilson_interval([1.0] * ones + [0.0] * (20 - ones), level=level)

    assert (made.low, made.high) == pytest.approx(
        proportion_confint(ones, 20, 1 - level, method="wilson"), abs=1e-12
    )


def test_wilson_is_of_zeros_and_ones() -> None:
    """Anything else is refused, with the way out."""
    with pytest.raises(BadSample, match="0 or 1"):
        wilson_interval([0.0, 0.5])


def test_intervals_cover_at_their_level() -> None:
    """Student's on normal values and Wilson's on coins: 2,000 times 25 values, four standard errors allowed."""
    rng = np.random.default_rng(5)
    student = [student_interval(row, level=0.9) for row in rng.normal(0.3, 1, size=(2_000, 25))]
    wilson = [wilson_interval(row, level=0.9) for row in (rng.random((2_000, 25)) < 0.3).astype(float)]
    error = 4 * np.sqrt(0.9 * 0.1 / 2_000)

    assert np.mean([interval.low <= 0.3 <= interval.high for interval in student]) == pytest.approx(
        0.9, abs=error
    )
    # of 25 coins the coverage jumps with the true share; at 0.3 it is 0.9009, from the binomial distribution
    assert np.mean([interval.low <= 0.3 <= interval.high for interval in wilson]) == pytest.approx(
        0.9, abs=error + 0.03
    )


def test_bca_covers_too_little_where_most_queries_tie_and_student_does_not() -> None:
    """The reason for Student's interval being the default: 25 queries, reciprocal ranks, four in five tied, no difference."""
    rng = np.random.default_rng(1)
    student, bca = [], []
    for seed in range(300):
        first, other = (rng.choice([1, 0.5, 1 / 3, 0], p=[0.5, 0.2, 0.1, 0.2], size=25) for _ in range(2))
        d = first - np.where(rng.random(25) < 0.8, first, other)
        if d.any():
            exact, made = student_interval(d), interval(d, resamples=499, seed=seed)
            student.append(exact.low <= 0 <= exact.high)
            bca.append(made.low <= 0 <= made.high)

    assert np.mean(student) >= 0.95
    assert np.mean(bca) < 0.92
