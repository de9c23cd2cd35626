"""Labels: how good results are for tasks, as people or models said outside the trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import msgspec
import pyarrow as pa
from msgspec import Struct

KEYS = ("id", "domain_id", "url", "title", "snippet")
"""Columns that identify a result; a label has at least one of them."""


class Label(Struct, kw_only=True, omit_defaults=True, gc=False):
    """The gain of one result for one task; the result is identified by any of its keys."""

    gain: int
    task: str | None = None
    """None: the label applies to every task."""
    id: str | None = None
    tool: str | None = None
    """Scope of the id; None: the id is that of any tool."""
    domain: str | None = None
    domain_id: str | None = None
    url: str | None = None
    title: str | None = None
    snippet: str | None = None
    labeller: str | None = None
    """Judge: a person, a model with its prompt, a similarity."""


SCHEMA = pa.schema(
    {name: pa.int64() if name == "gain" else pa.large_string() for name in Label.__struct_fields__}
)


@dataclass(frozen=True, eq=False)
class Labels:
    """A table of labels in their original order; iterating over it gives one `Label` after the other."""

    table: pa.Table
    """All columns of `Label`; unknown values are null."""
    name: str = "labels"
    notes: tuple[str, ...] = ()
    """Notes on how they were read."""

    @classmethod
    def from_rows(cls, rows: Iterable[Label], *, name: str = "labels") -> Labels:
        """Return a table of labels.

        >>> Labels.from_rows([Label(gain=3, task="t1", url="a.org")])
        Labels(labels: 1)
        """
        listed = [msgspec.structs.asdict(row) for row in rows]
        return cls(pa.Table.from_pylist(listed, schema=SCHEMA), name=name)

    @cached_property
    def rows(self) -> tuple[Label, ...]:
        """Every label."""
        columns = [self.table[name].to_pylist() for name in SCHEMA.names]
        return tuple(
            Label(**dict(zip(SCHEMA.names, values, strict=True))) for values in zip(*columns, strict=True)
        )

    def __iter__(self) -> Iterator[Label]:
        return iter(self.rows)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"Labels({self.name}: {len(self):,})"

    def to_arrow(self) -> pa.Table:
        """Return the table, as Arrow."""
        return self.table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)
