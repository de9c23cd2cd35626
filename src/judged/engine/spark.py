"""Spark: runs that no one machine can hold, reduced where they are to the ranks of their judged documents.

The judged ids go to every executor, a `Reducer` runs on the Arrow batches of each partition, and what it keeps comes
back: the driver joins it and computes the measures, so that no number can differ from that of a single machine.

Rows are shuffled only where they must be. Input whose queries are consecutive, or that is partitioned by query, stays
where it is; queries that turn out to be in two places, such as at the cut of a file, are brought together in a second
pass, and only they. Tasks return values and have no side effects, so one that is run again changes nothing.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import Struct

from judged._optional import need
from judged.arrays import Ints
from judged.engine.locate import ReducedRun, to_index
from judged.engine.streaming import Reducer, Reduction, to_reduced_run
from judged.errors import SHOWN, BadInput, BadProtocol, JudgedError, Unreadable
from judged.io.stream import BLOCK_ROWS, cut_blocks, number_rows, to_run
from judged.kernels.scan.align import JudgedIndex, Scanned
from judged.kernels.scan.scanner import KINDS, REPEATED, Part
from judged.problem import Place, Problem
from judged.protocol import Protocol
from judged.tables.columns import one_array, take, to_arrow, to_numpy
from judged.tables.judgments import Judgments
from judged.tables.schema import RUNS

__all__ = ["read_frame", "reduce_frame"]

LABEL = "the Spark data frame"
SAMPLE = 2000
"""Rows that show whether the queries of the input are consecutive."""
LISTED = 1000
"""Queries that a filter lists; more are joined."""
_HITS = ("row", "rank", "above", "tied")


def read_frame(path: str, *, master: str | None = None) -> Any:
    """Return the data frame of Parquet files; `master` is the URL of a cluster, or that of Spark Connect (`sc://`)."""
    sql = need("pyspark.sql", extra="spark", needed_by="`--engine spark`")
    if master is None or master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else the first `python3` of the path
    builder = sql.SparkSession.builder.appName("judged")
    if master is not None:
        builder = builder.remote(master) if master.startswith("sc://") else builder.master(master)
    session = builder.getOrCreate()
    try:
        return session.read.parquet(path)
    except Exception as error:
        msg = f"{path} cannot be read by Spark: {(str(error).splitlines() or [''])[0]}"
        raise Unreadable(msg) from error


def reduce_frame(
    judgments: Judgments, frame: Any, protocols: Sequence[Protocol]
) -> dict[str | None, ReducedRun]:
    """Return the runs of a data frame, reduced by Spark to the ranks of their judged documents."""
    match = RUNS.match(frame.columns, subject=LABEL)
    names = match.first()
    rows = frame.select(*[frame[f"`{column}`"].alias(name) for name, column in names.items()])
    _check_types(rows)
    keys: list[str] = [name for name in ("system", "query") if name in names]
    task = _make_task(frame, judgments, protocols)
    parts = _run(_bring_together(rows, keys, protocols), task)
    _raise_problems(parts, frame, names)
    systems = _join_parts(parts, len(judgments.queries), len(protocols))
    scattered = sorted({query for reduction in systems.values() for query in reduction.scattered})
    again: list[_Part] = []
    if scattered:
        queries = take(judgments.queries, np.array(scattered)).to_pylist()
        _check_order(protocols, f"the rows of query `{queries[0]}` are in several partitions")
        again = _run(_shuffle(_choose(rows, queries), keys), task)
        _raise_problems(again, frame, names)
    return {
        system: to_reduced_run(
            reduction,
            protocols,
            _find_scattered(again, system, reduction, len(protocols)),
            name="run" if system is None else system,
            notes=match.notes,
            interleaved=False,  # the order of partitions means nothing
        )
        for system, reduction in systems.items()
    }


def _check_types(rows: Any) -> None:
    """Raise `BadInput` for columns of types that hold no ids or scores, before anything is read."""
    from pyspark.sql.pandas.types import to_arrow_schema

    row = {field.name: _make_example(field.type) for field in to_arrow_schema(rows.schema)}
    to_run(number_rows(pa.table(row), 0), label=LABEL, locate=lambda row: Place(row=row))


def _make_example(kind: pa.DataType) -> pa.Array:
    """Return one value of a type, which columns without rows would not be checked for."""
    try:
        return pa.array(["0"], pa.string()).cast(kind)
    except pa.ArrowException:
        return pa.nulls(1, kind)  # the tasks say what is wrong with it


def _bring_together(rows: Any, keys: list[str], protocols: Sequence[Protocol]) -> Any:
    """Return the rows with those of a query one after the other, moving and sorting them only if they are not."""
    if _is_consecutive(rows.select(*keys).limit(SAMPLE).collect()):
        return rows
    _check_order(protocols, "the rows of the queries are mixed with each other")
    return rows.sortWithinPartitions(*keys) if _is_partitioned(rows, keys) else _shuffle(rows, keys)


def _is_consecutive(sample: Iterable[Sequence[object]]) -> bool:
    """Return whether queries of a system hardly ever come back after another one."""
    last: dict[object, object] = {}
    runs: Counter[object] = Counter()
    for *system, query in sample:
        if last.get(tuple(system), runs) != query:
            runs[*system, query] += 1
        last[tuple(system)] = query
    return runs.total() <= 1.2 * len(runs) + 4


def _is_partitioned(rows: Any, keys: Iterable[str]) -> bool:
    """Return whether Spark says that all rows of a query are in one partition; Connect does not say."""
    if _is_connect(rows):
        return False
    plan = rows._jdf.queryExecution().sparkPlan().outputPartitioning().toString()  # noqa: SLF001 - asked nowhere else
    names = re.findall(r"(\w+)#\d+", plan)
    return plan.startswith(("hashpartitioning", "rangepartitioning")) and {*names} <= {*keys} and bool(names)


def _is_connect(frame: Any) -> bool:
    return type(frame).__module__.startswith("pyspark.sql.connect")


def _shuffle(rows: Any, keys: list[str]) -> Any:
    return rows.repartition(*keys).sortWithinPartitions(*keys)


def _choose(rows: Any, queries: list[str]) -> Any:
    """Return the rows of some queries."""
    text = rows.schema["query"].dataType.typeName() == "string"
    query = rows["query"] if text else rows["query"].cast("string")
    if len(queries) <= LISTED:
        return rows.filter(query.isin(queries))
    from pyspark.sql.functions import broadcast

    listed = rows.sparkSession.createDataFrame([(name,) for name in queries], "scattered string")
    return rows.join(broadcast(listed), query == listed["scattered"], "left_semi")


def _check_order(protocols: Sequence[Protocol], why: str) -> None:
    """Raise `BadProtocol` where numbers depend on the order of rows that Spark does not keep."""
    for protocol in protocols:
        if protocol.order == "input" or protocol.ties == "input-order":
            msg = f"the protocol ranks results in the order of the input, and {why}, which keep no order"
            raise BadProtocol(msg, hint="write the rows of each query one after the other to one file")


class _About(Struct):
    """What a task says of the rows of a system beside ranks."""

    system: str | None = None
    rows: list[int] = []
    """Under each protocol, the rows that were read."""
    infinite: list[int] = []
    self_matches: list[int] = []
    unjudged: list[str] = []
    interleaved: list[int] = []
    scattered: list[int] = []
    notes: list[str] = []


class _Fault(Struct):
    """A problem of a row; its file and row are looked up if they can be."""

    code: str
    message: str
    place: str
    query: str | None = None
    document: str | None = None


class _Faults(Struct):
    """What is wrong with the rows of a partition."""

    found: list[_Fault] = []
    counts: dict[str, int] = {}
    hint: str | None = None


class _Part(NamedTuple):
    """What a task returns of one system."""

    about: _About
    blocks: pa.Table
    """`protocol`, `query`, `count` and the ranks of the hits, a row for each judged query."""
    faults: _Faults

    def encode(self) -> bytes:
        sink = pa.BufferOutputStream()
        metadata = {"about": msgspec.json.encode(self.about), "faults": msgspec.json.encode(self.faults)}
        table = self.blocks.replace_schema_metadata(metadata)
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue())

    @classmethod
    def decode(cls, data: bytes) -> _Part:
        table = pa.ipc.open_stream(data).read_all()
        said = table.schema.metadata
        about = msgspec.json.decode(said[b"about"], type=_About)
        return cls(about, table, msgspec.json.decode(said[b"faults"], type=_Faults))

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


Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def _make_task(frame: Any, judgments: Judgments, protocols: Sequence[Protocol]) -> Task:
    """Return what reduces a partition; the judged ids go to each executor once."""
    payload: Any = _pack(judgments)
    if not _is_connect(frame):
        payload = frame.sparkSession.sparkContext.broadcast(payload)
    rules = tuple(protocols)

    def reduce(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        judged = payload if isinstance(payload, bytes) else payload.value
        parts = [part.encode() for part in _reduce_partition(_unpack(judged), rules, batches)]
        yield pa.record_batch([pa.array(parts, pa.binary())], names=["part"])

    return reduce


def _pack(judgments: Judgments) -> bytes:
    """Return the judged ids; grades stay on the driver."""
    sink = pa.BufferOutputStream()
    ids = judgments.table.select(["query", "document"]).replace_schema_metadata(None)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, ids.schema, options=options) as writer:
        writer.write_table(ids)
    return bytes(sink.getvalue())


@lru_cache(maxsize=2)
def _unpack(judged: bytes) -> JudgedIndex:
    """Return the index of the judged ids, made once in each Python process of an executor."""
    return to_index(Judgments(pa.ipc.open_stream(judged).read_all()))


def _reduce_partition(
    index: JudgedIndex, protocols: Sequence[Protocol], batches: Iterable[pa.RecordBatch]
) -> Iterator[_Part]:
    """Yield what is left of each system's rows in one partition, and its problems with the last."""
    reducer = Reducer(index, protocols)
    named: dict[str, tuple[str | None, str | None]] = {}
    for system, table in cut_blocks(_number_batches(batches), BLOCK_ROWS):
        try:
            reducer.add(system, to_run(table, label=LABEL, locate=_name_rows(table, named)))
        except BadInput as error:
            reducer.refuse(error)
    for system, reduction in reducer.systems.items():
        yield _to_part(system, reduction)
    if reducer.counts:
        found = [
            _Fault(
                problem.code,
                problem.message,
                str(problem.place),
                *named.get(problem.place.file, (None, None)),
            )
            for problem in reducer.problems
        ]
        yield _Part(_About(), _to_table([]), _Faults(found, dict(reducer.counts), reducer.hint))


