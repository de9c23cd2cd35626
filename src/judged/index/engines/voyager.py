"""voyager: Spotify's HNSW graph, descended from hnswlib."""

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


class Voyager(Engine):
    """A graph of neighbours; deleted vectors are marked, and their places are not used again."""

    name = "voyager"
    title = "voyager, HNSW graph"
    extra = "voyager"
    packages = ("voyager",)
    capabilities = Capabilities(deletes=True)
    build_settings: ClassVar[Mapping[str, Setting]] = GRAPH_BUILD
    query_settings: ClassVar[Mapping[str, Setting]] = GRAPH_QUERY

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make an empty graph."""
        library = need("voyager", extra=self.extra, needed_by=f"the engine `{self.name}`")
        spaces = {
            "l2": library.Space.Euclidean,
            "ip": library.Space.InnerProduct,
            "cosine": library.Space.Cosine,
        }
        self._threads = spec.threads
        self._index = library.Index(
            spaces[spec.metric],
            num_dimensions=spec.dimensions,
            M=settings["M"],
            ef_construction=settings["ef_construction"],
            max_elements=spec.capacity,
        )

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add the vectors; one that was deleted is unmarked and given its new value."""
        del attributes
        self._index.add_items(vectors, ids=ids.tolist(), num_threads=self._threads)

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Mark the vectors as deleted."""
        for number in ids.tolist():
            self._index.mark_deleted(number)

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Set `ef`, and return a search."""
        del filter
        self._index.ef = settings["ef"]
        search = self._index.query
        return lambda query: search(query, k=k)[0].view(np.int64)

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the graph holds."""
        index = self._index
        return {"M": index.M, "ef_construction": index.ef_construction, "ef": index.ef}
