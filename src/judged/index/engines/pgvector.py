"""PostgreSQL with pgvector: exact search, HNSW graphs and inverted lists, in 32 or 16 bits.

Settings are those of the session and of the index. Each searcher has a connection of its own, reads its settings back
with `current_setting`, and asks the planner with EXPLAIN whether the index is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from math import isqrt
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from judged._optional import need
from judged.errors import EngineFailed
from judged.index.connection import RemoteEngine
from judged.index.engine import (
    METRICS,
    Attributes,
    Capabilities,
    Filter,
    IndexSpec,
    Metric,
    Search,
    Setting,
    Settings,
    SettingValue,
    Stats,
    VectorArray,
)

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql

PlanNode = TypedDict(
    "PlanNode", {"Node Type": str, "Index Name": str, "Plans": list["PlanNode"]}, total=False
)
"""A node of a plan, as EXPLAIN writes it in JSON."""

OPERATORS: Mapping[Metric, str] = {"l2": "<->", "ip": "<#>", "cosine": "<=>", "hamming": "<~>"}
OLDEST = (0, 8)
"""The first version of pgvector with iterative scans."""
LABEL = "made by judged index, which drops it"
"""Comment on a table, without which a name is not taken for a leftover."""
PATIENCE = 10
"""Seconds to wait for a connection."""

_STORAGE: Mapping[str, Setting] = {
    "halfvec": Setting(default=False, help="store and index numbers of 16 bits instead of 32"),
    "maintenance_work_mem": Setting(256, "megabytes for building; a graph that needs more is built slowly"),
}


def _scale_lists(size: int) -> int:
    """Return a list for each 1,000 rows up to a million, then √n; at least 10."""
    return max(10, size // 1000 if size <= 1_000_000 else isqrt(size))


class _Pgvector(RemoteEngine):
    """A table of vectors; a subclass says which index it has and how it is searched."""

    extra = "pgvector"
    packages = ("pgvector", "psycopg")
    modules = ("psycopg", "pgvector.psycopg")
    address_example = "postgresql://user@localhost/database"
    capabilities: ClassVar[Capabilities] = Capabilities(
        frozenset(METRICS), filters=True, deletes=True, forks=True, remote=True
    )
    method: ClassVar[str] = ""
    """The access method of the index; empty: there is none."""
    options: ClassVar[Mapping[str, str]] = {}
    """Build settings that are parameters of the index, and what pgvector calls them."""
    session: ClassVar[Mapping[str, str]] = {}
    """Query settings, and the parameters of the session that they set."""

    def __init__(self) -> None:
        self._connections: list[psycopg.Connection] = []
        self._read: psycopg.Connection | None = None

    def ask_version(self, url: str) -> str:
        """Connect, and return the versions of pgvector and PostgreSQL."""
        self._psycopg, self._address = self.load("psycopg"), url
        with self._open_connection() as connection:
            self._check_version(connection)
        return type(self).server_version

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Connect, remove what killed benchmarks left, and make an empty table."""
        self._psycopg, self._pgvector = self.load("psycopg"), self.load("pgvector.psycopg")
        values = self.load("pgvector")
        self._spec, self._settings = spec, settings
        self._type = "bit" if spec.metric == "hamming" else "halfvec" if settings.get("halfvec") else "vector"
        if spec.metric == "hamming" and settings.get("halfvec"):
            msg = f"`{self.name}` has no Hamming distance of `halfvec`"
            raise EngineFailed(msg, hint="leave `halfvec` out: bits are stored as bits")
        convert: dict[str, Callable[[VectorArray], object]] = {
            "vector": lambda vector: vector,
            "halfvec": values.HalfVector,
            "bit": lambda vector: values.Bit(vector.tobytes()),
        }
        self._to_value = convert[self._type]
        self._address = self.find_address(spec)
        # a name of its own, because several benchmarks may use one database at once
        name = f"judged_{uuid4().hex[:16]}"
        self._table, self._index = self._psycopg.sql.Identifier(name), f"{name}_index"
        self._connect()
        self._remove_leftovers()
        # held while this session lives, however it ends: the table of a session that is gone is left over
        self._run("select pg_advisory_lock(hashtextextended({}, 0))", name)
        # whole bytes, as bits are packed; those that fill the last byte are 0 in every vector
        size = -(-spec.dimensions // 8) * 8 if self._type == "bit" else spec.dimensions
        columns = [self._format("{} bigint not null", self._name(field)) for field in spec.fields]
        column = self._format("vector {} not null", self._psycopg.sql.SQL(f"{self._type}({size})"))
        self._run(
            "create table {} (id bigint primary key, {})",
            self._table,
            self._psycopg.sql.SQL(", ").join([column, *columns]),
        )
        self._run("comment on table {} is {}", self._table, LABEL)

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Copy the rows in PostgreSQL's binary format."""
        fields = self._spec.fields
        names = self._psycopg.sql.SQL(", ").join([self._name(name) for name in ("id", "vector", *fields)])
        statement = self._format("copy {} ({}) from stdin (format binary)", self._table, names)
        values = [attributes[field].tolist() for field in fields]
        try:
            with self._write.cursor() as cursor, cursor.copy(statement) as copy:
                copy.set_types(["int8", self._type, *("int8" for _ in fields)])
                for row in zip(ids.tolist(), map(self._to_value, vectors), *values, strict=True):
                    copy.write_row(row)
        except self._psycopg.Error as error:
            raise self._word(error) from error

    def finish(self) -> None:
        """Build the index once; remove deleted rows from it, and let the planner know the table."""
        if self.method and self._find_index_options() is None:
            chosen = self._psycopg.sql.SQL(", ").join(
                self._format("{} = {}", self._psycopg.sql.SQL(known), int(self._settings[name]))
                for name, known in self.options.items()
            )
            self._run(
                "create index {} on {} using {} ({}) with ({})",
                self._name(self._index),
                self._table,
                self._psycopg.sql.SQL(self.method),
                self._psycopg.sql.SQL(self._describe_key()),
                chosen,
            )
        self._run("vacuum (analyze) {}", self._table)

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Delete the rows; until the next `finish` the index still holds them and skips them."""
        self._run("delete from {} where id = any({})", self._table, ids.tolist())

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Open a connection, apply the settings, check the plan, and return a prepared query."""
        self._read = connection = self._connect()
        for name, parameter in self.session.items():
            self._set(connection, parameter, settings[name])
        statement = self._write_query(k, settings, filter)
        if self.method:
            self._check_plan(connection, statement)
        execute, to_value = self._psycopg.RawCursor(connection).execute, self._to_value

        def search(query: VectorArray) -> list[int]:
            try:
                rows = execute(statement, (to_value(query),), binary=True, prepare=True).fetchall()
            except self._psycopg.Error as error:
                raise self._word(error) from error
            return [row[0] for row in rows]

        return search

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the catalogue says about the index, and the session of the last searcher about itself."""
        built = dict(option.split("=") for option in self._find_index_options() or ())
        answer: dict[str, SettingValue] = {name: int(built[known]) for name, known in self.options.items()}
        if "halfvec" in self.build_settings:
            kind = self._run(
                "select format_type(atttypid, null) from pg_attribute"
                " where attrelid = {}::text::regclass and attname = 'vector'",
                self._table_name,
            )
            memory = self._run("select setting::bigint from pg_settings where name = 'maintenance_work_mem'")
            answer |= {"halfvec": kind == "halfvec", "maintenance_work_mem": memory // 1024}
        if self._read is not None:
            for name, parameter in self.session.items():
                rows = self._read.execute("select current_setting(%s)", (parameter,)).fetchall()
                answer[name] = type(self.query_settings[name].default)(rows[0][0])
        return answer

    def stats(self) -> Stats:
        """Return the size of the table with its indexes, and the server's process if it runs here."""
        size = self._run("select pg_total_relation_size({}::text::regclass)", self._table_name)
        return Stats(disk=int(size), processes=_find_server(self._write.info))

    def close(self) -> None:
        """Drop the table, and close every connection."""
        if self._connections:
            with suppress(EngineFailed):  # a server that is gone has nothing to drop
                self._run("drop table if exists {}", self._table)
        for connection in self._connections:
            connection.close()
        self._connections = []

    @property
    def _write(self) -> psycopg.Connection:
        """The first connection, which makes and fills the table; each searcher has another."""
        return self._connections[0]

    @property
    def _table_name(self) -> str:
        return str(self._table.as_string(None))

    def _remove_leftovers(self) -> None:
        """Drop the tables of benchmarks whose sessions are gone: those that were killed."""
        rows = self._write.execute(
            "select relname from pg_class where relkind = 'r' and relname ~ '^judged_[0-9a-f]{16}$'"
            " and obj_description(oid, 'pg_class') = %s and pg_table_is_visible(oid)",
            (LABEL,),
        ).fetchall()
        for (name,) in rows:
            if self._run("select pg_try_advisory_lock(hashtextextended({}, 0))", name):
                self._run("drop table if exists {}", self._name(name))
                self._run("select pg_advisory_unlock(hashtextextended({}, 0))", name)

    def _open_connection(self) -> psycopg.Connection:
        try:
            # autocommit, because `vacuum` cannot run inside a transaction
            connection: psycopg.Connection = self._psycopg.connect(
                self._address, autocommit=True, connect_timeout=PATIENCE
            )
        except self._psycopg.Error as error:
            raise self._word_connection(error) from error
        return connection

    def _connect(self) -> psycopg.Connection:
        connection = self._open_connection()
        self._connections.append(connection)
        self._check_version(connection)
        self._pgvector.register_vector(connection)
        connection.execute(
            "select null::vector, '[1]'::vector"
        )  # loads the library, which knows the parameters
        workers = self._spec.threads - 1  # the process that leads them works too
        self._set(connection, "max_parallel_maintenance_workers", workers)
        self._set(connection, "max_parallel_workers_per_gather", workers)
        # the planner reads a small table as a whole, and the index would not be measured
        self._set(connection, "enable_seqscan", "off" if self.method else "on")
        if "maintenance_work_mem" in self._settings:
            self._set(connection, "maintenance_work_mem", f"{self._settings['maintenance_work_mem']}MB")
        return connection

    def _check_version(self, connection: psycopg.Connection) -> None:
        """Make the extension if the database lacks it, and refuse one that is too old."""
        ask = "select extversion from pg_extension where extname = 'vector'"
        rows = connection.execute(ask).fetchall()
        if not rows:
            try:
                connection.execute("create extension if not exists vector")
            except self._psycopg.Error as error:
                problem = "the database has no extension `vector`, and it cannot be created"
                hint = "install pgvector on the server, then run `create extension vector` as a superuser"
                raise self.fail(problem, reason=error, hint=hint) from error
            rows = connection.execute(ask).fetchall()
        version = rows[0][0]
        if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
            needed = ".".join(map(str, OLDEST))
            hint = "install a newer pgvector on the server, then run `alter extension vector update`"
            problem = f"pgvector is {version}, expected {needed} or later"
            raise self.fail(problem, hint=hint)
        server = (connection.info.parameter_status("server_version") or "?").split(" ")[0]
        type(self).server_version = f"pgvector {version}, PostgreSQL {server}"

    def _set(self, connection: psycopg.Connection, parameter: str, value: SettingValue) -> None:
        try:
            connection.execute("select set_config(%s, %s, false)", (parameter, str(value)))
        except self._psycopg.Error as error:
            msg = f"`{self.name}`: PostgreSQL refuses {value} for `{parameter}`\n  {error}"
            raise EngineFailed(msg, hint="choose a value that it accepts") from error

    def _write_query(self, k: int, settings: Settings, filter: Filter | None) -> sql.Composed:  # noqa: A002
        """Return the query; results in relaxed order are sorted afterwards, as pgvector's documentation has it."""
        sql = self._psycopg.sql
        where = sql.SQL("")
        if filter is not None:
            parts = [
                self._format("{} {} {}", self._name(field), sql.SQL("=" if sign == "==" else sign), value)
                for field, sign, value in filter.conditions
            ]
            where = self._format("where {} ", sql.SQL(" and ").join(parts))
        nearest = self._format(
            "select id, vector {} $1 as distance from {} {}order by distance limit {}",
            sql.SQL(OPERATORS[self._spec.metric]),
            self._table,
            where,
            k,
        )
        if "rerank" in settings:
            return self._write_reranked(k, settings, where)
        if settings.get("iterative_scan") != "relaxed_order":
            return nearest
        # without `+ 0`, PostgreSQL 17 takes the rows to be sorted already
        return self._format(
            "with nearest as materialized ({}) select id from nearest order by distance + 0", nearest
        )

    def _write_reranked(self, k: int, settings: Settings, where: sql.Composable) -> sql.Composed:
        """Return a query whose candidates are ranked again by the full vectors."""
        raise NotImplementedError

    def _describe_key(self) -> str:
        """Return what is indexed, and the operators."""
        return f"vector {self._type}_{self._spec.metric}_ops"

    def _check_plan(self, connection: psycopg.Connection, statement: sql.Composed) -> None:
        sample = self._to_value(np.zeros_like(self._example))
        explain = self._format("explain (format json) {}", statement)
        try:
            plan = self._psycopg.RawCursor(connection).execute(explain, (sample,)).fetchone()[0]
        except self._psycopg.Error as error:
            raise self._word(error) from error
        if not _uses_index(plan[0]["Plan"], self._index):
            problem = f"the planner does not use the index but: {_name_nodes(plan[0]['Plan'])}"
            hint = "enable_indexscan must be on for the user; then `explain` the query in psql"
            raise self.fail(problem, hint=hint)

    @property
    def _example(self) -> VectorArray:
        size = self._spec.dimensions
        return np.zeros(-(-size // 8), np.uint8) if self._type == "bit" else np.zeros(size, np.float32)

    def _find_index_options(self) -> list[str] | None:
        """Return the parameters of the index as the catalogue has them; None if there is no index."""
        options: list[str] | None = self._run(
            "select coalesce(reloptions, array[]::text[]) from pg_class where relname = {}", self._index
        )
        return options

    def _run(self, statement: str, *parts: object) -> Any:
        """Run a statement with names and literals filled in; return the first value of the first row, if any."""
        try:
            cursor = self._write.execute(self._format(statement, *parts))
            row = cursor.fetchone() if cursor.description else None
        except self._psycopg.Error as error:
            raise self._word(error) from error
        return None if row is None else row[0]

    def _format(self, statement: str, *parts: object) -> sql.Composed:
        composed: sql.Composed = self._psycopg.sql.SQL(statement).format(*parts)
        return composed

    def _name(self, name: str) -> sql.Identifier:
        identifier: sql.Identifier = self._psycopg.sql.Identifier(name)
        return identifier

    def _word(self, error: Exception) -> EngineFailed:
        if isinstance(error, (self._psycopg.OperationalError, self._psycopg.InterfaceError)):
            hint = "see the log of the server: it was stopped, ran out of memory, or closed the connection"
            return self.fail("the connection was lost", reason=error, hint=hint)
        return self.fail(
            "PostgreSQL refuses a statement", reason=error, hint="the words are those of the server"
        )

    def _word_connection(self, error: Exception) -> EngineFailed:
        text = str(error).lower()
        if "password" in text or "authentication" in text or "pg_hba" in text:
            problem, hint = "access is denied", "give user and password in the address, or in ~/.pgpass"
        elif "does not exist" in text:
            problem, hint = "the database or the user does not exist", "createdb makes a database"
        else:
            problem, hint = "no server answers", f"start it, and check the address: {self.address_example}"
        return self.fail(problem, reason=error, hint=hint)


class PgvectorExact(_Pgvector):
    """Every row is read: exact."""

    name = "pgvector-exact"
    title = "PostgreSQL with pgvector, exact search"
    capabilities = Capabilities(
        frozenset(METRICS), exact=True, filters=True, deletes=True, forks=True, remote=True
    )


class PgvectorHnsw(_Pgvector):
    """A graph of neighbours; without iterative scans a filter is applied to its `ef` candidates alone."""

    name = "pgvector-hnsw"
    title = "PostgreSQL with pgvector, HNSW graph"
    method = "hnsw"
    options: ClassVar[Mapping[str, str]] = {"M": "m", "ef_construction": "ef_construction"}
    session: ClassVar[Mapping[str, str]] = {
        "ef": "hnsw.ef_search",
        "iterative_scan": "hnsw.iterative_scan",
        "max_scan_tuples": "hnsw.max_scan_tuples",
    }
    build_settings: ClassVar[Mapping[str, Setting]] = {
        "M": Setting(16, "neighbours of a vector in the graph"),
        "ef_construction": Setting(200, "candidates considered while building; at least 2 M"),
        **_STORAGE,
    }
    query_settings: ClassVar[Mapping[str, Setting]] = {
        "ef": Setting(
            64, "candidates considered in a search, 1000 at most", (16, 32, 64, 128, 256), effort=True
        ),
        "iterative_scan": Setting(
            "off", "go on until k rows meet a filter: off, strict_order or relaxed_order"
        ),
        "max_scan_tuples": Setting(20_000, "rows after which an iterative scan ends"),
    }


class PgvectorHnswCoded(PgvectorHnsw):
    """A graph over bits or 16-bit numbers computed from full vectors, which rank the candidates again."""

    name = "pgvector-hnsw-coded"
    title = "PostgreSQL with pgvector, HNSW graph over quantised vectors"
    capabilities: ClassVar[Capabilities] = Capabilities(filters=True, deletes=True, forks=True, remote=True)
    build_settings: ClassVar[Mapping[str, Setting]] = {
        **{name: setting for name, setting in PgvectorHnsw.build_settings.items() if name != "halfvec"},
        "code": Setting(
            "bit", "what the graph is over: bit, the signs of the numbers, or halfvec, 16 bits of each"
        ),
    }
    query_settings: ClassVar[Mapping[str, Setting]] = {
        **{name: setting for name, setting in PgvectorHnsw.query_settings.items() if name == "ef"},
        "rerank": Setting(
            4, "candidates that full vectors rank, as a multiple of k; the graph returns ef of them at most"
        ),
    }
    session: ClassVar[Mapping[str, str]] = {"ef": "hnsw.ef_search"}

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what the catalogue says about the index; how many candidates are ranked is part of the query."""
        written = str(self._run("select pg_get_indexdef({}::text::regclass)", self._index))
        code = "bit" if "bit_hamming_ops" in written else "halfvec" if "halfvec" in written else "none"
        memory = self._run("select setting::bigint from pg_settings where name = 'maintenance_work_mem'")
        known = {"code": code, "maintenance_work_mem": memory // 1024, "rerank": self._rerank}
        return {**super().effective_config(), **known}

    _rerank: int = 1

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Keep how many candidates are ranked, and open a connection."""
        self._rerank = int(settings["rerank"])
        return super().searcher(k, settings, filter)

    @property
    def _key(self) -> str:
        size = self._spec.dimensions
        return {"bit": f"(binary_quantize(vector)::bit({size}))", "halfvec": f"(vector::halfvec({size}))"}[
            self._check_code()
        ]

    def _check_code(self) -> str:
        code = str(self._settings["code"])
        if code not in {"bit", "halfvec"}:
            msg = f"`{self.name}` has no code `{code}`"
            raise EngineFailed(msg, hint="bit or halfvec")
        return code

    def _describe_key(self) -> str:
        operators = "bit_hamming_ops" if self._check_code() == "bit" else f"halfvec_{self._spec.metric}_ops"
        return f"{self._key} {operators}"

    def _write_reranked(self, k: int, settings: Settings, where: sql.Composable) -> sql.Composed:
        text, size = self._psycopg.sql.SQL, self._spec.dimensions
        wanted = f"binary_quantize($1::vector({size}))::bit({size})"
        operator = "<~>"
        if self._check_code() == "halfvec":
            wanted, operator = f"($1::vector({size}))::halfvec({size})", OPERATORS[self._spec.metric]
        return self._format(
            "select id from (select id, vector from {} {}order by {} {} {} limit {}) candidate "
            "order by vector {} $1 limit {}",
            self._table,
            where,
            text(self._key),
            text(operator),
            text(wanted),
            k * int(settings["rerank"]),
            text(OPERATORS[self._spec.metric]),
            k,
        )


class PgvectorIvfflat(_Pgvector):
    """Vectors in lists around centroids; a search looks into the nearest lists."""

    name = "pgvector-ivfflat"
    title = "PostgreSQL with pgvector, inverted lists"
    method = "ivfflat"
    options: ClassVar[Mapping[str, str]] = {"lists": "lists"}
    session: ClassVar[Mapping[str, str]] = {
        "probes": "ivfflat.probes",
        "iterative_scan": "ivfflat.iterative_scan",
    }
    build_settings: ClassVar[Mapping[str, Setting]] = {
        "lists": Setting(
            1024, "number of inverted lists; without a value, as pgvector's guide says", scale=_scale_lists
        ),
        **_STORAGE,
    }
    query_settings: ClassVar[Mapping[str, Setting]] = {
        "probes": Setting(8, "lists that a search looks into", (1, 2, 4, 8, 16, 32, 64, 128), effort=True),
        "iterative_scan": Setting("off", "go on until k rows meet a filter: off or relaxed_order"),
    }


def _uses_index(node: PlanNode, index: str) -> bool:
    return node.get("Index Name") == index or any(_uses_index(part, index) for part in node.get("Plans", ()))


def _name_nodes(node: PlanNode) -> str:
    return ", ".join([node["Node Type"], *(_name_nodes(part) for part in node.get("Plans", ()))])


def _find_server(info: psycopg.ConnectionInfo) -> tuple[int, ...]:
    """Return the process that started the backend of a connection, if it is a process of this machine."""
    psutil = need("psutil", extra="index", needed_by="the memory of a server")
    if not (info.host.startswith("/") or info.host in {"localhost", "127.0.0.1", "::1"}):
        return ()
    try:
        backend = psutil.Process(info.backend_pid)
        parent = backend.parent()
    except psutil.Error:
        return ()
    return (parent.pid,) if parent is not None and "postgres" in backend.name() else ()
