"""Spark: runs that no one machine can hold, reduced where they are to the ranks of their judged documents.

The judged ids go to every executor, a `Reducer` runs on the Arrow batches of each partition, and what it keeps comes
back: the driver joins it and computes the measures, so that no number can differ from that of a single machine.

Rows are moved only where they must be. Input whose queries are consecutive, or that is partitioned by query, stays
where it is; queries that turn out to be in two places, such as at the cut of a file, are collected in a second
pass, and only they. Parquet files are opened by the executors themselves if they can, since Spark's own rows cost more
than all the rest. Tasks return values and have no side effects, so one that is run again changes nothing.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
import pyarrow as pa

from judged._optional import need
from judged.arrays import Ints
from judged.errors import SHOWN, BadInput, BadProtocol, JudgedError, Unreadable
from judged.io.stream import number_rows, to_run
from judged.kernels.scan.align import Scanned
from judged.kernels.scan.scanner import KINDS, REPEATED
from judged.problem import Place, Problem
from judged.protocol import Protocol
from judged.scoring.locate import ReducedRun
from judged.scoring.spark_tasks import (
    CELLS,
    LABEL,
    PARTS,
    Fault,
    Files,
    Handed,
    Job,
    Piece,
    Task,
    TaskPart,
    gather,
    name_file,
    pack,
    reduce,
    spread,
)
from judged.scoring.streaming import Reduction, to_reduced_run
from judged.tables.columns import take
from judged.tables.judgments import Judgments
from judged.tables.schema import RUNS

SAMPLE = 2000
"""Rows that show whether the queries of the input are consecutive."""
LISTED = 1000
"""Queries that a filter lists; more are joined."""
TARGET_BYTES = 1 << 25
"""Bytes of Parquet, about three million rows, that are collected in one task."""
SCHEMES = ("file:", "s3://")
"""Storage that Arrow opens on executors, with the credentials of their machines."""


def read_frame(path: str, *, master: str | None = None) -> Any:
    """Return the data frame of Parquet files; `master` is the URL of a cluster, or that of Spark Connect (`sc://`)."""
    sql = need("pyspark.sql", extra="spark", needed_by="`--backend spark`")
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
    payload = pack(judgments)
    job = Job(
        payload if is_connect(frame) else frame.sparkSession.sparkContext.broadcast(payload), tuple(protocols)
    )
    source, parts = _reduce_source(_Source(frame, rows, names, _find_pieces(frame)), job)
    _raise_problems(parts, frame, names)
    systems = _join_parts(parts, len(judgments.queries), len(protocols))
    scattered = sorted({query for reduction in systems.values() for query in reduction.scattered})
    again: list[TaskPart] = []
    if scattered:
        queries = take(judgments.queries, np.array(scattered)).to_pylist()
        _check_order(protocols, f"the rows of query `{queries[0]}` are in several partitions")
        again = source.choose(queries).bring_together(job)
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


@dataclass(frozen=True)
class _Source:
    """The rows of a data frame, handed over by Spark or read from its files."""

    frame: Any
    rows: Any
    """Its columns under the names that judged gives them."""
    names: Mapping[str, str]
    pieces: list[list[Piece]] | None = None
    """The files that each task reads itself; None: Spark reads them."""
    wanted: frozenset[str] | None = None

    def reduce(self, job: Job) -> list[TaskPart]:
        """Return the parts of rows whose queries are consecutive."""
        frame, reader = self._open()
        return _run(frame, reduce(job, reader))

    def bring_together(self, job: Job) -> list[TaskPart]:
        """Return the parts of rows in any order."""
        frame, reader = self._open()
        targets = _find_targets(_count_targets(self.frame))
        sent = _map(frame, spread(job, reader, targets), CELLS)
        return _run(sent.repartition(len(targets), "target"), gather(job))

    def sort_within(self, job: Job, keys: list[str]) -> list[TaskPart]:
        """Return the parts of rows that are partitioned by query."""
        return _run(self.rows.sortWithinPartitions(*keys), reduce(job, Handed()))

    def choose(self, queries: list[str]) -> _Source:
        """Return the rows of some queries."""
        if self.pieces is None:
            return replace(self, rows=_choose(self.rows, queries))
        return replace(self, wanted=frozenset(queries))

    def _open(self) -> tuple[Any, Handed | Files]:
        if self.pieces is None:
            return self.rows, Handed()
        session = self.frame.sparkSession
        tasks = session.sparkContext.broadcast(self.pieces)
        numbers = session.range(0, len(self.pieces), 1, len(self.pieces))
        types = {field.name: str(field.type) for field in _to_arrow_schema(self.rows)}
        return numbers, Files(tasks, dict(self.names), types, self.wanted)


def _reduce_source(source: _Source, job: Job) -> tuple[_Source, list[TaskPart]]:
    """Return the parts of all rows, moved only if they must be, and what they were read from."""
    keys = [name for name in ("system", "query") if name in source.names]
    consecutive = _is_consecutive(source.rows.select(*keys).limit(SAMPLE).collect())
    if not consecutive:
        _check_order(job.protocols, "the rows of the queries are mixed with each other")
    if not consecutive and _is_partitioned(source.rows, keys):
        return replace(source, pieces=None), source.sort_within(job, keys)
    parts = source.reduce(job) if consecutive else source.bring_together(job)
    unreadable = next((part.faults.unreadable for part in parts if part.faults.unreadable), None)
    if unreadable is None:
        return source, parts
    handed = replace(source, pieces=None)
    try:
        return handed, handed.reduce(job) if consecutive else handed.bring_together(job)
    except JudgedError:
        raise
    except Exception as error:
        raise Unreadable(unreadable) from error  # Spark cannot read them either


def _find_pieces(frame: Any) -> list[list[Piece]] | None:
    """Return the Parquet files of a data frame by task, if it is nothing but their rows; Connect does not say."""
    relation = None if is_connect(frame) else _find_relation(frame)
    if relation is None:
        return None
    uris = list(relation.location().inputFiles())
    if not uris or not all(uri.startswith(SCHEMES) for uri in uris):
        return None
    conf = frame._jdf.sparkSession().sessionState().conf()  # noqa: SLF001 - asked nowhere else
    size, parallel = relation.sizeInBytes(), frame.sparkSession.sparkContext.defaultParallelism
    # as Spark itself cuts files into partitions
    target = min(conf.filesMaxPartitionBytes(), max(conf.filesOpenCostInBytes(), size // parallel, 1))
    parts = max(1, ceil(size / len(uris) / target))
    if parts > 1:
        return [[Piece(uri, part, parts)] for uri in uris for part in range(parts)]
    step = max(1, int(target // max(size / len(uris), 1)))
    return [[Piece(uri, 0, 1) for uri in uris[at : at + step]] for at in range(0, len(uris), step)]


def _find_relation(frame: Any) -> Any:
    """Return Spark's relation of Parquet files that a data frame is; None if it is anything more."""
    plan = frame._jdf.queryExecution().withCachedData()  # noqa: SLF001 - asked nowhere else
    while plan.nodeName() in {"Project", "SubqueryAlias"}:
        if plan.nodeName() == "Project" and not _is_plain(plan.projectList()):
            return None
        plan = plan.child()
    if plan.getClass().getSimpleName() != "LogicalRelation":
        return None
    relation = plan.relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation" or relation.partitionSchema().length():
        return None
    kind = relation.fileFormat().getClass().getName()  # tables such as Delta's have their own
    return (
        relation if kind == "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat" else None
    )


