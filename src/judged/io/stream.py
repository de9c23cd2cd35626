"""Streams: runs larger than memory, read piece by piece from Parquet and Arrow data sets or TREC text.

A stream gives *blocks*, each with whole queries of one system as far as their rows are consecutive, and can be read
again, row by row, for the queries whose rows are not.
"""

from __future__ import annotations

import io
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from judged.errors import BadInput, Unreadable
from judged.io.open import File, Joined, decompress_stream, is_large, name_files, split_name
from judged.io.parquet import IPC_FILE
from judged.io.sniff import detect
from judged.io.trec import read_run as check_first_lines, run_of_lines, tabulate_lines
from judged.problem import Place, Problem, Problems
from judged.store.remote import StoredFile, list_files
from judged.tables.columns import call, one_array, to_arrow, to_numpy
from judged.tables.run import Run
from judged.tables.schema import RUN, RUNS

BLOCK_BYTES, BLOCK_ROWS = 1 << 25, 1 << 19
"""Block size in which a text or a table is read; a single query may be larger."""
BATCH_ROWS = 1 << 16
HEAD = 1 << 16

Block: TypeAlias = tuple[str | None, Callable[[], Run]]
"""The name of a system, None where the stream names none, and what reads rows of its run."""


@dataclass
class Places:
    """Places of the rows of a stream, which are numbered through all its files."""

    lines: bool = False
    """Whether rows are lines of text."""
    files: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def begin(self, file: str, row: int) -> None:
        """Say that a file begins at a row; repeating it changes nothing, and a file without rows has no place."""
        if row in self.starts[-1:]:
            self.files[-1] = file
        elif not self.starts or row > self.starts[-1]:
            self.files.append(file)
            self.starts.append(row)

    def locate(self, row: int) -> Place:
        """Return the file, and the row or line in it."""
        at = bisect_right(self.starts, row) - 1
        number = row - self.starts[at] + 1
        return Place(self.files[at], line=number) if self.lines else Place(self.files[at], row=number)


@dataclass
class RunStream:
    """A run, or runs of several systems, that is read piece by piece; it can be read more than once."""

    name: str
    label: str
    """Name in error messages."""
    notes: tuple[str, ...] = ()
    places: Places = field(default_factory=Places)
    share: float = 0.0
    """Fraction read so far."""

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of whole queries."""
        raise NotImplementedError

    def tables(self) -> Iterator[pa.Table]:
        """Yield `query`, `document`, `score`, `place` and maybe `system` of all rows, in order."""
        raise NotImplementedError


@dataclass
class TextStream(RunStream):
    """Lines of a TREC run, in one file or several, compressed or not."""

    files: Sequence[StoredFile] = ()

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of whole queries; those of two files never share one."""
        for file, data, before in self._cut_files():
            if before == 0:
                check_first_lines(file)
            yield None, partial(run_of_lines, data, file, before=before)

    def tables(self) -> Iterator[pa.Table]:
        """Yield the rows of every block."""
        for file, data, before in self._cut_files():
            start = self.places.starts[self.places.files.index(file.label)]
            yield tabulate_lines(data, before=start + before)

    def _cut_files(self) -> Iterator[tuple[File, memoryview, int]]:
        """Yield pieces of the files, and how many lines come before each."""
        done, total, first = 0, sum(file.size for file in self.files), 0
        for stored in self.files:
            self.places.begin(stored.label, first)
            before = 0
            with stored.open() as opened:
                raw = _Counted(opened)
                for data in _cut_text(decompress_stream(raw, label=stored.label), BLOCK_BYTES):
                    self.share = (done + raw.count) / max(total, 1)
                    yield File(data, stored.label, self.name), data, before
                    before += int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")))
            # one more: the last line need not end with a line feed
            done, first = done + stored.size, first + before + 1


