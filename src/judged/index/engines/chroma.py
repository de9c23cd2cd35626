"""Chroma: an HNSW graph in the process of its user, or in a server.

`ef` is a build setting here. Chroma 1.5.9 accepts another `ef_search` for a collection that is loaded, reports it, and
goes on with the old one: recall on 6,000 random vectors stayed 0.40 from 10 to 400, and is 0.99 if it is built with 400.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from judged.index.connection import CollectionEngine
from judged.index.engine import (
    GRAPH_BUILD,
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

BATCH = 5000
"""Rows in one request; Chroma refuses more than 5,461."""


class Chroma(CollectionEngine):
    """A collection; ids are texts and are turned into numbers."""

    name = "chroma"
    title = "Chroma in process, HNSW graph"
    extra = "chroma"
    packages = ("chromadb",)
    modules = ("chromadb",)
    capabilities: ClassVar[Capabilities] = Capabilities(filters=True, deletes=True)
    build_settings: ClassVar[Mapping[str, Setting]] = {
        **GRAPH_BUILD,
        "ef": Setting(64, "candidates considered in a search; a change after building has no effect"),
    }

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Connect, and make an empty collection."""
        self.open(spec, settings)
        graph = {
            "space": spec.metric,
            "max_neighbors": settings["M"],
            "ef_construction": settings["ef_construction"],
            "ef_search": settings["ef"],
        }
        with self.asking():
            self._client.create_collection(
                self._collection, configuration={"hnsw": graph}, embedding_function=None
            )
            self._rows = self._open_collection(self._client)

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add rows in batches."""
        names, columns = list(attributes), [column.tolist() for column in attributes.values()]
        rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)] or None
        texts = [str(number) for number in ids.tolist()]
        with self.asking():
            for start in range(0, len(ids), BATCH):
                part = slice(start, start + BATCH)
                self._rows.add(texts[part], embeddings=vectors[part], metadatas=rows and rows[part])

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Delete rows in batches."""
        texts = [str(number) for number in ids.tolist()]
        with self.asking():
            for start in range(0, len(texts), BATCH):
                self._rows.delete(ids=texts[start : start + BATCH])

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Open a client, and return a query."""
        del settings
        with self.asking():
            ask = self._open_collection(self.connect()).query
        where: dict[str, Any] | None = None
        if filter is not None:
            words = {"==": "$eq", "<": "$lt", ">=": "$gte"}
            parts = [{field: {words[operator]: value}} for field, operator, value in filter.conditions]
            where = parts[0] if len(parts) == 1 else {"$and": parts}

        def search(query: VectorArray) -> list[int]:
            with self.asking():
                reply = ask(query_embeddings=query[None], n_results=k, where=where, include=[])
            return [int(number) for number in reply["ids"][0]]

        return search

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return the configuration of the collection as the database has it."""
        with self.asking():
            graph = self._open_collection(self._client).configuration_json["hnsw"]
        return {
            "M": graph["max_neighbors"],
            "ef_construction": graph["ef_construction"],
            "ef": graph["ef_search"],
        }

    def find_address(self, spec: IndexSpec) -> str:
        """Return the folder of the database; empty: it is in memory."""
        return str(spec.folder or "")

    def make_client(self) -> object:
        """Open the database."""
        settings = self._library.config.Settings(anonymized_telemetry=False)
        if not self._address:
            return self._library.EphemeralClient(settings=settings)
        return self._library.PersistentClient(path=self._address, settings=settings)

    def _open_collection(self, client: Any) -> Any:
        """Return the collection as the database has it now, with its configuration."""
        return client.get_collection(self._collection, embedding_function=None)


class ChromaHttp(Chroma):
    """The same over HTTP, with a client of its own for each searcher."""

    name = "chroma-http"
    title = "Chroma over HTTP, HNSW graph"
    address_example = "http://localhost:8000"
    capabilities = Capabilities(filters=True, deletes=True, forks=True, remote=True)

    def find_address(self, spec: IndexSpec) -> str:
        """Return the address of the server."""
        return CollectionEngine.find_address(self, spec)

    def make_client(self) -> object:
        """Connect to the server."""
        address = urlsplit(self._address)
        return self._library.HttpClient(
            host=address.hostname or "localhost",
            port=address.port or 8000,
            ssl=address.scheme == "https",
            settings=self._library.config.Settings(anonymized_telemetry=False),
        )

    def read_version(self) -> str:
        """Return the version of the server."""
        return f"chroma {self._client.get_version()}"
