"""Contents: a file or an object that holds scores, as rows with named values, as one JSON object, or as an archive."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

from judged.errors import BadInput, Unreadable, WrongKind
from judged.io.json import read_lines
from judged.io.open import BOM, File, is_file, open_bytes, open_file, open_stream, read_text
from judged.io.scores.names import may_be_measures
from judged.io.sniff import FORMATS, find_by_extension
from judged.io.table import RawTable, from_frame, from_rows, is_frame, read_file
from judged.problem import NAMED, Note, Place, Problem, Problems
from judged.tables.columns import Column
from judged.tables.mapping import ColumnMap
from judged.tables.schema import UNIT_COLUMNS, WIDE_SCORES, Field, Schema, by_spelling
from judged.wording import counted, name_setting

Json: TypeAlias = Any
"""A decoded JSON value of unknown shape."""
Row: TypeAlias = Mapping[str, Json]

ANYTHING = Schema("scores", (), open=True)
"""The schema of a table whose columns are looked at later."""
PROMPTFOO = (
    "promptfoo's CSV calls the columns of every prompt the same; write JSON: `promptfoo eval -o results.json`"
)
ZIP = b"PK\3\4"
ACCEPTED = "a path, a data frame, a dict from query to its scores, or rows as dicts"
INDEXES = ("", "unnamed: 0", "__index_level_0__")
"""What the index of a data frame is called in a file, in lower case."""
NESTED = ("scores", "metrics", "measures")
"""Keys, in lower case, that may hold an object of values by the name of the measure."""
_BROKEN = (ValueError, RecursionError)


@dataclass(eq=False)
class Content:
    """Content of a source before its format is known: exactly one of rows, document and archive."""

    label: str
    """The name in messages: the path as the user wrote it."""
    name: str
    """The name of the system, unless the content names one."""
    rows: Sequence[Row] = ()
    document: Mapping[str, Json] | None = None
    archive: File | None = None
    problems: Problems = field(default_factory=lambda: Problems("scores"))
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Metadata of a Parquet or Arrow file."""
    notes: list[Note] = field(default_factory=list)
    """Notes on how it was read."""
    map: ColumnMap | None = None
    """The columns that the user names."""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, or the keys of the rows."""
        return tuple(dict.fromkeys(key for row in self.rows for key in row if isinstance(key, str)))

    @cached_property
    def lower(self) -> frozenset[str]:
        """The columns in lower case."""
        return frozenset(name.strip().lower() for name in self.columns)

    def match(self, schema: Schema) -> dict[str, str]:
        """Return the column of each field of a schema; one of `UNIT_COLUMNS` names the query if nothing else does."""
        mapped = schema if self.map is None else self.map.apply(schema)
        found = mapped.match(self.columns, subject=self.label)
        self.notes += [Note("columns", "info", sentence) for sentence in found.notes]
        columns = found.first()
        if "query" not in columns and "text" not in columns and not mapped.mapped:
            units = {name.strip().lower(): name for name in found.others}
            columns |= next(({"query": units[name]} for name in UNIT_COLUMNS if name in units), {})
            if "query" not in columns:
                columns |= next(({"query": name} for name in found.others if self._is_index(name)), {})
        if "system" not in columns and "system" not in mapped.mapped and {"name", "qid"} <= self.lower:
            columns["system"] = by_spelling(found.others).get(
                "name", "name"
            )  # as PyTerrier's results have it
        return columns

    def _is_index(self, name: str) -> bool:
        """Return whether a column is the index of a data frame that holds names, not numbers of rows."""
        values = [row.get(name) for row in self.rows] if name.strip().lower() in INDEXES else []
        return bool(values) and all(isinstance(value, str) and not _is_number(value) for value in values)

    def find(self, field: Field) -> bool:
        """Return whether a column is this field, by its name or because the user says so."""
        by_name = by_spelling(self.columns)
        named = {} if self.map is None else self.map.columns
        column = next((named[key] for key in named if key.rpartition(":")[2] == field.name), None)
        return bool(field._replace(column=column).find(by_name))

    def has(self, *columns: str) -> bool:
        """Return whether all of these columns are there, spelt like this."""
        return set(columns) <= set(self.columns)

    def place(self, row: int) -> Place:
        """Return the place of a row."""
        return self.problems.place(row)

    def name_system(self, value: object) -> str | None:
        """Return the name of a system in a row; None for a row that names none."""
        return None if value is None or not str(value).strip() else str(value)

    def refuse_unnamed(self) -> BadInput:
        """Return the error of a table in which no column names the query."""
        message = f"{', '.join(f'`{name}`' for name in self.columns)}; none names the query, and rows are never paired by their order"
        problem = Problem.error("no-query", "columns", message)
        option = name_setting("--map query=COLUMN", "judged.read_scores(…, map={'query': 'COLUMN'})")
        hint = f"expected the id of the query or the text of the question in each row; say which column it is: {option}"
        return BadInput(self.label, [problem], hint=hint)

    def check_empty(self) -> None:
        """Raise `BadInput` for a content without any row, after the problems of its lines."""
        if self.document is None and self.archive is None and not any(self.rows):
            self.problems.raise_if_any()
            raise BadInput(self.label, [Problem.error("empty", self.label, "holds no scores")])

    def note_measures(self, measures: Sequence[str], left: Sequence[str]) -> None:
        """Add a note on which columns are measures, and which are not."""
        taken = f"columns taken as measures: {_quote(measures, NAMED) or 'none'}"
        message = f"{taken}; left: {_quote(left, NAMED)}" if left else taken
        self.notes.append(Note("measures", "info", message))

    def note_unread(self, measures: Sequence[str], why: str) -> None:
        """Add a note, once, on each measure that has no numbers."""
        new = [Note("no-numbers", "warning", f"`{name}` {why}: not read") for name in measures]
        self.notes += [note for note in dict.fromkeys(new) if note not in self.notes]

    def note_failures(self, count: int, what: str) -> None:
        """Add a note on parts of the content that ended with an error."""
        if count:
            message = f"{counted(count, what)} ended with an error; values that they lack are missing"
            self.notes.append(Note("failed", "warning", message))

    def describe(self) -> str:
        """Return what is there, for a message."""
        if self.archive is not None:
            return "a ZIP archive"
        if self.document is not None:
            return f"its keys are {_quote(list(self.document)) or 'none'}"
        return f"its columns are {_quote(self.columns)}" if self.columns else "it has no rows"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _quote(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def open_content(source: object, *, name: str | None = None, map: ColumnMap | None = None) -> Content:  # noqa: A002
    """Return the content of a path, of bytes, or of an object in memory; `name` is that of the system."""
    schema = WIDE_SCORES if map is None else map.apply(WIDE_SCORES)
    return replace(_open(source, name, schema), map=map)


def _open(source: object, name: str | None, schema: Schema) -> Content:
    if is_file(source):
        return _open_file(source, name, schema)
    label = name or "scores"
    if isinstance(source, Mapping):
        return _from_mapping(source, label, label, schema)
    if not is_frame(source) and hasattr(source, "to_pandas"):  # results of ragas and of LangSmith
        source = source.to_pandas()
    if is_frame(source):
        table = from_frame(source, ANYTHING, subject=label)
        return _from_table(table, label, label)
    if not isinstance(source, Iterable) or isinstance(source, str):
        msg = f"{label} cannot be read from an object of type `{type(source).__name__}`, expected {ACCEPTED}"
        raise WrongKind(msg)
    items = list(source)
    if not all(isinstance(item, Mapping) for item in items):
        return _from_table(from_rows(items, ANYTHING, subject=label), label, label)
    return Content(label, label, rows=items, problems=Problems(label))


def _open_file(source: object, name: str | None, schema: Schema) -> Content:
    file = _to_file(source)
    called = name or file.name or "scores"
    head = file.head()
    if file.label.endswith((".yaml", ".yml")):
        msg = f"{file.label} is YAML, expected JSON or a table"
        raise Unreadable(msg, hint="promptfoo writes JSON, too: `promptfoo eval -o results.json`")
    if head.startswith(ZIP):
        return Content(file.label, called, archive=file, problems=Problems(file.label))
    if any(head.startswith(FORMATS[known].magic) for known in ("parquet", "arrow") if FORMATS[known].magic):
        written = "parquet" if head.startswith(FORMATS["parquet"].magic) else "arrow"
    elif head.removeprefix(BOM).lstrip()[:1] in {b"{", b"["}:
        return _from_json(file, called, schema)
    else:
        named = find_by_extension(file.extension) if file.extension else None
        written = named if named in {"csv", "tsv"} else "csv"
    if written in {"csv", "tsv"}:
        from judged.io.scores.lines import split_lines

        rows = split_lines(bytes(read_text(file)).decode(errors="replace"))
        if rows is not None:
            problems = Problems(file.label, line=list(rows).__getitem__)
            return Content(file.label, called, rows=list(rows.values()), problems=problems)
    columns = FORMATS[written].columns
    if columns is not None:
        _check_names(columns(file), file.label)
    raw = read_file(file, FORMATS[written], ANYTHING)
    if not isinstance(raw, RawTable):  # only JSON is read as an object
        raise TypeError(type(raw))
    return _from_table(raw, file.label, called)


def _to_file(source: object) -> File:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return open_bytes(source, label="bytes", name="")
    if not isinstance(source, (str, os.PathLike)):
        return open_stream(source)
    path = os.fsdecode(source)
    if path != "-" and os.path.isdir(path):  # noqa: PTH112 - may be anything that a user writes
        names = sorted(os.listdir(path))  # noqa: PTH208
        shown = ", ".join(names[:5]) or "nothing"
        msg = f"{path} is a folder ({shown}{', …' if len(names) > 5 else ''}), expected a file of scores"
        raise Unreadable(msg, hint="give its files one by one, each a system")
    return open_file(path)


def _check_names(columns: Sequence[str], label: str) -> None:
    """Raise `BadInput` for two columns of one name, of which only one could be read."""
    again = next((name for at, name in enumerate(columns) if name and name in columns[:at]), None)
    if again is not None:
        problem = Problem.error(
            "repeated-column", "columns", f"two are called `{again}`, expected different names"
        )
        hint = PROMPTFOO if "Named Scores" in columns else None
        raise BadInput(label, [problem], hint=hint)


def _from_table(raw: RawTable, label: str, name: str) -> Content:
    columns = {key: _to_list(column) for key, column in raw.others.items()}
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return Content(label, name, rows=rows, problems=raw.problems, metadata=raw.metadata)


def _to_list(column: Column) -> list[object]:
    return list(column) if isinstance(column, list | tuple) else column.to_pylist()


def _from_json(file: File, name: str, schema: Schema) -> Content:
    """Return the rows of a list or of lines, or an object as a document."""
    data = bytes(read_text(file))
    try:
        value = decode_json(data)
    except _BROKEN as error:
        first, _, rest = data.strip().partition(b"\n")
        if not (first.rstrip().endswith(b"}") and rest.strip()):
            msg = f"{file.label} is not valid JSON: {_reason(error)}"
            raise Unreadable(msg) from None
        return _from_lines(file, data, name)
    if isinstance(value, Mapping):
        return _from_mapping(value, file.label, name, schema)
    return _from_items(value, file.label, name)


def _from_lines(file: File, data: bytes, name: str) -> Content:
    """Return the objects of JSONL; a value NaN, which Python writes, is nothing."""
    values, problems = read_lines(file)
    if len(problems):
        values, again = [], Problems(file.label)
        lines: list[int] = []
        for number, line in enumerate(data.split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                values.append(decode_json(line))
                lines.append(number)
            except _BROKEN as error:
                again.add_line("malformed-line", number, f"is not valid JSON: {_reason(error)}")
        again.line = lines.__getitem__
        problems = again
    return _check_rows(Content(file.label, name, rows=[], problems=problems), values)


def _from_items(items: list[Json], label: str, name: str) -> Content:
    return _check_rows(Content(label, name, rows=[], problems=Problems(label)), items)


def _check_rows(content: Content, items: Sequence[Json]) -> Content:
    """Add a problem for each item that is not an object, and keep the others."""
    for number, item in enumerate(items):
        if not isinstance(item, Mapping):
            message = f"holds {type(item).__name__}, expected an object with named values"
            content.problems.add("not-an-object", number, message)
    content.rows = [item if isinstance(item, Mapping) else {} for item in items]
    return content


def _from_mapping(mapping: Mapping[str, Json], label: str, name: str, schema: Schema) -> Content:
    """Return a dict of columns as rows, a dict from query to its scores as rows, and any other as a document."""
    keys = [key for key in mapping if isinstance(key, str)]
    names = by_spelling(keys)
    known = any(item.find(names) for item in schema.fields)
    inner = list(mapping.values())
    problems = Problems(label)
    if inner and all(isinstance(value, list | tuple) for value in inner) and known:
        if len({len(value) for value in inner}) > 1:
            lengths = ", ".join(f"`{key}` has {len(value):,}" for key, value in list(mapping.items())[:5])
            problem = Problem.error(
                "unequal-columns", "columns", f"{lengths} values, expected the same number"
            )
            raise BadInput(label, [problem])
        rows = [dict(zip(mapping, values, strict=True)) for values in zip(*inner, strict=True)]
        return Content(label, name, rows=rows, problems=problems)
    if inner and all(isinstance(value, Mapping) for value in inner):
        if known:  # as pandas writes its columns
            index = list(dict.fromkeys(row for column in inner for row in column))
            rows = [{key: column.get(row) for key, column in mapping.items()} for row in index]
            return Content(label, name, rows=rows, problems=problems)
        if all(is_flat(value) for value in inner):
            notes = []
            if may_be_measures(keys) and not may_be_measures({name for value in inner for name in value}):
                mapping = _transpose(mapping)
                notes = [
                    Note(
                        "transposed",
                        "info",
                        f"read as measure → query → value, by the names {_quote(keys, NAMED)}",
                    )
                ]
            rows = [{"query": key, **value} for key, value in mapping.items()]
            places = [f"query `{key}`" for key in mapping]
            return Content(
                label, name, rows=rows, problems=Problems(label, lambda row: Place(places[row])), notes=notes
            )
    plain = {key: value for key, value in mapping.items() if not is_nested(key, value)}
    if known and is_flat(plain):  # JSONL of a single line
        return Content(label, name, rows=[mapping], problems=problems)
    return Content(label, name, document=mapping, problems=problems)


def _transpose(mapping: Mapping[str, Mapping[str, Json]]) -> dict[str, dict[str, Json]]:
    """Return a dict from measure to the values of queries, as ranx has them, by query."""
    queries = dict.fromkeys(query for values in mapping.values() for query in values)
    return {
        query: {name: values[query] for name, values in mapping.items() if query in values}
        for query in queries
    }


def is_nested(name: object, value: Json) -> bool:
    """Return whether a value is an object of values of measures, by its name and by what it holds."""
    return str(name).strip().lower() in NESTED and isinstance(value, Mapping) and is_flat(value)


def is_flat(mapping: Mapping[str, Json]) -> bool:
    """Return whether an object holds only values by name."""
    return all(isinstance(key, str) for key in mapping) and not any(
        isinstance(value, Mapping | list | tuple) for value in mapping.values()
    )


def decode_json(data: bytes) -> Json:
    """Return a JSON value; NaN and infinity, which Python's programs write, are allowed."""
    import msgspec

    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        if b"NaN" not in data and b"Infinity" not in data:
            raise ValueError(_reason(error)) from None
        return json.loads(data)


def decode_cell(value: Json) -> Json:
    """Return an object that a cell of CSV holds as JSON; any other value as it is."""
    if not isinstance(value, str) or value.strip()[:1] not in {"{", "["}:
        return None if value == "" else value
    try:
        return decode_json(value.encode(errors="replace"))
    except (ValueError, RecursionError):
        return value


def _reason(error: Exception) -> str:
    return str(error).removeprefix("JSON is malformed: ") or type(error).__name__


def get(value: Json, *path: str) -> Json:
    """Return what is found under names inside objects; None if there is nothing."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def list_objects(value: Json) -> list[Mapping[str, Json]]:
    """Return the objects in a list; none of any other value."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def to_question(value: Json) -> str | None:
    """Return a text, or an object of inputs as text: that of its only value, else as JSON with its keys in order.

    >>> to_question({"question": "Why?"}), to_question({"b": 1, "a": "x"})
    ('Why?', '{"a":"x","b":1}')
    """
    if isinstance(value, str):
        return value or None
    if not value and not isinstance(value, int | float):
        return None
    if isinstance(value, Mapping) and len(value) == 1:
        (only,) = value.values()
        if isinstance(only, str):
            return only
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return None
