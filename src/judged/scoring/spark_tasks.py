"""Tasks of Spark's executors: read rows, reduce those of consecutive queries, send others to where their query is reduced.

A task takes Arrow batches and returns them, and has no side effects. Rows are sent in *cells*: the documents and scores
of thousands of rows side by side, so that Spark moves few large values in place of many small rows.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import Struct

from judged.arrays import Ints
from judged.errors import BadInput, Unreadable
from judged.io.stream import BLOCK_ROWS, Places, cut_blocks, number_rows, split_systems, to_run
from judged.kernels.scan.align import JudgedIndex, Scanned
from judged.kernels.scan.scanner import Part
from judged.problem import Place
from judged.protocol import Protocol
from judged.scoring.locate import to_index
from judged.scoring.streaming import Reducer, Reduction
from judged.store.remote import open_file
from judged.tables.columns import one_array, take, to_arrow, to_bytes, to_numpy
from judged.tables.judgments import Judgments
from judged.tables.run import Columns, Run

LABEL = "the Spark data frame"
PARTS = "part binary"
"""Schema of what tasks return to the driver."""
CELLS = "target int, part binary, system string, number binary, length binary, document binary, score binary"
"""Schema of what tasks send to each other: rows of a system for a target, or a part for the driver."""
CELL_BYTES, BATCH_ROWS, BLOCK_BYTES = 1 << 16, 1 << 16, 1 << 28
_HITS = ("row", "rank", "above", "tied")
Batches: TypeAlias = Iterator[pa.RecordBatch]


class About(Struct):
    """Statistics of a task on the rows of a system, in addition to ranks."""

    system: str | None = None
    rows: list[int] = []
    """Under each protocol, the rows that were read."""
    infinite: list[int] = []
    self_matches: list[int] = []
    unjudged: list[str] = []
    interleaved: list[int] = []
    scattered: list[int] = []
    notes: list[str] = []


class Fault(Struct):
    """A problem of a row; where only its ids are known, the driver looks up its file and row."""

    code: str
    message: str
    place: str
    query: str | None = None
    document: str | None = None
    named: bool = False
    """Whether the place is that of its ids."""


class Faults(Struct):
    """Problems with the rows of a partition."""

    found: list[Fault] = []
    counts: dict[str, int] = {}
    hint: str | None = None
    unreadable: str | None = None
    """Reason why its files cannot be opened here."""


class TaskPart(NamedTuple):
    """Result of a task for one system."""

    about: About
    blocks: pa.Table
    """`protocol`, `query`, `count` and the ranks of the hits, a row for each judged query."""
    faults: Faults

    @classmethod
    def of(cls, system: str | None, reduction: Reduction) -> TaskPart:
        """Return what is left of a system."""
        scans = reduction.complete([[] for _ in reduction.scans])
        about = About(
            system,
            rows=[scanned.rows for scanned in scans],
            infinite=[scanned.infinite for scanned in scans],
            self_matches=reduction.self_matches.tolist(),
            unjudged=list(scans[0].unjudged_queries),
            interleaved=scans[0].interleaved.tolist(),
            scattered=sorted(reduction.scattered),
            notes=list(reduction.notes),
        )
        return cls(about, _to_table(scans), Faults())

    @classmethod
    def of_faults(cls, faults: Faults) -> TaskPart:
        """Return what is wrong with a partition."""
        return cls(About(), _to_table([]), faults)

    def encode(self) -> bytes:
        """Return it as bytes of Arrow."""
        metadata = {"about": msgspec.json.encode(self.about), "faults": msgspec.json.encode(self.faults)}
        return _encode(self.blocks.replace_schema_metadata(metadata))

    @classmethod
    def decode(cls, data: bytes) -> TaskPart:
        """Return what `encode` made bytes of."""
        table = pa.ipc.open_stream(data).read_all()
        said = table.schema.metadata
        about = msgspec.json.decode(said[b"about"], type=About)
        return cls(about, table, msgspec.json.decode(said[b"faults"], type=Faults))

    def scans(self, protocols: int) -> list[Scanned]:
        """Return what was found under each protocol."""
        number = to_numpy(one_array(self.blocks["protocol"]))
        about = self.about
        return [
            Scanned(
                _to_blocks(self.blocks.filter(pa.array(number == place))),
                about.rows[place],
                tuple(about.unjudged),
                about.infinite[place],
                np.array(about.interleaved, dtype=np.int64),
            )
            for place in range(protocols)
        ]


def _to_table(scans: Sequence[Scanned]) -> pa.Table:
    """Return blocks as rows; their hits are lists."""
    schema = pa.schema(
        {"protocol": pa.int64(), "query": pa.int64(), "count": pa.int64()}
        | {name: pa.large_list(pa.int64()) for name in _HITS}
    )
    tables = [schema.empty_table()]
    for number, scanned in enumerate(scans):
        blocks = scanned.blocks
        cuts = to_arrow(np.concatenate(([0], np.cumsum(blocks.hits))).astype(np.int64))
        columns = [np.full(len(blocks.query), number), blocks.query, blocks.count]
        lists = [pa.LargeListArray.from_arrays(cuts, to_arrow(getattr(blocks, name))) for name in _HITS]
        tables.append(pa.table([*map(to_arrow, columns), *lists], schema=schema))
    return pa.concat_tables(tables)


def _to_blocks(table: pa.Table) -> Part:
    columns = {name: one_array(table[name]) for name in table.column_names}
    hits: dict[str, Any] = {name: to_numpy(columns[name].flatten()) for name in _HITS}
    lengths = np.diff(to_numpy(columns["row"].offsets)) if len(table) else np.zeros(0, dtype=np.int64)
    query, count = to_numpy(columns["query"]), to_numpy(columns["count"])
    return Part(query, query, query, count, lengths, **hits)


def _encode(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def pack(judgments: Judgments) -> bytes:
    """Return the judged ids as bytes of Arrow; grades stay on the driver."""
    return _encode(judgments.table.select(["query", "document"]).replace_schema_metadata(None))


@dataclass(frozen=True, eq=False)
class _Judged:
    """The judged ids, for a scan and by number."""

    index: JudgedIndex
    queries: pa.Array
    numbers: Mapping[str, int]


@lru_cache(maxsize=2)
def _unpack(judged: bytes) -> _Judged:
    """Return the judged ids, made once in each Python process of an executor."""
    judgments = Judgments(pa.ipc.open_stream(judged).read_all())
    names = judgments.queries.to_pylist()
    return _Judged(to_index(judgments), judgments.queries, {name: n for n, name in enumerate(names)})


@dataclass(frozen=True)
class Job:
    """Shared data of all tasks: the judged ids, broadcast where Spark can, and the protocols."""

    payload: Any
    protocols: tuple[Protocol, ...]

    def judged(self) -> _Judged:
        """Return the judged ids."""
        return _unpack(self.payload if isinstance(self.payload, bytes) else self.payload.value)


def name_file(uri: str) -> str:
    """Return the path of a local file; a file elsewhere is called by its URI.

    >>> name_file("file:///runs/a%20b.parquet"), name_file("s3://bucket/run.parquet")
    ('/runs/a b.parquet', 's3://bucket/run.parquet')
    """
    return unquote(re.sub("^file:/+", "/", uri)) if uri.startswith("file:") else uri


class Piece(NamedTuple):
    """A part of a Parquet file: of as many as it is cut into, by row groups."""

    uri: str
    part: int
    parts: int


@dataclass
class Handed:
    """Rows that Spark hands over; only their ids say where they are."""

    named: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)

    def read(self, batches: Batches) -> Iterator[pa.Table]:
        """Yield the rows, numbered."""
        first = 0
        for batch in batches:
            yield number_rows(pa.Table.from_batches([batch]), first)
            first += len(batch)

    def locate(self, table: pa.Table) -> Callable[[int], Place]:
        """Return what names a row of a table by its ids."""

        def locate(place: int) -> Place:
            numbers = to_numpy(one_array(table["place"]))
            row = int(np.searchsorted(numbers, place))
            return _name_row(self.named, *(table[name][row].as_py() for name in ("query", "document")))

        return locate


def _name_row(named: dict[str, tuple[str | None, str | None]], query: object, document: object) -> Place:
    text = f"query `{query}`, document `{document}`"
    first, second = (None if value is None else str(value) for value in (query, document))
    named[text] = (first, second)
    return Place(text)


@dataclass
class Files:
    """Rows of Parquet files that the executors open themselves, without Spark's own rows between."""

    tasks: Any
    """The pieces of each task, broadcast."""
    columns: Mapping[str, str]
    """The name of each column in the files."""
    types: Mapping[str, str]
    """Its type, as Spark reads it."""
    wanted: frozenset[str] | None = None
    """The queries whose rows are read; None: all."""
    named: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    places: Places = field(default_factory=Places)

    def read(self, batches: Batches) -> Iterator[pa.Table]:
        """Yield the rows of the pieces of the tasks that are named in the batches, numbered by file and row."""
        first = 0
        for batch in batches:
            for task in batch.column(0).to_pylist():
                for piece in self.tasks.value[task]:
                    first = yield from self._read_piece(piece, first)

    def _read_piece(self, piece: Piece, begin: int) -> Generator[pa.Table, None, int]:
        """Yield the rows of a piece, its file beginning at a number; return where the next file may."""
        from pyarrow.parquet import ParquetFile

        label = name_file(piece.uri)
        self.places.begin(label, begin)
        try:
            with open_file(piece.uri) as stream, ParquetFile(stream, pre_buffer=True) as file:
                self._check_types(file.schema_arrow)
                sizes: list[int] = [
                    file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)
                ]
                first, last = (len(sizes) * place // piece.parts for place in (piece.part, piece.part + 1))
                for group in range(first, last):
                    row = begin + sum(sizes[:group])
                    for batch in self._read_group(file, group):
                        table = pa.table([batch[name] for name in self.columns.values()], [*self.columns])
                        yield self._choose(number_rows(table, row))
                        row += len(table)
                return begin + sum(sizes)
        except Unreadable:
            raise
        except (pa.ArrowException, OSError, KeyError) as error:
            msg = f"{label} cannot be read: {(str(error).splitlines() or [''])[0]}"
            raise Unreadable(msg) from error

    def _check_types(self, schema: pa.Schema) -> None:
        """Raise `KeyError` or `ArrowTypeError` for a column that Spark reads otherwise, by its settings or the user's."""
        for name, column in self.columns.items():
            kind = schema.field(column).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            if str(kind).removeprefix("large_") != self.types[name].removeprefix("large_"):
                msg = f"column `{column}` holds {kind}, expected {self.types[name]}"
                raise pa.ArrowTypeError(msg)

    def _read_group(self, file: Any, group: int) -> Iterator[pa.RecordBatch]:
        if self.wanted is not None:
            query = file.read_row_group(group, [self.columns["query"]], use_threads=False)[0]
            if self.wanted.isdisjoint(map(str, query.unique().to_pylist())):
                return
        columns = list(self.columns.values())
        yield from file.iter_batches(BATCH_ROWS, [group], columns, use_threads=False)

    def _choose(self, table: pa.Table) -> pa.Table:
        """Return the rows of the wanted queries."""
        if self.wanted is None:
            return table
        encoded = one_array(table["query"]).dictionary_encode()
        kept = np.array([str(name) in self.wanted for name in encoded.dictionary.to_pylist()], dtype=bool)
        return table.filter(pa.array(kept[to_numpy(encoded.indices)]))

    def locate(self, table: pa.Table) -> Callable[[int], Place]:  # noqa: ARG002 - numbers say it all
        """Return what names a row by its file and place."""
        return self.places.locate


Reader: TypeAlias = Handed | Files
Task: TypeAlias = Callable[[Batches], Batches]


def reduce(job: Job, reader: Reader) -> Task:
    """Return the task that reduces rows whose queries are consecutive to parts."""

    def task(batches: Batches) -> Batches:
        yield _to_batch(part.encode() for part in _reduce_rows(job, reader, batches))

    return task


def _to_batch(parts: Iterable[bytes]) -> pa.RecordBatch:
    return pa.record_batch([pa.array(list(parts), pa.binary())], names=["part"])


def _reduce_rows(job: Job, reader: Reader, batches: Batches) -> Iterator[TaskPart]:
    """Yield what is left of each system's rows in one partition, and its problems with the last."""
    reducer = Reducer(job.judged().index, job.protocols)
    try:
        for system, table in cut_blocks(reader.read(batches), BLOCK_ROWS):
            try:
                reducer.add(system, to_run(table, label=LABEL, locate=reader.locate(table)))
            except BadInput as error:
                reducer.refuse(error)
    except Unreadable as error:
        yield TaskPart.of_faults(Faults(unreadable=str(error)))
        return
    yield from _to_parts(reducer, reader.named)


def _to_parts(reducer: Reducer, named: Mapping[str, tuple[str | None, str | None]]) -> Iterator[TaskPart]:
    for system, reduction in reducer.systems.items():
        yield TaskPart.of(system, reduction)
    if reducer.counts:
        faults = []
        for problem in reducer.problems:
            fault = Fault(problem.code, problem.message, str(problem.place))
            if problem.place.file in named:
                fault.query, fault.document = named[problem.place.file]
                fault.named = True
            faults.append(fault)
        yield TaskPart.of_faults(Faults(faults, dict(reducer.counts), reducer.hint))


def spread(job: Job, reader: Reader, targets: Sequence[int]) -> Task:
    """Return the task that sends the rows of every judged query to one of the targets; others are only counted."""

    def task(batches: Batches) -> Batches:
        judged = job.judged()
        reducer = Reducer(judged.index, job.protocols)
        try:
            for table in _collect(reader.read(batches)):
                for system, rows in split_systems(table):
                    try:
                        run = to_run(rows, label=LABEL, locate=reader.locate(rows))
                    except BadInput as error:
                        reducer.refuse(error)
                        continue
                    yield from _spread_run(judged, reducer, system, run, targets)
        except Unreadable as error:
            yield _to_cells(targets[0], TaskPart.of_faults(Faults(unreadable=str(error))))
            return
        for part in _to_parts(reducer, reader.named):
            yield _to_cells(targets[0], part)

    return task


def _collect(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield tables joined to about the size of a block."""
    held: list[pa.Table] = []
    for table in tables:
        held.append(table)
        if sum(map(len, held)) >= BLOCK_ROWS or sum(batch.nbytes for batch in held) >= BLOCK_BYTES:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def _to_cells(target: int, part: TaskPart) -> pa.RecordBatch:
    columns = [pa.array([target], pa.int32()), pa.array([part.encode()], pa.binary())]
    empty = [pa.nulls(1, kind) for kind in (pa.string(), *[pa.binary()] * 4)]
    return pa.record_batch([*columns, *empty], names=_CELL_NAMES)


_CELL_NAMES = [field.partition(" ")[0] for field in CELLS.split(", ")]


def _spread_run(
    judged: _Judged, reducer: Reducer, system: str | None, run: Run, targets: Sequence[int]
) -> Iterator[pa.RecordBatch]:
    """Yield the cells of the judged queries of a block; add the other rows to what was counted."""
    columns = run.source
    assert isinstance(columns, Columns)  # noqa: S101 - `to_run` returns nothing else
    encoded = columns.query.dictionary_encode()
    numbers = [judged.numbers.get(name, -1) for name in encoded.dictionary.to_pylist()]
    number = np.array(numbers, dtype=np.int32)[to_numpy(encoded.indices)]
    reducer.reduction(system).notes |= dict.fromkeys(run.notes)
    others = np.flatnonzero(number < 0)
    if len(others):
        others = others[np.argsort(to_numpy(encoded.indices)[others], kind="stable")]
        reducer.add(system, _select(columns, others))
    order = _sort_small(number, len(judged.queries))
    order = order[len(others) :] if len(others) else order  # −1 comes first
    target = (number[order] + zlib.crc32((system or "").encode()) % len(targets)) % len(targets)
    together = _sort_small(target, len(targets))
    if len(order):
        yield _make_cells(system, columns, number, order[together], target[together], targets)


def _sort_small(numbers: Ints, limit: int) -> Ints:
    """Return the stable order of whole numbers from −1 up to a limit, by radix: NumPy sorts 16 bits in linear time."""
    keys = (numbers + 1).astype(np.uint32)
    order: Ints = np.argsort(keys.astype(np.uint16), kind="stable")
    if limit >> 16:
        order = order[np.argsort((keys[order] >> np.uint32(16)).astype(np.uint16), kind="stable")]
    return order


def _select(columns: Columns, rows: Ints) -> Run:
    source = Columns(take(columns.query, rows), take(columns.document, rows), columns.score[rows])
    return Run(source, name=LABEL)


def _make_cells(
    system: str | None, columns: Columns, number: Ints, order: Ints, target: Ints, targets: Sequence[int]
) -> pa.RecordBatch:
    """Return the rows in an order in which those of a target are together, as cells of a limited size."""
    data, offset = to_bytes(take(columns.document, order))
    row_bytes = 16 + (int(offset[-1] - offset[0]) // len(order))
    step = max(1, CELL_BYTES // row_bytes)
    begins = np.flatnonzero(np.diff(target, prepend=-1))
    lengths = np.diff(begins, append=len(order))
    cuts = np.concatenate(
        [
            np.arange(begin, begin + length, step)
            for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True)
        ]
    )
    ends = np.append(cuts, len(order))
    whole = np.array(targets, dtype=np.int32)[target[cuts].astype(np.int64)]
    cells = [
        _to_binary(number[order].astype(np.int32), 4 * ends),
        _to_binary(np.diff(offset).astype(np.int32), 4 * ends),
        _to_binary(data, offset[ends]),
        _to_binary(columns.score[order], 8 * ends),
    ]
    names = pa.array([system] * len(cuts), pa.string())
    return pa.record_batch(
        [to_arrow(whole), pa.nulls(len(cuts), pa.binary()), names, *cells], names=_CELL_NAMES
    )


def _to_binary(values: object, ends: Ints) -> pa.Array:
    """Return an array as values of bytes, cut where they end; the bytes are not copied."""
    offsets = pa.py_buffer((ends - ends[0]).astype(np.int32))
    data = pa.py_buffer(np.ascontiguousarray(values).view(np.uint8)[ends[0] :])
    return pa.Array.from_buffers(pa.binary(), len(ends) - 1, [None, offsets, data])


def gather(job: Job) -> Task:
    """Return the task that reduces the rows that were sent to its targets, and hands on parts."""

    def task(batches: Batches) -> Batches:
        judged, cells = job.judged(), _Cells()
        for batch in batches:
            parts = batch.column("part").drop_null()
            if len(parts):
                yield pa.record_batch([parts.cast(pa.binary())], names=["part"])
            cells.add(batch)
        reducer, handed = Reducer(judged.index, job.protocols), Handed()
        for system in cells.systems:
            reducer.add(system, cells.pop_run(system, judged.queries, handed))
        yield _to_batch(part.encode() for part in _to_parts(reducer, handed.named))

    return task


class _Cells:
    """The rows that cells hold, by system."""

    def __init__(self) -> None:
        self.systems: dict[str | None, list[list[Any]]] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the cells of a batch."""
        rows = pa.Table.from_batches([batch])
        rows = rows.filter(rows["number"].is_valid())
        encoded = one_array(rows["system"].cast(pa.string())).dictionary_encode(null_encoding="encode")
        for code, system in enumerate(encoded.dictionary.to_pylist()):
            chosen = rows if len(encoded.dictionary) == 1 else rows.filter(_equal(encoded.indices, code))
            held = self.systems.setdefault(system, [[], [], [], []])
            kinds = (np.int32, np.int32, np.uint8, np.float64)
            for values, name, kind in zip(held, _CELL_NAMES[3:], kinds, strict=True):
                values.append(_join_bytes(one_array(chosen[name])).view(kind))

    def pop_run(self, system: str | None, queries: pa.Array, handed: Handed) -> Run:
        """Return the rows of a system, those of a query one after the other; they are not kept."""
        numbers, lengths, documents, scores = map(np.concatenate, self.systems[system])
        self.systems[system] = []
        offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(documents)]
        column = pa.Array.from_buffers(pa.large_string(), len(lengths), buffers)
        order = _sort_small(numbers, len(queries))
        query, document = take(queries, numbers[order].astype(np.int64)), take(column, order)
        name = lambda row: _name_row(handed.named, query[row].as_py(), document[row].as_py())  # noqa: E731
        return Run(Columns(query, document, scores[order], place=name), name=LABEL)


def _equal(codes: pa.Array, code: int) -> pa.Array:
    return pa.array(to_numpy(codes) == code)


def _join_bytes(values: pa.Array) -> Any:
    """Return the bytes of all values, end to end, without copying them."""
    kind = np.int64 if pa.types.is_large_binary(values.type) else np.int32
    _, offsets, data = values.buffers()
    cuts = np.frombuffer(offsets, dtype=kind)[values.offset : values.offset + len(values) + 1]
    return np.frombuffer(data or b"", dtype=np.uint8)[cuts[0] : cuts[-1]]
