"""Sign flips of all pairs at once, single-step and step-down maxT, and the critical value of simultaneous intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest

from judged.errors import BadSample
from judged.stats.randomisation import all_pairs, randomise

RNG = np.random.default_rng(3)
SMALL = RNG.integers(0, 6, size=(8, 4)) / 5
LARGE = RNG.random((60, 6))


def enumerated(scores: np.ndarray) -> tuple[list[float], list[float]]:
    """p-values and step-down maxT by the definition: every assignment of signs, Student's |t|, one by one."""
    whole = np.round(scores * 5).astype(int)  # so that equal statistics are equal
    pairs = all_pairs(scores.shape[1])
    table = []
    for signs in product([1, -1], repeat=len(whole)):
        row = []
        for i, j in pairs:
            d = (whole[:, i] - whole[:, j]) * np.array(signs)
            squares = int((d**2).sum())
            row.append(abs(int(d.sum())) ** 2 / squares if squares else 0.0)
        table.append(row)
    all_signs = np.round(np.array(table), 9)
    observed = all_signs[0]
    order = np.argsort(-observed)
    corrected, highest = np.empty(len(pairs)), 0.0
    for place, at in enumerate(order):
        reached = all_signs[:, order[place:]].max(axis=1) >= observed[at]
        highest = max(highest, reached.mean())
        corrected[at] = highest
    return (all_signs >= observed).mean(axis=0).tolist(), corrected.tolist()


def test_small_samples_are_enumerated_exactly() -> None:
    """Eight queries, four systems, many ties: as all 256 assignments, gone through one by one, say."""
    p, corrected = enumerated(SMALL)
    result = randomise(SMALL)

    assert (result.exact, result.resamples) == (True, 256)
    assert result.p.tolist() == p
    assert result.step_down.tolist() == corrected


@pytest.mark.parametrize("seed", range(12))
def test_step_down_is_that_of_the_definition(seed: int) -> None:
    """Six queries, five systems that resemble each other, so that steps must be kept from going back down."""
    rng = np.random.default_rng(seed)
    scores = (rng.integers(0, 4, size=(6, 1)) + rng.integers(0, 3, size=(6, 5))) / 5
    p, corrected = enumerated(scores)
    result = randomise(scores)

    assert result.p == pytest.approx(p, abs=0)
    assert result.step_down == pytest.approx(corrected, abs=0)


def test_fifths_are_counted_as_ties() -> None:
    """Three differences of 0.1 reach a sum of 0.3 whatever float64 makes of it: 2 of 2^3 assignments."""
    scores = np.array([[0.3, 0.2], [0.7, 0.6], [0.9, 0.8]])

    assert randomise(scores).p.tolist() == [0.25]


@pytest.mark.parametrize("scores", [SMALL, LARGE], ids=["exact", "drawn"])
@pytest.mark.parametrize("block", [1, 7, 64, 100_000])
def test_blocks_change_nothing(scores: np.ndarray, block: int) -> None:
    """However many flips are held at once, the result is the same to the last bit."""
    usual, other = randomise(scores, resamples=500), randomise(scores, resamples=500, block=block)

    assert usual.p.tolist() == other.p.tolist()
    assert usual.step_down.tolist() == other.step_down.tolist()
    assert usual.single_step.tolist() == other.single_step.tolist()
    assert usual.critical_t(0.05) == pytest.approx(other.critical_t(0.05), rel=1e-12)


def test_one_seed_gives_one_result_and_another_another() -> None:
    """Draws depend on the seed alone."""
    assert randomise(LARGE, seed=5).p.tolist() == randomise(LARGE, seed=5).p.tolist()
    assert randomise(LARGE, seed=5).p.tolist() != randomise(LARGE, seed=6).p.tolist()


def test_a_pair_has_the_same_p_alone_and_among_others() -> None:
    """Flips are shared, and pairs do not know of each other but in the correction."""
    alone = randomise(LARGE, [(1, 4)], seed=2)
    among = randomise(LARGE, seed=2)
    at = all_pairs(6).index((1, 4))

    assert alone.p[0] == among.p[at]
    assert alone.step_down[0] == alone.single_step[0] == alone.p[0] <= among.step_down[at]


