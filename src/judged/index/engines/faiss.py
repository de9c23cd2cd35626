"""faiss: flat, inverted lists, product quantisation and HNSW graphs."""

from __future__ import annotations

from collections.abc import Mapping
from math import isqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judged.errors import EngineFailed
from judged.index.engine import (
    GRAPH_BUILD,
    GRAPH_QUERY,
    METRICS,
    Attributes,
    BatchSearch,
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


def _scale_lists(size: int) -> int:
    """Return 4 √n lists, the least that faiss' guidelines advise, but no more than can be trained with 39 vectors each."""
    return max(1, min(4 * isqrt(size), size // 39))


_LISTS = Setting(1024, "number of inverted lists; without a value, 4 √n for n vectors", scale=_scale_lists)
_PROBES = Setting(8, "inverted lists that a search looks into", (1, 2, 4, 8, 16, 32, 64, 128), effort=True)


class _Faiss(Engine):
    """Base of all kinds of faiss indexes; a subclass says how it is made and what its settings are."""

    extra = "faiss"
    packages = ("faiss-cpu",)
    modules = ("faiss",)
    capabilities: ClassVar[Capabilities] = Capabilities(filters=True, forks=True)
    parameters: ClassVar[str] = "SearchParameters"
    """The class of faiss that holds the settings of a search."""

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make an empty index."""
        self._faiss = self.load("faiss")
        self._faiss.omp_set_num_threads(spec.threads)
        self._binary = spec.metric == "hamming"
        kind = self._faiss.METRIC_L2 if spec.metric == "l2" else self._faiss.METRIC_INNER_PRODUCT
        self._index: Any = self._make(spec.dimensions, kind, settings)
        self._query: Any = None
        self._waiting: list[VectorArray] = []

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add the vectors, once the index is trained; until then keep them. Ids are row numbers."""
        del ids, attributes
        if self._index.is_trained:
            self._index.add(vectors)
        else:
            self._waiting.append(vectors)

    def finish(self) -> None:
        """Train an index that needs it, and add what waited for that."""
        if not self._index.is_trained:
            vectors = np.concatenate(self._waiting)
            self._index.train(vectors)
            self._index.add(vectors)
            self._waiting = []

    def batch_searcher(self, k: int, settings: Settings) -> BatchSearch:
        """Return a search of many queries."""
        index, parameters = self._prepare(settings, None)
        return lambda queries: index.search(queries, k, params=parameters)[1]

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Return a search with its settings, and a selector of the ids that meet the condition."""
        index, parameters = self._prepare(settings, filter)
        if parameters is None:
            return lambda query: index.search(query[None], k)[1][0]
        return lambda query: index.search(query[None], k, params=parameters)[1][0]

    def _prepare(self, settings: Settings, filter: Filter | None) -> tuple[Any, Any]:  # noqa: A002
        """Return what is searched, and the parameters of the search; None if it has none."""
        selector = None if filter is None else self._faiss.IDSelectorBitmap(_to_bits(filter.ids))
        chosen = self._to_faiss(settings)
        if selector is not None:
            chosen["sel"] = selector
        index = self._index
        if not chosen:
            return index, None
        parameters = self._query = getattr(self._faiss, self.parameters)(**chosen)
        if "rerank" in settings:
            index, parameters = self._refine(parameters, settings)
        return index, parameters

    def _make(self, dimensions: int, kind: int, settings: Settings) -> object:
        raise NotImplementedError

    def _to_faiss(self, settings: Settings) -> dict[str, object]:
        """Return the settings of a search under the names that faiss has for them."""
        del settings
        return {}

    def _refine(self, parameters: Any, settings: Settings) -> tuple[Any, Any]:
        """Return what is searched, and how, where full vectors may rank candidates again."""
        raise NotImplementedError


_FULL: Mapping[str, Setting] = {
    "full": Setting(
        default=False, help="whether full vectors are kept beside the codes, to rank candidates again"
    )
}
_RERANK: Mapping[str, Setting] = {
    "rerank": Setting(
        1, "candidates, as a multiple of k, that full vectors rank again; 1: codes decide alone"
    )
}
_CODE = Setting("SQ8", "how numbers are stored: SQ8, SQ6 or SQ4 (bits each), SQfp16 or SQbf16")


class _Coded(_Faiss):
    """Base of indexes that store codes: a factory string, and the full vectors beside it if they are asked for."""

    def _make(self, dimensions: int, kind: int, settings: Settings) -> object:
        whole = f"{self._describe(settings)}{',RFlat' if settings['full'] else ''}"
        index, self._factor = self._faiss.index_factory(dimensions, whole, kind), 1
        self._coded: Any = self._faiss.downcast_index(index.base_index) if settings["full"] else index
        return index

    def _describe(self, settings: Settings) -> str:
        """Return the index as faiss' factory writes it."""
        raise NotImplementedError

    def _refine(self, parameters: Any, settings: Settings) -> tuple[Any, Any]:
        self._factor = int(settings["rerank"])
        if self._factor == 1:
            return self._coded, parameters
        if self._coded is self._index:
            msg = f"`{self.name}`: `rerank` is {self._factor}, and the full vectors are not kept"
            raise EngineFailed(msg, hint="build with `full: true`")
        made = self._faiss.IndexRefineSearchParameters
        return self._index, made(k_factor=float(self._factor), base_index_params=parameters)

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return whether full vectors are kept, and how many candidates they rank."""
        return {"full": self._coded is not self._index, "rerank": self._factor}

    def _read_code(self, quantiser: Any) -> str:
        kinds = {"SQ8": "8bit", "SQ6": "6bit", "SQ4": "4bit", "SQfp16": "fp16", "SQbf16": "bf16"}
        known = {getattr(self._faiss.ScalarQuantizer, f"QT_{kind}"): name for name, kind in kinds.items()}
        return known[quantiser.qtype]


class FaissFlat(_Faiss):
    """Exact search; for Hamming distance, over packed bits."""

    name = "faiss-flat"
    title = "faiss, exact search"
    capabilities = Capabilities(frozenset(METRICS), exact=True, filters=True, forks=True)

    def _make(self, dimensions: int, kind: int, settings: Settings) -> object:
        del settings
        return (
            self._faiss.IndexBinaryFlat(dimensions)
            if self._binary
            else self._faiss.IndexFlat(dimensions, kind)
        )


class FaissHnsw(_Faiss):
    """A graph of neighbours, searched greedily from the top layer down."""

    name = "faiss-hnsw"
    title = "faiss, HNSW graph"
    parameters = "SearchParametersHNSW"
    build_settings = GRAPH_BUILD
    query_settings = GRAPH_QUERY

    def _make(self, dimensions: int, kind: int, settings: Settings) -> object:
        index = self._faiss.IndexHNSWFlat(dimensions, settings["M"], kind)
        index.hnsw.efConstruction = settings["ef_construction"]
        return index

    def _to_faiss(self, settings: Settings) -> dict[str, object]:
        return {"efSearch": settings["ef"]}

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the graph and the parameters of the last search hold; layer 0 has 2 M neighbours."""
        graph = self._index.hnsw
        built = {"M": graph.nb_neighbors(1), "ef_construction": graph.efConstruction}
        return built if self._query is None else {**built, "ef": self._query.efSearch}


class FaissHnswSq(_Coded):
    """The same over numbers of a few bits; candidates may be ranked again by the full vectors."""

    name = "faiss-hnsw-sq"
    title = "faiss, HNSW graph over scalar quantisation"
    parameters = "SearchParametersHNSW"
    build_settings: ClassVar[Mapping[str, Setting]] = {**GRAPH_BUILD, "code": _CODE, **_FULL}
    query_settings: ClassVar[Mapping[str, Setting]] = {**GRAPH_QUERY, **_RERANK}

    def _make(self, dimensions: int, kind: int, settings: Settings) -> object:
        index = super()._make(dimensions, kind, settings)
        self._coded.hnsw.efConstruction = settings["ef_construction"]
        return index

    def _describe(self, settings: Settings) -> str:
        return f"HNSW{settings['M']}_{settings['code']}"

    def _to_faiss(self, settings: Settings) -> dict[str, object]:
        return {"efSearch": settings["ef"]}

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the graph, its storage and the parameters of the last search hold."""
        graph, storage = self._coded.hnsw, self._faiss.downcast_index(self._coded.storage)
        built = {"M": graph.nb_neighbors(1), "ef_construction": graph.efConstruction}
        built |= {"code": self._read_code(storage.sq), **super().effective_config()}
        return built if self._query is None else {**built, "ef": self._query.efSearch}


class FaissIvf(_Faiss):
    """Vectors in lists around centroids; a search looks into the nearest lists."""

    name = "faiss-ivf"
    title = "faiss, inverted lists"
    parameters = "SearchParametersIVF"
    build_settings: ClassVar[Mapping[str, Setting]] = {"lists": _LISTS}
    query_settings: ClassVar[Mapping[str, Setting]] = {"probes": _PROBES}

    def _make(self, dimensions: int, kind: int, settings: Settings) -> object:
        return self._faiss.index_factory(dimensions, f"IVF{settings['lists']},{self._stored(settings)}", kind)

    def _stored(self, settings: Settings) -> str:
        """Return how vectors are stored in their lists, as faiss' factory writes it."""
        del settings
        return "Flat"

    def _to_faiss(self, settings: Settings) -> dict[str, object]:
        return {"nprobe": settings["probes"]}

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the index and the parameters of the last search hold."""
        built = {"lists": self._index.nlist}
        return built if self._query is None else {**built, "probes": self._query.nprobe}


class _CodedLists(_Coded):
    """Base of inverted lists of codes."""

    parameters = "SearchParametersIVF"
    query_settings: ClassVar[Mapping[str, Setting]] = {"probes": _PROBES, **_RERANK}

    def _describe(self, settings: Settings) -> str:
        return f"IVF{settings['lists']},{self._stored(settings)}"

    def _stored(self, settings: Settings) -> str:
        """Return how vectors are stored in their lists, as faiss' factory writes it."""
        raise NotImplementedError

    def _to_faiss(self, settings: Settings) -> dict[str, object]:
        return {"nprobe": settings["probes"]}

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the lists and the parameters of the last search hold."""
        built = {"lists": self._coded.nlist, **super().effective_config()}
        return built if self._query is None else {**built, "probes": self._query.nprobe}


class FaissIvfPq(_CodedLists):
    """Vectors in lists, compressed by product quantisation."""

    name = "faiss-ivf-pq"
    title = "faiss, inverted lists with product quantisation"
    build_settings: ClassVar[Mapping[str, Setting]] = {
        "lists": _LISTS,
        "parts": Setting(8, "parts of a vector, each stored as a code; a divisor of its dimensions"),
        "bits": Setting(8, "bits of a code"),
        **_FULL,
    }

    def _stored(self, settings: Settings) -> str:
        return f"PQ{settings['parts']}x{settings['bits']}"

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return the parts and bits as well."""
        codes = self._coded.pq
        return {**super().effective_config(), "parts": codes.M, "bits": codes.nbits}


class FaissIvfSq(_CodedLists):
    """Vectors in lists, with numbers of a few bits."""

    name = "faiss-ivf-sq"
    title = "faiss, inverted lists with scalar quantisation"
    build_settings: ClassVar[Mapping[str, Setting]] = {"lists": _LISTS, "code": _CODE, **_FULL}

    def _stored(self, settings: Settings) -> str:
        return str(settings["code"])

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return the code as well."""
        return {**super().effective_config(), "code": self._read_code(self._coded.sq)}


class FaissIvfRabitq(_CodedLists):
    """Vectors in lists, with a bit or a few for each number."""

    name = "faiss-ivf-rabitq"
    title = "faiss, inverted lists with RaBitQ codes"
    parameters = "IVFRaBitQSearchParameters"
    build_settings: ClassVar[Mapping[str, Setting]] = {
        "lists": _LISTS,
        "bits": Setting(1, "bits of each number, 1 to 9"),
        **_FULL,
    }

    def _stored(self, settings: Settings) -> str:
        return "RaBitQ" if settings["bits"] == 1 else f"RaBitQ{settings['bits']}"

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return the bits as well."""
        return {**super().effective_config(), "bits": self._coded.rabitq.nb_bits}


def _to_bits(ids: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the ids as a bitmap, in which faiss looks one up fastest."""
    bits = np.zeros((int(ids.max(initial=0)) // 8 + 1) * 8, dtype=bool)
    bits[ids] = True
    return np.packbits(bits, bitorder="little")