def _number_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    first = 0
    for batch in batches:
        yield number_rows(pa.Table.from_batches([batch]), first)
        first += len(batch)


def _name_rows(table: pa.Table, named: dict[str, tuple[str | None, str | None]]) -> Callable[[int], Place]:
    """Return what names a row by its ids, the only thing known of it here."""
    first = table["place"][0].as_py() if len(table) else 0

    def locate(place: int) -> Place:
        numbers = to_numpy(one_array(table["place"]))
        row = int(np.searchsorted(numbers, place)) if len(numbers) else first
        query, document = (table[name][row].as_py() for name in ("query", "document"))
        text = f"query `{query}`, document `{document}`"
        named[text] = tuple(None if each is None else str(each) for each in (query, document))  # type: ignore[assignment]
        return Place(text)

    return locate


def _to_part(system: str | None, reduction: Reduction) -> _Part:
    scans = reduction.complete([[] for _ in reduction.scans])
    about = _About(
        system,
        rows=[scanned.rows for scanned in scans],
        infinite=[scanned.infinite for scanned in scans],
        self_matches=reduction.self_matches.tolist(),
        unjudged=list(scans[0].unjudged_queries),
        interleaved=scans[0].interleaved.tolist(),
        scattered=sorted(reduction.scattered),
        notes=list(reduction.notes),
    )
    return _Part(about, _to_table(scans), _Faults())


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