@dataclass
class TableStream(RunStream):
    """Rows of a data set of Parquet or Arrow files."""

    dataset: Any = None

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of whole queries of every system."""
        for system, table in cut_blocks(self.tables(), BLOCK_ROWS):
            yield system, partial(to_run, table, label=self.label, locate=self.places.locate)

    def tables(self) -> Iterator[pa.Table]:
        """Yield batches with the columns under their own names."""
        match = RUNS.match(self.dataset.schema.names, subject=self.label)
        self.notes = match.notes
        names, row, total = match.first(), 0, max(self.dataset.count_rows(), 1)
        # Arrow's default reads 16 batches ahead, and holds a million rows
        how = {"schema": self.dataset.schema, "batch_size": BATCH_ROWS, "batch_readahead": 2}
        for fragment in self.dataset.get_fragments():
            self.places.begin(getattr(fragment, "path", self.label), row)
            for batch in _read_fragment(fragment, list(names.values()), how, self.label):
                yield number_rows(pa.table([batch[name] for name in names.values()], list(names)), row)
                row += len(batch)
                self.share = row / total


def open_run_stream(source: Any, *, wanted: bool = False) -> RunStream | None:
    """Return a stream of a data set, joined files, a folder, a pattern, a URI or a large file; None for anything else.

    `wanted` streams every file that can be, and raises `Unreadable` for one that cannot.
    """
    if type(source).__module__.startswith("pyarrow._dataset") and hasattr(source, "get_fragments"):
        return TableStream("run", "the data set", dataset=source)
    if not isinstance(source, str | os.PathLike) or str(source) == "-" or not (wanted or is_large(source)):
        return None
    files = list(source.files) if isinstance(source, Joined) else list_files(str(source))
    (name,) = name_files([str(source)])
    opened = {
        b"PAR1": partial(_open_dataset, files, "parquet", str(source)),
        IPC_FILE[:4]: partial(_open_dataset, files, "ipc", str(source)),
    }
    head = read_head(files[0])
    if head[:4] in opened:
        return TableStream(name, str(source), dataset=opened[head[:4]]())
    lines = head[: head.rfind(b"\n") + 1] or head
    detected = detect(File(lines, files[0].label, name, split_name(Path(files[0].path))[1]), RUN)
    if detected.name == "trec":
        return TextStream(name, str(source), places=Places(lines=True), files=files)
    if wanted or (len(files) > 1 and not isinstance(source, Joined)):
        msg = f"{source} is {detected.title}, which is not read as a stream"
        raise Unreadable(msg, hint="Parquet, Arrow and TREC text are; `judged convert` writes Parquet")
    return None


def read_head(file: StoredFile) -> bytes:
    """Return the first bytes of a file, decompressed."""
    with file.open() as stream:
        return next(decompress_stream(_Counted(stream), label=file.label), b"")[:HEAD]


def _open_dataset(files: Sequence[StoredFile], format: str, label: str) -> Any:  # noqa: A002 - Arrow's word
    from pyarrow.dataset import dataset

    try:
        return dataset(
            [file.path for file in files],
            filesystem=files[0].filesystem,
            format=format,
            partitioning="hive",
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(label, error) from error


def _read_fragment(fragment: Any, columns: list[str], how: dict[str, Any], label: str) -> Iterator[Any]:
    try:
        yield from fragment.to_batches(columns=columns, **how)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(getattr(fragment, "path", label), error) from error


def _damaged(label: str, error: Exception) -> Unreadable:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    msg = f"{label} cannot be read: {reason}"
    return Unreadable(msg, hint="the file is cut short or damaged, or is not of the format of the others")


def to_run(table: pa.Table, *, label: str, locate: Callable[[int], Place]) -> Run:
    """Return the run of some rows; raise `BadInput` with the place of each row that is wrong."""
    place = to_numpy(one_array(table["place"]))
    problems = Problems(label, lambda row: locate(int(place[row])))
    return Run.from_columns(table["query"], table["document"], table["score"], name=label, problems=problems)


def number_rows(table: pa.Table, first: int) -> pa.Table:
    """Return the table with the number of each row as `place`."""
    return table.append_column("place", to_arrow(np.arange(first, first + len(table))))


def cut_blocks(tables: Iterable[pa.Table], size: int) -> Iterator[tuple[str | None, pa.Table]]:
    """Yield rows by system, in blocks that end where a query ends; the last query of each waits for its other rows."""
    held: dict[str | None, list[pa.Table]] = {}
    count, limit = 0, size
    for table in tables:
        for system, rows in split_systems(table):
            held.setdefault(system, []).append(rows)
        count += len(table)
        if count >= limit:
            for system, parts in held.items():
                whole = pa.concat_tables(parts)
                cut = _find_last_query(whole)
                if cut:
                    yield system, whole.slice(0, cut)
                held[system] = [whole.slice(cut).combine_chunks()]  # lets go of the rows before
            count = sum(len(parts[0]) for parts in held.values())
            # from what is held: a query larger than a block is not joined again for every batch
            limit = count + size
    for system, parts in held.items():
        yield system, pa.concat_tables(parts)


def split_systems(table: pa.Table) -> Iterator[tuple[str | None, pa.Table]]:
    """Yield the rows of each system, in their order."""
    if "system" not in table.column_names:
        yield None, table
        return
    column = one_array(table["system"])
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    encoded = plain.cast(pa.large_string()).dictionary_encode()
    rows, names = table.drop_columns(["system"]), encoded.dictionary.to_pylist()
    if encoded.null_count:
        raise BadInput("the run", [_no_system(encoded, table)])
    codes = to_numpy(encoded.indices)
    for code, name in enumerate(names):
        yield name, rows if len(names) == 1 else rows.take(pa.array(np.flatnonzero(codes == code)))


def _no_system(encoded: pa.Array, table: pa.Table) -> Problem:
    row = encoded.is_null().to_pylist().index(True)
    where = f"query `{table['query'][row]}`, document `{table['document'][row]}`"
    return Problem.error("missing-value", where, "system is null, expected an id")


def _find_last_query(table: pa.Table) -> int:
    """Return the row from which on all rows have the query of the last."""
    query = one_array(table["query"])
    if query.null_count:
        return len(table)  # `to_run` says where
    last = pa.scalar(query[len(query) - 1].as_py(), query.type)
    other = np.flatnonzero(to_numpy(call("not_equal", query, last)))
    return int(other[-1]) + 1 if len(other) else 0


def _cut_text(chunks: Iterable[bytes], size: int) -> Iterator[memoryview]:
    """Yield pieces of a text that end before the first line of a query."""
    held: list[bytes] = []
    count, limit = 0, size
    for chunk in chunks:
        held.append(chunk)
        count += len(chunk)
        if count >= limit:
            text = b"".join(held)
            cut = _find_last_lines(text)
            if cut:
                yield memoryview(text)[:cut]
            held = [text[cut:]]
            count = len(held[0])
            limit = count + size
    rest = b"".join(held)
    if rest:
        yield memoryview(rest)


def _find_last_lines(text: bytes) -> int:
    """Return where the lines of the last query begin, in bytes; 0 if there is no other query."""
    end = text.rfind(b"\n") + 1  # what follows is the beginning of a line
    query, first = None, end
    while end > 0:
        begin = text.rfind(b"\n", 0, end - 1) + 1
        tokens = text[begin : min(end, begin + HEAD)].split(None, 1)[:1]
        if tokens and not tokens[0].startswith(b"#"):
            if query is not None and tokens[0] != query:
                return first
            query, first = tokens[0], begin
        end = begin
    return 0


class _Counted(io.RawIOBase):
    """A stream that counts the bytes read from it."""

    def __init__(self, stream: Any) -> None:
        self._stream, self.count = stream, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)
