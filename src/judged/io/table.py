"""`read_table`: a table in any format or object, as checked columns under the names of its schema."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from judged.errors import BadInput, Unreadable, WrongKind
from judged.io.open import File, is_file, open_bytes, open_file, open_stream
from judged.io.sniff import FORMATS, Format, detect
from judged.problem import Locate, Place, Problems, locate_row
from judged.tables.columns import (
    Column,
    as_ids,
    as_numbers,
    as_texts,
    as_values,
    as_whole_numbers,
    holds_lists,
)
from judged.tables.mapping import Columns as ColumnNames, map_schema, refuse_map
from judged.tables.schema import GRADES, Match, Schema

RESULTS = "results"
"""The key under which a record may hold all documents of its query."""
ACCEPTED = (
    "a path, bytes, a dict of dicts, a data frame (Polars, pandas, Arrow, DuckDB), "
    "or an iterable of named tuples or dicts"
)


@dataclass
class RawTable:
    """Columns of a source under the names of a schema's fields, not checked yet."""

    columns: dict[str, Column]
    problems: Problems
    """Problems so far, and the place of each row."""
    notes: tuple[str, ...] = ()
    text: bool = False
    """Whether values are cells of text: grades are parsed, and empty cells are missing."""
    others: dict[str, Column] = field(default_factory=dict)
    """Columns that are not fields of the schema, if it keeps them."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Metadata of a Parquet or Arrow file."""
    by_text: bool = False
    """Whether documents are identified by their texts, normalised."""
    empty: tuple[object, ...] = ()
    """Queries of a run that are there without results."""


@dataclass(frozen=True)
class Table:
    """The columns of a table, checked; its problems are collected and not raised yet."""

    name: str
    columns: Mapping[str, pa.Array]
    """For each field that is there: ids and texts as large strings, numbers as float64, grades as int64."""
    problems: Problems
    notes: tuple[str, ...] = ()
    others: Mapping[str, list[object]] = field(default_factory=dict)
    """Columns that are not fields of the schema, if it keeps them."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Metadata of a Parquet or Arrow file."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))


def read_table(
    source: object,
    schema: Schema,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    name: str | None = None,
    map: ColumnNames | None = None,  # noqa: A002 - what users call it
) -> Table:
    r"""Return the columns of a schema from a file of any format, a data frame, dicts or rows.

    `map` names columns by field. Errors in single rows are collected in the table's problems; call their `raise_if_any`.

    >>> from judged.tables.schema import TIMINGS
    >>> table = read_table(b"run,ms\nbm25,250\n", TIMINGS)
    >>> table.columns["seconds"].to_pylist(), len(table.problems)
    ([0.25], 0)
    """
    schema = map_schema(schema, source, map)
    if is_file(source):
        opened = open_path(source, schema, format)
        if not isinstance(opened, tuple):
            msg = f"{source} is a folder or a data set, expected a file that holds {schema.name}"
            raise Unreadable(msg)
        file, written = opened
        raw, subject = read_file(file, written, schema), file.label
        name = name or file.name
    else:
        subject = name or schema.name
        raw = read_raw(source, schema, name=subject)
    if not isinstance(raw, RawTable):
        raw = from_mapping(raw, schema, subject=subject)
    return check(raw, schema, name=name or schema.name)


def open_path(source: object, schema: Schema, format: str | None = None) -> tuple[File, Format] | Any:  # noqa: A002
    """Return a file with its format; or a folder's path, or an ir_datasets data set."""
    from judged.io import ir_datasets

    if isinstance(source, (bytes, bytearray, memoryview)):
        file = open_bytes(source, label="bytes", name="")
    elif isinstance(source, (str, os.PathLike)):
        place = os.fsdecode(source)
        collection = ir_datasets.find_folder_or_dataset(place)
        if collection is not None:
            return collection
        file = open_file(place)
    else:
        file = open_stream(source)
    return file, (detect(file, schema) if format is None else FORMATS[format])


def read_file(file: File, written: Format, schema: Schema) -> RawTable | Mapping[str, Any]:
    """Return the columns or nested objects of a file."""
    if not written.holds(schema):
        msg = f"{file.label} cannot be read as {written.title}, which holds no {schema.name}"
        raise Unreadable(msg)
    if written.name == "trec":
        refuse_map(schema, file.label, written.title)
    raw = written.read(file, schema)
    if not isinstance(raw, RawTable):
        refuse_map(schema, file.label, "a nested object")
    return raw


