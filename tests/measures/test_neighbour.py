"""Measures of neighbours: equal to the ranked ones where those apply, and to ann-benchmarks' definition of recall."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import judged
from judged.errors import BadInput, BadMeasure
from judged.index.family import find_places
from judged.index.neighbours import IndexResults, Neighbours, find_repeats
from judged.result import load

DEPTH, VECTORS = 6, 12


@st.composite
def benchmarks(draw: st.DrawFn, *, repeats: bool = True) -> tuple[Neighbours, IndexResults]:
    """Return a few queries among twelve vectors at whole distances, so that ties are common, and what was returned."""
    queries, width = draw(st.integers(1, 5)), draw(st.integers(1, 8))
    row = st.lists(st.integers(0, 5), min_size=VECTORS, max_size=VECTORS)
    distances = np.array([draw(row) for _ in range(queries)], dtype=float)
    order = np.argsort(distances, axis=1, kind="stable")[:, :DEPTH]
    truth = Neighbours(order, np.take_along_axis(distances, order, axis=1), population=VECTORS)
    answer = st.lists(st.integers(0, VECTORS - 1), max_size=width, unique=not repeats)
    answers = [draw(answer) for _ in range(queries)]
    ids = np.array([[*found, *[-1] * (width - len(found))] for found in answers])
    found = np.where(ids < 0, np.inf, np.take_along_axis(distances, np.maximum(ids, 0), axis=1))
    return truth, IndexResults(ids, found, seconds=np.full(queries, 0.01))


def read_values(truth: Neighbours, answers: IndexResults, measure: str) -> list[float]:
    """Return the value of every query, by the neighbour family."""
    values: list[float] = judged.evaluate(truth, answers, [measure]).scores[measure].tolist()  # type: ignore[arg-type]
    return values


@given(benchmarks(repeats=False), st.sampled_from(["R@3", "R@10", "P@1", "P@4", "RR", "RR@2"]))
def test_recall_precision_and_reciprocal_rank_are_those_of_ranked_runs(
    benchmark: tuple[Neighbours, IndexResults], measure: str
) -> None:
    """The neighbours as judgments and the answers as a run score the same in the ranked family."""
    truth, answers = benchmark
    if (answers.ids < 0).all():
        return  # a run without any result is refused
    if measure == "R@10":
        truth = Neighbours(truth.ids, truth.distances, population=DEPTH)
    ranked = judged.evaluate(truth.to_judgments(), answers.to_run(), [measure])

    assert dict(
        zip(map(str, range(len(truth))), read_values(truth, answers, measure), strict=True)
    ) == pytest.approx(ranked.scores.by_query(measure))


@given(benchmarks(), st.integers(1, DEPTH))
def test_recall_over_the_cutoff_equals_its_definition(
    benchmark: tuple[Neighbours, IndexResults], k: int
) -> None:
    """The answers that are among the k nearest, as sets, over k."""
    truth, answers = benchmark
    expected = [
        len(set(found[:k].tolist()) & set(near[:k].tolist())) / k
        for found, near in zip(answers.ids, truth.ids, strict=True)
    ]

    assert read_values(truth, answers, f'R(over="cutoff")@{k}') == pytest.approx(expected)
    assert read_values(truth, answers, f"Missed@{k}") == [float(value == 0) for value in expected]


def count_as_ann_benchmarks(
    true: NDArray[np.float64], found: NDArray[np.float64], k: int, epsilon: float
) -> float:
    """Count answers within the k-th distance plus epsilon, over k, as ann-benchmarks says it does in its paper."""
    return sum(distance <= true[k - 1] + epsilon for distance in found[:k]) / k


@given(benchmarks(), st.integers(1, DEPTH))
def test_recall_by_distance_is_that_of_ann_benchmarks(
    benchmark: tuple[Neighbours, IndexResults], k: int
) -> None:
    """With an absolute epsilon of 0.001, and no id twice, which ann-benchmarks forbids, the numbers are equal."""
    truth, answers = benchmark
    found = np.where(find_repeats(answers.ids), np.inf, answers.distances)
    expected = [
        count_as_ann_benchmarks(true, row, k, 1e-3) for true, row in zip(truth.distances, found, strict=True)
    ]

    assert read_values(truth, answers, f'R(over="cutoff", epsilon=0.001)@{k}') == pytest.approx(expected)


@given(benchmarks(), st.integers(1, DEPTH))
def test_ties_raise_recall_and_never_lower_it(benchmark: tuple[Neighbours, IndexResults], k: int) -> None:
    """Strict recall is at most the one that counts ties, which is at most that of a wider tolerance, and 1."""
    truth, answers = benchmark
    strict, tied, wide = (
        np.array(read_values(truth, answers, f'R(over="cutoff"{extra})@{k}'))
        for extra in ("", ", tolerance=0", ", tolerance=0.5")
    )

    assert (strict <= tied).all()
    assert (tied <= wide).all()
    assert (wide <= 1).all()


def test_one_vector_returned_ten_times_is_one_hit() -> None:
    """Copies of the nearest neighbour count once, whichever way recall is counted, and are reported."""
    truth = Neighbours(np.array([[4, 5, 6]]), np.array([[0.0, 1.0, 2.0]]), population=9)
    evaluation = judged.evaluate(  # type: ignore[call-overload]
        truth,
        IndexResults(np.array([[4, 4, 4]]), np.zeros((1, 3))),
        ['R(over="cutoff")@3', 'R(over="cutoff", epsilon=0.001)@3', "Short@3", "P@3"],
    )

    assert list(evaluation.mean().values()) == pytest.approx([1 / 3, 1 / 3, 1.0, 1 / 3])
    assert "2 answers repeated an id" in str(evaluation.notes[0])


def test_percentiles_and_latency_are_measures_of_the_same_table(tmp_path: Path) -> None:
    """The 10th percentile of recall and the latency come from one evaluation, which is saved and loaded."""
    truth = Neighbours(np.tile(np.arange(4), (10, 1)), np.tile(np.arange(4.0), (10, 1)), population=9)
    ids = np.array([[0, 1]] * 8 + [[0, 7], [7, 8]])
    measures = ['R(over="cutoff")@2', 'R(over="cutoff", p=10)@2', "Latency", "QPS"]
    evaluation = judged.evaluate(truth, IndexResults(ids, seconds=np.full(10, 0.002)), measures)  # type: ignore[arg-type]
    evaluation.save(tmp_path / "saved.json")

    assert evaluation.mean() == pytest.approx(dict(zip(measures, [0.85, 0.45, 2.0, 500.0], strict=True)))
    assert load(tmp_path / "saved.json").mean() == evaluation.mean()  # type: ignore[attr-defined]


def test_distance_ratio_compares_sums_of_distances() -> None:
    """Answers at 1 and 3 where the neighbours are at 1 and 2: 4/3; inner products have no ratio."""
    truth = Neighbours(np.array([[0, 1], [0, 1]]), np.array([[1.0, 2.0], [-2.0, -1.0]]), population=5)
    answers = IndexResults(np.array([[0, 4], [0, 1]]), np.array([[1.0, 3.0], [-2.0, -1.0]]))

    assert read_values(truth, answers, "DistanceRatio@2") == pytest.approx([4 / 3, np.nan], nan_ok=True)


def test_what_cannot_be_compared_is_refused() -> None:
    """A cutoff beyond the known neighbours, empty truth, other queries, and missing distances are errors."""
    truth = Neighbours(np.array([[0, 1]]), np.array([[0.0, 1.0]]), population=100)
    answers = IndexResults(np.array([[0, 1]]))
    with pytest.raises(BadMeasure, match="looks at 10 neighbours, and exact neighbours has 2"):
        read_values(truth, answers, 'R(over="cutoff")@10')
    with pytest.raises(BadMeasure, match="the answers have no distances"):
        read_values(truth, answers, "DistanceRatio@2")
    with pytest.raises(BadInput, match="answers to 2 queries, expected 1"):
        read_values(truth, IndexResults(np.zeros((2, 1), dtype=np.int64)), "P@1")
    with pytest.raises(BadInput, match="expected at least one of both"):
        Neighbours(np.empty((3, 0), dtype=np.int64), np.empty((3, 0)), population=10)


@given(benchmarks())
def test_places_are_those_of_a_search_by_hand(benchmark: tuple[Neighbours, IndexResults]) -> None:
    """Every id is found in the column that holds it."""
    truth, answers = benchmark
    expected = [
        [near.index(number) if number in near and number >= 0 else -1 for number in row]
        for row, near in zip(answers.ids.tolist(), truth.ids.tolist(), strict=True)
    ]

    assert find_places(truth.ids, answers.ids).tolist() == expected
