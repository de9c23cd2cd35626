"""Posteriors of a difference: baycomp, the paired t-test, enumeration, laws, and what has no outcome."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judged.errors import BadSample
from judged.stats import Undefined, correlated_t_posterior, signed_rank_posterior
from judged.stats.bayesian import _posterior_shares, _sums_beyond
from judged.stats.paired_tests import paired_t
from stats.sakai import SAKAI

scores = st.integers(0, 20).map(lambda x: x / 20)
pairs = st.integers(2, 10).flatmap(
    lambda n: st.tuples(st.lists(scores, min_size=n, max_size=n), st.lists(scores, min_size=n, max_size=n))
)


# baycomp 1.0.3, CorrelatedTTest.probs(X, Y, rope, runs): its runs of 20 and 10 folds mean correlations of 1/20 and 1/10.
@pytest.mark.parametrize(
    ("rope", "correlation", "better", "equivalent", "worse"),
    [
        (0, 1 / 20, 0.9219388077198275, 0.0, 0.0780611922801725),
        (0, 1 / 10, 0.8734578433930511, 0.0, 0.1265421566069489),
        (0.01, 1 / 20, 0.8919994103836342, 0.0527104043956117, 0.05529018522075413),
        (0.05, 1 / 10, 0.6506118311222924, 0.317249473211333, 0.03213869566637462),
    ],
)
def test_the_correlated_posterior_is_that_of_baycomp(
    rope: float, correlation: float, better: float, equivalent: float, worse: float
) -> None:
    """The probabilities of Sakai's first pair."""
    found = correlated_t_posterior(SAKAI["X"], SAKAI["Y"], rope=rope, correlation=correlation)

    assert (found.better, found.equivalent, found.worse) == pytest.approx(
        (better, equivalent, worse), abs=1e-9
    )


# baycomp 1.0.3, SignedRankTest.probs(10 X, 10 other, 10 rope, nsamples=400000, random_state=0): standard errors below
# 0.001. In tenths, for its sums of differences must be exact: from 0.1, 0.2 …, rounding decides which lie on the border,
# and it gives 0.912 in place of 0.922 for Z.
@pytest.mark.parametrize(
    ("other", "rope", "better", "equivalent", "worse"),
    [
        ("Y", 0, 0.975805, 0.0, 0.024195),
        ("Y", 0.01, 0.9752375, 0.000735, 0.0240275),
        ("Y", 0.05, 0.9458425, 0.039675, 0.0144825),
        ("Y", 0.1, 0.23748, 0.7625175, 0.0000025),
        ("Z", 0, 0.922475, 0.0, 0.077525),
        ("Z", 0.1, 0.625465, 0.3586475, 0.0158875),
    ],
)
def test_the_signed_rank_posterior_is_that_of_baycomp(
    other: str, rope: float, better: float, equivalent: float, worse: float
) -> None:
    """Within four standard errors of 50,000 draws, though many sums lie on the border."""
    found = signed_rank_posterior(SAKAI["X"], SAKAI[other], rope=rope)

    assert (found.better, found.equivalent, found.worse) == pytest.approx(
        (better, equivalent, worse), abs=0.009
    )


def test_independent_queries_give_the_one_sided_p_value() -> None:
    """With the flat prior, the probability of being worse is half the two-sided p; the interval is Student's."""
    found = correlated_t_posterior(SAKAI["X"], SAKAI["Y"], rope=0)
    test = paired_t(SAKAI["X"], SAKAI["Y"])

    assert found.worse == pytest.approx(test.p / 2, abs=1e-12)
    assert found.high - found.low == pytest.approx(2 * 0.0742, abs=1e-4)  # type: ignore[operator]  # Sakai's margin


@given(pair=pairs, rope=st.sampled_from([0.0, 0.01, 0.1]), correlation=st.sampled_from([0.0, 0.1, 0.5]))
def test_beliefs_add_up_and_turn_with_the_systems(
    pair: tuple[list[float], list[float]], rope: float, correlation: float
) -> None:
    """Worse, equivalent and better make 1; exchanging the systems exchanges worse and better."""
    there = correlated_t_posterior(*pair, rope=rope, correlation=correlation)
    back = correlated_t_posterior(*reversed(pair), rope=rope, correlation=correlation)
    if isinstance(there.worse, Undefined):
        assert isinstance(back.better, Undefined)
        return

    assert there.worse + there.equivalent + there.better == pytest.approx(1, abs=1e-12)  # type: ignore[operator]
    assert (there.worse, there.better) == pytest.approx((back.better, back.worse), abs=1e-12)