def read_raw(source: object, schema: Schema, *, name: str) -> RawTable | Mapping[Any, Any]:
    """Return the columns of an object in memory, or the object itself if it is a mapping."""
    if isinstance(source, Mapping):
        opened = open_layout(source, schema, name)
        return source if opened is None else opened
    if is_frame(source):
        return from_frame(source, schema, subject=name)
    for method in ("collect", "to_table"):
        if hasattr(source, method):
            msg = f"{name} is {_describe_type(source)}, which holds no rows yet"
            raise WrongKind(msg, hint=f"call `.{method}()` on it first")
    if not isinstance(source, Iterable):
        kind = f"{type(source).__module__}.{type(source).__name__}".removeprefix("builtins.")
        msg = f"{name} cannot be read from an object of type `{kind}`, expected {ACCEPTED}"
        hint = "call `.to_dict()` on it" if hasattr(source, "to_dict") else None
        if schema.name == "run" and callable(source):
            hint = "`judged.evaluate_retriever` asks a function, or a retriever, every judged question"
        raise WrongKind(msg, hint=hint)
    return from_rows(source, schema, subject=name)


def check(raw: RawTable, schema: Schema, *, name: str) -> Table:
    """Return checked columns; what is wrong with a value is added to the problems of the raw table."""
    columns = {}
    for item in schema.fields:
        if item.name not in raw.columns:
            continue
        column, problems = raw.columns[item.name], raw.problems
        if raw.text and not item.required and item.kind != "number":
            column = _drop_empty(column)
        if item.kind == "number":
            columns[item.name] = as_numbers(column, name=item.name, problems=problems)
        elif item.kind == "value":
            columns[item.name] = as_values(column, name=item.name, problems=problems)
        elif item.kind == "grade":
            columns[item.name] = as_whole_numbers(
                column, name=item.name, problems=problems, within=GRADES, text=raw.text
            )
        elif item.kind == "text":
            columns[item.name] = as_texts(column, name=item.name, problems=problems)
        else:
            columns[item.name], _ = as_ids(
                column, name=item.name, problems=problems, nullable=not item.required
            )
    others = {other: _to_list(column) for other, column in raw.others.items()}
    return Table(name, columns, raw.problems, raw.notes, others, raw.metadata)


def choose(
    match: Match, schema: Schema, take: Callable[[str], Column], problems: Problems, *, text: bool = False
) -> RawTable:
    """Return the columns that were matched, each taken by its own name."""
    columns: dict[str, Column] = {}
    worded: list[str] = []
    for name, names in match.columns.items():
        column = take(names[0])
        if schema.merge and len(names) > 1:
            column = _merge([_to_list(take(other)) for other in names], empty=text)
        divisor = schema[name].divisors.get(schema[name].know(names[0]))
        codes = schema[name].codes.get(schema[name].know(names[0]))
        if codes is not None:
            column = _decode_words(column, codes)
        if schema[name].know(names[0]) in schema[name].within and schema[name].column is None:
            from judged.io.question_sets import check_whole

            check_whole(column, names[0], problems)
        if schema[name].words and len(column) and holds_words(column, schema[name].words):
            shown = list(dict.fromkeys(str(value).strip().lower() for value in _to_list(column)))
            column = _decode_words(column, schema[name].words)
            pairs = ", ".join(f"{word} is {schema[name].words[word]:g}" for word in shown)
            worded.append(f"the words of `{names[0]}` are grades: {pairs}")
        columns[name] = column if divisor is None else _divide(column, divisor)
    others = {other: take(other) for other in match.others} if schema.open else {}
    raw = RawTable(columns, problems, (*_note_codes(match, schema), *worded), text, others)
    if schema.is_plain(match) and not (
        schema.has("question")
        and any(holds_lists(columns[name]) for name in ("document", "text") if name in columns)
    ):
        return raw
    # imported here because most files are plain, and every command would load it
    from judged.io.question_sets import check_doubtful, to_plain

    check_doubtful(match, schema, take, problems.subject)
    plain = to_plain(columns, match, schema, problems, cells=text)
    raw.columns, raw.by_text, raw.empty = plain.columns, plain.by_text, plain.empty
    raw.notes = (*raw.notes, *plain.notes)
    return raw


def _note_codes(match: Match, schema: Schema) -> tuple[str, ...]:
    """Return the notes of a match, and what the words of a column were taken for."""
    notes = list(match.notes)
    for name, names in match.columns.items():
        codes = schema[name].codes.get(schema[name].know(names[0]))
        if codes is not None:
            letters = {word: number for word, number in codes.items() if len(word) == 1}
            pairs = ", ".join(f"{word.upper()} is {number:g}" for word, number in letters.items())
            notes.append(f"the words of `{names[0]}` are gains: {pairs}")
    return tuple(notes)


def _decode_words(column: Column, codes: Mapping[str, float]) -> list[object]:
    """Return the number that each word stands for; other values stay, and are reported later."""
    values = _to_list(column)
    return [codes.get(value.strip().lower(), value) if isinstance(value, str) else value for value in values]


