"""hnswlib: the HNSW graph of its authors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from judged._optional import need
from judged.index.engine import (
    GRAPH_BUILD,
    GRAPH_QUERY,
    Attributes,
    Capabilities,
    Engine,
    Filter,
    IndexSpec,
    Search,
    Setting,
    Settings,
    SettingValue,
    VectorArray,
)


class Hnswlib(Engine):
    """A graph of neighbours; deleted vectors are marked, and their places used again."""

    name = "hnswlib"
    title = "hnswlib, HNSW graph"
    extra = "hnswlib"
    packages = ("hnswlib",)
    capabilities = Capabilities(filters=True, deletes=True)
    build_settings: ClassVar[Mapping[str, Setting]] = GRAPH_BUILD
    query_settings: ClassVar[Mapping[str, Setting]] = GRAPH_QUERY

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make an empty graph; for cosine distance vectors have length 1, so their inner product is it."""
        library = need("hnswlib", extra=self.extra, needed_by=f"the engine `{self.name}`")
        self._threads = spec.threads
        self._index = library.Index(space="l2" if spec.metric == "l2" else "ip", dim=spec.dimensions)
        self._index.init_index(
            max_elements=spec.capacity,
            M=settings["M"],
            ef_construction=settings["ef_construction"],
            allow_replace_deleted=True,
        )
        self._ids = np.empty(0, dtype=np.int64)
        self._deleted = 0

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add vectors, in the places of deleted ones first.

        Every insertion gets a new label: hnswlib loses a label that is inserted again while its old place is
        still marked as deleted.
        """
        del attributes
        labels = np.arange(len(self._ids), len(self._ids) + len(ids))
        self._ids = np.concatenate((self._ids, ids))
        reused = min(self._deleted, len(ids))
        for rows, replace in ((slice(0, reused), True), (slice(reused, None), False)):
            if len(labels[rows]):
                self._index.add_items(
                    vectors[rows], labels[rows], num_threads=self._threads, replace_deleted=replace
                )
        self._deleted -= reused

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Mark the vectors as deleted, under their last labels."""
        labels = dict(zip(self._ids.tolist(), range(len(self._ids)), strict=True))
        for number in ids.tolist():
            self._index.mark_deleted(labels[number])
        self._deleted += len(ids)

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Set `ef`, and return a search; a condition is a function of the label, called from the graph."""
        self._index.set_ef(settings["ef"])
        search, threads, ids = self._index.knn_query, self._threads, self._ids
        if filter is None:
            return lambda query: ids[search(query, k=k, num_threads=threads)[0][0]]
        meets = np.isin(ids, filter.ids).tolist().__getitem__
        count = min(k, len(filter.ids))
        return lambda query: ids[search(query, k=count, num_threads=threads, filter=meets)[0][0]]

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the graph holds."""
        index = self._index
        return {"M": index.M, "ef_construction": index.ef_construction, "ef": index.ef}
