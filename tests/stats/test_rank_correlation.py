"""Agreement of rankings: scipy, published examples, enumeration over ties, laws, and what has no outcome."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judged.errors import BadSample, UnknownName
from judged.stats import Undefined, kendall_tau, rank_biased_overlap, spearman_rho, tau_ap, tau_ap_b
from judged.stats.rank_correlation import RankAgreement

Coefficient = Callable[..., RankAgreement]
SYMMETRICAL = pytest.mark.parametrize(
    "coefficient", [kendall_tau, spearman_rho, tau_ap_b, rank_biased_overlap]
)
EVERY = pytest.mark.parametrize(
    "coefficient", [kendall_tau, spearman_rho, tau_ap, tau_ap_b, rank_biased_overlap]
)

# The example of ircor's README (github.com/julian-urbano/ircor), by the authors of τ_AP,a and τ_AP,b.
X = np.array([0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94])
Y = np.array([0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94])
TIED_X, TIED_Y = np.round(X * 5) / 5, np.round(Y * 5) / 5

levels = st.integers(0, 5).map(lambda x: x / 10)
pairs = st.integers(2, 8).flatmap(
    lambda n: st.tuples(
        st.lists(levels, min_size=n, max_size=n),
        st.lists(levels, min_size=n, max_size=n),
    )
)
untied = st.integers(2, 6).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.lists(st.integers(0, 3), min_size=n, max_size=n))
)


@pytest.mark.parametrize(
    ("found", "published"),
    [
        (kendall_tau(X, Y), 0.7777778),
        (tau_ap(X, Y), 0.7491182),
        (tau_ap(X, TIED_Y), 0.6074515),
        (kendall_tau(TIED_X, TIED_Y), 0.75),
        (tau_ap_b(TIED_X, TIED_Y), 0.6269841),
    ],
    ids=["τ", "τ_AP", "τ_AP,a", "τ_b", "τ_AP,b"],
)
def test_published_coefficients_come_out(found: RankAgreement, published: float) -> None:
    """The numbers that ircor's README prints, by Urbano and Marrero."""
    assert found.value == pytest.approx(published, abs=5e-8)


@given(pair=pairs)
def test_tau_b_and_rho_agree_with_scipy(pair: tuple[list[float], list[float]]) -> None:
    """`kendalltau` (variant b) and `spearmanr`, wherever these are not nan."""
    from scipy.stats import kendalltau, spearmanr

    tau, rho = kendall_tau(*pair).value, spearman_rho(*pair).value
    if isinstance(tau, Undefined) or isinstance(rho, Undefined):
        assert 1 in {len(set(pair[0])), len(set(pair[1]))}
        return
    assert tau == pytest.approx(kendalltau(*pair).statistic, abs=1e-12)
    assert rho == pytest.approx(spearmanr(*pair).statistic, abs=1e-12)


def plain_tau_ap(truth: list[float], order: tuple[int, ...]) -> float:
    """τ_AP of an order of systems, best first, by its definition."""
    shares = [sum(truth[above] > truth[order[i]] for above in order[:i]) / i for i in range(1, len(order))]
    return 2 * sum(shares) / len(shares) - 1


@given(pair=untied)
def test_tied_estimates_count_as_the_mean_over_their_orders(pair: tuple[list[float], list[float]]) -> None:
    """Every order of the systems that the estimate allows, one by one."""
    truth, estimate = pair
    allowed = [
        order
        for order in permutations(range(len(truth)))
        if all(estimate[a] >= estimate[b] for a, b in pairwise(order))
    ]

    expected = np.mean([plain_tau_ap(truth, order) for order in allowed])
    assert tau_ap(truth, estimate).value == pytest.approx(expected, abs=1e-12)


@given(first=st.permutations(range(6)), second=st.permutations(range(6)))
def test_the_symmetrical_variant_is_the_mean_of_both_directions(first: list[int], second: list[int]) -> None:
    """Without ties, τ_AP,b is (τ_AP(x, y) + τ_AP(y, x)) / 2."""
    both = tau_ap(first, second).value, tau_ap(second, first).value

    assert tau_ap_b(first, second).value == pytest.approx(sum(both) / 2, abs=1e-12)  # type: ignore[arg-type]


