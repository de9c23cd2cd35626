"""Parquet, and Arrow's IPC files (also called Feather) and streams: columns found by name."""

from __future__ import annotations

from typing import Any, BinaryIO

import pyarrow as pa

from judged.errors import Unreadable
from judged.io.open import File
from judged.io.sniff import Format, Writing
from judged.io.table import RawTable, from_frame
from judged.tables.schema import Schema

__all__ = ["ARROW", "PARQUET"]

IPC_FILE = b"ARROW1"
FEATHER = b"FEA1"
IPC_STREAM = b"\xff\xff\xff\xff"
_BROKEN = (pa.ArrowException, OSError, ValueError, TypeError, NotImplementedError)


def _read_parquet(file: File, schema: Schema) -> RawTable:
    """Return the columns that are needed, reading no others."""
    opened = _open_parquet(file)
    match = schema.match(opened.schema_arrow.names, subject=file.label)
    names = [name for columns in match.columns.values() for name in columns]
    try:
        table = opened.read(columns=None if schema.open else list(dict.fromkeys(names)))
    except _BROKEN as error:
        raise _damaged(file, "Parquet", error) from error
    return from_frame(table, schema, subject=file.label)


def _open_parquet(file: File) -> Any:
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(pa.BufferReader(file.data))
    except _BROKEN as error:
        raise _damaged(file, "Parquet", error) from error


def _parquet_columns(file: File) -> list[str]:
    names: list[str] = _open_parquet(file).schema_arrow.names
    return names


def _write_parquet(table: pa.Table, sink: BinaryIO, writing: Writing) -> None:  # noqa: ARG001 - one seam for all
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, sink, compression="zstd")


def _read_arrow(file: File, schema: Schema) -> RawTable:
    return from_frame(_open_arrow(file), schema, subject=file.label)


def _open_arrow(file: File) -> pa.Table:
    """Return the table, its buffers checked, since a damaged file may point anywhere."""
    source, head = pa.BufferReader(file.data), file.head(8)
    try:
        if head.startswith(IPC_FILE):
            table = pa.ipc.open_file(source).read_all()
        elif head.startswith(FEATHER):
            import pyarrow.feather

            table = pyarrow.feather.read_table(source)
        else:
            table = pa.ipc.open_stream(source).read_all()
        table.validate(full=True)
    except _BROKEN as error:
        raise _damaged(file, "Arrow", error) from error
    return table


def _arrow_columns(file: File) -> list[str]:
    names: list[str] = _open_arrow(file).column_names
    return names


def _write_arrow(table: pa.Table, sink: BinaryIO, writing: Writing) -> None:  # noqa: ARG001 - one seam for all
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _damaged(file: File, title: str, error: Exception) -> Unreadable:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    article = "an" if title == "Arrow" else "a"
    msg = f"{file.label} cannot be read as {title}: {reason}"
    return Unreadable(msg, hint=f"the file is cut short or damaged, or is not {article} {title} file")


PARQUET = Format(
    *("parquet", "Parquet", _read_parquet, _write_parquet),
    columns=_parquet_columns,
    extensions=(".parquet", ".pq"),
    magic=(b"PAR1",),
)
ARROW = Format(
    *("arrow", "Arrow", _read_arrow, _write_arrow),
    columns=_arrow_columns,
    extensions=(".arrow", ".arrows", ".feather", ".ipc"),
    magic=(IPC_FILE, FEATHER, IPC_STREAM),
)
