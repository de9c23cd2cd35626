"""From a similarity to a grade: the cuts between grades that agree best with those that people gave."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample
from judged.stats.paired import Floats, Values
from judged.stats.sample import checked
from judged.tables.sessions import GRADES

__all__ = ["LEAST", "Cuts", "calibrate", "cross_validated"]

Ints: TypeAlias = NDArray[np.int64]
LEAST = 20
"""Fewer human grades than this say too little of where grades begin."""
HIGHEST = GRADES[-1]
_GRADE = np.arange(HIGHEST + 1)
_APART = ((_GRADE[:, None] - _GRADE) ** 2).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where each grade from 1 on begins, in rising order; a grade that nobody needs begins where the next does."""

    begins: tuple[float, ...]
    items: int
    """How many human grades they were found with."""

    def grades(self, similarities: Values) -> Ints:
        """The grade of each similarity: never lower for a higher one.

        >>> Cuts((0.1, 0.2, 0.4, 0.6), items=100).grades([0.05, 0.2, 0.5, 0.9]).tolist()
        [0, 2, 3, 4]
        """
        found: Ints = np.searchsorted(self.begins, np.asarray(similarities, dtype=np.float64), side="right")
        return found


def calibrate(similarities: Values, grades: Sequence[int]) -> Cuts:
    """The cuts whose grades have the greatest quadratic κ with the human `grades`, as far as one cut at a time finds.

    They begin where as many results get each grade as people gave it, and are moved one by one to where κ is
    greatest, until none moves.

    >>> grades = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4] * 2
    >>> calibrate([grade / 4 for grade in grades], grades).begins
    (0.125, 0.375, 0.625, 0.875)
    """
    values, truth = checked(similarities, name="similarities"), _checked(similarities, grades)
    return _found(values, truth)


def cross_validated(
    similarities: Values, grades: Sequence[int], tasks: Sequence[Hashable], *, folds: int = 5, seed: int = 0
) -> Ints:
    """The grade that each result gets from cuts found without its task; without its fold where tasks are few.

    What is said of calibrated labels must come from here: on the results that made the cuts, any would look good.
    """
    values, truth = checked(similarities, name="similarities"), _checked(similarities, grades)
    fold = _folds(tasks, folds, np.random.default_rng(seed))
    found = np.zeros(len(truth), dtype=np.int64)
    for number in range(folds):
        out = fold == number
        if out.any():
            found[out] = _found(values[~out], truth[~out]).grades(values[out])
    return found


def _found(values: Floats, truth: Ints) -> Cuts:
    """The cuts; where people gave one grade alone, everything gets it."""
    if (truth == truth[0]).all():
        return Cuts(tuple(-np.inf if grade <= truth[0] else np.inf for grade in _GRADE[1:]), len(truth))
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    below = np.zeros((len(truth) + 1, HIGHEST + 1))
    below[1:] = np.cumsum(truth[order][:, None] == _GRADE, axis=0)
    allowed = np.flatnonzero(np.concatenate(([True], ranked[1:] > ranked[:-1], [True])))
    as_many = np.cumsum(below[-1])[:-1]
    places = _moved(allowed[np.searchsorted(allowed, as_many)], below, allowed)
    return Cuts(tuple(_begin(ranked, place) for place in places.tolist()), len(truth))


def _checked(similarities: Values, grades: Sequence[int]) -> Ints:
    truth = np.asarray(grades, dtype=np.int64)
    if len(truth) != len(similarities):
        msg = f"{len(similarities):,} similarities and {len(truth):,} human grades were given, expected one of each"
        raise BadSample(msg)
    if len(truth) < LEAST:
        msg = f"{len(truth)} human grades were given, expected {LEAST} or more to find where grades begin"
        raise BadSample(msg, hint="200 to 400, of results drawn at random, are a good number")
    if not ((truth >= 0) & (truth <= HIGHEST)).all():
        strange = truth[(truth < 0) | (truth > HIGHEST)][0]
        msg = f"a human grade is {strange}, expected whole numbers from 0 to {HIGHEST}"
        raise BadSample(msg)
    if (truth == truth[0]).all():
        msg = f"every human grade is {truth[0]}, expected several grades to tell apart"
        raise BadSample(msg)
    return truth


def _moved(places: Ints, below: Floats, allowed: Ints) -> Ints:
    """The places of the cuts, each moved between its neighbours to where κ is greatest, until none moves."""
    best = _kappas(places[None], below)[0]
    while True:
        start = best
        for cut in range(HIGHEST):
            low = places[cut - 1] if cut else 0
            high = places[cut + 1] if cut + 1 < HIGHEST else len(below) - 1
            between = allowed[(allowed >= low) & (allowed <= high)]
            tried = np.tile(places, (len(between), 1))
            tried[:, cut] = between
            kappas = _kappas(tried, below)
            if kappas.max() > best + 1e-12:
                places, best = tried[int(kappas.argmax())], float(kappas.max())
        if best <= start + 1e-12:
            return places


def _kappas(places: Ints, below: Floats) -> Floats:
    """Quadratic κ of each row of places, from how many human grades of each kind lie below each place."""
    ends = np.concatenate([np.zeros((len(places), 1), dtype=np.int64), places], axis=1)
    nexts = np.concatenate([places, np.full((len(places), 1), len(below) - 1)], axis=1)
    counts = below[nexts] - below[ends]  # a row of cuts × the grade given × the human grade
    observed = (counts * _APART).sum(axis=(1, 2))
    chance = np.einsum("ng,nh,gh->n", counts.sum(axis=2), counts.sum(axis=1), _APART) / (len(below) - 1)
    return np.asarray(1 - observed / chance)


def _begin(ranked: Floats, place: int) -> float:
    """The similarity halfway between the last result below a cut and the first above it."""
    if place == 0:
        return -np.inf
    return np.inf if place == len(ranked) else float((ranked[place - 1] + ranked[place]) / 2)


def _folds(tasks: Sequence[Hashable], folds: int, rng: np.random.Generator) -> Ints:
    """The fold of each result; the results of a task share one, unless there are fewer tasks than folds."""
    names = {task: at for at, task in enumerate(dict.fromkeys(tasks))}
    if len(names) < folds:
        return rng.permutation(np.arange(len(tasks)) % folds)
    fold = rng.permutation(np.arange(len(names)) % folds)
    return fold[[names[task] for task in tasks]]
