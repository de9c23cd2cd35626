"""sqlite-vec: exact search in SQLite, opened through apsw because many Pythons cannot load extensions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged._optional import need
from judged.index.engine import (
    Attributes,
    Capabilities,
    Engine,
    Filter,
    IndexSpec,
    Search,
    Settings,
    SettingValue,
    VectorArray,
)


class SqliteVec(Engine):
    """A virtual table of vectors, all of which are read for a query."""

    name = "sqlite-vec"
    title = "sqlite-vec in SQLite, exact search"
    extra = "sqlite-vec"
    packages = ("sqlite-vec", "apsw")
    capabilities = Capabilities(
        frozenset({"l2", "cosine", "hamming"}), exact=True, filters=True, deletes=True
    )

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make the database, in the folder or in memory, and an empty table."""
        del settings
        self._apsw = need("apsw", extra=self.extra, needed_by=f"the engine `{self.name}`")
        self._extension = need("sqlite_vec", extra=self.extra, needed_by=f"the engine `{self.name}`")
        self._spec = spec
        shared = f"file:/judged-{id(self)}?vfs=memdb"
        self._file = shared if spec.folder is None else str(spec.folder / "vectors.sqlite")
        self._connections: list[Any] = []
        self._write = self._connect()
        # fields get names of our own: vec0 reads no quoted ones
        self._fields = {field: f"field{number}" for number, field in enumerate(spec.fields)}
        kind = f"bit[{spec.dimensions}]" if spec.metric == "hamming" else f"float[{spec.dimensions}]"
        metric = "" if spec.metric == "hamming" else f" distance_metric={spec.metric}"
        columns = "".join(f", {name} integer" for name in self._fields.values())
        self._write.execute(
            f"create virtual table vectors using vec0(id integer primary key, vector {kind}{metric}{columns})"
        )
        self._value = "vec_bit(?)" if spec.metric == "hamming" else "?"

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add the rows in one transaction."""
        columns = [attributes[field].tolist() for field in self._fields]
        names = ", ".join(("id", "vector", *self._fields.values()))
        places = ", ".join(("?", self._value, *("?" for _ in columns)))
        blobs = (vector.tobytes() for vector in vectors)
        with self._write:
            self._write.executemany(
                f"insert into vectors ({names}) values ({places})",  # noqa: S608 - names of our own
                zip(ids.tolist(), blobs, *columns, strict=True),
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
        condition = ""
        if filter is not None:
            operator = "=" if filter.operator == "==" else filter.operator
            condition = f" and {self._fields[filter.field]} {operator} {int(filter.value)}"
        statement = f"select id from vectors where vector match {self._value} and k = {k}{condition} order by distance"  # noqa: S608
        execute = self._connect().execute
        return lambda query: [row[0] for row in execute(statement, (query.tobytes(),))]

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return nothing: there is nothing to set."""
        return {}

    def close(self) -> None:
        """Close every connection."""
        for connection in getattr(self, "_connections", ()):
            connection.close()

    def _connect(self) -> Any:
        flags = self._apsw.SQLITE_OPEN_READWRITE | self._apsw.SQLITE_OPEN_CREATE | self._apsw.SQLITE_OPEN_URI
        connection = self._apsw.Connection(self._file, flags=flags)
        connection.enable_load_extension(True)  # noqa: FBT003 - apsw's only way
        connection.load_extension(self._extension.loadable_path())
        connection.enable_load_extension(False)  # noqa: FBT003
        self._connections.append(connection)
        return connection
