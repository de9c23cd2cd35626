"""Sessions: many of them in memory, as an Arrow table with a row for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec
import pyarrow as pa

from judged.tables.session import Session

__all__ = ["Sessions"]

_RESULT = pa.struct(
    {
        "id": pa.string(),
        "domain": pa.string(),
        "domain_id": pa.string(),
        "url": pa.string(),
        "title": pa.string(),
        "snippet": pa.string(),
        "score": pa.float64(),
        "gain": pa.int8(),
    }
)
_SEARCH = pa.struct({"query": pa.string(), "tool": pa.string(), "results": pa.list_(_RESULT)})
_ITERATION = pa.struct({"searches": pa.list_(_SEARCH), "tokens": pa.float64(), "seconds": pa.float64()})
SCHEMA = pa.schema(
    {
        "conversation": pa.string(),
        "system": pa.string(),
        "task": pa.string(),
        "question": pa.string(),
        "iterations": pa.list_(_ITERATION),
        "turns": pa.int32(),
        "steps": pa.int32(),
        "place": pa.string(),
    }
)
"""A row for each session; nested, so that a search without results is there as well."""


@dataclass(frozen=True, eq=False)
class Sessions:
    """A table of sessions, in the order they were read; iterating over it gives one `Session` after the other."""

    table: pa.Table
    """The columns of `Session`, nested as it is."""
    name: str = "sessions"
    notes: tuple[str, ...] = ()
    """What was noticed on reading that a user should know."""

    @classmethod
    def from_sessions(
        cls, sessions: Iterable[Session], *, name: str = "sessions", notes: tuple[str, ...] = ()
    ) -> Sessions:
        """A table of the sessions given."""
        rows = [msgspec.to_builtins(session) for session in sessions]
        return cls(pa.Table.from_pylist(rows, schema=SCHEMA), name=name, notes=notes)

    def __iter__(self) -> Iterator[Session]:
        for batch in self.table.to_batches(max_chunksize=256):
            for row in batch.to_pylist():
                yield msgspec.convert(row, Session)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"Sessions({self.name}: {len(self)})"
