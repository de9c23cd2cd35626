"""Parquet, and Arrow's IPC files (also called Feather) and streams: columns found by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from judged.errors import Unreadable
from judged.io.open import File
from judged.io.sniff import Format, Writing
from judged.io.table import RawTable, from_frame
from judged.store.files import UNPACKED_BYTES, check_size
from judged.tables.columns import call
from judged.tables.schema import Schema

IPC_FILE = b"ARROW1"
FEATHER = b"FEA1"
IPC_STREAM = b"\xff\xff\xff\xff"
_BROKEN = (pa.ArrowException, OSError, ValueError, TypeError, NotImplementedError)
_FRAMES = (b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18")
"""The first bytes of buffers that Arrow compresses: zstd and LZ4."""


def _read_parquet(file: File, schema: Schema) -> RawTable:
    """Return the columns that are needed, reading no others."""
    opened = _open_parquet(file)
    match = schema.match(opened.schema_arrow.names, subject=file.label)
    names = [name for columns in match.columns.values() for name in columns]
    kept = [*names, *match.doubtful]
    wanted = list(opened.schema_arrow.names) if schema.open else list(dict.fromkeys(kept))
    try:
        _check_unfolded(file, opened, wanted)
        table = opened.read(columns=wanted)
        table.validate(full=True)  # texts that are not UTF-8 among others
    except Unreadable:  # an OSError that already says what is wrong
        raise
    except _BROKEN as error:
        raise _damaged(file, "Parquet", error) from error
    return from_frame(table, schema, subject=file.label)


def _check_unfolded(file: File, opened: Any, columns: list[str]) -> None:
    """Raise `Unreadable` for texts that are stored once, referred to often, and too large in memory.

    Each part of a column begins with the values it refers to; reading one row shows how long they can be.
    """
    texts = [name for name in columns if _holds_text(opened.schema_arrow.field(name).type)]
    folded = _open_parquet(file, texts)
    stored = unfolded = 0
    for group in range(folded.num_row_groups):
        about = folded.metadata.row_group(group)
        stored += about.total_byte_size  # asking for columns of damaged metadata ends the process
        check_size(stored, packed=len(file.data), label=file.label)
        first = next(folded.iter_batches(1, row_groups=[group], columns=texts), None)
        if first is not None:
            unfolded += about.num_rows * sum(_longest(column) for column in first.columns)
    if unfolded > UNPACKED_BYTES:  # an upper bound; now count
        _check_references(file, folded.read(columns=texts))


def _check_references(file: File, table: pa.Table) -> None:
    """Raise `Unreadable` for columns of references to texts that are too large when written out."""
    chunks = [chunk for column in table.columns for chunk in column.chunks]
    total = sum(_unfolded_size(chunk) for chunk in chunks)
    check_size(total, packed=len(file.data), label=file.label)


def _holds_text(kind: pa.DataType) -> bool:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return value in {pa.string(), pa.large_string(), pa.binary(), pa.large_binary()}


def _longest(column: pa.Array) -> int:
    """Return the length of the longest value that a column refers to."""
    values = column.dictionary if pa.types.is_dictionary(column.type) else column
    return int(call("max", call("binary_length", values)).as_py() or 0)


def _unfolded_size(column: pa.Array) -> int:
    """Return how many bytes the texts of a column have that are held by reference, each as often as it is used."""
    if str(column.type) in {"string_view", "binary_view"}:  # 16 bytes each, the first four its length
        views = np.frombuffer(column.buffers()[1], dtype=np.int32).reshape(-1, 4)
        return int(views[column.offset : column.offset + len(column), 0].sum(dtype=np.int64))
    if not pa.types.is_dictionary(column.type) or not _holds_text(column.type):
        return 0
    lengths = call("take", call("binary_length", column.dictionary), column.indices)
    return int(call("sum", lengths).as_py() or 0)


def _check_buffers(file: File) -> None:
    """Raise `Unreadable` for compressed buffers that are too large; before each stands its size in memory."""
    data, total = bytes(file.data), 0
    for magic in _FRAMES:
        at = data.find(magic)
        while at >= 0:
            # buffers begin at multiples of eight bytes; elsewhere these bytes are chance
            if at % 8 == 0:
                total += max(int.from_bytes(data[max(at - 8, 0) : at], "little", signed=True), 0)
            at = data.find(magic, at + 1)
    check_size(total, packed=len(data), label=file.label)


def _open_parquet(file: File, folded: Sequence[str] = ()) -> Any:
    """Open the file; columns that are `folded` are read as values and references to them."""
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(pa.BufferReader(file.data), read_dictionary=list(folded))
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
    _check_buffers(file)
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
    _check_references(file, table)
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
