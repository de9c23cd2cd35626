"""Milvus: a server by URL, and Milvus Lite, which emulates one in process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from judged.index.connection import CollectionEngine
from judged.index.engine import (
    GRAPH_BUILD,
    GRAPH_QUERY,
    Attributes,
    Capabilities,
    Filter,
    IndexSpec,
    Metric,
    Search,
    Settings,
    SettingValue,
    VectorArray,
)

KINDS: Mapping[Metric, str] = {"l2": "L2", "ip": "IP", "cosine": "COSINE"}
PATIENCE = 30
"""Seconds to wait for an answer to a request."""
BATCH = 2000
"""Rows in one request."""


class MilvusHnsw(CollectionEngine):
    """A collection with one HNSW graph for each of its segments."""

    name = "milvus-hnsw"
    title = "Milvus server, HNSW graph"
    extra = "milvus"
    packages: ClassVar[tuple[str, ...]] = ("pymilvus",)
    modules: ClassVar[tuple[str, ...]] = ("pymilvus",)
    address_example = "http://localhost:19530"
    capabilities: ClassVar[Capabilities] = Capabilities(
        filters=True, deletes=True, remote=True, unverified=frozenset({"ef"})
    )
    build_settings = GRAPH_BUILD
    query_settings = GRAPH_QUERY

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Connect, and make an empty collection."""
        self.open(spec, settings)
        kind = self._library.DataType
        with self.asking():
            schema = self._client.create_schema(auto_id=False)
            for name in ("id", *spec.fields):
                schema.add_field(name, kind.INT64, is_primary=name == "id")
            schema.add_field("vector", kind.FLOAT_VECTOR, dim=spec.dimensions)
            self._client.create_collection(self._collection, schema=schema, consistency_level="Bounded")

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add rows in batches."""
        columns = {"id": ids.tolist(), **{name: column.tolist() for name, column in attributes.items()}}
        for start in range(0, len(ids), BATCH):
            rows = range(start, min(start + BATCH, len(ids)))
            data = [
                {**{name: column[row] for name, column in columns.items()}, "vector": vectors[row]}
                for row in rows
            ]
            with self.asking():
                self._client.insert(self._collection, data)

    def finish(self) -> None:
        """Seal the segments, build the graphs once, load them, and wait until queries see every row."""
        with self.asking():
            self._client.flush(self._collection)
            if not self._client.list_indexes(self._collection):
                index = self._client.prepare_index_params()
                graph = {"M": self._settings["M"], "efConstruction": self._settings["ef_construction"]}
                metric = KINDS[self._spec.metric]
                index.add_index("vector", index_type="HNSW", metric_type=metric, params=graph)
                self._client.create_index(self._collection, index)
                self._client.load_collection(self._collection)
            self._wait()

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Delete the rows, and wait until queries see it."""
        with self.asking():
            self._client.delete(self._collection, ids=ids.tolist())
            self._wait()

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Open a client, and return a query."""
        ask, parameters = self.connect().search, {"params": {"ef": settings["ef"]}}
        parts = () if filter is None else filter.conditions
        condition = " and ".join(f"{field} {operator} {value}" for field, operator, value in parts)

        def search(query: VectorArray) -> list[int]:
            with self.asking():
                answers = ask(
                    self._collection,
                    data=[query],
                    anns_field="vector",
                    limit=k,
                    filter=condition,
                    search_params=parameters,
                )
            return [row["id"] for row in answers[0]]

        return search

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return the parameters of the index; `ef` is part of each query and kept nowhere."""
        with self.asking():
            graph = self._client.describe_index(self._collection, "vector")
        return {"M": int(graph["M"]), "ef_construction": int(graph["efConstruction"])}

    def make_client(self) -> object:
        """Connect to the server."""
        return self._library.MilvusClient(self._address, timeout=PATIENCE)

    def read_version(self) -> str:
        """Return the version of the server."""
        return f"milvus {self._client.get_server_version()}"

    def drop(self) -> None:
        """Drop the collection."""
        self._client.drop_collection(self._collection)

    def _wait(self) -> None:
        """Ask once for what was written last: a strong read waits until the server has it."""
        self._client.query(
            self._collection, filter="id == 0", output_fields=["id"], consistency_level="Strong"
        )


class MilvusLite(MilvusHnsw):
    """The same interface over a file; since version 3 it is written in Python, with faiss for its graphs."""

    name = "milvus-lite"
    title = "Milvus Lite, HNSW graph"
    extra = "milvus-lite"
    packages = ("milvus-lite", "pymilvus")
    modules = ("pymilvus", "milvus_lite")
    capabilities = Capabilities(
        filters=True,
        deletes=True,
        emulated="Milvus Lite in Python on faiss; no part of Milvus' engine",
        unverified=frozenset({"M", "ef_construction", "ef"}),
    )

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return nothing: Milvus Lite does not say which parameters an index has."""
        return {}

    def find_address(self, spec: IndexSpec) -> str:
        """Return the file of the database."""
        return str(self.find_folder(spec) / "milvus.db")

    def make_client(self) -> object:
        """Open the file."""
        return self._library.MilvusClient(self._address)
