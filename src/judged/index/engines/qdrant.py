"""Qdrant: a server by URL, the emulation in Python that its client carries, and Qdrant Edge in process."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from judged.errors import EngineFailed
from judged.index.connection import CollectionEngine
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

BATCH = 1000
"""Points in one request."""
CHECKS, PAUSE = 36_000, 0.1
"""Number of times that a server is asked whether the graph is built, and the seconds between: an hour at most."""
SMALLEST = 10
"""Smallest indexing threshold (KB) that the server accepts."""


class Qdrant(CollectionEngine):
    """A collection of one shard; vectors are loaded first and the graph is built over all of them."""

    name = "qdrant"
    title = "Qdrant server, HNSW graph"
    extra = "qdrant"
    packages = ("qdrant-client",)
    modules = ("qdrant_client",)
    address_example = "http://localhost:6333"
    capabilities: ClassVar[Capabilities] = Capabilities(
        filters=True, deletes=True, forks=True, remote=True, unverified=frozenset({"ef"})
    )
    build_settings: ClassVar[Mapping[str, Setting]] = GRAPH_BUILD
    query_settings: ClassVar[Mapping[str, Setting]] = GRAPH_QUERY

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Connect, and make an empty collection that is not indexed yet."""
        self.open(spec, settings)
        models = self._models = self._library.models
        distance = {"l2": "Euclid", "ip": "Dot", "cosine": "Cosine"}[spec.metric]
        vectors = models.VectorParams(size=spec.dimensions, distance=models.Distance(distance))
        with self.asking():
            self._client.create_collection(
                self._collection,
                vectors_config=vectors,
                hnsw_config=self._describe_graph(),
                quantization_config=self._describe_codes(),
                # a threshold of 0 turns indexing off while points are loaded; each segment has a graph of its own
                optimizers_config=models.OptimizersConfigDiff(indexing_threshold=0, default_segment_number=1),
            )
            self._index_fields()

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add points in batches."""
        numbers, columns = ids.tolist(), {name: column.tolist() for name, column in attributes.items()}
        for start in range(0, len(ids), BATCH):
            rows = range(start, min(start + BATCH, len(ids)))
            payloads = [{name: column[row] for name, column in columns.items()} for row in rows]
            batch = self._models.Batch(
                ids=[numbers[row] for row in rows], vectors=vectors[rows].tolist(), payloads=payloads
            )
            with self.asking():
                self._client.upsert(self._collection, batch, wait=True)

    def finish(self) -> None:
        """Let the server build the graph, and wait until every vector is in it."""
        with self.asking():
            self._client.update_collection(
                self._collection,
                optimizers_config=self._models.OptimizersConfigDiff(indexing_threshold=SMALLEST),
            )
            for _ in range(CHECKS):
                info = self._client.get_collection(self._collection)
                waiting = (info.points_count or 0) - (info.indexed_vectors_count or 0)
                if info.status == self._models.CollectionStatus.GREEN and waiting <= 0:
                    return
                time.sleep(PAUSE)
        problem = f"{waiting} vectors are not indexed, and the collection is {info.status}"
        raise self.fail(problem, hint="searches would read them one by one; see the log of the server")

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Delete the points."""
        with self.asking():
            points = self._models.PointIdsList(points=ids.tolist())
            self._client.delete(self._collection, points_selector=points, wait=True)

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Open a client, and return a query."""
        ask = self.connect().query_points
        condition = None if filter is None else self._to_filter(filter)
        parameters = self._describe_search(settings)

        def search(query: VectorArray) -> list[int]:
            with self.asking():
                answer = ask(
                    self._collection,
                    query=query.tolist(),
                    limit=k,
                    query_filter=condition,
                    search_params=parameters,
                    with_payload=False,
                )
            return [point.id for point in answer.points]

        return search

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return the configuration of the collection; `ef` is part of each query and kept nowhere."""
        with self.asking():
            graph = self._client.get_collection(self._collection).config.hnsw_config
        return {"M": graph.m, "ef_construction": graph.ef_construct}

    def make_client(self) -> object:
        """Connect to the server."""
        return self._library.QdrantClient(url=self._address, check_compatibility=False)

    def read_version(self) -> str:
        """Return the version of the server."""
        return f"qdrant {self._client.info().version}"

    def _index_fields(self) -> None:
        for field in self._spec.fields:
            self._client.create_payload_index(
                self._collection, field, field_schema=self._models.PayloadSchemaType.INTEGER, wait=True
            )

    def _describe_graph(self) -> object:
        return self._models.HnswConfigDiff(
            m=self._settings["M"],
            ef_construct=self._settings["ef_construction"],
            full_scan_threshold=SMALLEST,
            max_indexing_threads=self._spec.threads,
        )

    def _describe_codes(self) -> object:
        """Return how vectors are quantised; None: they are not."""
        return None

    def _describe_search(self, settings: Settings) -> object:
        return self._models.SearchParams(hnsw_ef=settings["ef"]) if settings else None

    def _to_filter(self, filter: Filter) -> object:  # noqa: A002
        models = self._models
        parts = [
            models.FieldCondition(
                key=field,
                match=models.MatchValue(value=value) if operator == "==" else None,
                range=None
                if operator == "=="
                else models.Range(**{"lt" if operator == "<" else "gte": value}),
            )
            for field, operator, value in filter.conditions
        ]
        return models.Filter(must=parts)