def _run(rows: Any, task: Task) -> list[_Part]:
    """Return what the tasks of all partitions return."""
    try:
        collected = rows.mapInArrow(task, "part binary").collect()
    except Exception as error:
        missing = re.search(r"No module named '(\w+)", str(error))
        if missing is not None:
            msg = f"the Python of Spark's executors has no `{missing[1]}`"
            hint = "install judged there, send it with `spark.archives`, or name another Python in `PYSPARK_PYTHON`"
            raise JudgedError(msg, hint=hint) from error
        raise
    return [_Part.decode(bytes(row[0])) for row in collected]


def _join_parts(parts: Sequence[_Part], queries: int, protocols: int) -> dict[str | None, Reduction]:
    """Return what is left of each system; a query that is in two partitions counts as scattered."""
    systems: dict[str | None, Reduction] = {}
    for part in parts:
        if part.about.system not in systems:
            systems[part.about.system] = Reduction.empty(queries, protocols)
        reduction = systems[part.about.system]
        reduction.add(part.scans(protocols), part.about.self_matches, part.about.notes)
        reduction.scattered.update(part.about.scattered)
    if not systems:
        return {None: Reduction.empty(queries, protocols)}
    return dict(sorted(systems.items(), key=lambda item: item[0] or ""))


def _find_scattered(
    parts: Sequence[_Part], system: str | None, reduction: Reduction, protocols: int
) -> list[list[Scanned]]:
    """Return what was found for the scattered queries of a system once they were together."""
    wanted = np.array(sorted(reduction.scattered), dtype=np.int64)
    found: list[list[Scanned]] = [[] for _ in range(protocols)]
    for part in parts:
        if part.about.system == system:
            for scans, scanned in zip(found, part.scans(protocols), strict=True):
                others: Ints = np.setdiff1d(scanned.blocks.query, wanted)
                scans.append(scanned.without(others))
    return found


