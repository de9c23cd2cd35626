"""`read_judgments` and `read_run`: whatever holds judgments or a run, as a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from judged.errors import BadInput, Unreadable, WrongKind
from judged.io import beir, frames, ir_datasets, mappings, matrices, tuples
from judged.io.catalogue import FORMATS
from judged.io.detect import detect
from judged.io.files import open_bytes, open_file, open_stream
from judged.io.format import File, Format, Kind
from judged.problem import Problem
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = ["is_file", "kind_of", "open_source", "read_judgments", "read_run"]

ACCEPTED = (
    "a path, bytes, a dict of dicts, a dict of lists of ids, a data frame (Polars, pandas, Arrow, DuckDB), "
    "a matrix of ids, or an iterable of named tuples or dicts"
)


def read_judgments(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    name: str | None = None,
    intents: bool = False,
) -> Judgments:
    """Judgments of a file, a folder, a data set's id, or an object in memory; `name` is what to call them.

    `format` says how a file is written, where neither its name nor its first bytes do. A column called
    `intent` is always read; `intents` reads the second column of TREC judgments as such, or a column
    `iteration`, which are otherwise ignored.

    >>> read_judgments({"q1": {"d1": 1}})
    Judgments(judgments: 1 of 1 queries)
    """
    if isinstance(source, Judgments):
        return source if name is None else replace(source, name=name)
    _refuse_swapped(source, Run, "a run where judgments should be")
    judgments: Judgments = _read(source, "judgments", format, name, intents=intents)
    if len(judgments) == 0:
        raise BadInput(judgments.name, [Problem.error("empty", judgments.name, "holds no judgments")])
    return judgments


def read_run(source: Any, *, format: str | None = None, name: str | None = None) -> Run:  # noqa: A002
    """A run of a file, a data set's id, or an object in memory; `name` is what to call it.

    `format` says how a file is written, where neither its name nor its first bytes do.

    >>> read_run({"q1": ["d2", "d1"]}, name="bm25")
    Run(bm25)
    """
    if isinstance(source, Run):
        return source if name is None else replace(source, name=name)
    _refuse_swapped(source, Judgments, "judgments where a run should be")
    run: Run = _read(source, "run", format, name)
    return run


def kind_of(source: Any, *, format: str | None = None) -> Kind | None:  # noqa: A002
    """Whether a file holds judgments or a run, as far as it tells; None if it may be either."""
    opened = open_source(source, format)
    if not isinstance(opened, tuple):
        return "judgments"  # folders and data sets are known by their judgments
    file, written = opened
    return written.kind(file) if written.kind is not None else None


def _read(
    source: Any,
    kind: Kind,
    format: str | None,  # noqa: A002
    name: str | None,
    *,
    intents: bool = False,
) -> Any:
    """The table that a source holds, by whichever reader knows its kind."""
    asked = {"intents": True} if intents else {}
    if not is_file(source):
        return _reader(source, kind)(source, name=name or _own_name(source) or kind, **asked)
    opened = open_source(source, format)
    if isinstance(opened, tuple):
        file, written = opened
        table = _reader_of_file(file, written, kind)(replace(file, intents=intents))
    elif isinstance(opened, Path):
        table = _folder(opened, kind)
    else:
        table = _reader(opened, kind)(opened, name=_own_name(opened), **asked)
    return replace(table, name=name or table.name or kind)


def _reader(source: Any, kind: Kind) -> Any:
    """The function that reads an object of this kind; each module has one for judgments and one for runs."""
    module: Any = tuples
    if isinstance(source, Mapping):
        module = mappings
    elif frames.is_frame(source):
        module = frames
    elif matrices.is_pair(source) or matrices.is_matrix(source):
        module = matrices
    elif ir_datasets.is_dataset(source):
        module = ir_datasets
    else:
        _refuse_strange(source, kind)
    return getattr(module, f"read_{kind}")


def _reader_of_file(file: File, written: Format, kind: Kind) -> Callable[[File], Any]:
    reader = written.read_judgments if kind == "judgments" else written.read_run
    if reader is None:
        msg = f"{file.label} is to be read as {written.title}, which holds no {kind}"
        raise Unreadable(msg)
    return reader


def _folder(folder: Path, kind: Kind) -> Judgments:
    if kind == "run":
        msg = f"{folder} is a folder, expected a file that holds a run"
        raise Unreadable(msg)
    return beir.read_folder(folder)


def _own_name(source: Any) -> str | None:
    return str(source.dataset_id()) if ir_datasets.is_dataset(source) else None


def is_file(source: Any) -> bool:
    """Whether an object is a file: a path, its content as bytes, or something open to be read."""
    return isinstance(source, (str, os.PathLike, bytes, bytearray, memoryview)) or hasattr(source, "read")


def open_source(source: Any, format: str | None) -> Path | tuple[File, Format] | Any:  # noqa: A002
    """A folder's path, an ir_datasets data set, or a file with its format."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        file = open_bytes(source, label="bytes", name="")
    elif isinstance(source, (str, os.PathLike)):
        place = os.fspath(source)
        found = _folder_or_dataset(place) if isinstance(place, str) else None
        if found is not None:
            return found
        file = open_file(place if isinstance(place, str) else os.fsdecode(place))
    else:
        file = open_stream(source)
    return file, (detect(file) if format is None else FORMATS[format])


def _folder_or_dataset(place: str) -> Any:
    """The folder or the data set that a text names; None if it names a file."""
    identity = ir_datasets.dataset_id(place)
    if identity is not None:
        return ir_datasets.open_dataset(identity)
    try:
        if Path(place).is_dir():
            return Path(place)
        there = place == "-" or Path(place).exists()
    except (OSError, ValueError):  # a text that no path can be, such as one with a zero byte
        return None
    return None if there else ir_datasets.find(place)


def _refuse_strange(source: Any, subject: str) -> None:
    """Refuse what cannot be gone through row by row."""
    frames.refuse_lazy(source, subject=subject)
    if not isinstance(source, Iterable):
        kind = f"{type(source).__module__}.{type(source).__name__}".removeprefix("builtins.")
        msg = f"{subject} cannot be read from an object of type `{kind}`, expected {ACCEPTED}"
        raise WrongKind(msg, hint="call `.to_dict()` on it" if hasattr(source, "to_dict") else None)


def _refuse_swapped(source: Any, table: type, message: str) -> None:
    if isinstance(source, table):
        raise WrongKind(message, hint="judgments come first, then the run")
