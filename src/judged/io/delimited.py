"""CSV and TSV, with a header that names the columns; Arrow reads them, Python finds what is wrong."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import BinaryIO

import pyarrow as pa

from judged.io.open import BOM, File, is_number_text, read_text
from judged.io.sniff import Format, Writing
from judged.io.table import RawTable, choose, holds_words
from judged.problem import Place, Problem, Problems
from judged.subject import NOTHING
from judged.tables.columns import Column
from judged.tables.schema import Schema
from judged.wording import counted

RATING = "rating"
"""Name of a column of grades in which a cell may be empty."""
POINTS = (
    "numbers with a decimal comma are not read: write 0.5 for 0,5 (in a spreadsheet, by its number format)"
)
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
DELIMITERS = "\t,;"
"""Delimiters of values; the one that is most frequent in the header is taken, of equally frequent ones the first."""
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


@dataclass(frozen=True)
class Sheet:
    """A delimited text: its header, where the body starts, and what separates its values."""

    file: File
    data: bytes
    header: tuple[str, ...]
    delimiter: str
    body: int
    quotes: bool = True
    spaced: bool = False
    """Whether there are blanks around names in the header: then those around ids are layout too."""

    @cached_property
    def lines(self) -> list[int]:
        """The line that each row begins on, found by reading again, only when something is wrong."""
        return [line for line, _ in self.rows() if line > 0]

    def rows(self) -> Iterator[tuple[int, Sequence[str]]]:
        """Yield every row with its line; a text that breaks off yields its line, negative, and the reason."""
        text = self.data[self.body :].decode(errors="surrogateescape")
        reader = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=self.delimiter,
            strict=True,
            quoting=csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE,
        )
        above = self.data[: self.body].count(b"\n")
        line = 0
        with _long_fields():
            try:
                for row in reader:
                    if row:
                        yield above + line + 1, row
                    line = reader.line_num
            except csv.Error as error:
                yield -(above + reader.line_num), [str(error)]

    def line(self, row: int) -> int:
        """Return the line of a row; the last for a row that only the fast reader finds, where quotes do not match."""
        return self.lines[min(row, len(self.lines) - 1)] if self.lines else 1


@contextmanager
def _long_fields() -> Iterator[None]:
    """Allow fields as long as documents are."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def read(file: File, schema: Schema) -> RawTable:
    """Return the columns of a schema; everything that cannot be read becomes a problem with its line."""
    sheet = open_sheet(file, schema)
    match = schema.match(sheet.header, subject=file.label)
    names = [name for columns in match.columns.values() for name in columns]
    wanted = [*dict.fromkeys([*names, *match.doubtful]), *(match.others if schema.open else ())]
    labels = {
        names[0]: name
        for name, names in match.columns.items()
        if schema[name].kind == "number" and not schema[name].codes.get(schema[name].know(names[0]))
    }
    problems = Problems(file.label, line=sheet.line)
    unrated = 0
    try:
        columns = _read_fast(sheet, wanted, labels)
    except pa.ArrowInvalid:  # the slow reader finds what is wrong, and where
        worded = {names[0]: schema[name].words for name, names in match.columns.items() if schema[name].words}
        columns, unrated = _read_carefully(sheet, wanted, labels, problems, worded)
    if sheet.spaced:
        ids = {at for name, found in match.columns.items() if schema[name].kind == "id" for at in found}
        columns = {name: _trim(column) if name in ids else column for name, column in columns.items()}
    raw = choose(match, schema, columns.__getitem__, problems, text=True)
    if unrated:
        raw.notes = (*raw.notes, f"{counted(unrated, 'row')} without a rating: left out")
    return raw


def _trim(column: Column) -> Column:
    """Return ids without the blanks around them."""
    import pyarrow.compute as pc

    if isinstance(column, pa.ChunkedArray | pa.Array):
        return pc.utf8_trim(column, characters=" \t")
    return [value.strip(" \t") if isinstance(value, str) else value for value in column]


def read_header(file: File) -> tuple[str, ...]:
    """Return the values in the first line."""
    return _split_first_line(bytes(file.head()).removeprefix(BOM))[0]


def open_sheet(file: File, schema: Schema) -> Sheet:
    """Return the whole file, its header, and where that ends; schemas with tab-separated lines need no header."""
    data = bytes(read_text(file, quoted=True))
    header, delimiter, body = _split_first_line(data)
    if not any(header):
        message = "the file is empty, expected a header with names of columns"
        problem = Problem.error("empty", Place(file.label, line=1), message)
        raise schema.error(file.label, [problem])
    if schema.tabs and not schema.recognises(header):
        first = data.lstrip(b"\r\n").partition(b"\n")[0].split(b"\t")
        if len(first) not in schema.lines:
            expected = ", ".join(map(str, schema.lines))
            message = f"{len(first)} tab-separated columns, expected {expected}, or a header"
            problem = Problem.error("malformed-line", Place(file.label, line=1), message)
            raise schema.error(file.label, [problem])
        names = tuple(name or f"\0{at}" for at, name in enumerate(schema.lines[len(first)]))
        return Sheet(file, data, names, "\t", 0, quotes=False)
    written = data[:body].decode(errors="replace").strip("\r\n").split(delimiter)
    spaced = any(name != name.strip(" ") for name in written)
    return Sheet(file, data, header, delimiter, body, spaced=spaced)