def _is_plain(columns: Any) -> bool:
    kinds = (columns.apply(at).getClass().getSimpleName() for at in range(columns.length()))
    return all(kind == "AttributeReference" for kind in kinds)


def _count_targets(frame: Any) -> int:
    """Return the number of tasks that rows are collected in."""
    usual = int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    if is_connect(frame):
        return usual
    size = int(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())  # noqa: SLF001 - asked nowhere else
    parallel = frame.sparkSession.sparkContext.defaultParallelism
    return usual if size >= 1 << 60 else max(parallel, ceil(size / TARGET_BYTES))  # 2⁶³: Spark does not know


def _find_targets(count: int) -> list[int]:
    """Return numbers that Spark's hash partitioning (Murmur3 with seed 42) sends to partition 0, 1, 2 and so on."""
    tried = 4 * count + 64
    while True:
        partition = _hash_numbers(np.arange(tried, dtype=np.uint32)).view(np.int32) % count
        reached, first = np.unique(partition, return_index=True)
        if len(reached) == count:
            return [int(number) for number in first]
        tried *= 2


def _hash_numbers(numbers: Any) -> Any:
    """Return Spark's hash of whole numbers of 32 bits."""

    def rotate(value: Any, by: int) -> Any:
        return (value << np.uint32(by)) | (value >> np.uint32(32 - by))

    with np.errstate(over="ignore"):
        mixed = rotate(numbers * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
        value = rotate(np.uint32(42) ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
        value ^= np.uint32(4)
        value = (value ^ (value >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        value = (value ^ (value >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        return value ^ (value >> np.uint32(16))


def _check_types(rows: object) -> None:
    """Raise `BadInput` for columns of types that hold no ids or scores, before anything is read."""
    row = {field.name: _make_example(field.type) for field in _to_arrow_schema(rows)}
    to_run(number_rows(pa.table(row), 0), label=LABEL, locate=lambda row: Place(row=row))


def _to_arrow_schema(rows: Any) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(rows.schema)


def _make_example(kind: pa.DataType) -> pa.Array:
    """Return one value of a type, which columns without rows would not be checked for."""
    try:
        return pa.array(["0"], pa.string()).cast(kind)
    except pa.ArrowException:
        return pa.nulls(1, kind)  # the tasks say what is wrong with it


def _is_consecutive(sample: Iterable[Sequence[object]]) -> bool:
    """Return whether queries of a system hardly ever come back after another one."""
    last: dict[object, object] = {}
    runs: Counter[object] = Counter()
    for *system, query in sample:
        if last.get(tuple(system), runs) != query:
            runs[*system, query] += 1
        last[tuple(system)] = query
    # the sample may begin and end within queries of several partitions
    return runs.total() <= 1.2 * len(runs) + 4


def _is_partitioned(rows: Any, keys: Iterable[str]) -> bool:
    """Return whether Spark says that all rows of a query are in one partition; Connect does not say."""
    if is_connect(rows):
        return False
    plan = rows._jdf.queryExecution().sparkPlan().outputPartitioning().toString()  # noqa: SLF001 - asked nowhere else
    names = re.findall(r"(\w+)#\d+", plan)
    return plan.startswith(("hashpartitioning", "rangepartitioning")) and {*names} <= {*keys} and bool(names)


def is_connect(frame: object) -> bool:
    """Return whether a data frame is that of a thin client, which knows no plans."""
    return type(frame).__module__.startswith("pyspark.sql.connect")


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


def _run(rows: object, task: Task) -> list[TaskPart]:
    """Return what the tasks of all partitions return."""
    return [TaskPart.decode(data) for data in run_task(rows, task)]


def run_task(rows: object, task: Task) -> list[bytes]:
    """Return the values that the tasks of all partitions return."""
    try:
        collected = _map(rows, task, PARTS).collect()
    except Exception as error:
        missing = re.search(r"No module named '(\w+)", str(error))
        if missing is not None:
            msg = f"the Python of Spark's executors has no `{missing[1]}`"
            hint = (
                "install judged there, send it with `spark.archives`, or, if this Python is at the same place on their "
                f"machines, set `PYSPARK_PYTHON={sys.executable}` before the session starts"
            )
            raise JudgedError(msg, hint=hint) from error
        raise
    return [bytes(row[0]) for row in collected]


def _map(rows: Any, task: Any, schema: Any) -> Any:
    """Return what a task makes of Arrow batches; in a local session it is run by this Python, unless one was chosen.

    Spark takes the first `python3` of the path, which is another where a script is run by the Python of a virtual
    environment. The function that is sent to the executors names its Python when it is made.
    """
    context = None if is_connect(rows) else rows.sparkSession.sparkContext
    if context is None or not context.master.startswith("local") or _is_python_chosen(context):
        return rows.mapInArrow(task, schema)
    before, context.pythonExec = context.pythonExec, sys.executable
    try:
        return rows.mapInArrow(task, schema)
    finally:
        context.pythonExec = before


def _is_python_chosen(context: Any) -> bool:
    return "PYSPARK_PYTHON" in os.environ or context.getConf().contains("spark.pyspark.python")


def _join_parts(parts: Sequence[TaskPart], queries: int, protocols: int) -> dict[str | None, Reduction]:
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
    parts: Sequence[TaskPart], system: str | None, reduction: Reduction, protocols: int
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


def _raise_problems(parts: list[TaskPart], frame: object, names: Mapping[str, str]) -> None:
    """Raise `BadInput` for what the tasks found wrong."""
    faults = [part.faults for part in parts if part.faults.counts]
    if not faults:
        return
    shown = [fault for partition in faults for fault in partition.found][:SHOWN]
    counts: Counter[str] = sum((Counter(partition.counts) for partition in faults), Counter())
    named = [fault for fault in shown if fault.named]
    places = _find_places(frame, names, named) if named else {}
    problems = [_to_problem(fault, places.get((fault.query, fault.document), [])) for fault in shown]
    hint = next((partition.hint for partition in faults if partition.hint), None)
    raise BadInput(LABEL, problems, counts=counts, hint=hint)


def _to_problem(fault: Fault, places: Sequence[Place]) -> Problem:
    """Return a problem with the file and row, where Spark knows them."""
    message = fault.message
    if fault.named and fault.code == KINDS[REPEATED]:
        message = f"document `{fault.document}` of query `{fault.query}` is retrieved again"
        if len(places) > 1:
            message += f", first at {places[0]}"
    return Problem.error(fault.code, places[-1] if places else fault.place, message)


def _find_places(
    frame: Any, names: Mapping[str, str], faults: Sequence[Fault]
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
    except Exception:  # noqa: BLE001 - any other kind of table has no files
        return {}
    places: dict[tuple[str | None, str | None], list[Place]] = {}
    for query, document, file, row in sorted(rows, key=lambda row: (row[2], row[3])):
        places.setdefault((query, document), []).append(Place(name_file(file), row=row + 1))
    return places
