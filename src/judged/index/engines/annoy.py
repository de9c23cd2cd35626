"""annoy: a forest of random trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from judged._optional import need
from judged.index.engine import (
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

KINDS: Mapping[Metric, str] = {"l2": "euclidean", "ip": "dot", "cosine": "angular", "hamming": "hamming"}


class Annoy(Engine):
    """Trees that halve the vectors by random planes; after building nothing can be added."""

    name = "annoy"
    title = "annoy, forest of random trees"
    extra = "annoy"
    packages = ("annoy",)
    capabilities = Capabilities(frozenset(METRICS), unverified=frozenset({"search_k"}))
    build_settings: ClassVar[Mapping[str, Setting]] = {
        "trees": Setting(50, "trees; more of them find more, and take more memory")
    }
    query_settings: ClassVar[Mapping[str, Setting]] = {
        "search_k": Setting(
            2000, "nodes that a search looks at", (200, 500, 1000, 2000, 5000, 10_000, 20_000), effort=True
        )
    }

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make an empty forest; its random numbers always begin with the same seed."""
        library = need("annoy", extra=self.extra, needed_by=f"the engine `{self.name}`")
        self._spec, self._trees = spec, settings["trees"]
        self._index = library.AnnoyIndex(spec.dimensions, KINDS[spec.metric])
        self._index.set_seed(1)

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add the vectors one by one, the only way there is."""
        del attributes
        for number, vector in zip(ids.tolist(), self._unpack(vectors), strict=True):
            self._index.add_item(number, vector)

    def finish(self) -> None:
        """Grow the trees."""
        self._index.build(self._trees, n_jobs=self._spec.threads)

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Return a search."""
        del filter
        search, nodes, unpack = self._index.get_nns_by_vector, settings["search_k"], self._unpack
        return lambda query: search(unpack(query), k, search_k=nodes)

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return the number of trees; annoy keeps no setting of searches."""
        return {"trees": self._index.get_n_trees()}

    def _unpack(self, vectors: VectorArray) -> VectorArray:
        """Return bits as numbers, which annoy wants them to be."""
        if self._spec.metric != "hamming":
            return vectors
        return np.unpackbits(vectors, axis=-1, count=self._spec.dimensions)
