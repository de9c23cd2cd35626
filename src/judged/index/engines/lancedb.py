"""LanceDB: an HNSW graph over a columnar table on disk."""

from __future__ import annotations

import os
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
    Metric,
    Search,
    Setting,
    Settings,
    SettingValue,
    VectorArray,
)

KINDS: Mapping[Metric, str] = {"l2": "l2", "ip": "dot", "cosine": "cosine"}


class LancedbHnsw(Engine):
    """One partition with a graph over whole vectors; a filter is applied before the search."""

    name = "lancedb-hnsw"
    title = "LanceDB, HNSW graph"
    extra = "lancedb"
    packages = ("lancedb",)
    capabilities = Capabilities(filters=True, deletes=True)
    build_settings: ClassVar[Mapping[str, Setting]] = GRAPH_BUILD
    query_settings: ClassVar[Mapping[str, Setting]] = GRAPH_QUERY

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make an empty table in the folder, or in memory."""
        import pyarrow as pa

        os.environ["LANCE_CPU_THREADS"] = str(spec.threads)  # read when Lance first computes something
        library = need("lancedb", extra=self.extra, needed_by=f"the engine `{self.name}`")
        self._indexes = need("lancedb.index", extra=self.extra, needed_by=f"the engine `{self.name}`")
        self._spec, self._settings = spec, settings
        self._asked: Any = None
        self._fields = {field: f"field{number}" for number, field in enumerate(spec.fields)}
        columns = [(name, pa.int64()) for name in ("id", *self._fields.values())]
        vector = ("vector", pa.list_(pa.float32(), spec.dimensions))
        database = library.connect("memory://" if spec.folder is None else str(spec.folder))
        self._table = database.create_table("vectors", schema=pa.schema([*columns, vector]))

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add the rows of an Arrow table."""
        import pyarrow as pa

        values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), self._spec.dimensions)
        columns = {name: attributes[field] for field, name in self._fields.items()}
        self._table.add(pa.table({"id": ids, **columns, "vector": values}))

    def finish(self) -> None:
        """Build the index once; afterwards add to it what was inserted since."""
        if self._table.list_indices():
            self._table.optimize()
            return
        index = self._indexes.HnswFlat(
            distance_type=KINDS[self._spec.metric],
            num_partitions=1,
            m=self._settings["M"],
            ef_construction=self._settings["ef_construction"],
        )
        self._table.create_index("vector", config=index)

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Delete the rows."""
        self._table.delete(f"id in ({', '.join(map(str, ids.tolist()))})")

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Check that the plan uses the index, and return a query."""
        table, kind, ef = self._table, KINDS[self._spec.metric], settings["ef"]
        condition = None
        if filter is not None:
            operator = "=" if filter.operator == "==" else filter.operator
            condition = f"{self._fields[filter.field]} {operator} {int(filter.value)}"

        def ask(query: VectorArray) -> Any:
            asked = table.search(query, vector_column_name="vector").distance_type(kind).ef(ef).limit(k)
            asked = asked.select(["id", "_distance"])
            return asked if condition is None else asked.where(condition, prefilter=True)

        example = self._asked = ask(np.zeros(self._spec.dimensions, dtype=np.float32))
        if "ANNSubIndex" not in example.explain_plan(verbose=True):
            msg = f"`{self.name}`: the plan does not use the index"
            raise EngineFailed(msg, hint="`explain_plan` of a LanceDB query shows it")
        return lambda query: ask(query).to_arrow()["id"].to_pylist()

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the index and the last query hold."""
        graph = self._table.list_indices()[0].index_details["hnsw"]
        built = {"M": graph["max_connections"], "ef_construction": graph["construction_ef"]}
        return built if self._asked is None else {**built, "ef": self._asked.to_query_object().ef}
