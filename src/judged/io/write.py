"""`write_judgments`, `write_run` and `write_labels`: tables into files, completely or not at all."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec
import pyarrow as pa

from judged.errors import JudgedError, UnknownName, Unwritable
from judged.io.open import compress, split_name
from judged.io.sniff import FORMATS, Format, Writing, find_by_extension
from judged.problem import Problem, Problems
from judged.store.files import replace_file
from judged.tables.columns import add_repeats, shorten
from judged.tables.judgments import Judgments
from judged.tables.labels import Label
from judged.tables.run import Run
from judged.tables.schema import JUDGMENTS, LABELS, RUN, Schema

TREC_EXTENSIONS = (".txt", *FORMATS["trec"].extensions)
"""Extensions of TREC text."""
TABLES_OF_LABELS = (".jsonl", ".ndjson", ".csv", ".tsv")
LABEL_EXTENSIONS = (*TABLES_OF_LABELS, *TREC_EXTENSIONS)
"""Extensions of files of labels."""


def write_judgments(
    judgments: Judgments,
    destination: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    force: bool = False,
) -> None:
    """Write judgments to a file, its format and compression by extension; `-` is standard output."""
    writing = Writing(JUDGMENTS, judgments.name)
    texts = {"question": ("query", judgments.query_texts), "text": ("document", judgments.texts)}
    table = _name_texts(judgments.to_arrow(), by_text=judgments.by_text, texts=texts)
    _write_table(table, destination, writing, format=format, force=force)


def write_run(
    run: Run,
    destination: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    tag: str | None = None,
    force: bool = False,
) -> None:
    """Write a run to a file, its format and compression by extension; `-` is standard output.

    `tag` names the run in every line of TREC text; by default it is the run's name.
    """
    find_format(destination, RUN, format)  # before the run is read
    label = re.sub(r"\s+", "_", run.name) if tag is None else tag
    table = _name_texts(_check_run(run), by_text=run.by_text, texts={"text": ("document", run.texts)})
    _write_table(table, destination, Writing(RUN, run.name, label), format=format, force=force)


def _name_texts(
    table: pa.Table, *, by_text: bool, texts: Mapping[str, tuple[str, Mapping[str, str]]]
) -> pa.Table:
    """Return the table with the texts that came with it; documents without ids are called texts."""
    for name, (key, known) in texts.items():
        if known:
            values = [known.get(identity) for identity in table[key].to_pylist()]
            table = table.append_column(name, pa.array(values, pa.large_string()))
    if not by_text:
        return table
    return table.rename_columns(["text" if name == "document" else name for name in table.column_names])


def find_format(destination: str | Path, schema: Schema, format: str | None = None) -> Format:  # noqa: A002
    """Return the format to write: the one named, else that of the extension; TREC for `-` and .txt."""
    _, extension, _ = split_name(Path(destination))
    name = format or find_by_extension(extension)
    if name is None and (str(destination) == "-" or extension == ".txt"):
        name = "trec"
    if name is None:
        msg = f"the extension of {destination} names no format to write"
        raise JudgedError(msg, hint=f"name one: {', '.join(FORMATS)}")
    chosen = FORMATS[name]
    if chosen.write is None or not chosen.holds(schema):
        msg = f"{chosen.title} has no way to hold a {schema.name}"
        raise JudgedError(msg, hint="write TREC, JSONL, CSV, Parquet or Arrow")
    return chosen


def _write_table(
    table: pa.Table,
    destination: str | Path,
    writing: Writing,
    *,
    format: str | None,  # noqa: A002
    force: bool,
) -> None:
    chosen = find_format(destination, writing.schema, format)
    if chosen.columns is None and chosen.kind is not None:
        table = _drop_texts(table, writing, chosen)
    write = chosen.write
    assert write is not None  # noqa: S101 - `find_format` returns formats that write
    write_file(destination, lambda sink: write(table, sink, writing), force=force)


def _drop_texts(table: pa.Table, writing: Writing, chosen: Format) -> pa.Table:
    """Return the table without texts, for which the format has no columns; raise `Unwritable` if there are no ids."""
    if "document" not in table.column_names:
        message = f"its documents are texts without ids, for which {chosen.title} has no column"
        problem = Problem.error("no-such-column", chosen.title, message)
        raise Unwritable(writing.name, [problem], hint="write JSONL, JSON, CSV, TSV, Parquet or Arrow")
    return table.drop_columns([name for name in ("question", "text") if name in table.column_names])


def write_file(destination: str | Path, write: Callable[[BinaryIO], None], *, force: bool) -> None:
    """Let `write` fill a file that exists completely or not at all, compressed as its name says."""
    if str(destination) == "-":
        write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    _, _, packed = split_name(Path(destination))
    with _open_new(Path(destination), force=force) as file, compress(file, packed) as sink:
        write(sink)


@contextmanager
def _open_new(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file that appears under its name when all is written, and not at all if that fails."""
    if path.is_file() and not force:
        msg = f"{path} exists already"
        raise JudgedError(msg, hint="`--force`, or `force=True`, writes over it")
    try:
        with replace_file(path) as file:
            yield file
    except OSError as error:
        msg = f"{path} cannot be written: {(error.strerror or str(error)).lower()}"
        raise JudgedError(msg) from error


