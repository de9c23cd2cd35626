"""Arrow: IPC files (also called Feather) and IPC streams."""

from __future__ import annotations

from typing import BinaryIO

import pyarrow as pa

from judged.errors import Unreadable
from judged.io import frames
from judged.io.columns import kind_of_columns
from judged.io.format import File, Format, Kind
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = [
    "FORMAT",
    "MAGICS",
    "kind",
    "read_judgments",
    "read_run",
    "read_table",
    "write_judgments",
    "write_run",
]

FILE = b"ARROW1"
FEATHER = b"FEA1"
STREAM = b"\xff\xff\xff\xff"
MAGICS = (FILE, FEATHER, STREAM)
_BROKEN = (pa.ArrowException, OSError, ValueError, TypeError, NotImplementedError)


def read_judgments(file: File) -> Judgments:
    """Judgments of the columns that hold query, document, grade and maybe target."""
    table = read_table(file)
    return frames.judgments_of(table, subject=file.label, name=file.name, intents=file.intents)


def read_run(file: File) -> Run:
    """A run of the columns that hold query, document and score."""
    return frames.run_of(read_table(file), subject=file.label, name=file.name)


def kind(file: File) -> Kind | None:
    """What the names of the columns say."""
    return kind_of_columns(read_table(file).column_names)


def write_judgments(judgments: Judgments, sink: BinaryIO) -> None:
    """Write an IPC file."""
    _write(judgments.to_arrow(), sink)


def write_run(run: Run, sink: BinaryIO, tag: str) -> None:  # noqa: ARG001 - one seam for all formats
    """Write an IPC file."""
    _write(run.to_arrow(), sink)


def _write(table: pa.Table, sink: BinaryIO) -> None:
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def read_table(file: File) -> pa.Table:
    """The table, its buffers checked, since a damaged file may point anywhere."""
    try:
        table = _read(file)
        table.validate(full=True)
    except _BROKEN as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        msg = f"{file.label} cannot be read as Arrow: {reason}"
        hint = "the file is cut short or damaged, or is no Arrow file"
        raise Unreadable(msg, hint=hint) from error
    return table


def _read(file: File) -> pa.Table:
    source = pa.BufferReader(file.data)
    head = file.head(8)
    if head.startswith(FILE):
        return pa.ipc.open_file(source).read_all()
    if head.startswith(FEATHER):
        import pyarrow.feather

        return pyarrow.feather.read_table(source)
    return pa.ipc.open_stream(source).read_all()


FORMAT = Format(
    name="arrow",
    title="Arrow",
    extensions=(".arrow", ".arrows", ".feather", ".ipc"),
    read_judgments=read_judgments,
    read_run=read_run,
    kind=kind,
    write_judgments=write_judgments,
    write_run=write_run,
)
