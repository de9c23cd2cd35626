"""pynndescent: a graph of neighbours made by descent; compiled when it is first used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judged._optional import need
from judged.index.engine import (
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

KINDS: Mapping[Metric, str] = {"l2": "euclidean", "cosine": "cosine"}


class Pynndescent(Engine):
    """A graph of nearest neighbours, improved step by step and pruned for searching."""

    name = "pynndescent"
    title = "pynndescent, graph by neighbour descent"
    extra = "pynndescent"
    packages = ("pynndescent",)
    capabilities = Capabilities(
        frozenset(KINDS), concurrent=False, unverified=frozenset({"epsilon_percent"})
    )  # searches share a buffer
    build_settings: ClassVar[Mapping[str, Setting]] = {
        "neighbours": Setting(30, "neighbours of a vector in the graph"),
    }
    query_settings: ClassVar[Mapping[str, Setting]] = {
        "epsilon_percent": Setting(
            10, "how far a search backtracks: 100 times epsilon", (0, 5, 10, 15, 20, 30, 40), effort=True
        )
    }

    def prepare(self) -> None:
        """Compile the code of every metric on a few vectors; this takes minutes, and once in a process."""
        if not _COMPILED:
            vectors = np.random.default_rng(0).standard_normal((300, 8), dtype=np.float32)
            for kind in KINDS.values():
                self._build(vectors, kind, 10, 1).query(vectors[:1], k=5, epsilon=0.1)
            _COMPILED.append(True)

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Keep the settings: the graph is built from all vectors at once."""
        self._spec, self._neighbours = spec, int(settings["neighbours"])
        self._parts: list[VectorArray] = []

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Keep the vectors; their order is their id."""
        del ids, attributes
        self._parts.append(vectors)

    def finish(self) -> None:
        """Build the graph and make it ready to be searched."""
        vectors = np.concatenate(self._parts)
        self._index = self._build(vectors, KINDS[self._spec.metric], self._neighbours, self._spec.threads)
        self._parts = []

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Return a search."""
        del filter
        search, epsilon = self._index.query, int(settings["epsilon_percent"]) / 100
        return lambda query: search(query[None], k=k, epsilon=epsilon)[0][0]

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the graph holds; `epsilon` is an argument of a search and kept nowhere."""
        return {"neighbours": self._index.n_neighbors}

    def _build(self, vectors: VectorArray, kind: str, neighbours: int, threads: int) -> Any:
        library = need("pynndescent", extra=self.extra, needed_by=f"the engine `{self.name}`")
        index = library.NNDescent(
            vectors, metric=kind, n_neighbors=neighbours, random_state=1, n_jobs=threads
        )
        index.prepare()
        return index


_COMPILED: list[bool] = []
"""Whether this process has compiled the code."""
