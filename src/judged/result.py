"""Results: what every verb returns. A result knows how to be shown, saved and loaded.

    Result
    ├── provenance   how the numbers were made: version, protocols, inputs, settings, seed
    ├── notes        what a reader of the numbers should know
    ├── tables()     every number in full, as Arrow tables; the first is the main one
    └── blocks()     what people see, the answer first

From these follow, once for all results: printing, notebooks, data frames, JSON, files.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from judged._optional import need
from judged._version import __version__
from judged.blocks import Block, Display, Estimate, Figure, Table, Value
from judged.errors import JudgedError, UnknownName, Unreadable, WrongKind
from judged.problem import Note
from judged.registry import Registry
from judged.state import from_state, to_state
from judged.store.files import check_size, write_file
from judged.store.hashing import FileStamp, hash_stamped
from judged.store.machine import name_machine
from judged.store.remote import is_remote, read_bytes, write_bytes

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

SCHEMA_VERSION = 1
HEAD = 4096
"""Bytes of a file that show whether it is a saved result."""

Renderer: TypeAlias = Callable[["Result", Display], str | bytes]

RENDERERS: Registry[Renderer] = Registry("format")
"""What turns a result into a format."""
for _format, _module in {
    "table": "text",
    "csv": "data",
    "tsv": "data",
    "json": "data",
    "jsonl": "data",
    "markdown": "markdown",
    "latex": "latex",
    "parquet": "data",
    "html": "html",
}.items():
    RENDERERS.add(_format, f"judged.report.{_module}:render_{_format}")

RESULTS: Registry[type[Result]] = Registry("kind of result", of_subject=lambda subject: subject.results)
"""The class of each kind of result, for `load`."""
for _kind, _home in {
    "evaluation": "judged.scoring.evaluation:Evaluation",
    "evaluations": "judged.scoring.evaluations:Evaluations",
    "comparison": "judged.comparison.result:Comparison",
    "gate": "judged.gates.result:GateReport",
    "explanation": "judged.explanation.result:Explanation",
    "difference": "judged.explanation.difference:Difference",
    "published": "judged.explanation.published:Published",
    "reported": "judged.explanation.reported:Reported",
    "lint": "judged.checks.result:LintReport",
}.items():
    RESULTS.add(_kind, _home)


@dataclass(frozen=True)
class InputFile:
    """A file that a result was made from, as it was when it was read."""

    role: str
    """`judgments`, `run`, `labels`, …"""
    path: str
    digest: str | None = None
    """The SHA-256 recorded when the result was saved."""
    system: str | None = None
    """The system that the file belongs to, if it is one system's."""
    saved_changed: bool = False
    """Whether the file had changed already when the result was saved."""
    stamp: FileStamp | None = field(default=None, metadata={"saved": False})
    """Taken before the file was read; None for what is not a file here, and for saved results."""

    @property
    def changed(self) -> bool:
        """Whether the file was no longer the one that was read when the result was made, or saved."""
        now = FileStamp.take(self.path) if self.stamp is not None else None
        return self.saved_changed or now not in {self.stamp, None}

    @property
    def sha256(self) -> str | None:
        """The SHA-256 of the bytes that were read, in hexadecimal.

        None for standard input, pipes, folders, patterns and URIs; and for a file that has changed or is gone, whose
        bytes nobody has any more.
        """
        if self.digest is not None or self.stamp is None:
            return self.digest
        return hash_stamped(self.path, self.stamp)

    def to_state(self) -> dict[str, object]:
        """Return what is saved: the digest, and whether there is none because the file has changed."""
        return {
            "$": "InputFile",
            "role": self.role,
            "path": self.path,
            "digest": self.sha256,
            "system": self.system,
            "saved_changed": self.changed,
        }

    def to_dict(self) -> dict[str, str | None]:
        """Return role, path and SHA-256, and the system if the file belongs to one."""
        system = {} if self.system is None else {"system": self.system}
        return {"role": self.role, "path": self.path, "sha256": self.sha256, **system}


def observe_files(sources: Iterable[tuple[str, object]]) -> tuple[InputFile, ...]:
    """Return the sources, each with its role, that are paths. Call it before they are read."""
    return tuple(
        InputFile(role, os.fsdecode(path), stamp=FileStamp.take(path))
        for role, path in sources
        if isinstance(path, str | os.PathLike)
    )


@dataclass(frozen=True)
class ProtocolRecord:
    """A protocol as it was applied, and the measures it was applied to."""

    text: str
    """The protocol in words."""
    fingerprint: str
    conventions: Mapping[str, object] = field(default_factory=dict)
    profile: str | None = None
    measures: tuple[str, ...] = ()
    """Empty: all measures of the result."""
    short: str = ""
    """The protocol in a few words: its name, what differs from the default, its fingerprint."""

    def describe(self, *, verbose: bool = False) -> str:
        """Return the protocol in a few words, or in full."""
        return self.text if verbose else self.short or self.text

    def to_dict(self) -> dict[str, Any]:
        """Return profile, fingerprint and every convention by name."""
        measures = {"measures": list(self.measures)} if self.measures else {}
        return {"profile": self.profile, "fingerprint": self.fingerprint, **self.conventions, **measures}


