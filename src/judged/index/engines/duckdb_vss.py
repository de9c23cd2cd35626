"""DuckDB with its extension vss: an HNSW graph in memory, used where the planner chooses it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
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

FUNCTIONS: Mapping[Metric, tuple[str, str]] = {
    "l2": ("l2sq", "array_distance"),
    "ip": ("ip", "array_negative_inner_product"),
    "cosine": ("cosine", "array_cosine_distance"),
}
"""The metric of an index, and the function that it is used for."""


class DuckdbVss(Engine):
    """A table with an HNSW index; a filter is applied to what the index found, so that few rows may remain."""

    name = "duckdb-vss"
    title = "DuckDB with vss, HNSW graph"
    extra = "duckdb-vss"
    packages = ("duckdb-extension-vss", "duckdb")
    capabilities = Capabilities(
        filters=True,
        deletes=True,
        concurrent=False,  # two connections that search the index at once crash version 1.5.5
        unverified=frozenset({"ef_construction"}),
    )
    build_settings: ClassVar[Mapping[str, Setting]] = GRAPH_BUILD
    query_settings: ClassVar[Mapping[str, Setting]] = GRAPH_QUERY

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make a database in memory, the only kind for which DuckDB calls its index stable, and an empty table."""
        library = need("duckdb", extra=self.extra, needed_by=f"the engine `{self.name}`")
        self._spec, self._settings = spec, settings
        self._read: Any = None
        self._write = library.connect(config={"threads": spec.threads})
        self._write.load_extension(self._find_extension(library.__version__))
        # fields get names of our own, so that none needs quotes
        self._fields = {field: f"field{number}" for number, field in enumerate(spec.fields)}
        columns = "".join(f", {name} bigint" for name in self._fields.values())
        self._write.execute(f"create table vectors (id bigint, vector float[{spec.dimensions}]{columns})")

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add the rows of an Arrow table."""
        import pyarrow as pa

        values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), self._spec.dimensions)
        columns = {name: attributes[field] for field, name in self._fields.items()}
        self._write.register("added", pa.table({"id": ids, "vector": values, **columns}))
        self._write.execute("insert into vectors select * from added")
        self._write.unregister("added")

    def finish(self) -> None:
        """Build the index once; afterwards remove deleted rows from it."""
        if self._write.execute("select count(*) from duckdb_indexes()").fetchone()[0]:
            self._write.execute("pragma hnsw_compact_index('nearest')")
            return
        metric = FUNCTIONS[self._spec.metric][0]
        edges, candidates = int(self._settings["M"]), int(self._settings["ef_construction"])
        self._write.execute(
            "create index nearest on vectors using hnsw (vector)"
            f" with (metric = '{metric}', m = {edges}, m0 = {2 * edges}, ef_construction = {candidates})"
        )

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Delete the rows."""
        self._write.execute("delete from vectors where id in (select unnest(?))", [ids.tolist()])

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Open a connection, set `ef`, check the plan, and return a query."""
        self._read = connection = self._write.cursor()
        connection.execute(f"set hnsw_ef_search = {int(settings['ef'])}")
        condition = ""
        if filter is not None:
            operator = "=" if filter.operator == "==" else filter.operator
            condition = f"where {self._fields[filter.field]} {operator} {int(filter.value)} "
        distance = f"{FUNCTIONS[self._spec.metric][1]}(vector, ?::float[{self._spec.dimensions}])"
        statement = f"select id from vectors {condition}order by {distance} limit {k}"  # noqa: S608
        plan = str(connection.execute(f"explain {statement}", [[0.0] * self._spec.dimensions]).fetchall())
        if "HNSW_INDEX_SCAN" not in plan:
            msg = f"`{self.name}`: the planner does not use the index for `{condition or 'every row'}`"
            raise EngineFailed(
                msg, hint="`explain` shows the plan; a filter may be too complex for the index"
            )
        execute = connection.execute
        return lambda query: [row[0] for row in execute(statement, [query.tolist()]).fetchall()]

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the graph and the last connection hold: `max_edges` counts M for each vector of layer 0."""
        layers = self._write.execute("select levels_stats from pragma_hnsw_index_info()").fetchone()[0]
        built = {"M": layers[0]["max_edges"] // layers[0]["nodes"]}
        if self._read is None:
            return built
        ef = self._read.execute("select current_setting('hnsw_ef_search')").fetchone()[0]
        return {**built, "ef": ef}

    def close(self) -> None:
        """Close the database."""
        if hasattr(self, "_write"):
            self._write.close()

    def _find_extension(self, version: str) -> str:
        """Return the file of the extension that was built for a version of DuckDB."""
        package = need("duckdb_extension_vss", extra=self.extra, needed_by=f"the engine `{self.name}`")
        folder = Path(package.__file__).parent / "extensions"
        file = folder / f"v{version}" / "vss.duckdb_extension"
        if not file.exists():
            built = ", ".join(sorted(path.name.removeprefix("v") for path in folder.iterdir()))
            msg = f"`{self.name}`: duckdb is {version}, and the extension vss is built for {built}"
            raise EngineFailed(msg, hint=f"pip install duckdb=={built}")
        return str(file)
