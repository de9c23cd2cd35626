"""The cache: every answer that was paid for, in SQLite, on disk before the next request counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from judged.errors import Unreadable

__all__ = ["Answer", "Cache", "Past"]

APPLICATION = 0x6A646764
"""What the file says it is: `jdgd` in ASCII."""

_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    number INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    grade INTEGER,
    failure TEXT,
    answer TEXT,
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,
    settings TEXT NOT NULL,
    structure TEXT,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    finish TEXT,
    mass REAL,
    seconds REAL,
    at TEXT NOT NULL
) STRICT
"""
_COLUMNS = (
    *("key", "grade", "failure", "answer", "model", "prompt", "settings", "structure"),
    *("tokens_in", "tokens_out", "finish", "mass", "seconds", "at"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a model: its grade, or why it states none, with what was said and what it took."""

    grade: int | None
    failure: str | None
    answer: str | None
    model: str
    prompt: str
    settings: str = "{}"
    """Scale, temperature, seed and longest answer, as JSON."""
    structure: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    finish: str | None = None
    mass: float | None = None
    """How much probability lay on legal grades where the digit was said, if the endpoint told."""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """What is known of a question: the answer that holds, and the tokens of all answers to it."""

    answer: Answer
    tokens_in: int
    tokens_out: int


class Cache:
    """Answers by key in one file; several processes may use it at once. No path: in memory, gone at the end."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = path
        with ExitStack() as opened:
            try:
                self._base = opened.enter_context(closing(_connected(path)))
                self._prepare()
            except sqlite3.Error as error:
                msg = f"{path} cannot be used as a cache of labels: {error}"
                raise Unreadable(msg, hint="name another file with `--cache`") from None
            opened.pop_all()  # it stays open

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.close()

    def find(self, keys: Iterable[bytes]) -> dict[bytes, Past]:
        """What is known of each question that was answered before; the last answer that states a grade holds."""
        past = {}
        for key in keys:
            rows = self._rows(key)
            if rows:
                graded = [row for row in rows if row.grade is not None]
                tokens = [sum(getattr(row, name) for row in rows) for name in ("tokens_in", "tokens_out")]
                past[key] = Past((graded or rows)[-1], *tokens)
        return past

    def add(self, key: bytes, answer: Answer) -> None:
        """Keep an answer; it is on disk when this returns."""
        values = (key, *(getattr(answer, name) for name in _COLUMNS[1:-1]), datetime.now(UTC).isoformat())
        marks = ", ".join("?" * len(_COLUMNS))
        self._execute(f"INSERT INTO answers ({', '.join(_COLUMNS)}) VALUES ({marks})", values)  # noqa: S608 - names of our own

    def pace(self, model: str) -> tuple[float, float] | None:
        """Mean seconds and mean tokens of this model's answers so far; None if it never answered."""
        query = "SELECT AVG(seconds), AVG(tokens_out) FROM answers WHERE model = ? AND seconds IS NOT NULL"
        ((seconds, tokens),) = self._execute(query, (model,))
        return None if seconds is None else (seconds, tokens)

    def _rows(self, key: bytes) -> list[Answer]:
        names = ", ".join(_COLUMNS[1:-1])
        query = f"SELECT {names} FROM answers WHERE key = ? ORDER BY number"  # noqa: S608 - names of our own
        return [Answer(*row) for row in self._execute(query, (key,))]

    def _execute(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        """All rows that a query gives; what the disk or the file refuses is told in words."""
        try:
            return self._base.execute(query, values).fetchall()
        except sqlite3.Error as error:
            msg = f"the cache {self.path} cannot be used any longer: {error}"
            hint = "what was kept before is safe unless the file is damaged; run the same again"
            raise Unreadable(msg, hint=hint) from None

    def _prepare(self) -> None:
        """Make the table if it is not there; several processes may try this at once."""
        self._base.execute("BEGIN IMMEDIATE")
        (application,) = self._base.execute("PRAGMA application_id").fetchone()
        (tables,) = self._base.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if tables and application != APPLICATION:
            raise sqlite3.DatabaseError("it is a database of something else")
        self._base.execute(f"PRAGMA application_id = {APPLICATION}")
        self._base.execute(_TABLE)
        self._base.execute("CREATE INDEX IF NOT EXISTS answers_by_key ON answers (key)")
        self._base.execute("COMMIT")
        with suppress(sqlite3.OperationalError):  # another process is there first; any journal is safe
            self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = FULL")


def _connected(path: str | Path | None) -> sqlite3.Connection:
    return sqlite3.connect(
        ":memory:" if path is None else path,
        timeout=60,
        isolation_level=None,  # every insertion is a transaction of its own, on disk when it returns
        check_same_thread=False,  # a notebook's job runs in a thread of its own
    )