def test_corrected_lies_between_p_and_bonferroni() -> None:
    """The corrected p lies between p and p times the number of pairs (exactly so in the exact case)."""
    result = randomise(SMALL)

    assert (result.step_down >= result.p).all()
    assert (result.step_down <= np.minimum(1, result.p * len(result.p)) + 1e-12).all()
    assert (result.single_step >= result.step_down).all()


def test_systems_that_are_the_same_have_p_1() -> None:
    """No difference, no spread: every assignment is as extreme."""
    same = np.repeat(LARGE[:, :1], 2, axis=1)

    assert (randomise(same).p[0], randomise(same).step_down[0]) == (1.0, 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_single_step_is_that_of_the_definition(seed: int) -> None:
    """Every assignment, Student's |t| of the flipped differences and of their flipped deviations, one by one."""
    rng = np.random.default_rng(seed)
    scores = rng.random((7, 4)) + rng.choice([0, 1], size=4)
    pairs = all_pairs(4)
    differences = np.array([scores[:, i] - scores[:, j] for i, j in pairs])
    observed = np.abs(student_t(differences))
    largest = []
    for values in (differences, differences - differences.mean(axis=1, keepdims=True)):
        flipped = [student_t(values * np.array(signs)) for signs in product([1, -1], repeat=7)]
        largest.append(np.abs(flipped).max(axis=1))
    expected = [max((top >= t * (1 - 1e-9)).mean() for top in largest) for t in observed]

    assert randomise(scores).single_step == pytest.approx(expected, abs=1e-12)


def student_t(differences: np.ndarray) -> np.ndarray:
    """Student's t of each row; infinite where its values are all the same."""
    error = differences.std(axis=-1, ddof=1) / np.sqrt(differences.shape[-1])
    return differences.mean(axis=-1) / np.where(error < 1e-12, 1e-300, error)


@pytest.mark.parametrize("seed", range(60))
def test_p_is_below_alpha_exactly_where_t_exceeds_the_critical_value(seed: int) -> None:
    """Of every pair, at every level, exact or drawn, with ties or without."""
    rng = np.random.default_rng(seed)
    queries, systems = int(rng.integers(2, 40)), int(rng.integers(2, 8))
    scores = rng.random((queries, systems)) + rng.choice([0, 0.3, 2]) * rng.random(systems)
    if seed % 2:
        scores = np.round(scores * 4) / 4
    result = randomise(scores, resamples=199)
    for alpha in (0.001, 0.01, 0.05, 0.1, 0.4):
        critical = result.critical_t(alpha)
        for (i, j), p in zip(all_pairs(systems), result.single_step, strict=True):
            difference = scores[:, i] - scores[:, j]
            if np.ptp(difference) > 1e-9:
                assert (abs(student_t(difference)) > critical) == (p < alpha)
            elif abs(difference[0]) > 1e-9:
                assert (critical < np.inf) == (p < alpha)


def test_too_few_assignments_have_no_critical_value() -> None:
    """The smallest p of five queries is 2 / 2^5, of 18 resamples 1 / 19: both above 0.05."""
    assert randomise(LARGE[:5]).critical_t(0.05) == np.inf
    assert randomise(LARGE, resamples=18).critical_t(0.05) == np.inf
    assert randomise(LARGE[:6]).critical_t(0.05) < np.inf
    assert randomise(LARGE, resamples=20).critical_t(0.05) < np.inf


def test_one_pair_of_many_queries_has_the_critical_value_of_students_t() -> None:
    """Normal differences: 97.5 % of Student's t with 199 degrees of freedom, 1.9720 (SciPy 1.15, `t.ppf(0.975, 199)`)."""
    scores = np.column_stack([np.random.default_rng(0).normal(0.2, 1, 200), np.zeros(200)])

    assert randomise(scores, resamples=20_000).critical_t(0.05) == pytest.approx(1.9720, abs=0.05)


def draw_normal(rng: np.random.Generator, queries: int, systems: int) -> np.ndarray:
    """Correlated systems: half of the variance is that of the query."""
    return rng.normal(size=(queries, 1)) + rng.normal(size=(queries, systems))


def draw_skewed(rng: np.random.Generator, queries: int, systems: int) -> np.ndarray:
    """Scores that are 0 on half of the queries, and seldom high: many ties, heavy tails."""
    noise = rng.exponential(size=(queries, systems)) * (rng.random((queries, systems)) < 0.5)
    return rng.exponential(size=(queries, 1)) + noise


def draw_asymmetric(rng: np.random.Generator, queries: int, systems: int) -> np.ndarray:
    """Systems of unequal spread with skewed noise of mean 0: the differences are skewed, and flips do not know that."""
    return np.linspace(0.5, 2, systems) * (rng.exponential(size=(queries, systems)) - 1)


DRAWS = pytest.mark.parametrize("draw", [draw_normal, draw_skewed])


def miss_rate(
    draw: Callable[..., np.ndarray],
    means: Sequence[float],
    *,
    baseline: bool,
    times: int,
    queries: int = 30,
    alpha: float = 0.1,
) -> float:
    """How often any simultaneous interval misses the true difference; without differences, how often any claim is false."""
    rng, systems = np.random.default_rng(8), len(means)
    pairs = [(other, 0) for other in range(1, systems)] if baseline else all_pairs(systems)
    truth = np.array([means[i] - means[j] for i, j in pairs])
    missed = 0
    for seed in range(times):
        scores = draw(rng, queries, systems) + np.array(means)
        critical = randomise(scores, pairs, resamples=299, seed=seed).critical_t(alpha)
        differences = np.array([scores[:, i] - scores[:, j] for i, j in pairs])
        error = differences.std(axis=1, ddof=1) / np.sqrt(queries)
        missed += bool((np.abs(differences.mean(axis=1) - truth) > critical * error).any())
    return missed / times


@DRAWS
@pytest.mark.parametrize("baseline", [False, True], ids=["all pairs", "baseline"])
def test_false_claims_and_missed_differences_stay_at_the_level(
    draw: Callable[..., np.ndarray], baseline: bool
) -> None:
    """Six equal systems, 400 times: any false claim at 0.1 in at most 10 % and three standard errors.

    The same for intervals around large differences, where all systems are far from the baseline: flipping the differences
    alone would miss one in five times.
    """
    most = 0.1 + 3 * np.sqrt(0.1 * 0.9 / 400)

    assert miss_rate(draw, [0.0] * 6, baseline=baseline, times=400) <= most
    assert miss_rate(draw, [0.0, *[5.0] * 5], baseline=baseline, times=400) <= most


@pytest.mark.slow
@DRAWS
@pytest.mark.parametrize("queries", [10, 40])
@pytest.mark.parametrize("systems", [3, 8])
def test_coverage_is_that_of_the_level(draw: Callable[..., np.ndarray], queries: int, systems: int) -> None:
    """Simultaneous 90 % intervals of all pairs and against a baseline, for differences of none to five deviations."""
    for baseline in (False, True):
        for shift in (0.0, 1.0, 5.0):
            means = [0.0, *[shift] * (systems - 1)]
            found = miss_rate(draw, means, baseline=baseline, times=1_000, queries=queries)

            assert found <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 1_000)


@pytest.mark.slow
def test_skewed_differences_need_more_queries() -> None:
    """Six systems of unequal, skewed spread, which is not the null hypothesis of sign flips: right with 200 queries."""
    found = miss_rate(draw_asymmetric, [0.0] * 6, baseline=False, times=1_000, queries=200, alpha=0.05)

    assert found <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1_000)


@pytest.mark.parametrize(
    ("scores", "settings", "message"),
    [
        (np.zeros((3, 1)), {}, "two or more"),
        (np.array([[0.1, np.nan], [0.2, 0.3]]), {}, "holds nan"),
        (LARGE, {"resamples": 0}, "expected 1 to 10,000,000"),
    ],
)
def test_what_cannot_be_randomised_is_refused(
    scores: np.ndarray, settings: dict[str, int], message: str
) -> None:
    """In words."""
    with pytest.raises(BadSample, match=message):
        randomise(scores, **settings)
