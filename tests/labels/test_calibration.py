"""From similarities to grades: the greatest κ by trying all cuts, monotone, out of fold, what is refused."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judged.errors import BadSample
from judged.labels.similarity import calibrate, cross_validate
from judged.stats import cohen_kappa

samples = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=20, max_size=40).filter(
    lambda rows: len({grade for _, grade in rows}) > 1
)


def noisy(size: int, noise: float, seed: int) -> tuple[np.ndarray, list[int]]:
    """Grades drawn evenly, and similarities that follow them with some noise."""
    rng = np.random.default_rng(seed)
    grades = rng.integers(0, 5, size)
    return grades / 4 + rng.normal(0, noise, size), grades.tolist()


def quadratic(first: Any, second: Any) -> float:
    """Quadratic κ."""
    return cohen_kappa(list(first), list(second), weights="quadratic").value


def test_cuts_part_grades_that_similarity_parts() -> None:
    """Where each grade has similarities of its own, the cuts lie between, and everything agrees."""
    grades = [0] * 8 + [1] * 6 + [2] * 4 + [3] * 2 + [4]
    similarities = [grade + at / 100 for at, grade in enumerate(grades)]
    cuts = calibrate(similarities, grades)

    assert cuts.grades(similarities).tolist() == grades
    assert cuts.begins == pytest.approx((0.575, 1.635, 2.675, 3.695))


@pytest.mark.parametrize("seed", range(5))
def test_they_are_nearly_the_best_cuts_there_are(seed: int) -> None:
    """Cuts at every second place between 20 results are all tried; those found are no worse than 0.02 below their best κ."""
    similarities, grades = noisy(20, 0.4, seed)
    middles = (np.sort(similarities)[1:] + np.sort(similarities)[:-1]) / 2
    edges = [-np.inf, *middles, np.inf]
    truth = np.array(grades)
    best = max(
        quadratic(np.searchsorted(begins, similarities, side="right"), truth)
        for begins in combinations_with_replacement(edges[::2], 4)
    )

    assert quadratic(calibrate(similarities, grades).grades(similarities), grades) >= best - 0.02


@settings(max_examples=50)
@given(rows=samples)
def test_a_higher_similarity_never_has_a_lower_grade(rows: list[tuple[int, int]]) -> None:
    """Nor do equal ones have different grades; κ is never worse than chance."""
    similarities, grades = zip(*rows, strict=True)
    given_grades = calibrate(similarities, grades).grades(range(10)).tolist()

    assert given_grades == sorted(given_grades)
    assert set(given_grades) <= set(range(5))
    assert quadratic(calibrate(similarities, grades).grades(similarities), grades) >= -1e-12


def test_cuts_are_never_worse_than_chance() -> None:
    """Here the best single moves from the shares of the grades end at a κ of −0.06."""
    low = [0, 0, 0, 0, 1, 1, 1, 2, 3, 3, 3, 3, 4]
    similarities, grades = [0] * 13 + [1] * 6 + [2], [*low, 0, 1, 1, 2, 3, 3, 0]

    assert quadratic(calibrate(similarities, grades).grades(similarities), grades) >= 0


def test_out_of_fold_agreement_is_that_of_new_results() -> None:
    """200 grades: κ of other results with the cuts is nearer to the cross-validated κ than 0.1."""
    similarities, grades = noisy(200, 0.3, 1)
    fresh, truth = noisy(5000, 0.3, 2)
    tasks = [at % 20 for at in range(200)]
    estimated = quadratic(cross_validate(similarities, grades, tasks), grades)

    assert estimated == pytest.approx(
        quadratic(calibrate(similarities, grades).grades(fresh), truth), abs=0.1
    )


def test_noise_has_no_agreement_out_of_fold() -> None:
    """For random similarities, cuts look good on their own results but not on those of other tasks.

    20 draws of 60 results; κ of noise has a standard deviation of about 0.13, its mean over the draws one of 0.03.
    """
    rng = np.random.default_rng(0)
    own, held_out = [], []
    for _ in range(20):
        similarities, grades = rng.random(60), rng.integers(0, 5, 60).tolist()
        own.append(quadratic(calibrate(similarities, grades).grades(similarities), grades))
        held_out.append(quadratic(cross_validate(similarities, grades, list(range(60))), grades))

    assert np.mean(held_out) < 0.1 < np.mean(own)


def test_a_task_is_never_graded_by_cuts_it_had_a_part_in() -> None:
    """Six tasks, each of which pairs one similarity with one grade: without the task, its grade is unknown."""
    similarities = [float(at % 6) for at in range(60)]
    grades = [[0, 4, 1, 3, 2, 0][at % 6] for at in range(60)]
    tasks = [at % 6 for at in range(60)]
    found = cross_validate(similarities, grades, tasks, folds=6)
    whole = calibrate(similarities, grades).grades(similarities)

    assert (found != whole).any()
    assert all(len(set(found[np.array(tasks) == task].tolist())) == 1 for task in range(6))


def test_one_seed_gives_one_result() -> None:
    """Folds are random, and the same for the same seed."""
    similarities, grades = noisy(40, 0.3, 3)

    assert (
        cross_validate(similarities, grades, ["t"] * 40, seed=5).tolist()
        == cross_validate(similarities, grades, ["t"] * 40, seed=5).tolist()
    )


@pytest.mark.parametrize(
    ("similarities", "grades", "message"),
    [
        ([0.1] * 5, [0, 1, 2, 3, 4], "5 human grades, expected 20 or more"),
        ([0.1] * 20, [1] * 20, "every human grade is 1, expected several"),
        ([0.1] * 20, [0, 5] * 10, "a human grade is 5, expected whole numbers from 0 to 4"),
        ([0.1] * 20, [0, 1], "20 similarities and 2 human grades"),
        ([float("nan")] * 20, [0, 1] * 10, "`similarities` holds nan"),
    ],
)
def test_what_calibrates_nothing_is_refused(similarities: Any, grades: Any, message: str) -> None:
    """With a clear error."""
    with pytest.raises(BadSample, match=message):
        calibrate(similarities, grades)