# Corsi and Urbano's own implementation, github.com/julian-urbano/sigir2024-rbo at 0338fd9, rbo/Python/rbo.py:
# rbo(x, y, p, ties, score="ext") with x = red (blue green) yellow pink. The first y is the one of its README.
RANKED = {"red": 5, "blue": 4, "green": 4, "yellow": 3, "pink": 2}
LONGER = {"blue": 9, "red": 9, "white": 8, "yellow": 7, "black": 7, "purple": 7, "green": 6}
SAME = {"green": 5, "red": 5, "blue": 4, "yellow": 3, "pink": 3}


@pytest.mark.parametrize(
    ("other", "p", "ties", "expected"),
    [
        (LONGER, 0.8, "a", 0.6370930793650794),
        (LONGER, 0.8, "b", 0.7094153465964406),
        (LONGER, 0.8, "w", 0.682166303030303),
        (LONGER, 0.95, "a", 0.6922853319692461),
        (LONGER, 0.95, "b", 0.7207131047474529),
        (LONGER, 0.95, "w", 0.7068257170928031),
        (SAME, 0.9, "a", 0.9183875),
        (SAME, 0.9, "b", 0.9539446703332092),
        (SAME, 0.9, "w", 0.9405666666666666),
    ],
)
def test_overlap_with_ties_is_that_of_its_authors(
    other: dict[str, float], p: float, ties: Any, expected: float
) -> None:
    """All three variants, with rankings of the same and of different systems and lengths, either way round."""
    assert rank_biased_overlap(RANKED, other, p=p, ties=ties).value == pytest.approx(expected, abs=1e-12)
    assert rank_biased_overlap(other, RANKED, p=p, ties=ties).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("ties", ["a", "b", "w"])
@pytest.mark.parametrize(
    ("first", "second", "p", "expected"),
    [("abcdefg", "bacgdef", 0.9, 0.8588115), ("abcde", "bac", 0.8, 0.8), ("abc", "xyz", 0.9, 0.0)],
)
def test_overlap_without_ties_is_webbers(
    ties: Any, first: str, second: str, p: float, expected: float
) -> None:
    """The package rbo 0.1.3, `RankingSimilarity(first, second).rbo_ext(p)`."""
    one, other = ({name: -at for at, name in enumerate(names)} for names in (first, second))

    assert rank_biased_overlap(one, other, p=p, ties=ties).value == pytest.approx(expected, abs=1e-12)


@given(pair=untied.filter(lambda pair: len(pair[0]) < 6))
def test_variant_a_is_the_mean_over_the_orders_of_ties(pair: tuple[list[float], list[float]]) -> None:
    """Every order that the tied ranking allows, one by one."""
    truth, estimate = pair
    allowed = [
        order
        for order in permutations(range(len(truth)))
        if all(estimate[a] >= estimate[b] for a, b in pairwise(order))
    ]
    values = [
        rank_biased_overlap(truth, [-order.index(i) for i in range(len(order))]).value for order in allowed
    ]

    assert rank_biased_overlap(truth, estimate).value == pytest.approx(np.mean(values), abs=1e-12)  # type: ignore[arg-type]


@SYMMETRICAL
@given(pair=pairs)
def test_the_order_of_the_two_does_not_matter(
    coefficient: Coefficient, pair: tuple[list[float], list[float]]
) -> None:
    """Symmetrical coefficients are."""
    there, back = coefficient(*pair).value, coefficient(*reversed(pair)).value

    assert there == back or there == pytest.approx(back, abs=1e-12)


@EVERY
@given(pair=pairs)
def test_values_lie_between_the_extremes(
    coefficient: Coefficient, pair: tuple[list[float], list[float]]
) -> None:
    """From −1 to 1, or undefined with a reason."""
    value = coefficient(*pair).value

    assert isinstance(value, Undefined) or -1 - 1e-12 <= value <= 1 + 1e-12


