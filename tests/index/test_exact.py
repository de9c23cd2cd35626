"""Exact neighbours: equal to a search by hand in float64, whatever the metric, the blocks and the threads."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from judged.index import exact
from judged.index.engine import METRICS, Metric
from judged.index.exact import cached_neighbours, find_neighbours, measure_distances
from judged.index.vectors import Vectors


def search_by_hand(
    vectors: NDArray[np.generic], queries: NDArray[np.generic], metric: Metric
) -> NDArray[np.float64]:
    """Return all distances, one pair at a time, in float64 or as whole numbers."""
    if metric == "hamming":
        pairs = [[np.unpackbits(row ^ query).sum() for row in vectors] for query in queries]
        return np.array(pairs, dtype=float)
    rows, wanted = vectors.astype(float), queries.astype(float)
    if metric == "l2":
        return np.array([[np.sqrt(((row - query) ** 2).sum()) for row in rows] for query in wanted])
    products = np.array([[(row * query).sum() for row in rows] for query in wanted])
    return 1 - products if metric == "cosine" else -products


def draw(metric: Metric, seed: int, count: int) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    """Return vectors and queries; whole numbers of a few values, so that there are ties."""
    rng = np.random.default_rng(seed)
    array = rng.integers(1, 4, (count + 5, 16)).astype(np.float32)
    if metric == "hamming":
        bits = np.packbits(array > 2, axis=1)
        return bits[5:], bits[:5]
    if metric == "cosine":
        array = (array / np.linalg.norm(array.astype(float), axis=1, keepdims=True)).astype(np.float32)
    return array[5:], array[:5]


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), count=st.integers(1, 120), depth=st.integers(1, 30))
def test_neighbours_are_those_of_a_search_by_hand(metric: Metric, seed: int, count: int, depth: int) -> None:
    """Ids and distances are equal, ties by lower id."""
    vectors, queries = draw(metric, seed, count)
    expected = search_by_hand(vectors, queries, metric)
    found = find_neighbours(vectors, queries, metric, depth=depth)
    kept = min(depth, count)

    assert found.distances == pytest.approx(np.sort(expected, axis=1)[:, :kept], abs=1e-9)
    assert np.take_along_axis(expected, found.ids, axis=1) == pytest.approx(found.distances, abs=1e-9)
    assert all(len(set(row)) == kept for row in found.ids.tolist())


def test_blocks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One query at a time in one thread gives what a single block gives."""
    rng = np.random.default_rng(0)
    vectors, queries = (
        rng.standard_normal((3000, 24), dtype=np.float32),
        rng.standard_normal((40, 24), dtype=np.float32),
    )
    whole = find_neighbours(vectors, queries, "l2", depth=10, threads=2)
    monkeypatch.setattr(exact, "BLOCK", 1)
    single = find_neighbours(vectors, queries, "l2", depth=10, threads=1)

    assert (whole.ids == single.ids).all()
    assert (whole.distances == single.distances).all()
    assert whole.distances == pytest.approx(np.sort(search_by_hand(vectors, queries, "l2"), axis=1)[:, :10])


def test_cancellation_in_float32_loses_no_neighbour() -> None:
    """Vectors far from the origin and close together: float32 distances are noise, and the neighbours are right."""
    rng = np.random.default_rng(1)
    vectors = (10_000 + rng.integers(0, 3, (4000, 8))).astype(np.float32)
    queries = vectors[:10]
    found = find_neighbours(vectors, queries, "l2", depth=5)

    assert found.distances == pytest.approx(np.sort(search_by_hand(vectors, queries, "l2"), axis=1)[:, :5])


def test_a_subset_keeps_its_own_ids() -> None:
    """Neighbours among some vectors are those vectors, and short rows where there are too few."""
    vectors, queries = draw("l2", 3, 60)
    ids = np.array([4, 8, 15, 16, 23, 42])
    found = find_neighbours(vectors, queries, "l2", depth=10, ids=ids)

    assert found.ids.shape == (5, 6)
    assert set(found.ids.reshape(-1).tolist()) == set(ids.tolist())
    assert found.population == 6


@pytest.mark.parametrize("metric", METRICS)
def test_answers_are_measured_exactly(metric: Metric) -> None:
    """The distances of answers are those of a search by hand, for neighbours, others and none."""
    vectors, queries = draw(metric, 5, 50)
    truth = find_neighbours(vectors, queries, metric, depth=4)
    ids = np.random.default_rng(0).integers(-1, 50, (5, 8))
    expected = np.where(
        ids < 0,
        np.inf,
        np.take_along_axis(search_by_hand(vectors, queries, metric), np.maximum(ids, 0), axis=1),
    )

    assert measure_distances(vectors, queries, metric, ids, truth) == pytest.approx(expected, abs=1e-9)


def test_neighbours_are_cached_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same vectors are not searched twice; other ones, a damaged entry and a damaged file are."""
    monkeypatch.setenv("JUDGED_CACHE", str(tmp_path))
    vectors, queries = (Vectors.from_array(array) for array in draw("l2", 7, 80))
    first = cached_neighbours(vectors, queries, "l2", depth=5)
    monkeypatch.setattr(exact, "find_neighbours", lambda *_, **__: pytest.fail("searched again"))
    again = cached_neighbours(vectors, queries, "l2", depth=5)

    assert (first.ids == again.ids).all()

    monkeypatch.undo()
    monkeypatch.setenv("JUDGED_CACHE", str(tmp_path))
    path = tmp_path / "neighbours.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("UPDATE entries SET value = ?", [b"torn"])
    database.close()
    assert (cached_neighbours(vectors, queries, "l2", depth=5).ids == first.ids).all()
    path.write_bytes(b"torn" * 1000)
    assert (cached_neighbours(vectors, queries, "l2", depth=5).ids == first.ids).all()
    assert cached_neighbours(vectors, queries, "ip", depth=5).distances.max() < 0