@dataclass(frozen=True)
class Provenance:
    """How the numbers of a result were made."""

    version: str = __version__
    """The version of judged."""
    protocols: tuple[ProtocolRecord, ...] = ()
    inputs: tuple[InputFile, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    """Test, correction, level, seed, and whatever else changes a number."""
    machine: str = ""
    """Recorded when the result is saved; empty: this one."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, for JSON."""
        return {
            "protocols": [protocol.to_dict() for protocol in self.protocols],
            "inputs": [file.to_dict() for file in self.inputs],
            "settings": dict(self.settings),
            "machine": self.machine or name_machine(),
        }

    @property
    def changes(self) -> tuple[Note, ...]:
        """A warning for every input file that has changed since it was read."""
        paths = dict.fromkeys(file.path for file in self.inputs if file.changed)
        message = "changed after it was read: the numbers are of its earlier content"
        return tuple(Note("changed-input", "warning", f"`{path}` {message}") for path in paths)

    def with_machine(self) -> Provenance:
        """Return the same with the machine recorded."""
        return replace(self, machine=self.machine or name_machine())


class Result:
    """The base of every result; subclasses are frozen dataclasses with the fields below."""

    kind: ClassVar[str]
    """Names the class in saved files, and the page in the report."""
    detail: ClassVar[str] = "queries"
    """The table with a row for each query (or session): left out of JSON unless it is asked for."""
    provenance: Provenance
    notes: tuple[Note, ...]

    def tables(self) -> Mapping[str, pa.Table]:
        """Return every number in full; the first table is the main one."""
        raise NotImplementedError

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return what people see, the answer first."""
        raise NotImplementedError

    def charts(self) -> Iterable[Figure]:
        """Return the charts that a notebook shows below the tables."""
        return [block for block in self.blocks(Display()) if isinstance(block, Figure)]

    def summary(self) -> Mapping[str, object]:
        """Return the few facts that stand before the tables in JSON."""
        return {}

    def evaluations(self) -> Sequence[Result]:
        """Return the evaluations that the result holds, each of one system, which can be compared and gated."""
        return ()

    def gate(self, baseline: Result, *, alpha: float) -> Sequence[Result]:
        """Return the gates of this result against an earlier one of its kind; raise `WrongKind` if there are none."""
        del baseline, alpha
        msg = f"a result of the kind `{self.kind}` cannot be gated by itself"
        hint = "`judged gate QRELS RUN --baseline RUN` gates a run"
        raise WrongKind(msg, hint=hint)

    def render(self, format: str = "table", display: Display | None = None) -> str | bytes:  # noqa: A002 - the word users know
        """Return the result in a format: table, csv, tsv, json, jsonl, markdown, latex, parquet or html."""
        return RENDERERS[format](self, display or Display())

    def to_arrow(self, table: str | None = None) -> pa.Table:
        """Return one of the tables, by default the main one, as an Arrow table."""
        tables = self.tables()
        if table is not None and table not in tables:
            kind = f"table of this {self.kind}"
            raise UnknownName(kind, str(table), list(tables))
        return tables[table if table is not None else next(iter(tables))]

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        """Return one of the tables, by default the main one, as a pandas data frame."""
        need("pandas", extra="pandas", needed_by="`to_pandas`")
        frame: pd.DataFrame = self.to_arrow(table).to_pandas()
        return frame

    def to_polars(self, table: str | None = None) -> pl.DataFrame:
        """Return one of the tables, by default the main one, as a Polars data frame."""
        frame: pl.DataFrame = need("polars", extra="polars", needed_by="`to_polars`").from_arrow(
            self.to_arrow(table)
        )
        return frame

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """Return everything as plain data, as JSON has it; without `per_query`, all but the largest table."""
        tables = self.tables()
        names = [name for name in tables if per_query or name != self.detail]
        return {
            "schema": f"judged.{self.kind}/{SCHEMA_VERSION}",
            "judged": self.provenance.version,
            **self.summary(),
            "provenance": self.provenance.to_dict(),
            "notes": [note.to_dict() for note in (*self.notes, *self.provenance.changes)],
            "tables": {name: to_records(tables[name]) for name in names},
        }

    def to_json(self, *, per_query: bool = False) -> str:
        """Return the result as a JSON document that people and `judged.load` can read."""
        import json

        import msgspec

        document = json.dumps(
            self.to_dict(per_query=per_query), indent=2, ensure_ascii=False, allow_nan=False
        )
        if self.kind not in RESULTS:
            return document + "\n"
        state = {**to_state(self), "provenance": to_state(self.provenance.with_machine())}
        return f'{document[:-2]},\n  "state": {msgspec.json.encode(state).decode()}\n}}\n'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a JSON file (`.json` or `.json.gz`), or to a URI, that `judged.load` reads back."""
        data = self.to_json().encode()
        data = gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data
        if is_remote(path):
            write_bytes(path, data)
        else:
            write_file(Path(path), data)

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the result to one HTML file that needs no network; `options` are those of `judged.report.page.render_report`."""
        write_file(Path(path), import_module("judged.report.page").render_report([self], **options))

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows of the main table, as dicts from column to value."""
        return iter(self.to_arrow().to_pylist())

    def __repr__(self) -> str:
        text = self.render("table")
        return text.rstrip("\n") if isinstance(text, str) else ""

    def _repr_html_(self) -> str:
        html: str = import_module("judged.report.notebook").to_static_html(self)
        return html

    def _ipython_display_(self) -> None:
        """Show tables and figures as outputs of their own, so that a notebook draws each as well as it can."""
        display = import_module("IPython.display").display
        for forms, metadata in import_module("judged.report.notebook").to_bundles(self):
            display(forms, raw=True, metadata=metadata)


def load(path: str | os.PathLike[str]) -> Result:
    """Return the result that `Result.save` wrote to a file, or to object storage (`s3://bucket/result.json`)."""
    import msgspec

    try:
        data = read_bytes(path) if is_remote(path) else Path(path).read_bytes()
        document = msgspec.json.decode(_unpack(data, str(path)) if data[:2] == b"\x1f\x8b" else data)
        kind, _, version = str(document["schema"]).removeprefix("judged.").partition("/")
        state = document["state"]
    except Unreadable:
        raise
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror or error}"
        raise Unreadable(msg) from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, RecursionError, zlib.error):
        msg = f"{path} is not a saved result"
        raise Unreadable(msg, hint="`result.save(path)` writes one, and so does `-o result.json`") from None
    if version != str(SCHEMA_VERSION):
        msg = f"{path} has version {version} of its format, expected {SCHEMA_VERSION}"
        raise Unreadable(msg, hint=f"it was written by judged {document.get('judged', '?')}")
    try:
        result: Result = from_state(state, RESULTS[kind])
        result.render("table")  # parts that do not fit together show here
        result.to_arrow()
    except JudgedError as error:
        if isinstance(error, UnknownName):
            raise
        msg = f"{path} is damaged: {error.message}"
        raise Unreadable(msg) from None
    except Exception as error:  # edited by hand, a result can be wrong in any way
        msg = f"{path} is damaged: {type(error).__name__}: {error}"
        raise Unreadable(msg) from error
    return result