@EVERY
@given(scores=st.lists(st.floats(-10, 10), min_size=2, max_size=8, unique_by=lambda x: round(x, 6)))
def test_a_ranking_agrees_fully_with_itself_and_not_at_all_in_reverse(
    coefficient: Coefficient, scores: list[float]
) -> None:
    """1 for any growing function of the scores; −1 in reverse (RBO has no negative values)."""
    same, reverse = coefficient(scores, np.exp(scores)), coefficient(scores, [-score for score in scores])

    assert same.value == pytest.approx(1, abs=1e-9)
    if coefficient is not rank_biased_overlap:
        assert reverse.value == pytest.approx(-1, abs=1e-9)


@given(scores=st.lists(levels, min_size=1, max_size=8), ties=st.sampled_from(["b", "w"]))
def test_tied_rankings_overlap_fully_with_themselves(scores: list[float], ties: Any) -> None:
    """In the variants b and w; in a, the orders of ties are not known to be the same."""
    assert rank_biased_overlap(scores, scores, ties=ties).value == pytest.approx(1, abs=1e-12)


@EVERY
@given(pair=pairs)
def test_names_pair_systems_whatever_their_order(
    coefficient: Coefficient, pair: tuple[list[float], list[float]]
) -> None:
    """Mappings give what sequences in one order give."""
    named = [{f"s{i}": score for i, score in enumerate(scores)} for scores in pair]
    shuffled = dict(reversed(named[1].items()))

    value, expected = coefficient(named[0], shuffled).value, coefficient(*pair).value
    assert value == expected or value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (kendall_tau([0.5], [0.5]), "undefined: one system"),
        (tau_ap([0.5], [0.5]), "undefined: one system"),
        (kendall_tau([0.5, 0.5], [0.1, 0.2]), "undefined: no spread: a ranking ties all systems"),
        (spearman_rho([0.1, 0.2], [0.5, 0.5]), "undefined: no spread: a ranking ties all systems"),
        (tau_ap_b([0.1 + 0.2, 0.3], [0.1, 0.2]), "undefined: no spread: a ranking ties all systems"),
        (tau_ap([0.1, 0.1, 0.2], [0.1, 0.2, 0.3]), "undefined: the true ranking has ties"),
    ],
)
def test_an_undefined_correlation_says_why(found: RankAgreement, message: str) -> None:
    """One system, a ranking without order, a truth with ties."""
    assert str(found.value).startswith(message)


@EVERY
@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([0.1, float("nan")], [0.1, 0.2], "holds nan"),
        ([], [], "holds no values"),
        (["a", "b"], [0.1, 0.2], "not a number"),
        (3, [0.1], "not a number"),
    ],
)
def test_what_is_no_ranking_is_refused(
    coefficient: Coefficient, first: Any, second: Any, message: str
) -> None:
    """NaN, emptiness and text."""
    with pytest.raises(BadSample, match=message):
        coefficient(first, second)


@pytest.mark.parametrize("coefficient", [kendall_tau, spearman_rho, tau_ap, tau_ap_b])
def test_rankings_of_different_systems_are_refused(coefficient: Coefficient) -> None:
    """The hint names the coefficient that takes them."""
    with pytest.raises(BadSample, match="a, c in one only") as caught:
        coefficient({"a": 1, "b": 2}, {"b": 2, "c": 1})

    assert "rank_biased_overlap" in str(caught.value)


def test_persistence_and_treatment_of_ties_are_checked() -> None:
    """The persistence lies between 0 and 1; the treatments are a, b and w."""
    with pytest.raises(BadSample, match=r"`p` is 1"):
        rank_biased_overlap([1, 2], [1, 2], p=1)
    with pytest.raises(UnknownName, match="no treatment of ties is called `c`"):
        rank_biased_overlap([1, 2], [1, 2], ties="c")  # type: ignore[arg-type]
