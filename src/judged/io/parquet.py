"""Parquet: columns found by name, and no others read."""

from __future__ import annotations

from typing import Any, BinaryIO

import pyarrow as pa

from judged.errors import Unreadable
from judged.io import frames
from judged.io.columns import find_columns, kind_of_columns
from judged.io.format import File, Format, Kind
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = [
    "FORMAT",
    "MAGIC",
    "kind",
    "read_judgments",
    "read_run",
    "read_table",
    "write_judgments",
    "write_run",
]

MAGIC = b"PAR1"
_BROKEN = (pa.ArrowException, OSError, ValueError, TypeError, NotImplementedError)


def read_judgments(file: File) -> Judgments:
    """Judgments of the columns that hold query, document, grade and maybe target."""
    table = read_table(file, "judgments")
    return frames.judgments_of(table, subject=file.label, name=file.name, intents=file.intents)


def read_run(file: File) -> Run:
    """A run of the columns that hold query, document and score."""
    return frames.run_of(read_table(file, "run"), subject=file.label, name=file.name)


def kind(file: File) -> Kind | None:
    """What the names of the columns say."""
    return kind_of_columns(_open(file).schema_arrow.names)


def write_judgments(judgments: Judgments, sink: BinaryIO) -> None:
    """Write the table with zstd inside."""
    _write(judgments.to_arrow(), sink)


def write_run(run: Run, sink: BinaryIO, tag: str) -> None:  # noqa: ARG001 - one seam for all formats
    """Write the table with zstd inside."""
    _write(run.to_arrow(), sink)


def _write(table: pa.Table, sink: BinaryIO) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, sink, compression="zstd")


def _open(file: File) -> Any:
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(pa.BufferReader(file.data))
    except _BROKEN as error:
        raise _damaged(file, error) from error


def read_table(file: File, kind: Kind) -> pa.Table:
    """The columns that are needed, as they are in the file."""
    opened = _open(file)
    roles = find_columns(opened.schema_arrow.names, kind, subject=file.label, intents=file.intents)
    try:
        return opened.read(columns=roles.all())
    except _BROKEN as error:
        raise _damaged(file, error) from error


def _damaged(file: File, error: Exception) -> Unreadable:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    msg = f"{file.label} cannot be read as Parquet: {reason}"
    return Unreadable(msg, hint="the file is cut short or damaged, or is no Parquet file")


FORMAT = Format(
    name="parquet",
    title="Parquet",
    extensions=(".parquet", ".pq"),
    read_judgments=read_judgments,
    read_run=read_run,
    kind=kind,
    write_judgments=write_judgments,
    write_run=write_run,
)
