"""Texts of queries and documents, from JSONL, TSV, CSV or Parquet; of large collections only what is needed."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

import msgspec
import pyarrow as pa

from judged.errors import Unreadable, Unusable
from judged.io.open import open_file, split_name
from judged.io.table import read_table
from judged.io.topics import is_topics
from judged.problem import Problems
from judged.tables.inputs import ArrowStream, FileLike, Rows
from judged.tables.mapping import map_schema
from judged.tables.schema import DOCUMENTS, QUERIES, Schema

WHOLE_FORMATS = (".json", ".xml", ".sgml", ".sgm", ".arrow", ".arrows", ".feather", ".ipc")
"""Extensions of formats that are read as a whole; the others are streamed."""

Row: TypeAlias = tuple[int, Mapping[str, object]]
Source: TypeAlias = FileLike | ArrowStream | Rows
TextSource: TypeAlias = Source | Mapping[str, str] | Mapping[str, Mapping[str, str]]
"""A file, a data frame, rows, or a dict from ids to texts or to dicts with title and text."""


@dataclass(frozen=True, slots=True)
class Text:
    """Title and text of a document."""

    title: str
    text: str


def read_queries(source: TextSource, *, lenient: bool = False) -> dict[str, str]:
    """Read the text of every query by its id; if a query has several texts, the first counts when lenient."""
    if isinstance(source, Mapping):
        return {str(query): str(text) for query, text in source.items()}
    texts = _read_texts(source, QUERIES, None, lenient=lenient)
    return {query: text.text for query, text in texts.items() if text.text.strip()}


def read_documents(
    source: TextSource,
    wanted: Container[str] | None = None,
    *,
    lenient: bool = False,
    keep_empty: bool = False,
) -> dict[str, Text]:
    """Read title and text of the wanted documents by id; without `keep_empty`, those with neither are left out."""
    if isinstance(source, Mapping):
        texts = {
            str(document): _to_text(value)
            for document, value in source.items()
            if wanted is None or str(document) in wanted
        }
    else:
        texts = _read_texts(source, DOCUMENTS, wanted, lenient=lenient)
    if keep_empty:
        return texts
    return {document: text for document, text in texts.items() if (text.title + text.text).strip()}


def find_texts(source: TextSource, name: str) -> TextSource:
    """Return the file of that name, such as `queries` or `corpus`, if the source is a BEIR folder; else the source."""
    if not isinstance(source, str | PathLike) or not Path(source).is_dir():
        return source
    files = sorted(Path(source).glob(f"{name}.jsonl*"))
    if not files:
        msg = f"{source} has no `{name}.jsonl`"
        raise Unreadable(msg, hint="name the file itself, or a folder in the layout of BEIR")
    return files[0]


def _to_text(value: object) -> Text:
    if isinstance(value, Mapping):
        return Text(str(value.get("title") or ""), str(value.get("text") or ""))
    return Text("", str(value))


def _read_texts(
    source: Source, schema: Schema, wanted: Container[str] | None, *, lenient: bool
) -> dict[str, Text]:
    schema = map_schema(schema, source)
    problems = Problems(str(fspath(source)) if isinstance(source, str | PathLike) else schema.name)
    texts: dict[str, Text] = {}
    known: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for line, row in _read_rows(source, schema, problems):
        names = tuple(row)
        if names not in known:
            known[names] = _find_columns(schema, names)
        columns = known[names]
        fields = {field: _first_value(row, names) for field, names in columns.items()}
        key = fields["id"] or (fields["text"] if schema["id"].instead == "text" else None)
        if key is None:
            expected = ", ".join(schema["id"].names)
            problems.add_line("incomplete-row", line, f"has no id, expected one of {expected}")
        elif wanted is not None and key not in wanted:
            continue
        elif not any(names for field, names in columns.items() if field != "id"):
            expected = ", ".join(schema["text"].names)
            problems.add_line("incomplete-row", line, f"has no text, expected one of {expected}")
        else:
            text = Text(fields.get("title") or "", fields["text"] or "")
            if texts.setdefault(key, text) != text and not lenient:
                message = f"`{key}` has another text than before, expected one"
                problems.add_line("conflicting-text", line, message)
    hint = "with `--lenient`, the first text counts" if "conflicting-text" in problems.counts else None
    problems.raise_if_any(hint=hint, error=Unusable)
    return texts


def _find_columns(schema: Schema, names: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the names of each field in a row, which are in lower case."""
    fields = tuple(
        field if field.column is None else field._replace(column=field.column.lower())
        for field in schema.fields
    )
    # a column that is not there is a problem of the row
    known = tuple(field for field in fields if field.column is None or field.column in names)
    found = replace(schema, fields=known).assign(names, schema.name)
    return {field.name: found.get(field.name, []) for field in fields}


def _first_value(row: Mapping[str, object], columns: Iterable[str]) -> str | None:
    values = (row.get(name) for name in columns)
    return next((str(value) for value in values if value is not None and value != ""), None)


