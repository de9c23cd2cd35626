"""JSON: one object, query → document → number, as ranx, BEIR and MTEB write it; or a list of objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa

from judged.errors import Unreadable
from judged.io import mappings
from judged.io.format import File, Format, Kind
from judged.io.jsonl import refuse_infinite
from judged.io.records import is_record, judgments_of, kind_of_record, run_of
from judged.io.text import text_of
from judged.problem import Problems
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = ["FORMAT", "kind", "read_judgments", "read_run", "write_judgments", "write_run"]

_MTEB = "mteb_model_meta"


def read_judgments(file: File) -> Judgments:
    """Judgments of an object of objects, an object of lists of ids, or a list of objects."""
    value = _value(file)
    if isinstance(value, list):
        return judgments_of(value, name=file.name, faults=Problems(file.label), intents=file.intents)
    return replace(mappings.read_judgments(value, name=file.label), name=file.name)


def read_run(file: File) -> Run:
    """A run of an object of objects, an object of lists of ids, or a list of objects."""
    value = _value(file)
    if isinstance(value, list):
        return run_of(value, name=file.name, faults=Problems(file.label))
    return replace(mappings.read_run(value, name=file.label), name=file.name)


def kind(file: File) -> Kind | None:
    """A run if a number has a fraction; whole numbers and lists of ids may be either."""
    value = _value(file)
    if isinstance(value, list):
        return kind_of_record(value[0]) if value else None
    inner = [each for each in value.values() if isinstance(each, Mapping)]
    fractions = any(isinstance(number, float) for each in inner for number in each.values())
    return "run" if fractions else None


def write_judgments(judgments: Judgments, sink: BinaryIO) -> None:
    """Write query → document → grade; with targets or intents, a list of objects instead."""
    table = judgments.to_arrow()
    if judgments.by_intent:
        sink.write(msgspec.json.encode(table.to_pylist()) + b"\n")
        return
    _write(table, "grade", sink)


def write_run(run: Run, sink: BinaryIO, tag: str) -> None:  # noqa: ARG001 - one seam for all formats
    """Write query → document → score; infinite scores are refused, since JSON has none."""
    table = run.to_arrow()
    refuse_infinite(table, run.name)
    _write(table, "score", sink)


def _write(table: pa.Table, number: str, sink: BinaryIO) -> None:
    nested: dict[str, dict[str, float]] = {}
    columns = (table[name].to_pylist() for name in ("query", "document", number))
    for query, document, value in zip(*columns, strict=True):
        nested.setdefault(query, {})[document] = value
    sink.write(msgspec.json.encode(nested) + b"\n")


def _value(file: File) -> Any:
    """The object or list that the file holds."""
    try:
        value = msgspec.json.decode(bytes(text_of(file)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        msg = f"{file.label} is no JSON: {str(error).removeprefix('JSON is malformed: ')}"
        raise Unreadable(msg) from None
    if isinstance(value, Mapping):
        return [value] if is_record(value) else _without_envelope(value, file.label)
    if isinstance(value, list):
        return value
    msg = f"{file.label} holds the JSON value {str(value)[:40]!r}, expected an object or a list"
    raise Unreadable(msg)


def _without_envelope(value: Mapping[str, Any], label: str) -> Mapping[str, Any]:
    """The predictions inside MTEB's object of subsets and splits; any other object as it is."""
    if _MTEB not in value:
        return value
    subsets = {
        f"{subset} / {split}": inner
        for subset, splits in value.items()
        if subset != _MTEB and isinstance(splits, Mapping)
        for split, inner in splits.items()
        if isinstance(inner, Mapping)
    }
    if len(subsets) == 1:
        return next(iter(subsets.values()))
    msg = f"{label} holds {len(subsets)} sets of predictions ({', '.join(subsets)}), expected one"
    raise Unreadable(msg, hint="write one subset and split to a file of its own")


FORMAT = Format(
    name="json",
    title="JSON",
    extensions=(".json",),
    read_judgments=read_judgments,
    read_run=read_run,
    kind=kind,
    write_judgments=write_judgments,
    write_run=write_run,
)