def _raise_problems(parts: list[_Part], frame: Any, names: Mapping[str, str]) -> None:
    """Raise `BadInput` for what the tasks found wrong; take the parts that only say so out of the list."""
    faults = [part.faults for part in parts if part.faults.counts]
    if not faults:
        return
    found = [fault for each in faults for fault in each.found][:SHOWN]
    counts: Counter[str] = sum((Counter(each.counts) for each in faults), Counter())
    places = _find_places(frame, names, found)
    problems = [_to_problem(fault, places.get((fault.query, fault.document), [])) for fault in found]
    hint = next((each.hint for each in faults if each.hint), None)
    raise BadInput(LABEL, problems, counts=counts, hint=hint)


def _to_problem(fault: _Fault, places: Sequence[Place]) -> Problem:
    """Return a problem with the file and row, where Spark knows them."""
    message = fault.message
    if fault.code == KINDS[REPEATED]:
        message = f"document `{fault.document}` of query `{fault.query}` is retrieved again"
        if len(places) > 1:
            message += f", first at {places[0]}"
    return Problem.error(fault.code, places[-1] if places else fault.place, message)


def _find_places(
    frame: Any, names: Mapping[str, str], faults: Sequence[_Fault]
) -> dict[tuple[str | None, str | None], list[Place]]:
    """Return the files and rows that hold some ids; nothing where the data frame does not come from files."""
    from pyspark.sql.functions import col, lit

    ids = [col(f"`{names[name]}`").cast("string") for name in ("query", "document")]
    wanted = lit(False)  # noqa: FBT003 - a condition that grows
    for fault in faults:
        wanted |= ids[0].eqNullSafe(lit(fault.query)) & ids[1].eqNullSafe(lit(fault.document))
    try:
        place = (col("_metadata.file_path"), col("_metadata.row_index"))
        rows = frame.filter(wanted).select(*ids, *place).limit(100 * SHOWN).collect()
    except Exception:  # noqa: BLE001 - whatever kind of table it is, it has no files
        return {}
    found: dict[tuple[str | None, str | None], list[Place]] = {}
    for query, document, file, row in sorted(rows, key=lambda row: (row[2], row[3])):
        found.setdefault((query, document), []).append(Place(re.sub("^file:/+", "/", file), row=row + 1))
    return found