class QdrantQuantised(Qdrant):
    """The same over codes in memory; candidates may be ranked again by the full vectors."""

    name = "qdrant-quantised"
    title = "Qdrant server, HNSW graph over quantised vectors"
    capabilities: ClassVar[Capabilities] = Capabilities(
        filters=True,
        deletes=True,
        forks=True,
        remote=True,
        unverified=frozenset({"ef", "rescore", "oversampling"}),
    )
    build_settings: ClassVar[Mapping[str, Setting]] = {
        **GRAPH_BUILD,
        "code": Setting("int8", "how numbers are stored: int8, or binary for a bit each"),
    }
    query_settings: ClassVar[Mapping[str, Setting]] = {
        **GRAPH_QUERY,
        "rescore": Setting(default=True, help="whether full vectors rank the candidates again"),
        "oversampling": Setting(2.0, "candidates that they rank, as a multiple of k"),
    }

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return the configuration of the collection, with the kind of its codes."""
        with self.asking():
            codes = self._client.get_collection(self._collection).config.quantization_config
        known = (
            "int8"
            if getattr(codes, "scalar", None)
            else "binary"
            if getattr(codes, "binary", None)
            else "none"
        )
        return {**super().effective_config(), "code": known}

    def _describe_codes(self) -> object:
        models, code = self._models, self._settings["code"]
        if code == "binary":
            return models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
        if code != "int8":
            msg = f"`{self.name}` has no code `{code}`"
            raise EngineFailed(msg, hint="int8 or binary")
        scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
        return models.ScalarQuantization(scalar=scalar)

    def _describe_search(self, settings: Settings) -> object:
        codes = self._models.QuantizationSearchParams(
            rescore=settings["rescore"], oversampling=settings["oversampling"]
        )
        return self._models.SearchParams(hnsw_ef=settings["ef"], quantization=codes)


class QdrantLocal(Qdrant):
    """The local mode of the client: exact search in Python, for trying out code and not for its speed."""

    name = "qdrant-local"
    title = "local mode of Qdrant's client, exact search"
    capabilities = Capabilities(
        exact=True,
        filters=True,
        deletes=True,
        emulated="exact search with NumPy in Qdrant's Python client; no part of Qdrant's engine",
    )
    build_settings: ClassVar[Mapping[str, Setting]] = {}
    query_settings: ClassVar[Mapping[str, Setting]] = {}

    def finish(self) -> None:
        """Do nothing: there is no index."""

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return nothing: there is nothing to set."""
        return {}

    def find_address(self, spec: IndexSpec) -> str:
        """Return the name of a database in memory."""
        del spec
        return ":memory:"

    def make_client(self) -> object:
        """Make the emulation."""
        return self._library.QdrantClient(self._address)

    def _index_fields(self) -> None:
        """Do nothing: local mode filters without indexes."""

    def _describe_graph(self) -> object:
        return None


