"""usearch: an HNSW graph in a single header, with Hamming distance of bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from judged._optional import need
from judged.index.engine import (
    GRAPH_BUILD,
    GRAPH_QUERY,
    METRICS,
    Attributes,
    Capabilities,
    Engine,
    Filter,
    IndexSpec,
    Metric,
    Search,
    Setting,
    Settings,
    SettingValue,
    VectorArray,
)

KINDS: Mapping[Metric, str] = {"l2": "l2sq", "ip": "ip", "cosine": "cos", "hamming": "hamming"}


class Usearch(Engine):
    """A graph of neighbours; deleted vectors leave it at once."""

    name = "usearch"
    title = "usearch, HNSW graph"
    extra = "usearch"
    packages = ("usearch",)
    capabilities = Capabilities(frozenset(METRICS), deletes=True)
    build_settings: ClassVar[Mapping[str, Setting]] = {
        **GRAPH_BUILD,
        "dtype": Setting("f32", "how numbers are stored: f32, bf16, f16 or i8; Hamming distance has bits"),
    }
    query_settings: ClassVar[Mapping[str, Setting]] = GRAPH_QUERY

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make an empty graph."""
        library = need("usearch.index", extra=self.extra, needed_by=f"the engine `{self.name}`")
        self._threads, self._bits = spec.threads, spec.metric == "hamming"
        self._index = library.Index(
            ndim=spec.dimensions,
            metric=KINDS[spec.metric],
            dtype="b1" if self._bits else settings["dtype"],
            connectivity=settings["M"],
            expansion_add=settings["ef_construction"],
        )

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add the vectors."""
        del attributes
        self._index.add(ids, vectors, threads=self._threads)

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Remove the vectors."""
        self._index.remove(ids, threads=self._threads)

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Set the expansion of searches, and return a search."""
        del filter
        self._index.expansion_search = settings["ef"]
        search, threads = self._index.search, self._threads
        return lambda query: search(query, k, threads=threads).keys.view(np.int64)

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the graph holds."""
        index = self._index
        stored = "f32" if self._bits else str(index.dtype).rpartition(".")[2].lower()
        return {
            "M": index.connectivity,
            "ef_construction": index.expansion_add,
            "dtype": stored,
            "ef": index.expansion_search,
        }
