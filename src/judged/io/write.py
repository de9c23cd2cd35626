"""`write_judgments` and `write_run`: tables into files, whole or not at all."""

from __future__ import annotations

import re
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from judged.errors import JudgedError
from judged.io.catalogue import FORMATS, by_extension
from judged.io.compression import compressing
from judged.io.files import split_name
from judged.io.format import Format, Kind
from judged.problem import Problems
from judged.tables.judgments import Judgments
from judged.tables.repeats import add_repeats
from judged.tables.run import Columns, Run

__all__ = ["format_for", "write_judgments", "write_run", "write_whole"]


def write_judgments(
    judgments: Judgments,
    destination: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    force: bool = False,
) -> None:
    """Write judgments to a file, its format and compression by extension; `-` is standard output."""
    write = format_for(destination, "judgments", format).write_judgments
    write_whole(destination, lambda sink: write(judgments, sink), force=force)  # type: ignore[misc] # format_for checked


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
    write = format_for(destination, "run", format).write_run
    whole = _without_repeats(run)
    label = re.sub(r"\s+", "_", run.name) if tag is None else tag
    write_whole(destination, lambda sink: write(whole, sink, label), force=force)  # type: ignore[misc] # format_for checked


def format_for(destination: str | Path, kind: Kind, format: str | None = None) -> Format:  # noqa: A002
    """The format to write: the one named, else the one the extension stands for; TREC for `-` and .txt."""
    _, extension, _ = split_name(Path(destination))
    name = format or by_extension(extension)
    if name is None and (str(destination) == "-" or extension == ".txt"):
        name = "trec"
    if name is None:
        msg = f"the extension of {destination} names no format to write"
        raise JudgedError(msg, hint=f"name one: {', '.join(FORMATS)}")
    chosen = FORMATS[name]
    if (chosen.write_judgments if kind == "judgments" else chosen.write_run) is None:
        msg = f"{chosen.title} has no way to hold a {kind}"
        raise JudgedError(msg, hint="write TREC, JSONL, CSV, Parquet or Arrow")
    return chosen


def write_whole(destination: str | Path, write: Callable[[BinaryIO], None], *, force: bool) -> None:
    """Let `write` fill a file that is there whole or not at all, compressed as its name says."""
    if str(destination) == "-":
        write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    _, _, packed = split_name(Path(destination))
    with _whole_file(Path(destination), force=force) as file, compressing(file, packed) as sink:
        write(sink)


@contextmanager
def _whole_file(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A file that appears under its name when all is written, and not at all if that fails."""
    replaceable = path.is_file() or not path.exists()
    if path.exists() and replaceable and not force:
        msg = f"{path} exists already"
        raise JudgedError(msg, hint="`--force`, or `force=True`, writes over it")
    try:
        with _replacing(path) if replaceable else path.open("wb") as file:
            yield file
    except OSError as error:
        msg = f"{path} cannot be written: {(error.strerror or str(error)).lower()}"
        raise JudgedError(msg) from error


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A file beside `path` that takes its place at the end; a pipe or a device must never be given to this."""
    final = path.resolve()
    passing = final.with_name(f".{final.name}.{secrets.token_hex(4)}")
    try:
        with passing.open("xb") as file:
            yield file
        passing.replace(final)
    finally:
        passing.unlink(missing_ok=True)


def _without_repeats(run: Run) -> Run:
    """The run as columns; one that lists a document twice for a query is refused, never carried on."""
    whole = run.as_columns()
    held = cast("Columns", whole.source)
    faults = Problems(run.name, held.place)
    add_repeats(held.query, held.document, faults, kind="repeated-document", verb="retrieved")
    faults.raise_if_any()
    return whole
