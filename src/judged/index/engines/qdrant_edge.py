"""Qdrant Edge: the engine of Qdrant in the process of its user, without a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judged._optional import need
from judged.errors import EngineFailed
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
"""Points in one update."""


class QdrantEdge(Engine):
    """A shard in a folder; fields are indexed, and the graph is searched with the filter in mind."""

    name = "qdrant-edge"
    title = "Qdrant Edge, HNSW graph in process"
    extra = "qdrant-edge"
    packages = ("qdrant-edge-py",)
    capabilities = Capabilities(
        filters=True, deletes=True, unverified=frozenset({"M", "ef_construction", "ef"})
    )
    build_settings: ClassVar[Mapping[str, Setting]] = GRAPH_BUILD
    query_settings: ClassVar[Mapping[str, Setting]] = GRAPH_QUERY

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make an empty shard that is indexed whatever its size."""
        edge = self._edge = need("qdrant_edge", extra=self.extra, needed_by=f"the engine `{self.name}`")
        if spec.folder is None:
            msg = f"`{self.name}` needs a folder"
            raise EngineFailed(msg, hint="the benchmark makes one; give `IndexSpec(folder=…)` elsewhere")
        self._fields = spec.fields
        distances = {"l2": edge.Distance.Euclid, "ip": edge.Distance.Dot, "cosine": edge.Distance.Cosine}
        graph = edge.HnswIndexConfig(
            m=settings["M"],
            ef_construct=settings["ef_construction"],
            full_scan_threshold=1,
            max_indexing_threads=spec.threads,
        )
        vectors = edge.EdgeVectorParams(
            size=spec.dimensions, distance=distances[spec.metric], hnsw_config=graph
        )
        optimizers = edge.EdgeOptimizersConfig(indexing_threshold=1, default_segment_number=1)
        self._shard = edge.EdgeShard.create(
            str(spec.folder), edge.EdgeConfig(vectors=vectors, optimizers=optimizers)
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
        found = self._shard.info()
        if found.indexed_vectors_count < found.points_count:
            msg = f"`{self.name}` indexed {found.indexed_vectors_count} of {found.points_count} vectors"
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

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return nothing: a shard reports how much is indexed, which `finish` checks, and no setting."""
        return {}

    def close(self) -> None:
        """Close the shard."""
        if hasattr(self, "_shard"):
            self._shard.close()

    def _to_filter(self, filter: Filter) -> Any:  # noqa: A002
        edge = self._edge
        if filter.operator == "==":
            condition = edge.FieldCondition(key=filter.field, match=edge.MatchValue(filter.value))
        else:
            condition = edge.FieldCondition(key=filter.field, range=edge.RangeFloat(lt=filter.value))
        return edge.Filter(must=[condition])
