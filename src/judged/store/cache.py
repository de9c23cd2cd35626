"""The content-addressed cache: values under the hash of all that they depend on, in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from judged.errors import Unreadable

APPLICATION = 0x6A646765
"""Marks the file as a cache of judged: `jdge` in ASCII."""
LOOKUP = 500
"""Keys that are looked up at a time; old SQLite takes 999 parameters at most."""
PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""

# Values are in an ordinary table, in the order in which they came, and a small index leads from key to row. Keyed by the
# hash itself (WITHOUT ROWID), values above a quarter of a page would each take a page of overflow, and every batch would
# dirty as many pages as it has keys: four times the time and three times the disk for vectors of a kilobyte.
_LAYOUT = (
    "CREATE TABLE IF NOT EXISTS entries (number INTEGER PRIMARY KEY, key BLOB NOT NULL, value BLOB NOT NULL) STRICT",
    "CREATE INDEX IF NOT EXISTS entries_by_key ON entries (key)",
)


class Cache:
    """Values by key, in a file that several processes may use; without a path, in memory.

    With `durable` a value is on the disk when `add` returns. Otherwise a power cut may lose the last ones, and a kill of
    the process none. `holds` says in errors what the values are, and `hint` what to do about the file.
    """

    def __init__(self, path: str | Path | None, *, holds: str, hint: str, durable: bool = False) -> None:
        self.path = path
        self._name, self._hint = f"{path} cannot be used as a cache of {holds}", hint
        with self._explain():
            if path is not None:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                ":memory:" if path is None else path,
                timeout=PATIENCE,
                isolation_level=None,  # transactions begin where `add` says so
                check_same_thread=False,  # in a notebook, labels come in another thread
            )
        try:
            with self._explain():
                self._prepare(durable=durable)
        except Unreadable:
            self.close()
            raise
        self._name = f"the cache of {holds} {path} cannot be used any longer"

    def _prepare(self, *, durable: bool) -> None:
        """Create the table unless it exists; several processes may try this at once."""
        with self._transaction() as cursor:
            (application,) = cursor.execute("PRAGMA application_id").fetchone()
            (tables,) = cursor.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
            if tables and application != APPLICATION:
                raise sqlite3.DatabaseError("it is the database of another program")
            if not tables:
                cursor.execute(f"PRAGMA application_id = {APPLICATION}")
            for statement in _LAYOUT:
                cursor.execute(statement)
        with suppress(sqlite3.OperationalError):  # another process was first; any journal is safe
            self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def find(self, keys: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield the values of keys, those of one key in the order in which they were added."""
        wanted = list(keys)
        for start in range(0, len(wanted), LOOKUP):
            some = wanted[start : start + LOOKUP]
            # sorted as the index is, so that nothing has to be sorted
            query = "SELECT key, value FROM entries WHERE key IN ({}) ORDER BY key, number"
            yield from self._select(query.format(",".join("?" * len(some))), some)

    def read(self) -> Iterator[bytes]:
        """Yield all values, in the order in which they were added."""
        return (value for (value,) in self._select("SELECT value FROM entries ORDER BY number", ()))

    def add(self, entries: Iterable[tuple[bytes, bytes]], *, replace: bool = False) -> None:
        """Add values, all or none of them: after the earlier values of the same keys, or in their place."""
        rows = list(entries)
        with self._explain(), self._transaction() as cursor:
            if replace:
                cursor.executemany("DELETE FROM entries WHERE key = ?", [(key,) for key, _ in rows])
            cursor.executemany("INSERT INTO entries (key, value) VALUES (?, ?)", rows)

    def _select(self, query: str, values: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
        with self._explain(), closing(self._database.execute(query, values)) as rows:
            yield from rows

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        with closing(self._database.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    cursor.execute("ROLLBACK")
                raise

    @contextmanager
    def _explain(self) -> Iterator[None]:
        """Raise what goes wrong with the file as an error that names it."""
        try:
            yield
        # SQLite's messages quote names of a damaged file, which need not be text
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            msg = f"{self._name}: {error}"
            raise Unreadable(msg, hint=self._hint) from None


def remove_cache(path: Path) -> None:
    """Remove the file of a cache, and its journal, which must not be applied to a later file of that name."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
