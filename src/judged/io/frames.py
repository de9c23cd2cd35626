"""Data frames: anything that speaks the Arrow PyCapsule interface, its columns found by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa

from judged.errors import WrongKind
from judged.io.columns import find_columns
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = ["is_frame", "judgments_of", "read_judgments", "read_run", "refuse_lazy", "run_of", "table_of"]


def is_frame(source: Any) -> bool:
    """Whether an object can hand its columns to Arrow; `to_arrow` is how early versions of Polars did it."""
    return any(hasattr(source, way) for way in ("__arrow_c_stream__", "__arrow_c_array__", "to_arrow"))


def table_of(source: Any, *, subject: str) -> pa.Table:
    """The columns of an object, as Arrow sees them; nothing is copied that need not be."""
    try:
        capsule = hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")
        return pa.table(source if capsule else source.to_arrow())
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        msg = f"{subject} cannot be read as a table from {_kind(source)}: {reason}"
        raise WrongKind(msg) from error


def read_judgments(source: Any, *, name: str, intents: bool = False) -> Judgments:
    """Judgments of a data frame."""
    return judgments_of(table_of(source, subject=name), subject=name, name=name, intents=intents)


def read_run(source: Any, *, name: str) -> Run:
    """A run of a data frame."""
    return run_of(table_of(source, subject=name), subject=name, name=name)


def judgments_of(table: pa.Table, *, subject: str, name: str, intents: bool = False) -> Judgments:
    """Judgments of the columns that hold query, document, grade and maybe target or intent."""
    roles = find_columns(table.column_names, "judgments", subject=subject, intents=intents)
    columns = roles.judged(_columns(table, roles.all()))
    made = Judgments.from_columns(**columns, name=subject, notes=roles.notes)
    return made if name == subject else replace(made, name=name)


def run_of(table: pa.Table, *, subject: str, name: str) -> Run:
    """A run of the columns that hold query, document and score."""
    roles = find_columns(table.column_names, "run", subject=subject)
    made = Run.from_columns(*_columns(table, roles.all()), name=subject, notes=roles.notes)
    return made if name == subject else Run(made.source, name=name, notes=made.notes)


def refuse_lazy(source: Any, *, subject: str) -> None:
    """Refuse a query that has not been run yet, and say how to run it."""
    for method in ("collect", "to_table"):
        if hasattr(source, method) and not is_frame(source):
            msg = f"{subject} is {_kind(source)}, which holds no rows yet"
            raise WrongKind(msg, hint=f"call `.{method}()` on it first")


def _columns(table: pa.Table, names: list[str]) -> list[pa.ChunkedArray]:
    """The columns of these names; of several with one name, the first."""
    return [table.column(table.column_names.index(name)) for name in names]


def _kind(source: Any) -> str:
    return f"{type(source).__module__.partition('.')[0]}.{type(source).__name__}"