def holds_words(column: Column, words: Mapping[str, float]) -> bool:
    """Return whether all values of a column are some of these words."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            return False
    elif not isinstance(next(iter(column), None), str):
        return False
    return all(isinstance(value, str) and value.strip().lower() in words for value in _to_list(column))


def is_frame(source: object) -> bool:
    """Return whether an object can give its columns to Arrow; early Polars did so by `to_arrow`."""
    return any(hasattr(source, way) for way in ("__arrow_c_stream__", "__arrow_c_array__", "to_arrow"))


def from_frame(source: Any, schema: Schema, *, subject: str, locate: Locate = locate_row) -> RawTable:
    """Return the columns of a data frame or an Arrow table, without copying more than needed."""
    try:
        capsule = hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")
        table = source if isinstance(source, pa.Table) else pa.table(source if capsule else source.to_arrow())
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        msg = f"{subject} cannot be read as a table from {_describe_type(source)}: {reason}"
        raise WrongKind(msg) from error
    names = table.column_names
    match = schema.match(names, subject=subject)
    raw = choose(match, schema, lambda name: table.column(names.index(name)), Problems(subject, locate))
    about = table.schema.metadata or {}
    raw.metadata = {
        key.decode(errors="replace"): value.decode(errors="replace") for key, value in about.items()
    }
    return raw


def from_rows(source: Iterable[object], schema: Schema, *, subject: str) -> RawTable:
    """Return the columns of dicts, named tuples (as of ir_measures and ir_datasets), structs or dataclasses."""
    items = list(source)
    if not items or isinstance(items[0], Mapping):
        return from_records(items, schema, Problems(subject))
    kinds = set(map(type, items))
    fields = _field_names(items[0])
    if fields is None or len(kinds) > 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        msg = f"{subject} cannot be read from an iterable of {names}, expected named tuples or dicts of one kind"
        example = ", ".join(f"'{name.name}': …" for name in schema.fields if name.required)
        raise WrongKind(msg, hint=f"for example dicts {{{example}}}, or a dict of dicts")
    match = schema.match(fields, subject=subject)
    return choose(match, schema, lambda name: [getattr(item, name) for item in items], Problems(subject))


def from_records(records: Sequence[object], schema: Schema, problems: Problems) -> RawTable:
    """Return the columns of objects that name their values, those under `results` with their outer values."""
    rows, owner = _flatten_records(records, problems)
    if problems.line is not None:
        problems.follow(owner)
    if not rows:
        return RawTable({field.name: [] for field in schema.fields if field.required}, problems)
    # where it names plain columns, the first row names those of all: a run has millions of rows
    every = rows if schema.merge or schema.open or not _is_plain_row(rows[0], schema) else rows[:1]
    keys = list(dict.fromkeys(key for row in every for key in row if isinstance(key, str)))
    match = schema.match(keys, subject=problems.subject)
    if len(every) == len(rows) and schema.has("question"):
        rows = _unite(rows, match, schema)
        match = schema.match(
            [key for key in keys if any(key in row for row in rows)], subject=problems.subject
        )
    return choose(match, schema, lambda name: [row.get(name) for row in rows], problems)


def _is_plain_row(row: Mapping[str, object], schema: Schema) -> bool:
    """Return whether a row names all that its table needs, and lists nothing."""
    try:
        match = schema.match([key for key in row if isinstance(key, str)], subject="")
    except BadInput:
        return False
    return schema.is_plain(match)


def _unite(rows: list[Mapping[str, object]], match: Match, schema: Schema) -> list[Mapping[str, object]]:
    """Return rows in which the documents have one name, where no row uses two, as in records written by hand."""
    for name in ("document", "text"):
        names = match.columns.get(name, ())
        if len(names) < 2 or any(sum(row.get(key) is not None for key in names) > 1 for row in rows):
            continue
        listed = [key for key in names if schema[name].is_list(key)]
        # one whose values may be texts, if there is one: then they are looked at
        kept = next(
            (key for key in listed if schema[name].know(key) in schema[name].either), [*listed, *names][0]
        )
        values = [next((row[key] for key in names if row.get(key) is not None), None) for row in rows]
        bare = [{key: value for key, value in row.items() if key not in names} for row in rows]
        rows = [{**row, kept: value} for row, value in zip(bare, values, strict=True)]
    return rows


def open_layout(value: Mapping[Any, Any], schema: Schema, label: str, name: str = "") -> RawTable | None:
    """Return the columns of an object in the layout of another tool, or of the rows that it holds; None if it has neither.

    `name` is what a query is called that has no other name.
    """
    from judged.io.layouts import find_layout, list_rows
    from judged.io.records import find_records

    layout = find_layout(value, label)
    if layout is None:
        found = find_records(value, schema)
        if found is None:
            return None
        raw = from_records(found[0], schema, Problems(label))
        raw.notes = (*raw.notes, found[1])
        return raw
    raw = from_records(list_rows(layout, value, schema, label, name or label), schema, Problems(label))
    raw.notes = (*raw.notes, layout.note) if layout.note else raw.notes
    return raw


def from_mapping(mapping: Mapping[Any, Any], schema: Schema, *, subject: str) -> RawTable:
    """Return the columns of nested dicts, whose keys and values are the fields of `schema.nested`."""
    *outer, last = schema.nested
    rows: list[tuple[object, ...]] = []
    _unnest(mapping, schema, (), rows, subject)
    places = [", ".join(f"{name} `{key}`" for name, key in zip(outer, row, strict=False)) for row in rows]
    problems = Problems(subject, lambda row: Place(places[row]))
    if schema.open or (rows and isinstance(rows[0][-1], Mapping)):
        records = [
            {**dict(zip(outer, row, strict=False)), **row[-1]} for row in rows if isinstance(row[-1], Mapping)
        ]
        return from_records(records, schema, problems)
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in schema.nested]
    return RawTable(dict(zip((*outer, last), columns, strict=True)), problems)


def is_record(value: object, schema: Schema) -> bool:
    """Return whether an object is a row of a table: it names its fields, or a query and its results."""
    if not isinstance(value, Mapping):
        return False
    keys = [key for key in value if isinstance(key, str)]
    if any(isinstance(inner, Mapping | list) for inner in value.values()):
        nested = all(isinstance(inner, Mapping) for inner in value.values())
        return _has_results(value) or (schema.recognises(keys) and not nested)
    return schema.recognises(keys, enough=1)


def _unnest(
    inner: Mapping[object, object],
    schema: Schema,
    above: tuple[object, ...],
    rows: list[tuple[object, ...]],
    subject: str,
) -> None:
    """Add a row for every value of nested dicts."""
    depth = len(schema.nested) - 1
    for key, value in inner.items():
        keys = (*above, str(key) if schema.open else key)
        if len(keys) == depth:
            samples = value if isinstance(value, (list, tuple, np.ndarray)) else [value]
            rows += [(*keys, sample) for sample in samples]
        elif isinstance(value, Mapping):
            _unnest(value, schema, keys, rows, subject)
        else:
            name, expected = schema.nested[len(above)], schema.nested[len(keys) :]
            msg = (
                f"{subject} of {name} `{key}` are {type(value).__name__}, "
                f"expected a dict from {' to '.join(expected)}"
            )
            raise WrongKind(msg)


def _flatten_records(
    records: Sequence[object], problems: Problems
) -> tuple[list[Mapping[str, object]], list[int]]:
    """Return every row, and the record that each came from."""
    rows: list[Mapping[str, object]] = []
    owner: list[int] = []
    for number, record in enumerate(records):
        if not isinstance(record, Mapping):
            message = f"holds {type(record).__name__}, expected an object with named values"
            problems.add("not-an-object", number, message)
            continue
        inner = [record]
        if _has_results(record):
            outer = {key: value for key, value in record.items() if key != RESULTS}
            inner = [{**outer, **result} for result in record[RESULTS]]
        rows += inner
        owner += [number] * len(inner)
    return rows, owner


def _has_results(record: Mapping[str, object]) -> bool:
    results = record.get(RESULTS)
    return isinstance(results, list) and all(isinstance(result, Mapping) for result in results)


def _field_names(item: object) -> list[str] | None:
    if isinstance(item, tuple) and hasattr(item, "_fields"):
        return list(item._fields)
    if dataclasses.is_dataclass(item):
        return [member.name for member in dataclasses.fields(item)]
    return list(item.__struct_fields__) if hasattr(item, "__struct_fields__") else None


def _merge(columns: Sequence[Sequence[object]], *, empty: bool) -> list[object]:
    """Return for each row the first value that is there."""
    absent = (None, "") if empty else (None,)
    return [
        next((value for value in values if value not in absent), None)
        for values in zip(*columns, strict=True)
    ]


def _drop_empty(column: Column) -> list[object]:
    return [None if value == "" else value for value in _to_list(column)]


def _to_list(column: Column) -> list[object]:
    return list(column) if isinstance(column, (list, tuple)) else column.to_pylist()


def _divide(column: Column, divisor: float) -> Column:
    """Return numbers in another unit; values that are not numbers stay, and are reported later."""
    import pyarrow.compute as pc

    if not isinstance(column, (list, tuple)):
        return pc.divide(column, pa.scalar(divisor)) if pa.types.is_primitive(column.type) else column
    return [value / divisor if isinstance(value, (int, float)) else value for value in column]


def _describe_type(source: object) -> str:
    return f"{type(source).__module__.partition('.')[0]}.{type(source).__name__}"
