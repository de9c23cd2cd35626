"""CSV and TSV with a header that names the columns; Arrow reads them, Python finds what is wrong."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from judged.errors import BadInput
from judged.io.columns import Roles, find_columns, has_ids, kind_of_columns
from judged.io.format import File, Format, Kind
from judged.io.text import BOM, is_number_text, text_of
from judged.problem import Problem, Problems
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = [
    "FORMAT",
    "TSV",
    "Sheet",
    "header_of",
    "read_fast",
    "read_judgments",
    "read_run",
    "read_sheet",
    "write_table",
]

DELIMITERS = ",\t;"
"""What may stand between values; the header decides."""


@dataclass(frozen=True)
class Sheet:
    """A delimited text with its header: where the body starts, and how its values are told apart."""

    file: File
    data: bytes
    header: tuple[str, ...]
    delimiter: str
    body: int

    @cached_property
    def lines(self) -> list[int]:
        """The line that each row begins on, found by reading again, only when something is wrong."""
        return [line for line, _ in self.rows() if line > 0]

    def rows(self) -> Iterator[tuple[int, Sequence[str]]]:
        """Every row with its line; a text that breaks off yields its line, negative, and the reason."""
        text = self.data[self.body :].decode(errors="surrogateescape")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True)
        above = self.data[: self.body].count(b"\n")
        line = 0
        try:
            for row in reader:
                if row:
                    yield above + line + 1, row
                line = reader.line_num
        except csv.Error as error:
            yield -(above + reader.line_num), [str(error)]

    def line(self, row: int) -> int:
        """The line of a row."""
        return self.lines[row]


def read_judgments(file: File) -> Judgments:
    """Judgments of the columns that hold query, document, grade and maybe target."""
    columns, roles, faults = _read(file, "judgments")
    return Judgments.from_columns(**roles.judged(columns), name=file.name, notes=roles.notes, faults=faults)


def read_run(file: File) -> Run:
    """A run of the columns that hold query, document and score."""
    columns, roles, faults = _read(file, "run")
    return Run.from_columns(*columns, name=file.name, notes=roles.notes, faults=faults)


def kind(file: File) -> Kind | None:
    """What the header says."""
    return kind_of_columns(read_sheet(file).header)


def header_of(file: File) -> tuple[str, ...]:
    """The names in the first line, if they name a query and a document; else nothing."""
    header, _, _ = _first_line(bytes(file.head()).removeprefix(BOM))
    return header if has_ids(header) else ()


def write_table(table: pa.Table, sink: BinaryIO, *, delimiter: str, header: Sequence[str]) -> None:
    """Write a header and a row for each row of the table, texts in quotes if any needs them."""
    import pyarrow.csv

    sink.write((delimiter.join(header) + "\n").encode())
    style = "needed" if _needs_quotes(table, delimiter) else "none"  # "needed" quotes every text
    options = pyarrow.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style)
    pyarrow.csv.write_csv(table, sink, options)


def _needs_quotes(table: pa.Table, delimiter: str) -> bool:
    texts = [column for column in table.columns if pa.types.is_large_string(column.type)]
    special = f'[{delimiter}"\r\n]'
    return any(pc.any(pc.match_substring_regex(column, special)).as_py() for column in texts)


def _read(file: File, kind: Kind) -> tuple[list[Any], Roles, Problems]:
    """The wanted columns, their roles, and what is wrong with the rows."""
    sheet = read_sheet(file)
    roles = find_columns(sheet.header, kind, subject=file.label, intents=file.intents)
    wanted = [sheet.header.index(name) for name in roles.all()]
    faults = Problems(file.label, line=sheet.line)
    numbers = {2: "score" if kind == "run" else "grade"}
    numbers |= {place: "weight" for place, role in enumerate(roles.more, 3) if role == "weight"}
    try:
        return read_fast(sheet, wanted, numbers), roles, faults
    except pa.ArrowInvalid:  # the careful way says what and where
        return _careful(sheet, wanted, numbers, faults), roles, faults


def read_fast(sheet: Sheet, wanted: Sequence[int], numbers: Iterable[int] = (2,)) -> list[Any]:
    """The columns as Arrow reads them, no value of which is ever taken for null; `numbers` hold numbers."""
    import pyarrow.csv

    if sheet.data.startswith(BOM, sheet.body):
        msg = "Arrow would take the start of the first id for a mark"
        raise pa.ArrowInvalid(msg)
    names = [str(number) for number in range(len(sheet.header))]
    types = {str(number): pa.large_string() for number in wanted}
    types |= {str(wanted[place]): pa.float64() for place in numbers}
    table = pyarrow.csv.read_csv(
        pa.BufferReader(pa.py_buffer(sheet.data)[sheet.body :]),
        read_options=pyarrow.csv.ReadOptions(column_names=names),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=sheet.delimiter, newlines_in_values=b'"' in sheet.data
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            include_columns=[str(number) for number in wanted], column_types=types, null_values=[]
        ),
    )
    return [table.column(position) for position in range(len(wanted))]


def _careful(sheet: Sheet, wanted: Sequence[int], numbers: Mapping[int, str], faults: Problems) -> list[Any]:
    """The columns as Python reads them; whatever cannot be read becomes a fault with its line."""
    rows, lines = [], []
    for line, row in sheet.rows():
        if line < 0:
            faults.add_line("malformed-line", -line, f"cannot be read: {row[0]}")
        elif len(row) != len(sheet.header):
            told = f"{len(row)} columns, expected {len(sheet.header)}"
            faults.add_line("malformed-line", line, told)
        else:
            rows.append(row)
            lines.append(line)
    faults.line = lines.__getitem__
    columns: list[Any] = [[row[place] for row in rows] for place in wanted]
    for place, name in numbers.items():
        columns[place] = _numbers(columns[place], name, faults)
    return columns


def _numbers(values: list[str], name: str, faults: Problems) -> list[float]:
    told = []
    for row, value in enumerate(values):
        bare = value.strip(" \t")
        sound = is_number_text(bare.encode(errors="replace"))
        if not sound:
            faults.add("not-a-number", row, f"{name} is {value!a}, expected a number")
        told.append(float(bare) if sound else 0.0)
    return told


def read_sheet(file: File) -> Sheet:
    """The whole file, its header, and where that ends."""
    data = bytes(text_of(file, quoted=True))
    header, delimiter, body = _first_line(data)
    if not any(header):
        fault = Problem.error(
            "columns", f"{file.label}:1", "the file is empty, expected a header with names of columns"
        )
        raise BadInput(file.label, [fault])
    return Sheet(file, data, header, delimiter, body)


def _first_line(data: bytes) -> tuple[tuple[str, ...], str, int]:
    """The names in the first line, the delimiter that splits it into the most, and where the next line begins."""
    start = len(data) - len(data.lstrip(b"\r\n"))
    ends = [end for end in (data.find(b"\n", start), data.find(b"\r", start)) if end >= 0]
    end = min(ends, default=len(data))
    line = data[start:end].decode(errors="replace")
    delimiter = max(DELIMITERS, key=line.count)
    body = end + (2 if data[end : end + 2] == b"\r\n" else 1)
    return tuple(_unquoted(name) for name in line.split(delimiter)), delimiter, min(body, len(data))


def _unquoted(name: str) -> str:
    name = name.strip()
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


def _writer(delimiter: str) -> dict[str, Any]:
    """The two ways to write with one delimiter."""

    def write_judgments(judgments: Judgments, sink: BinaryIO) -> None:
        table = judgments.to_arrow()
        write_table(table, sink, delimiter=delimiter, header=table.column_names)

    def write_run(run: Run, sink: BinaryIO, tag: str) -> None:  # noqa: ARG001 - one seam for all formats
        table = run.to_arrow()
        write_table(table, sink, delimiter=delimiter, header=table.column_names)

    return {"write_judgments": write_judgments, "write_run": write_run}


_READERS: dict[str, Any] = {"read_judgments": read_judgments, "read_run": read_run, "kind": kind}
FORMAT = Format(name="csv", title="CSV", extensions=(".csv",), **_READERS, **_writer(","))
TSV = Format(name="tsv", title="TSV", extensions=(".tsv",), **_READERS, **_writer("\t"))