def _unpack(data: bytes, label: str) -> bytes:
    """Return the content of a gzip file; raise `Unreadable` if it is out of all proportion."""
    parts, size = [], 0
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        while part := file.read(1 << 20):
            parts.append(part)
            size += len(part)
            check_size(size, packed=len(data), label=label)
    return b"".join(parts)


def find_kind(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of the result that a file holds, by its beginning; None if it holds something else."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(HEAD)
            if head[:2] == b"\x1f\x8b":
                head = zlib.decompressobj(wbits=31).decompress(head, HEAD)
    except (OSError, zlib.error):
        return None
    found = re.match(rb'\s*\{\s*"schema":\s*"judged\.(\w+)/', head)
    return found and found[1].decode()


class LazyTables(Mapping[str, "pa.Table"]):
    """Tables that are built when they are asked for, as a table of queries may be very large."""

    def __init__(self, builders: Mapping[str, Callable[[], pa.Table]]) -> None:
        self._builders = builders

    def __getitem__(self, name: str) -> pa.Table:
        return self._builders[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._builders)

    def __len__(self) -> int:
        return len(self._builders)


def tabulate(records: Sequence[Mapping[str, Value]]) -> pa.Table:
    """Return records as an Arrow table: columns in the order in which they first appear, None where absent.

    >>> tabulate([{"run": "bm25", "value": 1}, {"run": "dense", "value": 0.5, "low": 0.25}]).to_pydict()
    {'run': ['bm25', 'dense'], 'value': [1.0, 0.5], 'low': [None, 0.25]}
    """
    import pyarrow as pa

    names = dict.fromkeys(name for record in records for name in record)
    return pa.table({name: _to_column([record.get(name) for record in records]) for name in names})


def to_records(table: pa.Table) -> list[dict[str, object]]:
    """Return a table as records for JSON: None where a number is undefined, text where it is infinite."""
    columns = {name: [_to_json(value) for value in table[name].to_pylist()] for name in table.column_names}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _to_json(value: object) -> object:
    return None if isinstance(value, float) and value != value else to_state(value)  # noqa: PLR0124 - NaN


def table_to_arrow(table: Table) -> pa.Table:
    """Return a table for people as data, every number in full."""
    import pyarrow as pa

    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    return pa.table(
        {name: _to_column(list(column)) for name, column in zip(table.columns, columns, strict=True)}
    )


def _to_column(values: list[Value]) -> pa.Array:
    import pyarrow as pa

    plain = [value.value if isinstance(value, Estimate) else value for value in values]
    if any(isinstance(value, float) for value in plain):
        plain = [None if value is None or isinstance(value, str) else float(value) for value in plain]  # type: ignore[arg-type]
    return pa.array(plain)
