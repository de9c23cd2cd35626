"""Libraries of vector indexes that keep everything in memory: HNSW graphs, and other graphs, trees and partitions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judged.index.engine import (
    GRAPH_BUILD,
    GRAPH_QUERY,
    METRICS,
    Attributes,
    BatchEngine,
    BatchSearch,
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


class _HnswLibrary(Engine):
    """An HNSW graph with the settings that all engines share; a subclass says how its library makes and fills it."""

    build_settings: ClassVar[Mapping[str, Setting]] = GRAPH_BUILD
    query_settings = GRAPH_QUERY
    ef_attribute: ClassVar[str] = "ef"
    """The attribute of the library's index that holds `ef`."""
    _index: Any
    _threads: int

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Set `ef`, and return a search."""
        setattr(self._index, self.ef_attribute, settings["ef"])
        return self._search(k, filter)

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the graph holds."""
        index = self._index
        return {"M": index.M, "ef_construction": index.ef_construction, "ef": index.ef}

    def _search(self, k: int, filter: Filter | None) -> Search:  # noqa: A002
        raise NotImplementedError


class Hnswlib(_HnswLibrary):
    """A graph of neighbours; deleted vectors are marked, and their places used again."""

    name = "hnswlib"
    title = "hnswlib, HNSW graph"
    extra = "hnswlib"
    packages = ("hnswlib",)
    modules = ("hnswlib",)
    capabilities = Capabilities(filters=True, deletes=True)

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make an empty graph."""
        # for cosine distance vectors have length 1, so that the inner product orders them
        space = "l2" if spec.metric == "l2" else "ip"
        self._index = self.load("hnswlib").Index(space=space, dim=spec.dimensions)
        self._index.init_index(max_elements=spec.capacity, allow_replace_deleted=True, **settings)
        self._threads, self._deleted = spec.threads, 0
        self._ids = np.empty(0, dtype=np.int64)

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

    def batch_searcher(self, k: int, settings: Settings) -> BatchSearch:
        """Set `ef`, and return a search of many queries."""
        self._index.set_ef(settings["ef"])
        search, threads, ids = self._index.knn_query, self._threads, self._ids
        return lambda queries: ids[search(queries, k=k, num_threads=threads)[0]]

    def _search(self, k: int, filter: Filter | None) -> Search:  # noqa: A002
        search, threads, ids = self._index.knn_query, self._threads, self._ids
        if filter is None:
            return lambda query: ids[search(query, k=k, num_threads=threads)[0][0]]
        # a condition is a function of the label, called from within the graph
        meets = np.isin(ids, filter.ids).tolist().__getitem__
        count = min(k, len(filter.ids))  # hnswlib raises an error if it finds fewer than it is asked for
        return lambda query: ids[search(query, k=count, num_threads=threads, filter=meets)[0][0]]


class Usearch(_HnswLibrary):
    """A graph of neighbours; deleted vectors leave it at once."""

    name = "usearch"
    title = "usearch, HNSW graph"
    extra = "usearch"
    packages = ("usearch",)
    modules = ("usearch.index",)
    capabilities = Capabilities(frozenset(METRICS), deletes=True)
    build_settings: ClassVar[Mapping[str, Setting]] = {
        **GRAPH_BUILD,
        "dtype": Setting("f32", "how numbers are stored: f32, bf16, f16 or i8; Hamming distance has bits"),
    }
    ef_attribute = "expansion_search"

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make an empty graph."""
        self._threads, self._bits = spec.threads, spec.metric == "hamming"
        self._index = self.load("usearch.index").Index(
            ndim=spec.dimensions,
            metric={"l2": "l2sq", "cosine": "cos"}.get(spec.metric, spec.metric),
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

    def batch_searcher(self, k: int, settings: Settings) -> BatchSearch:
        """Set `ef`, and return a search of many queries."""
        self._index.expansion_search = settings["ef"]
        search, threads = self._index.search, self._threads
        return lambda queries: search(queries, k, threads=threads).keys.view(np.int64)

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the graph holds."""
        index = self._index
        stored = "f32" if self._bits else str(index.dtype).rpartition(".")[2].lower()
        built = {"M": index.connectivity, "ef_construction": index.expansion_add, "dtype": stored}
        return {**built, "ef": index.expansion_search}

    def _search(self, k: int, filter: Filter | None) -> Search:  # noqa: A002
        del filter
        search, threads = self._index.search, self._threads
        # keys are unsigned; a view copies nothing
        return lambda query: search(query, k, threads=threads).keys.view(np.int64)


class Voyager(_HnswLibrary):
    """A graph of neighbours; deleted vectors are marked, and their places are not used again."""

    name = "voyager"
    title = "voyager, HNSW graph"
    extra = "voyager"
    packages = ("voyager",)
    modules = ("voyager",)
    capabilities = Capabilities(deletes=True)

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make an empty graph."""
        library, self._threads = self.load("voyager"), spec.threads
        spaces = {"l2": "Euclidean", "ip": "InnerProduct", "cosine": "Cosine"}
        space = getattr(library.Space, spaces[spec.metric])
        self._index = library.Index(
            space, num_dimensions=spec.dimensions, max_elements=spec.capacity, **settings
        )

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add the vectors; one that was deleted is unmarked and given its new value."""
        del attributes
        self._index.add_items(vectors, ids=ids.tolist(), num_threads=self._threads)

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Mark the vectors as deleted."""
        for number in ids.tolist():
            self._index.mark_deleted(number)

    def _search(self, k: int, filter: Filter | None) -> Search:  # noqa: A002
        del filter
        search = self._index.query
        return lambda query: search(query, k=k)[0].view(np.int64)


class Annoy(Engine):
    """Trees that halve the vectors by random planes; after building nothing can be added."""

    name = "annoy"
    title = "annoy, forest of random trees"
    extra = "annoy"
    packages = ("annoy",)
    modules = ("annoy",)
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
        kinds = {"l2": "euclidean", "ip": "dot", "cosine": "angular", "hamming": "hamming"}
        self._spec, self._trees = spec, settings["trees"]
        self._index = self.load("annoy").AnnoyIndex(spec.dimensions, kinds[spec.metric])
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
        return np.unpackbits(vectors.view(np.uint8), axis=-1, count=self._spec.dimensions)


class Scann(BatchEngine):
    """Partitions around centroids with 4-bit codes; the best candidates are re-ranked by their true distance."""

    name = "scann"
    title = "ScaNN, partitions with anisotropic quantisation"
    extra = "scann"
    packages = ("scann",)
    modules = ("scann",)
    capabilities = Capabilities(unverified=frozenset({"leaves_to_search", "reorder"}))
    build_settings: ClassVar[Mapping[str, Setting]] = {
        "leaves": Setting(1000, "partitions; about the square root of the number of vectors"),
        "dimensions_per_block": Setting(2, "numbers of a vector that share a code"),
        "threshold": Setting(0.2, "threshold of anisotropic quantisation"),
    }
    query_settings: ClassVar[Mapping[str, Setting]] = {
        "leaves_to_search": Setting(
            32, "partitions that a search looks into", (1, 2, 4, 8, 16, 32, 64, 128), effort=True
        ),
        "reorder": Setting(100, "candidates that are re-ranked by their true distance"),
    }

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Load the library, and keep the settings."""
        super().create(spec, settings)
        self._builder = self.load("scann").scann_ops_pybind.builder

    def build(self, vectors: VectorArray) -> None:
        """Train the partitions and the codes, on at most 100,000 vectors."""
        settings = self._settings
        builder = self._builder(vectors, 10, "squared_l2" if self._spec.metric == "l2" else "dot_product")
        builder = builder.set_n_training_threads(self._spec.threads).tree(
            num_leaves=settings["leaves"],
            num_leaves_to_search=1,  # a default that every search replaces
            training_sample_size=min(len(vectors), 100_000),
        )
        builder = builder.score_ah(
            settings["dimensions_per_block"], anisotropic_quantization_threshold=settings["threshold"]
        )
        self._index = builder.reorder(100).build()

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Return a search; ScaNN answers one query on one thread."""
        del filter
        search = self._index.search
        leaves, candidates = settings["leaves_to_search"], max(k, int(settings["reorder"]))
        return lambda query: search(query, k, candidates, leaves)[0]

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the configuration of the index holds; settings of a search are arguments of its call."""
        return {
            "leaves": int(self._read("num_children")),
            "dimensions_per_block": int(self._read("num_dims_per_block")),
            "threshold": self._read(r"asymmetric_hash \{(?:.|\n)*?noise_shaping_threshold"),
        }

    def _read(self, name: str) -> float:
        match = re.search(rf"{name}: (\S+)", self._index.config())
        return float(match[1]) if match else float("nan")


class Pynndescent(BatchEngine):
    """A graph of nearest neighbours, improved step by step and pruned for searching."""

    name = "pynndescent"
    title = "pynndescent, graph by neighbour descent"
    extra = "pynndescent"
    packages = ("pynndescent",)
    kinds: ClassVar[Mapping[Metric, str]] = {"l2": "euclidean", "cosine": "cosine"}
    capabilities = Capabilities(
        frozenset(kinds), concurrent=False, unverified=frozenset({"epsilon_percent"})
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
        """Compile the code of every metric."""
        _compile_pynndescent(self.load("pynndescent"))

    def build(self, vectors: VectorArray) -> None:
        """Build the graph and make it ready to be searched."""
        self._index = self.load("pynndescent").NNDescent(
            vectors,
            metric=self.kinds[self._spec.metric],
            n_neighbors=int(self._settings["neighbours"]),
            random_state=1,
            n_jobs=self._spec.threads,
        )
        self._index.prepare()

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Return a search."""
        del filter
        search, epsilon = self._index.query, int(settings["epsilon_percent"]) / 100
        return lambda query: search(query[None], k=k, epsilon=epsilon)[0][0]

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the graph holds; `epsilon` is an argument of a search and kept nowhere."""
        return {"neighbours": self._index.n_neighbors}


@cache  # once in a process: this takes minutes
def _compile_pynndescent(library: ModuleType) -> None:
    """Compile the code of every metric by a search among a few vectors."""
    vectors = np.random.default_rng(0).standard_normal((300, 8), dtype=np.float32)
    for kind in Pynndescent.kinds.values():
        graph = library.NNDescent(vectors, metric=kind, n_neighbors=10, random_state=1, n_jobs=1)
        graph.prepare()
        graph.query(vectors[:1], k=5, epsilon=0.1)