class QdrantEdge(Engine):
    """A shard in a folder; fields are indexed, and the graph is searched with the filter in mind."""

    name = "qdrant-edge"
    title = "Qdrant Edge, HNSW graph in process"
    extra = "qdrant-edge"
    packages = ("qdrant-edge-py",)
    modules = ("qdrant_edge",)
    # a shard reports how much is indexed, which `finish` checks, and no setting
    capabilities = Capabilities(
        filters=True, deletes=True, unverified=frozenset({"M", "ef_construction", "ef"})
    )
    build_settings = GRAPH_BUILD
    query_settings = GRAPH_QUERY

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make an empty shard that is indexed at any size."""
        edge = self._edge = self.load("qdrant_edge")
        self._fields = spec.fields
        distances = {"l2": edge.Distance.Euclid, "ip": edge.Distance.Dot, "cosine": edge.Distance.Cosine}
        graph = edge.HnswIndexConfig(
            m=settings["M"],
            ef_construct=settings["ef_construction"],
            full_scan_threshold=1,  # the least: smaller shards are read as a whole instead
            max_indexing_threads=spec.threads,
        )
        vectors = edge.EdgeVectorParams(
            size=spec.dimensions, distance=distances[spec.metric], hnsw_config=graph
        )
        optimizers = edge.EdgeOptimizersConfig(indexing_threshold=1, default_segment_number=1)
        self._shard = edge.EdgeShard.create(
            str(self.find_folder(spec)), edge.EdgeConfig(vectors=vectors, optimizers=optimizers)
        )
        for field in spec.fields:
            self._shard.update(edge.UpdateOperation.create_field_index(field, edge.PayloadSchemaType.Integer))

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add points in batches."""
        edge, numbers = self._edge, ids.tolist()
        columns = {field: attributes[field].tolist() for field in self._fields}
        for start in range(0, len(ids), BATCH):
            points = [
                edge.Point(
                    numbers[row], vectors[row].tolist(), {name: columns[name][row] for name in columns}
                )
                for row in range(start, min(start + BATCH, len(ids)))
            ]
            self._shard.update(edge.UpdateOperation.upsert_points(points))

    def finish(self) -> None:
        """Build the graph; raise `EngineFailed` if some vectors are outside it."""
        self._shard.optimize()
        info = self._shard.info()
        if info.indexed_vectors_count < info.points_count:
            msg = f"`{self.name}` indexed {info.indexed_vectors_count} of {info.points_count} vectors"
            raise EngineFailed(msg, hint="searches would read the rest one by one")

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Delete the points."""
        self._shard.update(self._edge.UpdateOperation.delete_points(ids.tolist()))

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Return a search."""
        edge, ask = self._edge, self._shard.query
        condition = None if filter is None else self._to_filter(filter)
        parameters = edge.SearchParams(hnsw_ef=settings["ef"])
        request, nearest = edge.QueryRequest, edge.Query.Nearest

        def search(query: VectorArray) -> list[int]:
            wanted = request(limit=k, query=nearest(query.tolist()), filter=condition, params=parameters)
            return [point.id for point in ask(wanted)]

        return search

    def close(self) -> None:
        """Close the shard."""
        if hasattr(self, "_shard"):
            self._shard.close()

    def _to_filter(self, filter: Filter) -> object:  # noqa: A002
        edge = self._edge
        parts = [
            edge.FieldCondition(key=field, match=edge.MatchValue(value))
            if operator == "=="
            else edge.FieldCondition(
                key=field, range=edge.RangeFloat(**{"lt" if operator == "<" else "gte": value})
            )
            for field, operator, value in filter.conditions
        ]
        return edge.Filter(must=parts)
