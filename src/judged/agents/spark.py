"""Sessions on Spark: a data frame with a row for each session, reduced by its executors to counts and gains.

The labels go to every executor, `SessionViewBuilder` runs on the rows of each partition, and the driver joins what the
builders hold, in the order of the partitions. A session is one row, so that no rows are moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
import pyarrow as pa
from msgspec import Struct

from judged.agents.builder import Keep, SessionState, SessionViewBuilder
from judged.agents.dedup.label_index import LabelIndex
from judged.agents.dedup.rules import Rules
from judged.agents.protocol import SessionProtocol
from judged.agents.tables import SCHEMA, Session
from judged.agents.traces.context import REPEATED
from judged.errors import SHOWN, BadInput
from judged.problem import Place, Problem
from judged.scoring.spark import is_connect, run_task
from judged.tables.labels import Labels

LABEL = "the Spark data frame"


class _Fault(Struct):
    """A problem of a session, as it is sent to the driver."""

    code: str
    place: str
    message: str


class _SessionPart(Struct):
    """Result of a task: the sessions of its partition, or the problems found in them."""

    state: SessionState | None = None
    faults: list[_Fault] = []
    hint: str | None = None


@dataclass(frozen=True)
class SessionJob:
    """Settings shared by all tasks."""

    protocol: SessionProtocol
    labels: Labels | None
    keep: Keep
    conversations: frozenset[str]


def reduce_sessions(frame: Any, name: str | None, job: SessionJob) -> Iterator[SessionState]:
    """Yield the sessions of each partition of a data frame; `name` is their system, if it is given."""
    columns = [column for column in frame.columns if column in SCHEMA.names]
    if not {"conversation", "iterations"} <= {*columns}:
        got = f"columns are {', '.join(frame.columns)}, expected those of a table of sessions: `conversation`, `iterations`"
        hint = "`judged.read_sessions(…).table` is such a table, to be written as Parquet"
        raise BadInput(LABEL, [Problem.error("no-sessions", "columns", got)], hint=hint)
    shared: Any = _Shared(job)
    if not is_connect(frame):
        shared = frame.sparkSession.sparkContext.broadcast(shared)

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        known = shared if isinstance(shared, _Shared) else shared.value
        part = _reduce_rows(known, name, batches)
        yield pa.record_batch([pa.array([msgspec.msgpack.encode(part)], pa.binary())], names=["part"])

    for data in run_task(frame.select(*columns), task):
        part = msgspec.msgpack.decode(data, type=_SessionPart)
        if part.faults:
            problems = [Problem.error(fault.code, fault.place, fault.message) for fault in part.faults]
            raise BadInput(LABEL, problems, hint=part.hint)
        if part.state is not None:
            yield part.state


@dataclass(frozen=True, eq=False)
class _Shared:
    """Settings shared by all tasks, once in each Python process of an executor."""

    job: SessionJob


@lru_cache(maxsize=2)
def _index_labels(shared: _Shared) -> LabelIndex | None:
    rules: Rules = shared.job.protocol.rules
    return None if shared.job.labels is None else LabelIndex(shared.job.labels, rules)


def _reduce_rows(shared: _Shared, name: str | None, batches: Iterator[pa.RecordBatch]) -> _SessionPart:
    """Return what is left of the sessions of a partition, or the first that is wrong with each of them."""
    job, index = shared.job, _index_labels(shared)
    if index is not None:
        index.used.clear()
    builder = SessionViewBuilder(job.protocol, labels=index, keep=job.keep)
    faults: list[_Fault] = []
    hint = None
    for batch in batches:
        for row in batch.to_pylist():
            try:
                session = _to_session(row, name)
                if not job.conversations or session.conversation in job.conversations:
                    _add(builder, session)
            except BadInput as error:
                faults += [_Fault(item.code, str(item.place), item.message) for item in error.problems]
                hint = hint or error.hint
    return _SessionPart(faults=faults[:SHOWN], hint=hint) if faults else _SessionPart(builder.state())


def _add(builder: SessionViewBuilder, session: Session) -> None:
    fault = builder.check_new(session)
    if fault is not None:
        raise BadInput(LABEL, [fault], hint=REPEATED)
    builder.add(session)


def _to_session(row: Mapping[str, object], name: str | None) -> Session:
    """Return a session; where it has no task, the conversation is one."""
    given = {key: value for key, value in row.items() if value is not None}
    conversation = str(given.get("conversation"))
    if "task" not in given:
        given |= {"task": conversation, "task_from": "conversation"}
    if name is not None:
        given["system"] = name
    try:
        return msgspec.convert(given, Session)
    except msgspec.ValidationError as error:
        where = Place(f"session `{conversation}`")
        raise BadInput(LABEL, [Problem.error("bad-session", where, str(error))]) from None
