"""One-sided tests with a margin: scipy and statsmodels as oracles, exact enumeration, and simulated error rates."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judged.errors import BadSample
from judged.stats.margin import MarginTest, margin_test
from judged.stats.outcome import Undefined

scipy_stats = pytest.importorskip("scipy.stats")

SIZES = pytest.mark.parametrize("size", [2, 3, 5, 10, 25, 50, 200, 1000])


def drawn(size: int, *, mean: float = 0.0, spread: float = 0.1) -> np.ndarray:
    """Differences from a fixed seed."""
    return np.random.default_rng(size).normal(mean, spread, size)


@SIZES
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("margin", [-0.02, 0.0, 0.03])
def test_the_t_test_is_scipys_with_the_margin_as_its_mean(size: int, alpha: float, margin: float) -> None:
    """p-values and bounds are those of `scipy.stats.ttest_1samp(differences, margin, alternative=…)`."""
    differences = drawn(size)
    found = margin_test(differences, margin=margin, alpha=alpha)
    above = scipy_stats.ttest_1samp(differences, margin, alternative="greater")
    below = scipy_stats.ttest_1samp(differences, margin, alternative="less")

    assert found.p_above == pytest.approx(above.pvalue, rel=1e-9)
    assert found.p_below == pytest.approx(below.pvalue, rel=1e-9)
    assert found.low == pytest.approx(above.confidence_interval(1 - alpha).low, rel=1e-9)
    assert found.high == pytest.approx(below.confidence_interval(1 - alpha).high, rel=1e-9)


@SIZES
@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_the_smallest_detectable_effect_is_that_of_statsmodels(size: int, alpha: float) -> None:
    """`TTestPower().solve_power(nobs=n, power=0.8, alternative="larger")` standard deviations."""
    power = pytest.importorskip("statsmodels.stats.power").TTestPower()
    differences = drawn(size)
    found = margin_test(differences, margin=-0.02, alpha=alpha)
    wanted = power.solve_power(nobs=size, alpha=alpha, power=0.8, alternative="larger")

    assert found.detectable == pytest.approx(wanted * differences.std(ddof=1), rel=1e-4)


@pytest.mark.parametrize(("margin", "size"), [(-0.05, 30), (-0.02, 50), (-0.01, 200), (-0.1, 12)])
def test_the_queries_that_are_needed_are_those_of_statsmodels(margin: float, size: int) -> None:
    """`TTestPower().solve_power(effect_size=margin/s, power=0.8)`, rounded up."""
    power = pytest.importorskip("statsmodels.stats.power").TTestPower()
    differences = drawn(size)
    effect = -margin / differences.std(ddof=1)
    wanted = power.solve_power(effect_size=effect, alpha=0.05, power=0.8, alternative="larger")

    assert margin_test(differences, margin=margin).needed == math.ceil(wanted)


def test_at_a_margin_of_0_or_above_no_number_of_queries_lets_equal_systems_pass() -> None:
    """The number is undefined rather than endless."""
    assert margin_test(drawn(20), margin=0.0).needed is None
    assert margin_test(drawn(20), margin=0.01).needed is None


def flipped(excess: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Both p-values by writing out every assignment of signs, in exact arithmetic."""
    sums = [
        sum(s * e for s, e in zip(signs, excess, strict=True))
        for signs in itertools.product((1, -1), repeat=len(excess))
    ]
    seen = sum(excess)
    return (
        Fraction(sum(total >= seen for total in sums), len(sums)),
        Fraction(sum(total <= seen for total in sums), len(sums)),
    )


@settings(max_examples=60)
@given(
    tenths=st.lists(st.integers(-10, 10), min_size=2, max_size=9).filter(any),
    margin=st.integers(-3, 3),
)
def test_sign_flips_are_counted_exactly_ties_included(tenths: list[int], margin: int) -> None:
    """Tenths make many equal sums; floating point miscounts none of them."""
    excess = [Fraction(tenth - margin, 10) for tenth in tenths]
    found = margin_test([tenth / 10 for tenth in tenths], margin=margin / 10, test="randomisation")
    if found.undefined:
        assert len(set(excess)) == 1
        return

    assert (found.p_above, found.p_below) == tuple(map(float, flipped(excess)))
    assert found.exact


