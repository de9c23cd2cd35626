"""What tests of engines of vector indexes share: building an index, searching it, and recall by plain arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.index.engine import (
    Engine,
    Filter,
    IndexSpec,
    Metric,
    Search,
    Settings,
    VectorArray,
    complete_settings,
)

K = 10
SMALL: Settings = {"lists": 32, "parts": 16, "bits": 4}
"""Settings that fit 1,697 vectors, for engines whose defaults are meant for more; others take their defaults."""

Digits: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Vectors to search in, and queries."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an engine works: an empty folder, and the address of its server if it has one."""

    folder: Path
    url: str | None = None


def find_distances(vectors: VectorArray, queries: VectorArray, metric: Metric) -> NDArray[np.float64]:
    """Return the distance of every vector from every query by plain arithmetic in float64."""
    if metric == "hamming":
        return np.unpackbits(queries[:, None] ^ vectors[None], axis=2).sum(axis=2).astype(float)
    rows, wanted = vectors.astype(float), queries.astype(float)
    if metric == "l2":
        squares = (rows**2).sum(axis=1) + (wanted**2).sum(axis=1)[:, None]
        return squares - 2 * wanted @ rows.T
    return -wanted @ rows.T


def build(
    engine: Engine,
    vectors: VectorArray,
    place: Place,
    metric: Metric = "l2",
    attribute: NDArray[np.int64] | None = None,
) -> dict[str, object]:
    """Build an index in two batches and return its build settings."""
    chosen = {name: value for name, value in SMALL.items() if name in engine.build_settings}
    settings = complete_settings(engine.build_settings, chosen, what="build setting")
    dimensions = vectors.shape[1] * (8 if metric == "hamming" else 1)
    fields = () if attribute is None else ("group",)
    engine.prepare()
    engine.create(
        IndexSpec(dimensions, metric, len(vectors), fields, folder=place.folder, url=place.url), settings
    )
    half = len(vectors) // 2
    for rows in (np.arange(half), np.arange(half, len(vectors))):
        engine.insert(rows, vectors[rows], {} if attribute is None else {"group": attribute[rows]})
    engine.finish()
    return dict(settings)


def find_recall(search: Search, queries: VectorArray, distances: NDArray[np.float64]) -> float:
    """Return the share of results that are as near as the tenth neighbour; each result counts once."""
    hits = 0
    for query, near in zip(queries, distances, strict=True):
        found = {int(number) for number in search(query)} - {-1}
        hits += int((near[list(found)] <= np.partition(near, K - 1)[K - 1] + 1e-4).sum())
    return hits / (K * len(queries))


def open_searcher(engine: Engine, filter: Filter | None = None, **given: int) -> Search:  # noqa: A002
    """Return a search at the defaults, but for what is given."""
    return engine.searcher(K, complete_settings(engine.query_settings, given, what="query setting"), filter)


def in_metric(array: NDArray[np.float32], metric: Metric) -> VectorArray:
    """Return the vectors as a metric wants them: bits for Hamming distance, of length 1 for cosine distance."""
    if metric == "hamming":
        return np.packbits(array > 8, axis=1)
    if metric == "l2":
        return array
    lengths: NDArray[np.float32] = np.linalg.norm(array, axis=1, keepdims=True)
    return array / lengths if metric == "cosine" else array
