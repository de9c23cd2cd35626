"""JSONL: a JSON object on every line, `{"query": …, "document": …, "score": …}`."""

from __future__ import annotations

from typing import Any, BinaryIO

import msgspec
import numpy as np
import pyarrow as pa

from judged.errors import Unwritable
from judged.io.format import File, Format, Kind
from judged.io.records import judgments_of, kind_of_record, run_of
from judged.io.text import text_of
from judged.problem import Problems
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = [
    "FORMAT",
    "kind",
    "read_judgments",
    "read_records",
    "read_run",
    "refuse_infinite",
    "write_judgments",
    "write_run",
]

_BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def read_judgments(file: File) -> Judgments:
    """Judgments of objects with a query, a document, a grade and maybe a target."""
    records, faults = read_records(file)
    return judgments_of(records, name=file.name, faults=faults, intents=file.intents)


def read_run(file: File) -> Run:
    """A run of objects with a query, a document and a score."""
    records, faults = read_records(file)
    return run_of(records, name=file.name, faults=faults)


def kind(file: File) -> Kind | None:
    """What the keys of the first object say."""
    for line in bytes(text_of(file)).split(b"\n"):
        if line.strip():
            try:
                return kind_of_record(msgspec.json.decode(line))
            except _BROKEN:
                return None
    return None


def write_judgments(judgments: Judgments, sink: BinaryIO) -> None:
    """Write an object for each row."""
    _write(judgments.to_arrow(), sink)


def write_run(run: Run, sink: BinaryIO, tag: str) -> None:  # noqa: ARG001 - one seam for all formats
    """Write an object for each row; infinite scores are refused, since JSON has none."""
    table = run.to_arrow()
    refuse_infinite(table, run.name)
    _write(table, sink)


def refuse_infinite(table: pa.Table, subject: str) -> None:
    """Refuse scores that JSON has no way to write."""
    scores = table["score"].to_numpy()
    faults = Problems(subject)
    rows = np.flatnonzero(np.isinf(scores))
    faults.add_rows("infinite-score", rows, lambda row: f"score is {scores[row]}, which JSON cannot hold")
    faults.raise_if_any(hint="write TREC text, CSV, Parquet or Arrow", error=Unwritable)


def _write(table: pa.Table, sink: BinaryIO) -> None:
    encoder = msgspec.json.Encoder()
    batches = table.to_batches(max_chunksize=65_536)  # a part at a time: rows as objects are large
    sink.writelines(encoder.encode_lines(batch.to_pylist()) for batch in batches)


def read_records(file: File) -> tuple[list[Any], Problems]:
    """The value of every line that is not blank, and the lines that are no JSON as faults."""
    lines = bytes(text_of(file)).split(b"\n")
    filled = [number for number, line in enumerate(lines, 1) if line and not line.isspace()]
    faults = Problems(file.label, line=filled.__getitem__)
    decode = msgspec.json.Decoder().decode
    try:
        return [decode(lines[number - 1]) for number in filled], faults
    except _BROKEN:
        return _sound(lines, filled, faults), faults


def _sound(lines: list[bytes], filled: list[int], faults: Problems) -> list[Any]:
    """The values of the lines that are JSON; `filled` keeps only their numbers."""
    values, sound = [], []
    for number in filled:
        try:
            values.append(msgspec.json.decode(lines[number - 1]))
            sound.append(number)
        except _BROKEN as error:
            faults.add_line("malformed-line", number, f"is no JSON: {_reason(error)}")
    filled[:] = sound
    return values


def _reason(error: Exception) -> str:
    return str(error).removeprefix("JSON is malformed: ") or type(error).__name__


FORMAT = Format(
    name="jsonl",
    title="JSONL",
    extensions=(".jsonl", ".ndjson"),
    read_judgments=read_judgments,
    read_run=read_run,
    kind=kind,
    write_judgments=write_judgments,
    write_run=write_run,
)
