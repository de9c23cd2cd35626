"""Texts of queries and documents, from JSONL, TSV, CSV or Parquet; of large collections only what is needed."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa

from judged.errors import Unreadable, Unusable
from judged.io.columns import NAMES as COLUMNS
from judged.problem import Problems

__all__ = ["Text", "read_documents", "read_queries"]

QUERY = {
    "id": ("id", "_id", "task", *COLUMNS["query"][:-1]),
    "text": ("text", "query", "question", "title"),
}
DOCUMENT = {
    "id": ("id", "_id", *COLUMNS["document"][:-2]),
    "title": ("title",),
    "text": ("text", "contents", "content", "body", "passage", "snippet", "abstract"),
}
"""For each field, the names it may have, without regard to case; the first one present is taken."""

UNNAMED = {2: ("id", "text"), 3: ("id", "title", "text"), 4: ("id", "url", "title", "text")}
"""What the columns of a TSV without a header hold, by their number; four are the documents of MS MARCO."""

Names: TypeAlias = Mapping[str, tuple[str, ...]]
Row: TypeAlias = tuple[int, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Text:
    """What is known of a document."""

    title: str
    text: str


def read_queries(source: Any, *, lenient: bool = False) -> dict[str, str]:
    """The text of every query by its id, of a file or a dict; of one that has two, leniently the first."""
    if isinstance(source, Mapping):
        return {str(query): str(text) for query, text in source.items()}
    texts = _read(source, QUERY, None, lenient=lenient)
    return {id_: text.text for id_, text in texts.items() if text.text.strip()}


def read_documents(source: Any, wanted: Container[str] | None, *, lenient: bool = False) -> dict[str, Text]:
    """Title and text of the wanted documents by their ids, of a file or a dict to texts or to dicts with both.

    A document whose text is empty has none, and is not there.
    """
    if isinstance(source, Mapping):
        chosen = {str(id_): told for id_, told in source.items() if wanted is None or str(id_) in wanted}
        texts = {id_: _text(told) for id_, told in chosen.items()}
    else:
        texts = _read(source, DOCUMENT, wanted, lenient=lenient)
    return {id_: text for id_, text in texts.items() if (text.title + text.text).strip()}


def _text(told: Any) -> Text:
    if isinstance(told, Mapping):
        return Text(str(told.get("title") or ""), str(told.get("text") or ""))
    return Text("", str(told))


def _read(source: Any, names: Names, wanted: Container[str] | None, *, lenient: bool) -> dict[str, Text]:
    path = Path(source)
    faults = Problems(str(source))
    found: dict[str, Text] = {}
    for line, row in _rows(path, faults):
        told = {field: _value(row, choices) for field, choices in names.items()}
        if told["id"] is None:
            faults.add_line("rows", line, f"has no id, expected one of {', '.join(names['id'])}")
        elif wanted is not None and told["id"] not in wanted:
            continue
        elif not any(name in row for name in (*names["text"], *names.get("title", ()))):
            faults.add_line("rows", line, f"has no text, expected one of {', '.join(names['text'])}")
        else:
            text = Text(told.get("title") or "", told["text"] or "")
            if found.setdefault(told["id"], text) != text and not lenient:
                faults.add_line("texts", line, f"`{told['id']}` has another text than before, expected one")
    hint = "leniently (`--lenient`), the first text counts" if "texts" in faults.counts else None
    faults.raise_if_any(hint=hint, error=Unusable)
    return found


def _value(row: Mapping[str, Any], choices: Iterable[str]) -> str | None:
    """The first of the values that is there, as text."""
    values = (row.get(name) for name in choices)
    return next((str(value) for value in values if value is not None and value != ""), None)


def _rows(path: Path, faults: Problems) -> Iterator[Row]:
    """Every row of a file with its line, names of columns in lower case."""
    name = path.name.lower()
    try:
        if name.endswith((".parquet", ".pq")):
            yield from _parquet(path)
            return
        with pa.input_stream(str(path), compression="detect") as stream:
            lines = io.TextIOWrapper(io.BufferedReader(stream), "utf-8-sig", newline="", errors="replace")
            yield from _text_rows(lines, faults)
    except FileNotFoundError:
        msg = f"{path} does not exist"
        raise Unreadable(msg) from None
    except (OSError, pa.ArrowException) as error:
        msg = f"{path} cannot be read: {error}"
        raise Unreadable(msg) from None


def _text_rows(lines: Iterable[str], faults: Problems) -> Iterator[Row]:
    """Rows of JSONL, or of a table with or without a header."""
    numbered = enumerate(lines, 1)
    number, first = next(((number, line) for number, line in numbered if line.strip()), (0, ""))
    rest = ((number, line) for number, line in numbered if line.strip())
    if not first:
        return
    if first.lstrip().startswith("{"):
        yield from _json_rows(chain([(number, first)], rest), faults)
    elif _is_header(first):
        yield from _sheet(first, lines, number, faults)
    else:
        yield from _plain_rows((number, first), rest, faults)


def _json_rows(lines: Iterable[tuple[int, str]], faults: Problems) -> Iterator[Row]:
    decode = msgspec.json.Decoder().decode
    for number, line in lines:
        try:
            row = decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            faults.add_line("malformed-line", number, f"is no JSON: {error}")
            continue
        if isinstance(row, dict):
            yield number, {key.lower(): value for key, value in row.items()}
        else:
            faults.add_line("malformed-line", number, f"is {type(row).__name__}, expected an object")


def _is_header(line: str) -> bool:
    names = {each.strip().strip('"').lower() for each in line.replace("\t", ",").split(",")}
    return bool(names & {*QUERY["id"], *DOCUMENT["id"]}) and bool(names & {*QUERY["text"], *DOCUMENT["text"]})


def _sheet(header: str, lines: Iterable[str], above: int, faults: Problems) -> Iterator[Row]:
    delimiter = max(",\t;", key=header.count)
    names = [each.strip().lower() for each in next(csv.reader([header], delimiter=delimiter))]
    before = csv.field_size_limit(sys.maxsize)  # documents are longer than the module expects
    try:
        reader = csv.reader(lines, delimiter=delimiter)
        for values in reader:
            if len(values) == len(names):
                yield above + reader.line_num, dict(zip(names, values, strict=True))
            elif values:
                told = f"{len(values)} columns, expected {len(names)}"
                faults.add_line("malformed-line", above + reader.line_num, told)
    finally:
        csv.field_size_limit(before)


def _plain_rows(first: tuple[int, str], rest: Iterable[tuple[int, str]], faults: Problems) -> Iterator[Row]:
    """Rows of tab-separated values that nothing names or quotes."""
    names = UNNAMED.get(first[1].count("\t") + 1)
    if names is None:
        told = f"{first[1].count(chr(9)) + 1} tab-separated columns, expected 2, 3 or 4, or a header"
        faults.add_line("malformed-line", first[0], told)
        return
    for number, line in chain([first], rest):
        values = line.rstrip("\r\n").split("\t")
        if len(values) == len(names):
            yield number, dict(zip(names, values, strict=True))
        else:
            faults.add_line("malformed-line", number, f"{len(values)} columns, expected {len(names)}")


def _parquet(path: Path) -> Iterator[Row]:
    import pyarrow.parquet

    known = {*QUERY["id"], *QUERY["text"], *DOCUMENT["id"], *DOCUMENT["title"], *DOCUMENT["text"]}
    with pyarrow.parquet.ParquetFile(path) as file:
        columns = [name for name in file.schema_arrow.names if name.lower() in known]
        rows = (row for batch in file.iter_batches(4096, columns=columns) for row in batch.to_pylist())
        for number, row in enumerate(rows, 1):
            yield number, {key.lower(): value for key, value in row.items()}
