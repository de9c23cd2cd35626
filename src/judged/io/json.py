"""JSON and JSONL: objects with named values, one to a line or in a list; or one nested object, query → document → number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from judged.errors import Unreadable, Unwritable
from judged.io.open import BOM, File, read_text
from judged.io.sniff import Format, Kind, Writing, kind_of_columns
from judged.io.table import RESULTS, RawTable, from_records, is_record, open_layout
from judged.problem import Problems
from judged.tables.schema import JUDGMENTS, RUN, Schema

MTEB = "mteb_model_meta"
_BROKEN = (ValueError, RecursionError)
"""Exceptions that text which is not JSON raises."""


def _read_json(file: File, schema: Schema) -> RawTable | Mapping[str, object]:
    """Return the rows of a list of objects or of another tool's layout, or a nested object as it is."""
    value = _decode(file, schema)
    if isinstance(value, list):
        return from_records(value, schema, Problems(file.label))
    opened = open_layout(value, schema, file.label, file.name)
    return value if opened is None else opened


def _decode(file: File, schema: Schema) -> list[object] | Mapping[str, object]:
    """Return the object or list that the file holds."""
    import msgspec

    try:
        value = msgspec.json.decode(bytes(read_text(file)))
    except _BROKEN as error:
        msg = f"{file.label} is not valid JSON: {_reason(error)}"
        raise Unreadable(msg) from None
    if isinstance(value, Mapping):
        from judged.io.layouts import find_layout
        from judged.io.records import find_records

        if find_layout(value, file.label) is not None or find_records(value, schema) is not None:
            return value
        return [value] if is_record(value, schema) else _open_envelope(value, file.label)
    if isinstance(value, list):
        return value
    msg = f"{file.label} holds the JSON value {str(value)[:40]!r}, expected an object or a list"
    raise Unreadable(msg)


def _open_envelope(value: Mapping[str, object], label: str) -> Mapping[str, object]:
    """Return the predictions inside MTEB's object of subsets and splits; any other object as it is."""
    if MTEB not in value:
        return value
    subsets = {
        f"{subset} / {split}": inner
        for subset, splits in value.items()
        if subset != MTEB and isinstance(splits, Mapping)
        for split, inner in splits.items()
        if isinstance(inner, Mapping)
    }
    if len(subsets) == 1:
        return next(iter(subsets.values()))
    msg = f"{label} holds {len(subsets)} sets of predictions ({', '.join(subsets)}), expected one"
    raise Unreadable(msg, hint="write one subset and split to a file of its own")


def _kind_of_json(file: File) -> Kind | None:
    """Return a run if a number has a fraction; whole numbers and lists of ids may be either."""
    value = _decode(file, JUDGMENTS)
    if isinstance(value, list):
        return kind_of_columns(_keys(value[0])) if value else None
    from judged.io.layouts import find_layout
    from judged.io.records import find_records

    layout = find_layout(value, file.label)
    if layout is not None:
        return "judgments" if "judgments" in layout.tables else "run"
    if find_records(value, JUDGMENTS) is not None:
        return kind_of_columns(_list_columns(value))
    inner = [numbers for numbers in value.values() if isinstance(numbers, Mapping)]
    fractions = any(isinstance(number, float) for numbers in inner for number in numbers.values())
    return "run" if fractions else None


def _write_json(table: pa.Table, sink: BinaryIO, writing: Writing) -> None:
    """Write query → document → number; a table with more columns as a list of objects."""
    import msgspec

    _check_finite(table, writing)
    if writing.schema.name not in {"judgments", "run"} or tuple(table.column_names) != writing.schema.nested:
        sink.write(msgspec.json.encode(table.to_pylist()) + b"\n")
        return
    nested: dict[str, dict[str, float]] = {}
    columns = (table[name].to_pylist() for name in writing.schema.nested)
    for query, document, value in zip(*columns, strict=True):
        nested.setdefault(query, {})[document] = value
    sink.write(msgspec.json.encode(nested) + b"\n")


def _read_jsonl(file: File, schema: Schema) -> RawTable:
    records, problems = read_lines(file)
    return from_records(records, schema, problems)


def read_lines(file: File) -> tuple[list[object], Problems]:
    """Return the value of every line that is not blank; lines that are not valid JSON become problems."""
    import msgspec

    lines = bytes(read_text(file)).split(b"\n")
    filled = [number for number, line in enumerate(lines, 1) if line and not line.isspace()]
    problems = Problems(file.label, line=filled.__getitem__)
    decode = msgspec.json.Decoder().decode
    try:
        return [decode(lines[number - 1]) for number in filled], problems
    except _BROKEN:
        pass  # read again, line by line
    values, sound = [], []
    for number in filled:
        try:
            values.append(decode(lines[number - 1]))
            sound.append(number)
        except _BROKEN as error:
            problems.add_line("malformed-line", number, f"is not valid JSON: {_reason(error)}")
    filled[:] = sound
    return values, problems


def _jsonl_columns(file: File) -> list[str]:
    """Return the keys of the first object, or of the first of its results."""
    import msgspec

    first = next(
        (line for line in bytes(file.head()).removeprefix(BOM).split(b"\n") if line.strip()), b"null"
    )
    try:
        return _keys(msgspec.json.decode(first))
    except _BROKEN:
        return []


def _keys(record: object) -> list[str]:
    if not isinstance(record, Mapping):
        return []
    results = record.get(RESULTS)
    if isinstance(results, list) and all(isinstance(result, Mapping) for result in results):
        return _keys(next(iter(results), None))
    return [key for key in record if isinstance(key, str)]


def _write_jsonl(table: pa.Table, sink: BinaryIO, writing: Writing) -> None:
    """Write an object for each row."""
    import msgspec

    _check_finite(table, writing)
    encoder = msgspec.json.Encoder()
    batches = table.to_batches(max_chunksize=65_536)  # rows as objects are large
    sink.writelines(encoder.encode_lines(batch.to_pylist()) for batch in batches)


def _check_finite(table: pa.Table, writing: Writing) -> None:
    """Raise `Unwritable` for infinite scores, which JSON cannot hold."""
    if writing.schema is not RUN or "score" not in table.column_names:
        return
    scores = table["score"].to_numpy()
    problems = Problems(writing.name)
    rows = np.flatnonzero(np.isinf(scores))
    problems.add_rows("infinite-score", rows, lambda row: f"score is {scores[row]}, which JSON cannot hold")
    problems.raise_if_any(hint="write TREC text, CSV, Parquet or Arrow", error=Unwritable)


def _reason(error: Exception) -> str:
    return str(error).removeprefix("JSON is malformed: ") or type(error).__name__


def _json_columns(file: File) -> list[str]:
    """Return the keys of the first object in a list."""
    value = _decode(file, JUDGMENTS)
    return _list_columns(value)


def _list_columns(value: list[object] | Mapping[str, object]) -> list[str]:
    """Return the keys of the first object in a list, or of the first row that an object holds."""
    from judged.io.records import find_records

    if isinstance(value, list):
        return _keys(next(iter(value), None))
    found = find_records(value, JUDGMENTS)
    return [] if found is None else _keys(found[0][0])


JSON = Format(
    *("json", "JSON", _read_json, _write_json),
    columns=_json_columns,
    kind=_kind_of_json,
    extensions=(".json",),
)
JSONL = Format(
    *("jsonl", "JSONL", _read_jsonl, _write_jsonl), columns=_jsonl_columns, extensions=(".jsonl", ".ndjson")
)
