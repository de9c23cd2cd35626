"""Differences by user: SciPy where users are single, simulation where they are not; the checks before a verdict."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import judged
from judged.clicks.contrast import SplitCheck
from judged.stats.clusters import estimate_error
from judged.stats.intervals import Interval
from judged.stats.unpaired import estimate_difference, estimate_from_sums, p_of, student_of


def test_single_values_give_welchs_test() -> None:
    """SciPy's, with its degrees of freedom."""
    rng = np.random.default_rng(0)
    a, b = rng.random(12), rng.random(30) * 2
    of = estimate_difference(a, b)
    expected = stats.ttest_ind(a, b, equal_var=False)

    assert p_of(of) == pytest.approx(expected.pvalue)
    assert of.freedom == pytest.approx(expected.df)


def test_one_value_of_each_user_in_both_gives_the_paired_test() -> None:
    """SciPy's, with its degrees of freedom."""
    rng = np.random.default_rng(1)
    a = rng.random(20)
    b = a + rng.random(20)
    of = estimate_difference(a, b, np.arange(20), np.arange(20))
    expected = stats.ttest_rel(a, b)

    assert p_of(of) == pytest.approx(expected.pvalue)
    assert of.freedom == pytest.approx(19)


def test_disjoint_users_add_their_errors() -> None:
    """Names and numbers of users say the same."""
    a, b = np.array([1.0, 0, 1, 1, 0]), np.array([0.0, 0, 1, 0, 1, 1])
    names = list("vvwwx"), list("pqqrrs")
    of = estimate_difference(a, b, *names)
    errors = [estimate_error(values, own).error for values, own in zip((a, b), names, strict=True)]

    assert of.error == pytest.approx(np.hypot(*errors))
    numbered = [np.array([ord(name) for name in own]) for own in names]
    assert estimate_difference(a, b, *numbered) == of


def test_sums_say_what_values_do() -> None:
    """The error of a mean needs only the sum and the size of every cluster."""
    values, clusters = np.array([1.0, 0, 1, 1, 0, 0]), ["a", "a", "b", "c", "c", "c"]

    assert estimate_from_sums(np.array([1.0, 1, 1]), np.array([2.0, 1, 3])) == estimate_error(
        values, clusters
    )


def simulate(rng: np.random.Generator, users: int, *, shared: bool) -> tuple[np.ndarray, ...]:
    """Impressions of two systems without a difference: each user has a rate, and a number of impressions of their own."""
    rates, sizes = rng.beta(1, 4, users), rng.integers(1, 12, users)
    parts = []
    for arm in (0, 1):
        own = np.repeat(np.arange(users), sizes)
        if not shared:
            own = own[own % 2 == arm]
        parts += [(rng.random(len(own)) < rates[own]).astype(float), own]
    return parts[0], parts[2], parts[1], parts[3]


@pytest.mark.parametrize("shared", [False, True])
def test_intervals_by_user_cover_and_others_do_not(*, shared: bool) -> None:
    """95 % intervals of no difference contain 0 in 93 to 98 % of 300 logs; by impression too rarely, or too often."""
    rng = np.random.default_rng(7)
    covered = []
    for _ in range(300):
        interval = student_of(estimate_difference(*simulate(rng, 60, shared=shared)))
        assert isinstance(interval, Interval)
        covered.append(interval.low <= 0 <= interval.high)

    assert 0.92 <= np.mean(covered) <= 0.985


def make_log(rates: dict[str, float], users: int, seed: int = 0) -> list[dict[str, object]]:
    """Impressions of users who see one system each."""
    rng = np.random.default_rng(seed)
    names = list(rates)
    return [
        {
            "impression": f"{user}-{at}",
            "user": f"u{user}",
            "query": "q",
            "document": "a",
            "rank": 1,
            "system": names[user % len(names)],
            "click": int(rng.random() < rates[names[user % len(names)]]),
        }
        for user in range(users)
        for at in range(6)
    ]


def test_a_difference_is_found() -> None:
    """And said, with its direction."""
    report = judged.evaluate_clicks(make_log({"old": 0.2, "new": 0.4}, 200), "CTR", baseline="old")

    (row,) = report.differences
    assert row.significant
    assert row.difference == pytest.approx(report["new"]["CTR"] - report["old"]["CTR"])
    assert "CTR: new is higher than old by" in repr(report)
    assert "which is better" in repr(report)


def test_no_verdict_where_the_sample_ratio_is_off() -> None:
    """However clear the difference is."""
    log = [
        row
        for row in make_log({"old": 0.2, "new": 0.6}, 400)
        if row["system"] == "old" or str(row["user"])[-1] in "13"
    ]
    report = judged.evaluate_clicks(log, "CTR")

    assert report.ratio is not None
    assert report.ratio.failed
    assert "No verdict: the numbers of users (old 200, new 80) are not those of the plan" in repr(report)
    planned = judged.evaluate_clicks(log, "CTR", ratio={"old": 5, "new": 2})
    assert not planned.failures


def test_the_sample_ratio_is_pearsons_test() -> None:
    """SciPy's, of users and not of impressions."""
    report = judged.evaluate_clicks(make_log({"old": 0.2, "new": 0.6}, 41), "CTR")

    assert report.ratio is not None
    assert report.ratio.counts == {"old": 21, "new": 20}
    assert report.ratio.p == pytest.approx(stats.chisquare([21, 20]).pvalue)


def test_splits_of_one_system_rarely_differ() -> None:
    """About as often as the level says."""
    report = judged.evaluate_clicks(make_log({"old": 0.2, "new": 0.2}, 200), "CTR")

    (check,) = report.splits
    assert check.splits == 200
    assert 1 <= check.alarms <= 22
    assert not check.failed
    assert SplitCheck("CTR", "old", 200, 40, 0.05, 1e-12).failed


def test_users_who_saw_both_are_counted() -> None:
    """Each is one draw, and the ratio is that of impressions."""
    log = [
        {**row, "user": f"u{number % 40}"} for number, row in enumerate(make_log({"a": 0.3, "b": 0.3}, 80))
    ]
    report = judged.evaluate_clicks(log, "CTR")

    assert report.ratio is not None
    assert (report.ratio.shared, report.ratio.unit) == (40, "impression")
    assert report.differences[0].draws == 40


def test_a_million_impressions_of_few_users_are_few_values() -> None:
    """The interval of repeated impressions of ten users is as wide as that of the ten."""
    rng = np.random.default_rng(2)
    rates = rng.random(10)
    values = np.repeat(rates, 1000)

    alone, repeated = estimate_error(rates), estimate_error(values, np.repeat(np.arange(10), 1000).tolist())
    assert repeated.error == pytest.approx(alone.error)
    assert repeated.draws == 10
