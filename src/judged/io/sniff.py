"""Formats: how each file format is read and written, and which one a file has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple, TypeAlias

import pyarrow as pa

from judged.io.open import BOM, KNOWN, File, is_number_text
from judged.registry import Registry
from judged.tables.schema import JUDGMENTS, RUN, Schema, list_spellings

if TYPE_CHECKING:
    from judged.io.table import RawTable

Kind: TypeAlias = Literal["judgments", "run"]
HEAD = 4096
"""First bytes of a text in which the `qid:` of SVMlight occurs."""


class Writing(NamedTuple):
    """Table to be written: its schema, its name for messages, and the tag that TREC runs carry."""

    schema: Schema
    name: str
    tag: str = ""


class Format(NamedTuple):
    """One way to hold tables in a file; `add_format` adds another."""

    name: str
    title: str
    read: Callable[[File, Schema], RawTable | Mapping[str, object]]
    """Returns columns by field, or nested objects for the schema to flatten."""
    write: Callable[[pa.Table, BinaryIO, Writing], None] | None = None
    """None for a format that is only read."""
    columns: Callable[[File], Sequence[str]] | None = None
    """Returns the names of the columns, without reading the rows where that is possible."""
    kind: Callable[[File], Kind | None] | None = None
    """Returns what the file holds, where names of columns do not show it."""
    extensions: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()
    """First bytes that no other format has."""
    holds: Callable[[Schema], bool] = lambda _: True
    """Returns whether the format can hold a table."""


FORMATS: Registry[Format] = Registry("format")
FORMATS.add("trec", "judged.io.trec:FORMAT")
FORMATS.add("jsonl", "judged.io.json:JSONL")
FORMATS.add("json", "judged.io.json:JSON")
FORMATS.add("csv", "judged.io.delimited:CSV")
FORMATS.add("tsv", "judged.io.delimited:TSV")
FORMATS.add("parquet", "judged.io.parquet:PARQUET")
FORMATS.add("arrow", "judged.io.parquet:ARROW")
FORMATS.add("beir", "judged.io.beir:FORMAT")
FORMATS.add("topics", "judged.io.topics:FORMAT")
FORMATS.add("svmlight", "judged.io.svmlight:FORMAT")


def add_format(format: Format) -> None:  # noqa: A002 - what it is
    """Add a format of your own: every table is then read from it, and written to files with its extensions."""
    FORMATS.add(format.name, format)
    KNOWN.update(format.extensions)


def kind_of_columns(columns: Collection[str]) -> Kind | None:
    """Return judgments if there is a grade, a run if there is a score, None if there are both or neither."""
    names = {name.strip().lower() for name in columns}
    if {"query-id", "corpus-id", "score"} == names:
        return "judgments"  # as BEIR writes them
    expected, retrieved = find_kinds(names)
    if expected == retrieved:
        return None
    return "judgments" if expected else "run"


def find_kinds(columns: Collection[str]) -> tuple[bool, bool]:
    """Return whether names of columns say that judgments are there, and whether a run is."""
    names = {spelling for name in columns for spelling in list_spellings(name)}
    scores = set(RUN["score"].names)
    marks = {
        schema.name: {name for field in schema.fields for name in field.lists}
        | {name for name in schema["document"].names if name not in RUN["document"].names}
        for schema in (JUDGMENTS, RUN)
    }
    graded = names & ((set(JUDGMENTS["grade"].names) - scores) | marks["judgments"])
    return bool(graded), bool(names & (scores | marks["run"]))


def find_by_extension(extension: str) -> str | None:
    """Return the name of the format with that extension; None if there is none."""
    return next((name for name in FORMATS if extension in FORMATS[name].extensions), None)


def detect(file: File, schema: Schema = JUDGMENTS) -> Format:
    """Return the format of a file: by its first bytes, then its name, then its first line."""
    head = file.head()
    for name in FORMATS:
        if FORMATS[name].magic and head.startswith(FORMATS[name].magic):
            return FORMATS[name]
    named = find_by_extension(file.extension) if file.extension else None
    text = head.removeprefix(BOM).lstrip()
    if named in {None, "json", "jsonl"} and text[:1] in {b"{", b"["}:
        return FORMATS[_detect_json(text, named, schema)]
    if named is None and text[:1] == b"<":
        from judged.io.topics import is_topics

        if is_topics(text):
            return FORMATS["topics"]
    if b"qid:" in text[:HEAD] and named in {None, "csv", "tsv"} and schema.name == "judgments":
        from judged.io.svmlight import is_svmlight

        if is_svmlight(text):
            return FORMATS["svmlight"]
    if named in {None, "csv", "tsv"}:
        return FORMATS[_detect_lines(file, named, text, schema)]
    return FORMATS[named]


def _detect_json(text: bytes, named: str | None, schema: Schema) -> str:
    """Return JSONL if the first line is a complete object, JSON if the object or list continues."""
    import msgspec

    from judged.io.table import is_record

    first, _, rest = text.partition(b"\n")
    try:
        value = msgspec.json.decode(first)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        lines = first.rstrip().endswith(b"}") and rest.lstrip()[:1] == b"{"
        return "jsonl" if lines or (named == "jsonl" and not rest.strip()) else "json"
    if (
        named == "jsonl"
        and isinstance(value, dict)
        and not any(isinstance(v, dict | list) for v in value.values())
    ):
        return "jsonl"
    if not rest.strip() and isinstance(value, dict):
        from judged.io.records import find_records

        if find_records(value, schema) is not None:
            return "json"
    return "jsonl" if is_record(value, schema) or rest.strip() else "json"


def _detect_lines(file: File, named: str | None, text: bytes, schema: Schema) -> str:
    """Return CSV or TSV if the first line names columns; MS MARCO's .tsv files without names are TREC text."""
    from judged.io.delimited import read_header

    lines = "trec" if schema.lines and not schema.tabs else "csv"
    if b"\0" in text or not text:
        return named or lines
    if schema.recognises(read_header(file)):
        return named or "csv"
    if lines == "csv":
        return named or "csv"
    fields = text.partition(b"\n")[0].split()
    bare = len(fields) >= 4 and (is_number_text(fields[3]) or len(fields) >= 6 or len(fields) in schema.lines)
    return named if named is not None and not bare else "trec"