def _check_run(run: Run) -> pa.Table:
    """Return the run as columns; raise `BadInput` if it lists a document twice for a query."""
    columns = run.to_columns()
    problems = Problems(run.name, columns.place)
    add_repeats(columns.query, columns.document, problems, verb="retrieved")
    problems.raise_if_any()
    return columns.to_arrow()


def write_labels(
    labels: Iterable[Label | Mapping[str, object]], destination: str | Path, *, force: bool = True
) -> None:
    """Write labels as the extension says: JSONL, CSV, TSV, else TREC judgments; `-` is JSONL on standard output.

    Dicts may hold more than a `Label` does; TREC judgments have room for task, id and gain only.
    """
    data = encode_labels(labels, destination)

    def write(sink: BinaryIO) -> None:
        sink.write(data)

    write_file(destination, write, force=force)


def check_trec_extension(
    destination: str | Path,
    *,
    source: str | Path = "",
    known: Sequence[str] = TREC_EXTENSIONS,
    allow_none: bool = True,
) -> None:
    """Raise `UnknownName` for an extension that promises something else than TREC text; that of the source is allowed.

    So is a name without an extension, unless the content has no form as TREC text.
    """
    suffix, own = (
        Path(str(path).removesuffix(".gz").removesuffix(".zst")).suffix for path in (destination, source)
    )
    if str(destination) != "-" and suffix.lower() not in {*([""] if allow_none else []), own.lower(), *known}:
        kind, hint = f"format of `{destination}`", f"known extensions: {' '.join(known)}"
        raise UnknownName(kind, suffix, known, hint=hint)


def encode_labels(labels: Iterable[Label | Mapping[str, object]], destination: str | Path) -> bytes:
    """Return the bytes that `write_labels` writes; raise `Unwritable` for what the format cannot hold."""
    rows = [msgspec.to_builtins(label) if isinstance(label, Label) else dict(label) for label in labels]
    extension = ".jsonl" if str(destination) == "-" else split_name(Path(destination))[1]
    if extension in {".jsonl", ".ndjson"}:
        return msgspec.json.Encoder().encode_lines(rows)
    if extension not in {".csv", ".tsv"}:
        check_trec_extension(destination, known=LABEL_EXTENSIONS)
        return _encode_trec_labels(rows, str(destination))
    header = list(dict.fromkeys(key for row in rows for key in row))
    sink = io.StringIO(newline="")
    writer = csv.DictWriter(sink, header, delimiter="," if extension == ".csv" else "\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return sink.getvalue().encode()


def _encode_trec_labels(rows: list[dict[str, object]], subject: str) -> bytes:
    """Return lines `task 0 id gain`; a label without task or id, or with white space in one, is a problem."""
    problems = Problems(subject)
    lines = []
    for number, row in enumerate(rows):
        values = {}
        for field in ("task", "id", "gain"):
            names = LABELS[field].find({key.strip().lower(): key for key in reversed(row)})
            values[field] = next((row[name] for name in names if row[name] is not None), None)
        for field in ("task", "id"):
            key = values[field]
            if key is None or not str(key).strip() or str(key).split() != [str(key)]:
                got = "missing" if key is None else shorten(repr(key), 60)
                problems.add("unwritable-id", number, f"{field} is {got}, expected text without white space")
        lines.append(f"{values['task']} 0 {values['id']} {values['gain']}\n")
    problems.raise_if_any(hint="write JSONL, CSV or TSV, which hold any key", error=Unwritable)
    return "".join(lines).encode()