@settings(max_examples=30)
@given(pair=pairs, rope=st.sampled_from([0.0, 0.025, 0.1]))
def test_ranked_beliefs_add_up(pair: tuple[list[float], list[float]], rope: float) -> None:
    """Three shares of one whole, each between 0 and 1."""
    found = signed_rank_posterior(*pair, rope=rope, resamples=200)
    shares = [found.worse, found.equivalent, found.better]

    assert sum(shares) == pytest.approx(1, abs=1e-9)  # type: ignore[arg-type]
    assert all(0 <= share <= 1 for share in shares)  # type: ignore[operator]
    if rope == 0:
        assert found.equivalent == pytest.approx(0, abs=1e-9)


@given(
    z=st.lists(st.integers(-5, 5).map(lambda x: x / 10), min_size=1, max_size=8).map(sorted),
    border=st.sampled_from([0.0, 0.1, 0.2, 0.35]),
)
def test_weights_of_pairs_are_those_of_all_pairs_one_by_one(z: list[float], border: float) -> None:
    """Sums below −border, and above it, with half for those on it, up to rounding."""
    w = np.random.default_rng(0).dirichlet(np.ones(len(z)), size=3)
    sums = np.round(np.add.outer(z, z), 9)
    below = np.where(sums < -border, 1, np.where(sums == -border, 0.5, 0))
    above = np.where(sums > border, 1, np.where(sums == border, 0.5, 0))
    found = _sums_beyond(np.array(z), w, border, 1e-10)

    assert found[0] == pytest.approx(np.einsum("ri,rj,ij->r", w, w, below), abs=1e-12)
    assert found[1] == pytest.approx(np.einsum("ri,rj,ij->r", w, w, above), abs=1e-12)


def test_one_seed_gives_one_result_whatever_the_blocks() -> None:
    """The weights drawn are the same however many are drawn at a time; another seed gives others."""
    differences = np.random.default_rng(2).normal(0.1, 1, 30)
    settings_: dict[str, Any] = {"prior": 0.5, "resamples": 300, "seed": 4}
    found = [
        _posterior_shares(differences, 0.01, 1e-12, **settings_, block=block) for block in (1, 500, 10**6)
    ]

    assert len(set(found)) == 1
    assert _posterior_shares(differences, 0.01, 1e-12, **{**settings_, "seed": 5}) != found[0]


def test_clear_cases_are_clear() -> None:
    """Always better by much, always the same, and no difference at all."""
    base = np.linspace(0.1, 0.5, 30)

    assert signed_rank_posterior(base + 0.3, base).better == pytest.approx(1, abs=1e-3)
    assert signed_rank_posterior(base, base).equivalent == 1.0
    nothing = signed_rank_posterior(base, base, rope=0)
    assert (nothing.worse, nothing.better) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([0.5], [0.4], "undefined: one query"),
        ([0.3, 0.7], [0.1, 0.5], "undefined: no spread"),
        ([0.5, 0.5], [0.5, 0.5], "undefined: no spread"),
    ],
)
def test_no_spread_is_reported_and_ranks_still_answer(
    first: list[float], second: list[float], message: str
) -> None:
    """Student's t has nothing to go by; the signed-rank form rests on its prior."""
    found = correlated_t_posterior(first, second)

    assert {str(value) for value in (found.low, found.high, found.worse, found.equivalent, found.better)} == {
        message
    }
    assert isinstance(signed_rank_posterior(first, second, resamples=50).better, float)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: correlated_t_posterior([1, 2], [1]), "different queries"),
        (lambda: correlated_t_posterior([1, float("nan")], [1, 2]), "holds nan"),
        (lambda: correlated_t_posterior([1, 2], [1, 3], rope=-1), "`rope` is -1"),
        (lambda: correlated_t_posterior([1, 2], [1, 3], correlation=1), "correlation is 1"),
        (lambda: correlated_t_posterior([1, 2], [1, 3], level=2), "level is 2"),
        (lambda: signed_rank_posterior([1, 2], [1, 3], prior=-1), "`prior` is -1"),
        (lambda: signed_rank_posterior([1, 2], [1, 3], resamples=0), "`resamples` 0"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, message: str) -> None:
    """Pairs, numbers and settings."""
    with pytest.raises(BadSample) as caught:
        call()

    assert message in str(caught.value)
