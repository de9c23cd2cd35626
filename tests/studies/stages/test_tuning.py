"""Tuned weights: chosen on training queries alone, scored on the others, the same for the same seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judged
from judged.errors import BadMeasure, JudgedError, UnknownName
from judged.result import load
from judged.studies.fusion.methods import fuse
from judged.studies.fusion.tuning import tune_fusion

RNG = np.random.default_rng(3)
DOCUMENTS = [f"d{number}" for number in range(12)]


def draw(noise: float) -> dict[str, dict[str, float]]:
    """Draw a run whose scores follow the grades, and noise."""
    return {
        query: {one: grades.get(one, 0) + noise * float(RNG.normal()) for one in DOCUMENTS}
        for query, grades in QRELS.items()
    }


QRELS: dict[str, dict[str, int]] = {
    f"q{number}": {one: int(RNG.integers(1, 4)) for one in RNG.choice(DOCUMENTS, 3, replace=False).tolist()}
    for number in range(12)
}
RUNS = {"good": draw(1.0), "fair": draw(2.0), "poor": draw(9.0)}
GRID = [(a / 4, b / 4, (4 - a - b) / 4) for a in range(5) for b in range(5 - a)]


def mean(weights: tuple[float, ...], queries: list[str]) -> float:
    """Score some queries with weights, by the public functions."""
    fused = fuse(RUNS, method="wsum", weights=weights)
    scores = judged.evaluate(QRELS, fused, "nDCG@5").scores.by_query("nDCG@5")
    return float(np.mean([scores[query] for query in queries]))


def test_a_grid_finds_the_best_weights_of_the_training_queries() -> None:
    """Of all points of the grid, scored one by one."""
    train = [f"q{number}" for number in range(8)]
    held = [query for query in QRELS if query not in train]
    found = tune_fusion(QRELS, RUNS, "nDCG@5", train=train, step=0.25)
    best = max(mean(weights, train) for weights in GRID)

    assert found.training == pytest.approx(best)
    assert mean(tuple(found.weights.values()), train) == pytest.approx(best)
    assert found.held_out.value == pytest.approx(mean(tuple(found.weights.values()), held))
    assert sorted(found.queries) == sorted(held)


def test_held_out_queries_have_no_part_in_the_choice() -> None:
    """Whatever their judgments say, the weights of their fold stay."""
    fold = tune_fusion(QRELS, RUNS, "nDCG@5", folds=3, step=0.25).folds[1]
    turned = {q: {"d0": 1} if q in fold.queries else grades for q, grades in QRELS.items()}

    assert tune_fusion(turned, RUNS, "nDCG@5", folds=3, step=0.25).folds[1].weights == fold.weights


def test_every_query_is_held_out_once() -> None:
    """The run fused by fold scores what the tuning reports, query by query."""
    found = tune_fusion(QRELS, RUNS, "nDCG@5", folds=4, step=0.5)
    scores = judged.evaluate(QRELS, found.fuse(RUNS), "nDCG@5").scores.by_query("nDCG@5")

    assert sorted(found.queries) == sorted(QRELS)
    assert [scores[query] for query in found.queries] == pytest.approx(found.tuned.tolist())
    assert found.others["good"] == pytest.approx(
        [judged.evaluate(QRELS, RUNS["good"], "nDCG@5").scores.by_query("nDCG@5")[q] for q in found.queries]
    )


def test_a_swarm_is_seeded_and_beats_equal_weights_in_training() -> None:
    """It starts there, so it can only improve."""
    first, again = (
        tune_fusion(QRELS, RUNS, "nDCG@5", search="swarm", folds=2, particles=4, iterations=3, seed=5)
        for _ in range(2)
    )
    train = [query for query in QRELS if query not in first.folds[0].queries]

    assert first.folds == again.folds
    assert first.folds[0].training >= mean((1.0, 1.0, 1.0), train) - 1e-12
    assert all(sum(fold.weights) == pytest.approx(1, abs=1e-3) for fold in first.folds)


def test_a_tuning_is_printed_saved_and_loaded(tmp_path: Path) -> None:
    """The held-out score with its interval first, then the systems, the folds and the weights."""
    found = tune_fusion(QRELS, RUNS, "nDCG@5", method="rrf", folds=2, step=0.5, k=10)
    found.save(tmp_path / "tuning.json")
    again = load(tmp_path / "tuning.json")

    assert repr(found).startswith("rrf(k=10): nDCG@5 0.")
    assert "equal weights" in repr(found)
    assert repr(again) == repr(found)
    assert found.to_arrow("folds").column_names[-3:] == ["good", "fair", "poor"]
    assert again.fuse(RUNS).to_arrow() == found.fuse(RUNS).to_arrow()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "combmax"}, "`combmax` takes no weights, so there is nothing to tune"),
        ({"search": "gird"}, "did you mean `grid`"),
        ({"train": ["q1"], "folds": 3}, "both training queries and folds"),
        ({"train": ["q99"]}, "1 training queries have no judgments: q99"),
        ({"train": list(QRELS)}, "12 of 12 judged queries are for training"),
        ({"folds": 13}, "there are 13 folds for 12 judged queries"),
        ({"step": 0.3}, "the step is 0.3, expected 1 divided by a whole number"),
        ({"step": 0.001}, "has 501,501 points"),
        ({"search": "swarm", "particles": 0}, "the swarm has 0 particles"),
    ],
)
def test_what_cannot_be_tuned_is_said(settings: dict[str, Any], message: str) -> None:
    """In words, before anything is searched."""
    with pytest.raises(JudgedError, match=message):
        tune_fusion(QRELS, RUNS, "nDCG@5", **settings)


def test_measures_without_a_mean_or_a_direction_are_refused() -> None:
    """There is nothing to climb."""
    with pytest.raises(BadMeasure, match="tuned by the mean of one measure"):
        tune_fusion(QRELS, RUNS, "gm_AP")
    with pytest.raises(UnknownName, match="no system of this tuning is called `best`"):
        tune_fusion(QRELS, RUNS, "AP", folds=2, step=1).gain_over("best")
