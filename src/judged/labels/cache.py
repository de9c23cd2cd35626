"""Cache of every paid answer, in SQLite, on disk before the next request counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from judged.errors import Unreadable

APPLICATION = 0x6A646764
"""Application id of the file: `jdgd` in ASCII."""

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
    """One answer of a model: its grade or why it states none, its text, and what it took."""

    grade: int | None
    failure: str | None
    answer: str | None
    model: str
    prompt: str
    settings: str = "{}"
    """Scale, temperature, seed and maximum length, as JSON."""
    structure: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    finish: str | None = None
    mass: float | None = None
    """Probability of all legal grades at the position of the digit, if the endpoint reports it."""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """What is known of a question: the answer that counts, and the tokens of all answers to it."""

    answer: Answer
    tokens_in: int
    tokens_out: int


class Cache:
    """Answers by key in one file that several processes may use; without a path, in memory."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = path
        with ExitStack() as opened:
            try:
                self._db = opened.enter_context(closing(_connect(path)))
                self._prepare()
            except sqlite3.Error as error:
                msg = f"{path} cannot be used as a cache of labels: {error}"
                raise Unreadable(msg, hint="name another file with `--cache`") from None
            opened.pop_all()  # keep it open

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def find(self, keys: Iterable[bytes], scale: Collection[int]) -> dict[bytes, Past]:
        """Return what is known of each question answered before; the last answer with a grade counts.

        Raises `Unreadable` for a grade that is not on the scale, or counts below 0: the file is not as it was written.
        """
        past = {}
        for key in keys:
            rows = self._rows(key)
            if rows:
                self._check(rows, scale)
                graded = [row for row in rows if row.grade is not None]
                tokens = [sum(getattr(row, name) for row in rows) for name in ("tokens_in", "tokens_out")]
                past[key] = Past((graded or rows)[-1], *tokens)
        return past

    def _check(self, rows: Sequence[Answer], scale: Collection[int]) -> None:
        for row in rows:
            if (row.grade is not None and row.grade not in scale) or row.tokens_in < 0 or row.tokens_out < 0:
                grades = ", ".join(map(str, scale))
                msg = f"the cache {self.path} holds the grade {row.grade}, expected one of {grades}"
                if row.grade is None or row.grade in scale:
                    msg = f"the cache {self.path} holds counts of tokens below 0"
                raise Unreadable(
                    msg, hint="the file is damaged or was changed: name another one with `--cache`"
                )

    def add(self, key: bytes, answer: Answer) -> None:
        """Store an answer; it is on disk when this returns."""
        values = (key, *(getattr(answer, name) for name in _COLUMNS[1:-1]), datetime.now(UTC).isoformat())
        marks = ", ".join("?" * len(_COLUMNS))
        self._execute(f"INSERT INTO answers ({', '.join(_COLUMNS)}) VALUES ({marks})", values)  # noqa: S608 - the names are constants

    def pace(self, model: str) -> tuple[float, float] | None:
        """Return mean seconds and mean tokens of a model's answers so far; None if it never answered."""
        query = "SELECT AVG(seconds), AVG(tokens_out) FROM answers WHERE model = ? AND seconds IS NOT NULL"
        ((seconds, tokens),) = self._execute(query, (model,))
        return None if seconds is None else (seconds, tokens)

    def _rows(self, key: bytes) -> list[Answer]:
        names = ", ".join(_COLUMNS[1:-1])
        query = f"SELECT {names} FROM answers WHERE key = ? ORDER BY number"  # noqa: S608 - the names are constants
        return [Answer(*row) for row in self._execute(query, (key,))]

    def _execute(self, query: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        """Return all rows of a query; raise Unreadable if the disk or the file fails."""
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            msg = f"the cache {self.path} cannot be used any longer: {error}"
            hint = "earlier answers are safe unless the file is damaged; run the same command again"
            raise Unreadable(msg, hint=hint) from None

    def _prepare(self) -> None:
        """Create the table unless it exists; several processes may try this at once."""
        self._db.execute("BEGIN IMMEDIATE")
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        (tables,) = self._db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if tables and application != APPLICATION:
            raise sqlite3.DatabaseError("it is the database of another program")
        self._db.execute(f"PRAGMA application_id = {APPLICATION}")
        self._db.execute(_TABLE)
        self._db.execute("CREATE INDEX IF NOT EXISTS answers_by_key ON answers (key)")
        self._db.execute("COMMIT")
        with suppress(sqlite3.OperationalError):  # another process was first; any journal is safe
            self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")


def _connect(path: str | Path | None) -> sqlite3.Connection:
    database = sqlite3.connect(
        ":memory:" if path is None else path,
        timeout=60,
        isolation_level=None,  # every insertion is its own transaction, on disk when it returns
        check_same_thread=False,  # in a notebook the job runs in its own thread
    )
    database.text_factory = lambda text: text.decode(errors="replace")  # a damaged file may hold any bytes
    return database
