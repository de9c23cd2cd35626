"""Exact search with NumPy: every distance is computed. The oracle of the other engines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judged.index.engine import (
    METRICS,
    Attributes,
    Capabilities,
    Engine,
    Filter,
    IndexSpec,
    Search,
    Settings,
    VectorArray,
)

BITS = np.array([number.bit_count() for number in range(256)], dtype=np.uint8)
"""Number of set bits of every byte."""


class Exact(Engine):
    """All distances by one matrix product, then the `k` smallest."""

    name = "exact"
    title = "exact search with NumPy"
    capabilities = Capabilities(frozenset(METRICS), exact=True, filters=True, deletes=True, forks=True)

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Keep the metric; the vectors come later."""
        del settings
        self._metric = spec.metric
        self._ids = np.empty(0, dtype=np.int64)
        self._vectors: VectorArray | None = None

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Append the vectors."""
        del attributes
        self._ids = np.concatenate((self._ids, ids))
        known = () if self._vectors is None else (self._vectors,)
        self._vectors = np.concatenate((*known, vectors))
        self._measure()

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Drop the vectors."""
        keep = ~np.isin(self._ids, ids)
        self._ids, self._vectors = self._ids[keep], self._rows[keep]
        self._measure()

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Return a search over all vectors, or over those that meet the condition."""
        del settings
        allowed = slice(None) if filter is None else np.isin(self._ids, filter.ids)
        rows, ids, squares = self._rows[allowed], self._ids[allowed], self._squares[allowed]
        count, bits = min(k, len(ids)), rows.view(np.uint8)

        def search(query: VectorArray) -> NDArray[np.int64]:
            if self._metric == "hamming":
                distance = BITS[bits ^ query.view(np.uint8)].sum(axis=1, dtype=np.int64)
            else:
                distance = squares - 2 * (rows @ query)
            nearest = np.argpartition(distance, count - 1)[:count] if count < len(ids) else np.arange(count)
            return ids[nearest[np.argsort(distance[nearest], kind="stable")]]

        return search

    @property
    def _rows(self) -> VectorArray:
        assert self._vectors is not None  # noqa: S101 - `insert` comes before every search
        return self._vectors

    def _measure(self) -> None:
        """Compute the squared lengths, which are the same for every query; only L2 distance needs them."""
        rows = self._rows
        needed = self._metric == "l2"
        self._squares = np.einsum("ij,ij->i", rows, rows) if needed else np.zeros(len(rows), dtype=np.float32)