def _read_rows(source: Source, schema: Schema, problems: Problems) -> Iterator[Row]:
    """Yield every row of a source with its line number; column names are in lower case."""
    if (
        not isinstance(source, str | PathLike)
        or split_name(Path(source))[1] in WHOLE_FORMATS
        or _has_topics(source, schema)
    ):
        yield from _read_whole(source, schema)
        return
    path = Path(source)
    try:
        if path.name.lower().endswith((".parquet", ".pq")):
            yield from _read_parquet(path, schema)
            return
        with pa.input_stream(str(path), compression="detect") as stream:
            lines = io.TextIOWrapper(io.BufferedReader(stream), "utf-8-sig", newline="", errors="replace")
            yield from _read_text(lines, schema, problems)
    except FileNotFoundError:
        msg = f"{path} does not exist"
        raise Unreadable(msg) from None
    except (OSError, pa.ArrowException) as error:
        msg = f"{path} cannot be read: {error}"
        raise Unreadable(msg) from None


def _has_topics(source: str | PathLike[str], schema: Schema) -> bool:
    """Return whether a file holds topics of TREC, which are read as a whole."""
    if schema.name != "queries" or not Path(source).is_file():
        return False
    return is_topics(open_file(Path(source)).head())


def _read_whole(source: Source, schema: Schema) -> Iterator[Row]:
    """Yield the rows of a data frame, or of a format that cannot be read line by line."""
    table = read_table(source, schema)
    table.problems.raise_if_any(error=Unusable)
    columns = {name: column.to_pylist() for name, column in table.columns.items()}
    for number, values in enumerate(zip(*columns.values(), strict=True), 1):
        yield number, dict(zip(columns, values, strict=True))


def _read_text(lines: Iterable[str], schema: Schema, problems: Problems) -> Iterator[Row]:
    """Yield the rows of JSONL, or of a table with or without a header."""
    numbered = enumerate(lines, 1)
    number, first = next(((number, line) for number, line in numbered if line.strip()), (0, ""))
    rest = ((number, line) for number, line in numbered if line.strip())
    if not first:
        return
    if first.lstrip().startswith("{"):
        yield from _read_json(chain([(number, first)], rest), problems)
    elif _is_header(first, schema):
        yield from _read_csv(first, lines, number, problems)
    else:
        yield from _read_plain_tsv((number, first), rest, problems)


def _read_json(lines: Iterable[tuple[int, str]], problems: Problems) -> Iterator[Row]:
    decode = msgspec.json.Decoder().decode
    for number, line in lines:
        try:
            row = decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            problems.add_line("malformed-line", number, f"is not valid JSON: {error}")
            continue
        if isinstance(row, dict):
            yield number, {key.lower(): value for key, value in row.items()}
        else:
            problems.add_line("malformed-line", number, f"is {type(row).__name__}, expected an object")


def _is_header(line: str, schema: Schema) -> bool:
    names = [name.strip().strip('"').lower() for name in re.split("[\t,;]", line.strip())]
    found = _find_columns(schema, tuple(dict.fromkeys(names)))
    return bool(found["text"]) and bool(found["id"] or schema["id"].instead == "text")


def _read_csv(header: str, lines: Iterable[str], above: int, problems: Problems) -> Iterator[Row]:
    delimiter = max(",\t;", key=header.count)
    names = [name.strip().lower() for name in next(csv.reader([header], delimiter=delimiter))]
    limit = csv.field_size_limit(sys.maxsize)  # documents are longer than the module expects
    try:
        reader = csv.reader(lines, delimiter=delimiter)
        for values in reader:
            if len(values) == len(names):
                yield above + reader.line_num, dict(zip(names, values, strict=True))
            elif values:
                message = f"{len(values)} columns, expected {len(names)}"
                problems.add_line("malformed-line", above + reader.line_num, message)
    finally:
        csv.field_size_limit(limit)


def _read_plain_tsv(
    first: tuple[int, str], rest: Iterable[tuple[int, str]], problems: Problems
) -> Iterator[Row]:
    """Yield the rows of tab-separated values without a header or quotes."""
    count = first[1].count("\t") + 1
    names = DOCUMENTS.lines.get(count)
    if names is None:
        message = f"{count} tab-separated columns, expected 2, 3 or 4, or a header"
        problems.add_line("malformed-line", first[0], message)
        return
    for number, line in chain([first], rest):
        values = line.rstrip("\r\n").split("\t")
        if len(values) == len(names):
            yield number, dict(zip(names, values, strict=True))
        else:
            problems.add_line("malformed-line", number, f"{len(values)} columns, expected {len(names)}")


def _read_parquet(path: Path, schema: Schema) -> Iterator[Row]:
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
        known = {
            name for found in _find_columns(schema, tuple(map(str.lower, names))).values() for name in found
        }
        columns = [name for name in names if name.lower() in known]
        rows = (row for batch in file.iter_batches(4096, columns=columns) for row in batch.to_pylist())
        for number, row in enumerate(rows, 1):
            yield number, {key.lower(): value for key, value in row.items()}
