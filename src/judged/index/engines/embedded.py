"""Databases in the process of their user: sqlite-vec, DuckDB with vss, and LanceDB."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
    Settings,
    SettingValue,
    VectorArray,
)

if TYPE_CHECKING:
    import apsw
    import duckdb
    import pyarrow as pa

FUNCTIONS: Mapping[Metric, tuple[str, str]] = {
    "l2": ("l2sq", "array_distance"),
    "ip": ("ip", "array_negative_inner_product"),
    "cosine": ("cosine", "array_cosine_distance"),
}
"""DuckDB's metric of an index, and the function that it is used for."""


class _Table(Engine):
    """A table of vectors and attributes; attributes get names that need no quotes, which vec0 does not read."""

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Keep what the table is made for."""
        self._spec, self._settings = spec, settings
        self._columns = {field: f"field{number}" for number, field in enumerate(spec.fields)}

    def _make_rows(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> pa.Table:
        import pyarrow as pa

        values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), self._spec.dimensions)
        columns = {name: attributes[field] for field, name in self._columns.items()}
        return pa.table({"id": ids, "vector": values, **columns})

    def _condition(self, filter: Filter | None) -> str:  # noqa: A002
        return "" if filter is None else filter.to_sql(self._columns)


class SqliteVec(_Table):
    """A virtual table of vectors, all of which are read for a query."""

    name = "sqlite-vec"
    title = "sqlite-vec in SQLite, exact search"
    extra = "sqlite-vec"
    packages = ("sqlite-vec", "apsw")  # apsw, because many Pythons cannot load extensions of SQLite
    modules = ("apsw", "sqlite_vec")
    capabilities = Capabilities(
        frozenset({"l2", "cosine", "hamming"}), exact=True, filters=True, deletes=True
    )

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make the database, in the folder or in memory, and an empty table."""
        super().create(spec, settings)
        self._apsw, self._extension = self.load("apsw"), self.load("sqlite_vec")
        # memdb, because every connection to `:memory:` has a database of its own
        shared = f"file:/judged-{id(self)}?vfs=memdb"
        self._file = shared if spec.folder is None else str(spec.folder / "vectors.sqlite")
        self._connections: list[apsw.Connection] = []
        self._write = self._connect()
        binary = spec.metric == "hamming"
        kind = f"bit[{spec.dimensions}]" if binary else f"float[{spec.dimensions}]"
        metric = "" if binary else f" distance_metric={spec.metric}"
        columns = "".join(f", {name} integer" for name in self._columns.values())
        self._write.execute(
            f"create virtual table vectors using vec0(id integer primary key, vector {kind}{metric}{columns})"
        )
        self._value = "vec_bit(?)" if binary else "?"

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add the rows in one transaction."""
        values = [attributes[field].tolist() for field in self._columns]
        names = ", ".join(("id", "vector", *self._columns.values()))
        places = ", ".join(("?", self._value, *("?" for _ in values)))
        blobs = (vector.tobytes() for vector in vectors)
        with self._write:
            self._write.executemany(
                f"insert into vectors ({names}) values ({places})",  # noqa: S608 - names of our own
                zip(ids.tolist(), blobs, *values, strict=True),
            )

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Delete the rows in one transaction."""
        with self._write:
            self._write.executemany(
                "delete from vectors where id = ?", ((number,) for number in ids.tolist())
            )

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Open a connection, and return a query."""
        del settings
        condition = f" and {self._condition(filter)}" if filter else ""
        statement = f"select id from vectors where vector match {self._value} and k = {k}{condition} order by distance"  # noqa: S608
        execute = self._connect().execute
        return lambda query: [row[0] for row in execute(statement, (query.tobytes(),))]

    def close(self) -> None:
        """Close every connection."""
        for connection in getattr(self, "_connections", ()):
            connection.close()

    def _connect(self) -> apsw.Connection:
        flags = self._apsw.SQLITE_OPEN_READWRITE | self._apsw.SQLITE_OPEN_CREATE | self._apsw.SQLITE_OPEN_URI
        connection: apsw.Connection = self._apsw.Connection(self._file, flags=flags)
        connection.enable_load_extension(True)  # noqa: FBT003 - apsw's only way
        connection.load_extension(self._extension.loadable_path())
        connection.enable_load_extension(False)  # noqa: FBT003
        self._connections.append(connection)
        return connection


class DuckdbVss(_Table):
    """A table with an HNSW index; a filter is applied to what the index found, so that few rows may remain."""

    name = "duckdb-vss"
    title = "DuckDB with vss, HNSW graph"
    extra = "duckdb-vss"
    packages = ("duckdb-extension-vss", "duckdb")
    modules = ("duckdb", "duckdb_extension_vss")
    capabilities = Capabilities(
        filters=True,
        deletes=True,
        concurrent=False,  # two connections that search the index at once crash version 1.5.5
        unverified=frozenset({"ef_construction"}),
    )
    build_settings = GRAPH_BUILD
    query_settings = GRAPH_QUERY

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make a database in memory, the only kind for which DuckDB calls its index stable, and an empty table."""
        super().create(spec, settings)
        library = self.load("duckdb")
        self._read: duckdb.DuckDBPyConnection | None = None
        self._write = library.connect(config={"threads": spec.threads})
        self._write.load_extension(self._find_extension(library.__version__))
        columns = "".join(f", {name} bigint" for name in self._columns.values())
        self._write.execute(f"create table vectors (id bigint, vector float[{spec.dimensions}]{columns})")

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add the rows of an Arrow table."""
        self._write.register("added", self._make_rows(ids, vectors, attributes))
        self._write.execute("insert into vectors select * from added")
        self._write.unregister("added")

    def finish(self) -> None:
        """Build the index once; afterwards remove deleted rows from it."""
        if self._write.execute("select count(*) from duckdb_indexes()").fetchone()[0]:
            self._write.execute("pragma hnsw_compact_index('nearest')")
            return
        metric = FUNCTIONS[self._spec.metric][0]
        # `int`, so that nothing but numbers gets into the statement; layer 0 has 2 M neighbours, as in the HNSW paper
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
        condition = f"where {self._condition(filter)} " if filter else ""
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
        ef = self._read.execute("select current_setting('hnsw_ef_search')").fetchall()[0][0]
        return {**built, "ef": ef}

    def close(self) -> None:
        """Close the database."""
        if hasattr(self, "_write"):
            self._write.close()

    def _find_extension(self, version: str) -> str:
        """Return the file of the extension that was built for a version of DuckDB."""
        folder = Path(str(self.load("duckdb_extension_vss").__file__)).parent / "extensions"
        file = folder / f"v{version}" / "vss.duckdb_extension"
        if not file.exists():
            built = ", ".join(sorted(path.name.removeprefix("v") for path in folder.iterdir()))
            msg = f"`{self.name}`: duckdb is {version}, and the extension vss is built for {built}"
            raise EngineFailed(msg, hint=f"pip install duckdb=={built}")
        return str(file)


class LancedbHnsw(_Table):
    """One partition with a graph over whole vectors; a filter is applied before the search."""

    name = "lancedb-hnsw"
    title = "LanceDB, HNSW graph"
    extra = "lancedb"
    packages = ("lancedb",)
    modules = ("lancedb", "lancedb.index")
    capabilities = Capabilities(filters=True, deletes=True)
    build_settings = GRAPH_BUILD
    query_settings = GRAPH_QUERY

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make an empty table in the folder, or in memory."""
        import pyarrow as pa

        super().create(spec, settings)
        os.environ["LANCE_CPU_THREADS"] = str(spec.threads)  # read when Lance first computes something
        self._kind = {"l2": "l2", "ip": "dot", "cosine": "cosine"}[spec.metric]
        self._asked: Any = None
        columns = [(name, pa.int64()) for name in self._columns.values()]
        vector = ("vector", pa.list_(pa.float32(), spec.dimensions))
        library = self.load("lancedb")
        database = library.connect("memory://" if spec.folder is None else str(spec.folder))
        schema = pa.schema([("id", pa.int64()), vector, *columns])
        self._table = database.create_table("vectors", schema=schema)

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add the rows of an Arrow table."""
        self._table.add(self._make_rows(ids, vectors, attributes))

    def finish(self) -> None:
        """Build the index once; afterwards add to it what was inserted since."""
        if self._table.list_indices():
            self._table.optimize()
            return
        index = self.load("lancedb.index").HnswFlat(
            distance_type=self._kind,
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
        table, kind, ef, condition = self._table, self._kind, settings["ef"], self._condition(filter)

        def ask(query: VectorArray) -> Any:
            asked = table.search(query, vector_column_name="vector").distance_type(kind).ef(ef).limit(k)
            asked = asked.select(["id", "_distance"])
            return asked.where(condition, prefilter=True) if condition else asked

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
