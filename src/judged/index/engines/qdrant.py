"""Qdrant: a server by URL, and the emulation in Python that its client carries."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from judged._optional import need
from judged.errors import EngineFailed
from judged.index.connection import RemoteEngine
from judged.index.engine import (
    GRAPH_BUILD,
    GRAPH_QUERY,
    Attributes,
    Capabilities,
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
"""How often, and with how many seconds between, a server is asked whether the graph is built: an hour at most."""
SMALLEST = 10
"""Kilobytes, the least that a server accepts as a size from which on it builds a graph and uses it."""


class Qdrant(RemoteEngine):
    """A collection of one shard; vectors are loaded first and the graph is built over all of them."""

    name = "qdrant"
    title = "Qdrant server, HNSW graph"
    extra = "qdrant"
    packages = ("qdrant-client",)
    address_example = "http://localhost:6333"
    capabilities: ClassVar[Capabilities] = Capabilities(
        filters=True, deletes=True, remote=True, unverified=frozenset({"ef"})
    )
    build_settings: ClassVar[Mapping[str, Setting]] = GRAPH_BUILD
    query_settings: ClassVar[Mapping[str, Setting]] = GRAPH_QUERY

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Connect, and make an empty collection that is not indexed yet."""
        self._library = need("qdrant_client", extra=self.extra, needed_by=f"the engine `{self.name}`")
        models = self._models = self._library.models
        self._spec, self._settings, self._collection = spec, settings, f"judged-{uuid4().hex[:16]}"
        self._clients: list[Any] = []
        distances = {
            "l2": models.Distance.EUCLID,
            "ip": models.Distance.DOT,
            "cosine": models.Distance.COSINE,
        }
        vectors = models.VectorParams(size=spec.dimensions, distance=distances[spec.metric])
        self._open(spec)
        with self.asking():
            self._client.create_collection(
                self._collection,
                vectors_config=vectors,
                hnsw_config=self._describe_graph(),
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
                found = self._client.get_collection(self._collection)
                waiting = (found.points_count or 0) - (found.indexed_vectors_count or 0)
                if found.status == self._models.CollectionStatus.GREEN and waiting <= 0:
                    return
                time.sleep(PAUSE)
        what = f"{waiting} vectors are not indexed, and the collection is {found.status}"
        raise self.fail(what, hint="searches would read them one by one; see the log of the server")

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Delete the points."""
        with self.asking():
            points = self._models.PointIdsList(points=ids.tolist())
            self._client.delete(self._collection, points_selector=points, wait=True)

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Open a client, and return a query."""
        ask = self._connect().query_points
        condition = None if filter is None else self._to_filter(filter)
        parameters = self._models.SearchParams(hnsw_ef=settings["ef"]) if settings else None

        def search(query: VectorArray) -> list[int]:
            with self.asking():
                found = ask(
                    self._collection,
                    query=query.tolist(),
                    limit=k,
                    query_filter=condition,
                    search_params=parameters,
                    with_payload=False,
                )
            return [point.id for point in found.points]

        return search

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return the configuration of the collection; `ef` is part of each query and kept nowhere."""
        with self.asking():
            graph = self._client.get_collection(self._collection).config.hnsw_config
        return {"M": graph.m, "ef_construction": graph.ef_construct}

    def close(self) -> None:
        """Delete the collection, unless the server is gone, and close the clients."""
        clients = getattr(self, "_clients", [])
        if clients:
            with suppress(EngineFailed), self.asking():
                self._client.delete_collection(self._collection)
        for client in clients:
            client.close()
        self._clients = []

    def _open(self, spec: IndexSpec) -> None:
        self.connect_to(spec)
        self._client = self._connect()
        with self.asking():
            type(self).server_version = f"qdrant {self._client.info().version}"

    def _connect(self) -> Any:
        client = self._library.QdrantClient(url=self._address, check_compatibility=False)
        self._clients.append(client)
        return client

    def _index_fields(self) -> None:
        for field in self._spec.fields:
            self._client.create_payload_index(
                self._collection, field, field_schema=self._models.PayloadSchemaType.INTEGER, wait=True
            )

    def _describe_graph(self) -> Any:
        return self._models.HnswConfigDiff(
            m=self._settings["M"],
            ef_construct=self._settings["ef_construction"],
            full_scan_threshold=SMALLEST,
            max_indexing_threads=self._spec.threads,
        )

    def _to_filter(self, filter: Filter) -> Any:  # noqa: A002
        models, equal = self._models, filter.operator == "=="
        match = models.MatchValue(value=filter.value) if equal else None
        below = None if equal else models.Range(lt=filter.value)
        return models.Filter(must=[models.FieldCondition(key=filter.field, match=match, range=below)])


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

    def _open(self, spec: IndexSpec) -> None:
        self._address = ":memory:"
        self._client = self._library.QdrantClient(":memory:")
        self._clients.append(self._client)
        del spec

    def _connect(self) -> Any:
        return self._client

    def _index_fields(self) -> None:
        """Do nothing: local mode filters without indexes."""

    def _describe_graph(self) -> Any:
        return None
