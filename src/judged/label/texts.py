"""Texts of queries and documents, from JSONL, TSV, CSV or Parquet; of large collections only what is needed."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa

from judged.errors import Unreadable, Unusable
from judged.io.open import split_name
from judged.io.table import read_table
from judged.problem import Problems
from judged.tables.schema import DOCUMENTS, QUERIES

__all__ = ["Text", "TextSource", "read_documents", "read_queries"]

QUERY = {field.name: field.names for field in QUERIES.fields}
DOCUMENT = {field.name: field.names for field in DOCUMENTS.fields}
"""Accepted column names of each field, case-insensitive; the first one present is used."""
TEXTS = replace(
    DOCUMENTS,
    fields=(
        replace(DOCUMENTS["id"], aliases=(*DOCUMENTS["id"].names, *QUERIES["id"].names[2:])),
        DOCUMENTS["title"],
        replace(DOCUMENTS["text"], aliases=(*DOCUMENTS["text"].names, *QUERIES["text"].names[1:3])),
    ),
)
"""Queries or documents, where a file is read before it is known which."""

WHOLE_FORMATS = (".json", ".arrow", ".arrows", ".feather", ".ipc")
"""Extensions of formats that are read as a whole; the others are streamed."""

Aliases: TypeAlias = Mapping[str, tuple[str, ...]]
Row: TypeAlias = tuple[int, Mapping[str, Any]]
TextSource: TypeAlias = str | Path | Mapping[str, Any]
"""A file, or a dict from ids to texts or to dicts with title and text."""


@dataclass(frozen=True, slots=True)
class Text:
    """Title and text of a document."""

    title: str
    text: str


def read_queries(source: TextSource, *, lenient: bool = False) -> dict[str, str]:
    """Read the text of every query by its id; if a query has several texts, the first counts when lenient."""
    if isinstance(source, Mapping):
        return {str(query): str(text) for query, text in source.items()}
    texts = _read_file(source, QUERY, None, lenient=lenient)
    return {query: text.text for query, text in texts.items() if text.text.strip()}


def read_documents(
    source: TextSource, wanted: Container[str] | None, *, lenient: bool = False
) -> dict[str, Text]:
    """Read title and text of the wanted documents by id; documents with an empty text are left out."""
    if isinstance(source, Mapping):
        texts = {
            str(document): _to_text(value)
            for document, value in source.items()
            if wanted is None or str(document) in wanted
        }
    else:
        texts = _read_file(source, DOCUMENT, wanted, lenient=lenient)
    return {document: text for document, text in texts.items() if (text.title + text.text).strip()}


def _to_text(value: object) -> Text:
    if isinstance(value, Mapping):
        return Text(str(value.get("title") or ""), str(value.get("text") or ""))
    return Text("", str(value))


def _read_file(
    source: str | Path, aliases: Aliases, wanted: Container[str] | None, *, lenient: bool
) -> dict[str, Text]:
    problems = Problems(str(source))
    texts: dict[str, Text] = {}
    for line, row in _read_rows(Path(source), problems):
        fields = {name: _first_value(row, columns) for name, columns in aliases.items()}
        key = fields["id"]
        if key is None:
            problems.add_line(
                "incomplete-row", line, f"has no id, expected one of {', '.join(aliases['id'])}"
            )
        elif wanted is not None and key not in wanted:
            continue
        elif not any(name in row for name in (*aliases["text"], *aliases.get("title", ()))):
            problems.add_line(
                "incomplete-row", line, f"has no text, expected one of {', '.join(aliases['text'])}"
            )
        else:
            text = Text(fields.get("title") or "", fields["text"] or "")
            if texts.setdefault(key, text) != text and not lenient:
                problems.add_line(
                    "conflicting-text", line, f"`{key}` has another text than before, expected one"
                )
    hint = "with `--lenient`, the first text counts" if "conflicting-text" in problems.counts else None
    problems.raise_if_any(hint=hint, error=Unusable)
    return texts


def _first_value(row: Mapping[str, Any], columns: Iterable[str]) -> str | None:
    values = (row.get(name) for name in columns)
    return next((str(value) for value in values if value is not None and value != ""), None)


def _read_rows(path: Path, problems: Problems) -> Iterator[Row]:
    """Yield every row of a file with its line number; column names are in lower case."""
    try:
        if path.name.lower().endswith((".parquet", ".pq")):
            yield from _read_parquet(path)
            return
        if split_name(path)[1] in WHOLE_FORMATS:
            yield from _read_whole(path)
            return
        with pa.input_stream(str(path), compression="detect") as stream:
            lines = io.TextIOWrapper(io.BufferedReader(stream), "utf-8-sig", newline="", errors="replace")
            yield from _read_text(lines, problems)
    except FileNotFoundError:
        msg = f"{path} does not exist"
        raise Unreadable(msg) from None
    except (OSError, pa.ArrowException) as error:
        msg = f"{path} cannot be read: {error}"
        raise Unreadable(msg) from None


def _read_whole(path: Path) -> Iterator[Row]:
    """Yield the rows of a format that cannot be read line by line."""
    table = read_table(path, TEXTS)
    table.problems.raise_if_any(error=Unusable)
    columns = {name: column.to_pylist() for name, column in table.columns.items()}
    for number, values in enumerate(zip(*columns.values(), strict=True), 1):
        yield number, dict(zip(columns, values, strict=True))


def _read_text(lines: Iterable[str], problems: Problems) -> Iterator[Row]:
    """Yield the rows of JSONL, or of a table with or without a header."""
    numbered = enumerate(lines, 1)
    number, first = next(((number, line) for number, line in numbered if line.strip()), (0, ""))
    rest = ((number, line) for number, line in numbered if line.strip())
    if not first:
        return
    if first.lstrip().startswith("{"):
        yield from _read_json(chain([(number, first)], rest), problems)
    elif _is_header(first):
        yield from _read_csv(first, lines, number, problems)
    else:
        yield from _read_plain_tsv((number, first), rest, problems)


def _read_json(lines: Iterable[tuple[int, str]], problems: Problems) -> Iterator[Row]:
    decode = msgspec.json.Decoder().decode
    for number, line in lines:
        try:
            row = decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            problems.add_line("malformed-line", number, f"is no JSON: {error}")
            continue
        if isinstance(row, dict):
            yield number, {key.lower(): value for key, value in row.items()}
        else:
            problems.add_line("malformed-line", number, f"is {type(row).__name__}, expected an object")


def _is_header(line: str) -> bool:
    names = {name.strip().strip('"').lower() for name in line.replace("\t", ",").split(",")}
    return bool(names & {*QUERY["id"], *DOCUMENT["id"]}) and bool(names & {*QUERY["text"], *DOCUMENT["text"]})


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


def _read_parquet(path: Path) -> Iterator[Row]:
    import pyarrow.parquet

    known = {*QUERY["id"], *QUERY["text"], *DOCUMENT["id"], *DOCUMENT["title"], *DOCUMENT["text"]}
    with pyarrow.parquet.ParquetFile(path) as file:
        columns = [name for name in file.schema_arrow.names if name.lower() in known]
        rows = (row for batch in file.iter_batches(4096, columns=columns) for row in batch.to_pylist())
        for number, row in enumerate(rows, 1):
            yield number, {key.lower(): value for key, value in row.items()}