def _read_fast(sheet: Sheet, wanted: Sequence[str], numbers: Collection[str]) -> dict[str, Column]:
    """Return columns as Arrow reads them; no value is ever taken for null."""
    import pyarrow.csv

    if sheet.data.startswith(BOM, sheet.body):
        msg = "Arrow would take the start of the first id for a mark"
        raise pa.ArrowInvalid(msg)
    places = {name: str(sheet.header.index(name)) for name in wanted}
    types = {place: pa.float64() if name in numbers else pa.large_string() for name, place in places.items()}
    table = pyarrow.csv.read_csv(
        pa.BufferReader(pa.py_buffer(sheet.data)[sheet.body :]),
        read_options=pyarrow.csv.ReadOptions(column_names=[str(at) for at in range(len(sheet.header))]),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=sheet.delimiter,
            quote_char='"' if sheet.quotes else False,
            newlines_in_values=sheet.quotes and b'"' in sheet.data,
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            include_columns=list(dict.fromkeys(places.values())), column_types=types, null_values=[]
        ),
    )
    return {name: table.column(place) for name, place in places.items()}


def _read_carefully(
    sheet: Sheet,
    wanted: Sequence[str],
    numbers: Mapping[str, str],
    problems: Problems,
    worded: Mapping[str, Mapping[str, float]] = NOTHING,
) -> tuple[dict[str, Column], int]:
    """Return columns as Python reads them, and the number of rows that were not rated.

    `numbers` says what messages call the columns of numbers, and `worded` which words may stand for them.
    """
    rows, lines, unrated = [], [], 0
    ratings = [
        at for at, name in enumerate(sheet.header) if name.strip().lower() == RATING and name in numbers
    ]
    for line, row in sheet.rows():
        if line < 0:
            problems.add_line("malformed-line", -line, f"cannot be read: {row[0]}")
        elif (
            ratings
            and not any(row[at].strip() for at in ratings if at < len(row))
            and len(row) in {1, len(sheet.header)}
        ):
            unrated += 1  # Quepid writes queries and documents that nobody has rated yet
        elif len(row) != len(sheet.header):
            problems.add_line("malformed-line", line, f"{len(row)} columns, expected {len(sheet.header)}")
            if len(row) == len(sheet.header) + len(numbers) and sheet.delimiter == ",":
                problems.hint = POINTS
        else:
            rows.append(row)
            lines.append(line)
    problems.line = lines.__getitem__
    columns: dict[str, Column] = {}
    for name in wanted:
        place = sheet.header.index(name)
        values = [row[place] for row in rows]
        columns[name] = (
            _parse_numbers(values, numbers[name], problems)
            if name in numbers and not _lists(values) and not holds_words(values, worded.get(name, {}))
            else values
        )
    return columns, unrated


def _lists(values: list[str]) -> bool:
    """Return whether cells hold lists, which are read with the lists of ids next to them."""
    return bool(values) and all(value.startswith("[") for value in values)


def _parse_numbers(values: list[str], name: str, problems: Problems) -> list[float]:
    numbers = []
    for row, value in enumerate(values):
        bare = value.strip(" \t")
        sound = is_number_text(bare.encode(errors="replace"))
        if not sound:
            problems.add("not-a-number", row, f"{name} is {value!a}, expected a number")
            if _DECIMAL_COMMA.fullmatch(bare):
                problems.hint = POINTS
        numbers.append(float(bare) if sound else 0.0)
    return numbers


def _split_first_line(data: bytes) -> tuple[tuple[str, ...], str, int]:
    """Return the values in the first line, the delimiter that gives most, and where the next line begins."""
    start = len(data) - len(data.lstrip(b"\r\n"))
    ends = [end for end in (data.find(b"\n", start), data.find(b"\r", start)) if end >= 0]
    end = min(ends, default=len(data))
    line = data[start:end].decode(errors="replace")
    # delimiters inside quotes are part of a name
    delimiter = max(DELIMITERS, key=_QUOTED.sub("", line).count)
    body = end + (2 if data[end : end + 2] == b"\r\n" else 1)
    return _split_names(line, delimiter), delimiter, min(body, len(data))


def _split_names(line: str, delimiter: str) -> tuple[str, ...]:
    """Return the names in a header; quotes hold names with delimiters."""
    if f'"{delimiter}' not in line + delimiter:
        return tuple(_unquote(name) for name in line.split(delimiter))
    with _long_fields():
        try:
            (names,) = csv.reader([line], delimiter=delimiter, strict=True, skipinitialspace=True)
        except (csv.Error, ValueError):  # quotes that do not match are part of names
            names = line.split(delimiter)
    return tuple(_unquote(name) for name in names)


def _unquote(name: str) -> str:
    name = name.strip()
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


def write_table(
    table: pa.Table, sink: BinaryIO, *, delimiter: str, header: Sequence[str] | None = None
) -> None:
    """Write a header and a row for each row of the table, texts in quotes if any needs them."""
    import pyarrow.compute as pc
    import pyarrow.csv

    sink.write((delimiter.join(header or table.column_names) + "\n").encode())
    texts = [column for column in table.columns if pa.types.is_large_string(column.type)]
    special = f'[{delimiter}"\r\n]'
    quoted = any(pc.any(pc.match_substring_regex(column, special)).as_py() for column in texts)
    style = "needed" if quoted else "none"  # "needed" quotes every text
    options = pyarrow.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style)
    pyarrow.csv.write_csv(table, sink, options)


def _write(delimiter: str, table: pa.Table, sink: BinaryIO, writing: Writing) -> None:  # noqa: ARG001
    write_table(table, sink, delimiter=delimiter)


CSV = Format("csv", "CSV", read, partial(_write, ","), columns=read_header, extensions=(".csv",))
TSV = Format("tsv", "TSV", read, partial(_write, "\t"), columns=read_header, extensions=(".tsv",))
