"""Sign flips of all pairs at once, and step-down maxT."""

from __future__ import annotations

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
    assert result.corrected.tolist() == corrected


@pytest.mark.parametrize("seed", range(12))
def test_step_down_is_that_of_the_definition(seed: int) -> None:
    """Six queries, five systems that resemble each other, so that steps must be kept from going back down."""
    rng = np.random.default_rng(seed)
    scores = (rng.integers(0, 4, size=(6, 1)) + rng.integers(0, 3, size=(6, 5))) / 5
    p, corrected = enumerated(scores)
    result = randomise(scores)

    assert result.p == pytest.approx(p, abs=0)
    assert result.corrected == pytest.approx(corrected, abs=0)


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
    assert usual.corrected.tolist() == other.corrected.tolist()


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
    assert alone.corrected[0] == alone.p[0] <= among.corrected[at]


def test_corrected_lies_between_p_and_bonferroni() -> None:
    """The corrected p lies between p and p times the number of pairs (exactly so in the exact case)."""
    result = randomise(SMALL)

    assert (result.corrected >= result.p).all()
    assert (result.corrected <= np.minimum(1, result.p * len(result.p)) + 1e-12).all()


def test_systems_that_are_the_same_have_p_1() -> None:
    """No difference, no spread: every assignment is as extreme."""
    same = np.repeat(LARGE[:, :1], 2, axis=1)

    assert (randomise(same).p[0], randomise(same).corrected[0]) == (1.0, 1.0)


def test_false_claims_among_many_pairs_stay_at_the_level() -> None:
    """Ten pairs of five equal systems, 200 times: any claim at 0.1 in at most 10 % and four standard errors."""
    rng = np.random.default_rng(1)
    claims = [randomise(rng.random((25, 5)), resamples=199).corrected.min() <= 0.1 for _ in range(200)]

    assert np.mean(claims) <= 0.1 + 4 * np.sqrt(0.1 * 0.9 / 200)
    assert np.mean(claims) >= 0.1 - 4 * np.sqrt(0.1 * 0.9 / 200)


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