@settings(max_examples=60)
@given(
    differences=st.lists(st.integers(-1000, 1000).map(lambda n: n / 1000), min_size=5, max_size=10).filter(
        lambda values: len(set(values)) > 1
    ),
    margin=st.integers(-300, 300).map(lambda n: (n + 0.5) / 1000),
    test=st.sampled_from(["t", "randomisation"]),
    alpha=st.sampled_from([0.05, 0.1, 0.25]),
)
def test_the_verdict_is_where_the_bounds_lie(
    differences: list[float], margin: float, test: str, alpha: float
) -> None:
    """Pass if and only if the lower bound lies above the margin; fail if and only if the upper lies below."""
    found = margin_test(differences, margin=margin, alpha=alpha, test=test)  # type: ignore[arg-type]

    assert (found.verdict == "pass") == (found.low > margin)
    assert (found.verdict == "fail") == (found.high < margin)
    assert found.low <= found.difference <= found.high


@pytest.mark.parametrize("size", [21, 50])
def test_where_signs_are_drawn_the_bounds_agree_with_the_verdict_too(size: int) -> None:
    """The margin is moved across both bounds."""
    differences = drawn(size)
    first = margin_test(differences, test="randomisation")
    margins = [bound + step for bound in (first.low, first.high) for step in (-1e-6, 1e-6)]
    found = [margin_test(differences, margin=width, test="randomisation") for width in margins]

    assert [outcome.verdict for outcome in found] == ["pass", "inconclusive", "inconclusive", "fail"]


def test_drawn_sign_flips_come_near_the_exact_ones_and_one_seed_gives_one_result() -> None:
    """21 queries: 10,000 of 2,097,152 assignments are drawn, and p is (k + 1) / 10,001."""
    differences = drawn(21, mean=0.03)
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums + difference, sums - difference])
    exact = float((sums >= differences.sum() - 1e-12).mean())
    found, again, other = (margin_test(differences, test="randomisation", seed=seed) for seed in (0, 0, 1))
    error = math.sqrt(exact * (1 - exact) / 10_000)

    assert not found.exact
    assert found == again
    assert found.p_above != other.p_above
    assert abs(found.p_above - exact) < 4 * error
    assert found.p_above * 10_001 == pytest.approx(round(found.p_above * 10_001))


def test_a_drawn_p_value_is_never_0() -> None:
    """Where no flip reaches what is seen, p is 1 / 10,001."""
    found = margin_test(drawn(60, mean=5.0), test="randomisation")

    assert found.p_above == 1 / 10_001
    assert found.verdict == "pass"


