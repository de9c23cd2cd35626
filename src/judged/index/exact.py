"""Exact neighbours: blocked search in float32, candidates ranked again in float64, cached by content."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.errors import Unreadable
from judged.index.engine import Metric, VectorArray
from judged.index.family import find_places
from judged.index.neighbours import Neighbours
from judged.index.vectors import Vectors
from judged.progress import Progress
from judged.store.cache import Cache, remove_cache
from judged.store.files import cache_folder
from judged.store.hashing import hash_bytes
from judged.store.machine import count_processors, pin_blas

BLOCK = 1 << 24
"""Maximum number of float32 distances that one thread holds at a time: 64 MiB."""
MARGIN = 32
"""Minimum number of candidates beyond the depth that are ranked again in float64."""
VERSION = 2
"""Part of the key of cached neighbours; raised when their computation changes."""
LARGEST = 900_000_000
"""Bytes of neighbours that are cached at most: SQLite takes no value of 1 GB."""


def find_neighbours(
    vectors: VectorArray,
    queries: VectorArray,
    metric: Metric,
    *,
    depth: int,
    ids: Ints | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Neighbours:
    """Return the `depth` nearest vectors of each query, or of those among `ids`, ties by lower id.

    Distances are Euclidean, 1 − cosine, −inner product or the number of different bits, in float64. For cosine
    distance vectors have length 1; for Hamming distance bits are packed. Queries are spread over `threads`, by
    default one for each processor, with BLAS at one thread each.
    """
    population = len(vectors) if ids is None else len(ids)
    count = min(depth, population)
    if count == 0:
        return Neighbours(np.full((len(queries), 1), -1), np.full((len(queries), 1), np.inf), 0)
    rows, wanted = _to_floats(vectors if ids is None else vectors[ids], queries, metric)
    squares = np.einsum("ij,ij->i", rows, rows) if metric == "l2" else None
    search = _Search(rows, wanted, squares, count, metric)
    blocks = list(_cut(len(queries), max(1, BLOCK // population)))
    neighbours, distances = np.empty((len(queries), count), dtype=np.int64), np.empty((len(queries), count))
    # blocks already keep every processor busy: threads of BLAS inside them would only compete
    with pin_blas(1), ThreadPoolExecutor(threads or count_processors()) as pool:
        for number, (block, (near, distance)) in enumerate(
            zip(blocks, pool.map(search, blocks), strict=True)
        ):
            neighbours[block], distances[block] = near, distance
            if progress is not None:
                progress(number + 1, len(blocks))
    return Neighbours(neighbours if ids is None else ids[neighbours], distances, population)


class _Search:
    """Finds the neighbours of one block of queries."""

    def __init__(
        self,
        rows: NDArray[np.float32],
        queries: NDArray[np.float32],
        squares: NDArray[np.float32] | None,
        count: int,
        metric: Metric,
    ) -> None:
        self.rows, self.queries, self.squares, self.count, self.metric = rows, queries, squares, count, metric
        # Distances are sums of `dimensions` products; their rounding errors grow like its square root.
        self.largest = float(np.einsum("ij,ij->i", rows, rows).max())
        self.error = float(4 * np.finfo(np.float32).eps * np.sqrt(rows.shape[1]))

    def __call__(self, block: slice) -> tuple[Ints, Floats]:
        queries: NDArray[Any] = self.queries[block]
        # ‖x − q‖² without ‖q‖², which is the same for every vector and orders nothing
        scores: NDArray[np.float32] = (queries * np.float32(-1 if self.squares is None else -2)) @ self.rows.T
        if self.squares is not None:
            scores += self.squares
        edges = self._find_edges(scores)
        near = np.empty((len(queries), self.count), dtype=np.int64)
        distance = np.empty((len(queries), self.count))
        for number, query in enumerate(queries):
            candidates = np.flatnonzero(scores[number] <= edges[number])
            near[number], distance[number] = self._rank(candidates, query, float(edges[number]))
        return near, distance

    def _find_edges(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return for each query a score that more than `count` vectors reach, but few.

        Vectors are dealt into groups, and the edge is among the least scores of the groups: several times as fast
        as partitioning all scores.
        """
        taken = self.count + max(MARGIN, self.count // 4)
        groups = 8 * taken
        if taken >= scores.shape[1]:
            return np.full(len(scores), np.inf, dtype=np.float32)
        least = scores
        if scores.shape[1] >= 4 * groups:
            whole = scores.shape[1] // groups * groups
            least = scores[:, :whole].reshape(len(scores), -1, groups).min(axis=1)
        edges: NDArray[np.float32] = np.partition(least, taken - 1, axis=1)[:, taken - 1]
        return edges

    def _rank(self, candidates: Ints, query: NDArray[np.float32], edge: float) -> tuple[Ints, Floats]:
        """Rank candidates in float64; all vectors, if one beyond the edge of the candidates might belong to them."""
        exact = _measure(self.rows[candidates], query, self.metric)
        # ties by row number, so that the truth does not depend on how candidates were found
        order = np.lexsort((candidates, exact))[: self.count]
        last = float(exact[order[-1]])
        doubt = self.error * (self.largest + float(query @ query))
        if np.isfinite(edge) and self._score(last, query) + doubt >= edge:
            candidates = np.arange(len(self.rows))
            exact = np.concatenate(
                [_measure(self.rows[part], query, self.metric) for part in _cut(len(self.rows), 4096)]
            )
            order = np.lexsort((candidates, exact))[: self.count]
        return candidates[order], exact[order]

    def _score(self, distance: float, query: NDArray[np.float32]) -> float:
        """Return a distance on the scale of the blocked search."""
        if self.metric == "l2":
            return distance**2 - float(query.astype(np.float64) @ query)
        if self.metric == "cosine":
            return distance - 1
        return distance if self.metric == "ip" else 2 * distance - self.rows.shape[1]


def _measure(rows: NDArray[np.float32], query: NDArray[np.float32], metric: Metric) -> Floats:
    """Return the distances of rows from a query in float64; bits are −1 and 1 here."""
    if metric == "l2":
        exact = np.subtract(rows, query, dtype=np.float64)
        squares: Floats = np.einsum("ij,ij->i", exact, exact)
        return np.sqrt(squares)
    # not by BLAS, whose rounding depends on the place of a row: equal vectors must be equally far
    product: Floats = np.einsum("ij,j->i", rows.astype(np.float64), query.astype(np.float64))
    if metric == "hamming":
        return np.asarray((rows.shape[1] - product) / 2)
    return np.asarray(1 - product if metric == "cosine" else -product)


def _to_floats(
    vectors: VectorArray, queries: VectorArray, metric: Metric
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return float32 matrices; bits become −1 and 1, whose inner product counts those that agree."""
    if metric != "hamming":
        return vectors.astype(np.float32, copy=False), queries.astype(np.float32, copy=False)
    bits = (array.view(np.uint8) for array in (vectors, queries))
    rows, wanted = (np.unpackbits(array, axis=1).astype(np.float32) * 2 - 1 for array in bits)
    return rows, wanted


def measure_distances(
    vectors: VectorArray, queries: VectorArray, metric: Metric, ids: Ints, truth: Neighbours
) -> Floats:
    """Return the exact distance of every answer, infinite for −1; those of known neighbours are looked up."""
    place = find_places(truth.ids, ids)
    distances = np.where(
        place >= 0, np.take_along_axis(truth.distances, np.maximum(place, 0), axis=1), np.inf
    )
    unknown = (place < 0) & (ids >= 0)
    for row in np.flatnonzero(unknown.any(axis=1)).tolist():
        cells = np.flatnonzero(unknown[row])
        near, query = _to_floats(vectors[ids[row, cells]], queries[row : row + 1], metric)
        distances[row, cells] = _measure(near, query[0], metric)
    return distances


def cached_neighbours(
    vectors: Vectors,
    queries: Vectors,
    metric: Metric,
    *,
    depth: int,
    progress: Progress | None = None,
) -> Neighbours:
    """Return the neighbours of all queries, from the cache if the same vectors and queries were searched before."""
    key = hash_bytes(f"{VERSION} {vectors.digest} {queries.digest} {metric} {depth}".encode())
    path = cache_folder() / "neighbours.sqlite"
    try:
        cached = _read_cached(path, key, len(vectors))
    except Unreadable:
        remove_cache(path)  # damaged, and all of it can be computed again
        cached = None
    if cached is not None:
        return cached
    computed = find_neighbours(vectors.array, queries.array, metric, depth=depth, progress=progress)
    if computed.ids.nbytes + computed.distances.nbytes < LARGEST:
        content = io.BytesIO()
        np.savez(content, ids=computed.ids, distances=computed.distances)
        with _open_cache(path) as cache:
            cache.add([(key, content.getvalue())], replace=True)
    return computed


def _open_cache(path: Path) -> Cache:
    return Cache(path, holds="neighbours", hint="remove the file; it is made again")


def _read_cached(path: Path, key: bytes, population: int) -> Neighbours | None:
    """Return cached neighbours; None if there are none, or damaged ones."""
    with _open_cache(path) as cache:
        value = dict(cache.find([key])).get(key)
    try:
        with np.load(io.BytesIO(value or b""), allow_pickle=False) as saved:
            return Neighbours(saved["ids"], saved["distances"], population)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None


def _cut(length: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, length)) for start in range(0, length, size))