def test_the_result_does_not_depend_on_how_many_signs_are_drawn_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blocks bound the memory and change no number."""
    whole = margin_test(drawn(21), test="randomisation")
    monkeypatch.setattr("judged.stats.margin.CELLS", 21 * 17)

    assert margin_test(drawn(21), test="randomisation").p_above == whole.p_above


def test_four_queries_can_show_nothing_by_randomisation_at_5_percent() -> None:
    """The least p-value is 1/16, so there are no bounds."""
    found = margin_test([0.5, 0.6, 0.7, 0.8], margin=-0.5, test="randomisation")

    assert (found.verdict, found.p_above, found.low, found.high) == (
        "inconclusive",
        1 / 16,
        -math.inf,
        math.inf,
    )


@pytest.mark.parametrize("test", ["t", "randomisation"])
@pytest.mark.parametrize(
    ("differences", "margin", "verdict", "undefined"),
    [
        ([0.0, 0.0, 0.0], -0.01, "pass", "no spread"),
        ([0.0, 0.0, 0.0], 0.0, "pass", "no spread"),
        ([0.0, 0.0, 0.0], 0.01, "fail", "no spread"),
        ([-0.01] * 3, -0.01, "pass", "no spread"),
        ([0.1 - 0.11, 0.2 - 0.21, 0.3 - 0.31], -0.01, "pass", "no spread"),
        ([-0.02] * 3, -0.01, "fail", "no spread"),
        ([0.0], -0.01, "inconclusive", "one query"),
        ([-1.0], -0.01, "inconclusive", "one query"),
    ],
)
def test_where_nothing_can_be_estimated_the_outcome_is_stated(
    test: str, differences: list[float], margin: float, verdict: str, undefined: str
) -> None:
    """Equal everywhere is a pass from the margin up; one query shows nothing."""
    found = margin_test(differences, margin=margin, test=test)  # type: ignore[arg-type]

    assert (found.verdict, found.undefined, found.detectable) == (verdict, Undefined(undefined), None)


def test_no_difference_at_all_passes_whatever_the_margins_of_the_queries() -> None:
    """A share of the baseline has a spread even where the systems do not differ."""
    found = margin_test(np.zeros(3), margin=np.array([-0.02, 0.0, 0.0]))

    assert (found.verdict, found.undefined) == ("pass", Undefined("no spread"))


def test_margins_of_queries_are_taken_off_one_by_one() -> None:
    """The test is of run − 0.98 · baseline against 0, as `scipy.stats.ttest_1samp` has it."""
    rng = np.random.default_rng(5)
    old = rng.uniform(0.2, 0.9, 30)
    new = old + rng.normal(0, 0.05, 30)
    found = margin_test(new - old, margin=-0.02 * old)
    wanted = scipy_stats.ttest_1samp(new - 0.98 * old, 0.0, alternative="greater")

    assert found.p_above == pytest.approx(wanted.pvalue, rel=1e-9)
    assert found.margin == pytest.approx(-0.02 * old.mean())
    assert found.low - found.margin == pytest.approx(wanted.confidence_interval(0.95).low, rel=1e-9)


@pytest.mark.parametrize(
    ("differences", "options", "words"),
    [
        ([], {}, "holds no values"),
        ([0.1, math.nan], {}, "holds nan"),
        ([0.1, math.inf], {}, "holds inf"),
        ([0.1, 0.2], {"alpha": 0.5}, "`alpha` is 0.5, expected a number from 1e-09 and below 0.5"),
        ([0.1, 0.2], {"alpha": math.nan}, "`alpha` is nan"),
        ([0.1, 0.2], {"seed": -1}, "`seed` is -1, expected a whole number from 0"),
        ([0.1, 0.2], {"test": "wilcoxon"}, "the test is `wilcoxon`, expected `t` or `randomisation`"),
    ],
)
def test_what_cannot_be_tested_is_refused(
    differences: list[float], options: dict[str, object], words: str
) -> None:
    """In words, not with nan."""
    with pytest.raises(BadSample, match=words):
        margin_test(differences, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("test", ["t", "randomisation"])
@pytest.mark.parametrize("size", [10, 30])
def test_at_the_margin_each_verdict_is_wrong_as_often_as_alpha_says_at_most(test: str, size: int) -> None:
    """2,000 samples (400 where signs are drawn) whose true difference is the margin: within 4 standard errors."""
    count = 2000 if test == "t" or size <= 10 else 400
    rng = np.random.default_rng(20)
    verdicts = [_of(rng.normal(-0.01, 0.1, size), test).verdict for _ in range(count)]
    allowed = 0.05 + 4 * math.sqrt(0.05 * 0.95 / count)

    assert verdicts.count("pass") / count <= allowed
    assert verdicts.count("fail") / count <= allowed


def test_rare_losses_pass_more_often_than_alpha_says_which_is_a_stated_limit() -> None:
    """One in ten of 50 queries loses 0.1, a true difference at the margin: the guide says 11.5 % of 4,000 pass."""
    rng = np.random.default_rng(22)
    verdicts = [_of(-0.1 * (rng.random(50) < 0.1), "t").verdict for _ in range(2000)]

    assert abs(verdicts.count("pass") / 2000 - 0.115) < 4 * math.sqrt(0.115 * 0.885 * (1 / 2000 + 1 / 4000))


def test_far_enough_from_the_margin_it_passes_four_times_in_five() -> None:
    """At the smallest detectable effect of the true spread, the share of passes is 0.8 within 4 standard errors."""
    power = pytest.importorskip("statsmodels.stats.power").TTestPower()
    effect = power.solve_power(nobs=25, alpha=0.05, power=0.8, alternative="larger") * 0.1
    rng = np.random.default_rng(21)
    verdicts = [_of(rng.normal(-0.01 + effect, 0.1, 25), "t").verdict for _ in range(2000)]

    assert abs(verdicts.count("pass") / 2000 - 0.8) < 4 * math.sqrt(0.8 * 0.2 / 2000)


def _of(differences: np.ndarray, test: str) -> MarginTest:
    return margin_test(differences, margin=-0.01, test=test)  # type: ignore[arg-type]
