"""Results: what every verb returns. A result knows how to be shown, saved and loaded.

    Result
    ├── provenance   how the numbers were made: version, protocols, inputs, settings, seed
    ├── notes        what a reader of the numbers should know
    ├── tables()     every number in full, as Arrow tables; the first is the main one
    └── blocks()     what people see, the answer first

From these follow, once for all results: printing, notebooks, data frames, JSON, files.
"""

from __future__ import annotations

import io
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from judged._optional import need
from judged._version import __version__
from judged.blocks import Block, Display, Estimate, Figure, Table, Value
from judged.errors import JudgedError, MissingExtra, UnknownName, Unreadable, WrongKind
from judged.problem import Note
from judged.registry import Registry
from judged.saved import Damaged, from_builtins, to_builtins
from judged.store.files import check_size, write_file
from judged.store.hashing import FileStamp, hash_stamped
from judged.store.machine import name_machine
from judged.store.remote import is_remote, read_bytes, write_bytes

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

HEAD = 4096
"""Bytes of a file that show whether it is a saved result."""
_SCHEMA = re.compile(r"judged\.([\w-]+)/(\d{1,9})")

Renderer: TypeAlias = Callable[["Result", Display], str | bytes]

RENDERERS: Registry[Renderer] = Registry("format")
"""Functions that render a result, by format."""
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

EXTENSIONS = {
    ".txt": "table",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".md": "markdown",
    ".tex": "latex",
    ".parquet": "parquet",
    ".html": "html",
}
"""The format that the extension of a file names."""

RESULTS: Registry[type[Result]] = Registry("kind of result", of_subject=lambda subject: subject.results)
"""The class of each kind of result, for `load`."""
for _kind, _home in {
    "evaluation": "judged.scoring.evaluation:Evaluation",
    "evaluations": "judged.scoring.evaluations:Evaluations",
    "comparison": "judged.comparison.result:Comparison",
    "plan": "judged.comparison.plan:QueryPlan",
    "snapshots": "judged.comparison.snapshots:SnapshotReport",
    "gate": "judged.gates.result:GateReport",
    "gates": "judged.gates.result:GateSummary",
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
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The columns that the user named."""
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

    def to_saved(self) -> InputFile:
        """Return the same with the digest, and whether there is none because the file has changed."""
        return replace(self, digest=self.sha256, saved_changed=self.changed)

    def to_dict(self) -> dict[str, Any]:
        """Return role, path and SHA-256; the system if the file belongs to one, and the columns that the user named."""
        system = {} if self.system is None else {"system": self.system}
        columns = {"columns": dict(self.columns)} if self.columns else {}
        return {"role": self.role, "path": self.path, "sha256": self.sha256, **system, **columns}


def observe_files(sources: Iterable[tuple[str, object]]) -> tuple[InputFile, ...]:
    """Return the files that sources are, each with its role, or that tables know to be from. Call it before they are read."""
    return tuple(file for role, source in sources for file in _list_files(role, source))


def _list_files(role: str, source: object) -> tuple[InputFile, ...]:
    if isinstance(source, str | os.PathLike):
        path, columns = str(os.fsdecode(source)), getattr(source, "columns", {})
        return (InputFile(role, path, stamp=FileStamp.take(source), columns=columns),)
    # of the class, since a data frame has its columns as attributes
    known: tuple[InputFile, ...] = (
        getattr(source, "input_files", ()) if hasattr(type(source), "input_files") else ()
    )
    return known


@dataclass(frozen=True)
class ProtocolRecord:
    """A protocol as it was applied, and the measures it was applied to."""

    text: str
    """The protocol in words."""
    fingerprint: str
    conventions: Mapping[str, object] = field(default_factory=dict)
    profile: str | None = None
    measures: tuple[str, ...] = ()
    """Their canonical names; empty: all measures of the result."""
    short: str = ""
    """The protocol in a few words: its name, what differs from the default, its fingerprint."""
    written: tuple[str, ...] = ()
    """The names that are shown of these measures; empty: their canonical ones."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The names to show of these measures."""
        return self.written or self.measures

    def describe(self, *, verbose: bool = False) -> str:
        """Return the protocol in a few words, or in full."""
        return self.text if verbose else self.short or self.text

    def to_dict(self) -> dict[str, object]:
        """Return profile, fingerprint and every convention by name."""
        measures = {"measures": list(self.measures)} if self.measures else {}
        return {"profile": self.profile, "fingerprint": self.fingerprint, **self.conventions, **measures}


@dataclass(frozen=True)
class Provenance:
    """Provenance of the numbers of a result."""

    version: str = __version__
    """The version of judged."""
    protocols: tuple[ProtocolRecord, ...] = ()
    inputs: tuple[InputFile, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    """Test, correction, level, seed, and anything else that changes a number."""
    machine: str = ""
    """Recorded when the result is saved; empty: this one."""

    def to_dict(self) -> dict[str, object]:
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

    def to_saved(self) -> Provenance:
        """Return the same with the machine recorded."""
        return replace(self, machine=self.machine or name_machine())


class Result:
    """The base of every result; subclasses are frozen dataclasses with the fields below."""

    kind: ClassVar[str]
    """Names the class in saved files."""
    version: ClassVar[int] = 1
    """Version of the saved form of this kind; raised when a field without a default is added, or one changes or goes."""
    upgrades: ClassVar[Mapping[int, Callable[[Any], Any]]] = {}
    """For each earlier version that can still be read, the function that turns its state into that of the next."""
    pages: ClassVar[tuple[str, ...]] = ("result",)
    """The pages of the report that may show it, in the order of the navigation."""
    detail: ClassVar[str] = "queries"
    """The table with a row for each query (or session): left out of JSON unless it is asked for."""
    detail_by_query: ClassVar[bool] = False
    """Whether the report's page of queries has all of that table."""
    provenance: Provenance
    notes: tuple[Note, ...]
    loaded_from: str | None = None
    """The file that it was loaded from; None if it was made here."""
    comparison: Any = None
    """The comparison of its systems, if it holds one."""
    gates: Any = ()
    """The gates that it holds."""
    query_texts: Mapping[str, str] = MappingProxyType({})
    """The texts of queries by id that the report shows, if it has them."""
    document_texts: Mapping[str, str] = MappingProxyType({})
    """The texts of documents by id that the report shows, if it has them."""

    def tables(self) -> Mapping[str, pa.Table]:
        """Return every number in full; the first table is the main one."""
        raise NotImplementedError

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return what people see, the answer first."""
        raise NotImplementedError

    def shown_notes(self, display: Display) -> Sequence[Note]:  # noqa: ARG002 - one seam
        """Return the notes on what a display shows of it."""
        return self.notes

    def charts(self) -> Iterable[Figure]:
        """Return the charts that a notebook shows below the tables."""
        return [block for block in self.blocks(Display()) if isinstance(block, Figure)]

    def summary(self) -> Mapping[str, object]:
        """Return the few facts that stand before the tables in JSON."""
        return {}

    def evaluations(self) -> Sequence[Any]:
        """Return the evaluations that the result holds, each of one system, which can be compared and gated."""
        return ()

    def leaderboard(self) -> Any:
        """Return the `Evaluations` that the report shows where systems are not compared; None if there are none."""
        return None

    def title(self) -> str:
        """Return the name of the judgments, the labels or the first trace, or the kind of the result."""
        for role in ("judgments", "preferences", "trace", "labels"):
            for file in self.provenance.inputs:
                if file.role == role and file.path != "-":
                    # a data set id is not a path
                    return os.path.basename(file.path).partition(".")[0] or file.path  # noqa: PTH119
        return self.kind

    def gate(self, baseline: Result, *, alpha: float, wall: bool = False) -> Sequence[Result]:
        """Return the gates of this result against an earlier one of its kind; raise `WrongKind` if there are none.

        `wall` lets times decide that were measured apart.
        """
        del baseline, alpha, wall
        msg = f"a result of the kind `{self.kind}` cannot be gated by itself"
        hint = "`judged gate QRELS RUN --baseline RUN` gates a run"
        raise WrongKind(msg, hint=hint)

    def render(self, format: str = "table", display: Display | None = None) -> str | bytes:  # noqa: A002 - the word users know
        """Return the result in a format: table, csv, tsv, json, jsonl, markdown, latex, parquet or html."""
        renderer = RENDERERS[format]
        with refuse_damage(self.loaded_from):
            return renderer(self, display or Display())

    def to_arrow(self, table: str | None = None) -> pa.Table:
        """Return one of the tables, by default the main one, as an Arrow table."""
        tables = self.tables()
        if table is not None and table not in tables:
            kind = f"table of this {self.kind}"
            raise UnknownName(kind, str(table), list(tables))
        with refuse_damage(self.loaded_from):
            return tables[table if table is not None else next(iter(tables))]

    def rows(self, table: str | None = None) -> list[dict[str, Any]]:
        """Return the rows of one of the tables, by default the main one, as dicts from column to value."""
        rows: list[dict[str, Any]] = self.to_arrow(table).to_pylist()
        return rows

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

    def to_dict(self, *, per_query: bool = True) -> dict[str, object]:
        """Return everything as plain data, as JSON has it; without `per_query`, all but the largest table."""
        tables = self.tables()
        names = [name for name in tables if per_query or name != self.detail]
        return {
            "schema": f"judged.{self.kind}/{self.version}",
            "judged": self.provenance.version,
            **to_builtins(self.summary()),
            "provenance": self.provenance.to_dict(),
            "notes": [note.to_dict() for note in (*self.notes, *self.provenance.changes)],
            "tables": {name: to_records(tables[name]) for name in names},
        }

    def to_json(self, *, per_query: bool = False) -> str:
        """Return the result as a JSON document that people and `judged.load` can read."""
        import json

        import msgspec

        with refuse_damage(self.loaded_from):
            plain = self.to_dict(per_query=per_query)
        document = json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)
        if self.kind not in RESULTS:
            return document + "\n"
        # last and on one line: it is for `load`, the rest is for people
        state = msgspec.json.encode(to_builtins(self)).decode()
        return f'{document[:-2]},\n  "state": {state}\n}}\n'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file, or to a URI, in the format that its extension names.

        `judged.load` reads `.json` and `.json.gz` back. `.html` is the report; the others are .txt, .csv, .tsv, .jsonl,
        .ndjson, .md, .tex and .parquet.
        """
        extension = find_extension(path)
        data = pack(path, self._render_file(extension))
        if is_remote(path):
            write_bytes(path, data)
        else:
            write_file(Path(path), data)

    def report(self, path: str | os.PathLike[str], **options: object) -> None:
        """Write the result to one HTML file that needs no network; `options` are those of `judged.report.page.render_report`."""
        find_extension(path, {".html": "html"})
        write_file(
            Path(path), pack(path, import_module("judged.report.page").render_report([self], **options))
        )

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows of the main table; a result that is a mapping iterates over its keys."""
        return iter(self.rows())

    def _render_file(self, extension: str) -> str | bytes:
        if extension == ".json":
            return self.to_json()
        if extension == ".html":
            report: str = import_module("judged.report.page").render_report([self])
            return report
        return self.render(EXTENSIONS[extension])

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


def find_extension(path: str | os.PathLike[str], extensions: Mapping[str, str] = EXTENSIONS) -> str:
    """Return the extension that names the format of a file, without `.gz`; raise `UnknownName` if it names none.

    >>> find_extension("scores.CSV"), find_extension("result.json.gz")
    ('.csv', '.json')
    """
    name = os.fsdecode(path)
    extension = Path(name.removesuffix(".gz")).suffix.lower()
    if extension not in extensions:
        hint = f"known extensions: {' '.join(extensions)}, each also with .gz"
        kind = f"format of `{name}`"
        raise UnknownName(kind, extension, extensions, hint=hint)
    return extension


def pack(path: str | os.PathLike[str], content: str | bytes) -> bytes:
    """Return the bytes of a file, compressed if its name ends with `.gz`."""
    data = content.encode() if isinstance(content, str) else content
    if not os.fsdecode(path).endswith(".gz"):
        return data
    import gzip

    return gzip.compress(data, mtime=0)  # without the time, so that equal results are equal files


def load(path: str | os.PathLike[str]) -> Result:
    """Return the result that `Result.save` wrote to a file, or to object storage (`s3://bucket/result.json`)."""
    import msgspec

    try:
        data = read_bytes(path) if is_remote(path) else Path(path).read_bytes()
        document = msgspec.json.decode(_unpack(data, str(path)) if data[:2] == b"\x1f\x8b" else data)
        kind, version = _SCHEMA.fullmatch(document["schema"]).groups()  # type: ignore[union-attr]
        state = document["state"]
    except Unreadable:  # an OSError that already says what is wrong
        raise
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror or error}"
        raise Unreadable(msg) from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, RecursionError, zlib.error):
        msg = f"{path} is not a saved result"
        raise Unreadable(msg, hint="`result.save(path)` writes one, and so does `-o result.json`") from None
    written = f"it was written by judged {document.get('judged', '?')}"
    hint = f"{written}, which can read it unless it was edited since"
    made = RESULTS[kind]
    with refuse_damage(str(path), hint=hint):
        state = _upgrade(state, made, int(version), label=str(path), written=written)
        result: Result = from_builtins(state, made)
        # parts that do not fit together show here
        result.render("table")
        result.to_arrow()
    object.__setattr__(result, "loaded_from", str(path))
    return result


@contextmanager
def refuse_damage(
    source: str | None, *, hint: str | None = None, unless: type[Exception] = MissingExtra
) -> Iterator[None]:
    """Raise `Unreadable` for any error in a result that was loaded from a file: edited by hand, it can be wrong in any way.

    Without a source the result was made here, and errors are raised as they are; so are those of the type `unless`,
    which have another cause.
    """
    try:
        yield
    except (OSError, MemoryError, MissingExtra, unless):  # not the fault of the file
        raise
    except Exception as error:
        if source is None:
            raise
        words = error.message if isinstance(error, JudgedError) else str(error)
        kind = "" if isinstance(error, JudgedError | Damaged) else f"{type(error).__name__}: "
        msg = f"{source} is damaged: {kind}{words}"
        raise Unreadable(msg, hint=hint) from error


def _upgrade(state: object, kind: type[Result], version: int, *, label: str, written: str) -> object:
    """Return the state of an earlier version in the form of this one; raise `Unreadable` if that cannot be done."""
    for number in range(version, kind.version):
        if number not in kind.upgrades:
            msg = f"{label} has version {version} of `{kind.kind}`, which this judged ({__version__}) no longer reads"
            raise Unreadable(msg, hint=f"{written}, which reads it")
        state = kind.upgrades[number](state)
    if version > kind.version:
        msg = f"{label} has version {version} of `{kind.kind}`, expected {kind.version} at most"
        raise Unreadable(msg, hint=f"{written}: a later version than this one ({__version__})")
    return state


def _unpack(data: bytes, label: str) -> bytes:
    """Return the content of a gzip file; raise `Unreadable` if it is out of all proportion."""
    import gzip

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
                # bounded, because even the head of a bomb unpacks to megabytes
                head = zlib.decompressobj(wbits=31).decompress(head, HEAD)
    except (OSError, zlib.error):
        return None
    schema = re.match(rb'\s*\{\s*"schema":\s*"judged\.([\w-]+)/', head)
    return schema and schema[1].decode()


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


def name_rows(table: pa.Table, names: Mapping[str, str]) -> pa.Table:
    """Return a table with canonical names in its column `measure`; the names shown follow it where any differs.

    `names` has the canonical name of each measure by the name that is shown, which the column has.
    """
    if "measure" not in table.column_names or all(label == name for label, name in names.items()):
        return table
    import pyarrow as pa

    at, labels = table.column_names.index("measure"), table["measure"].to_pylist()
    canonical = pa.array([names.get(label, label) for label in labels], pa.string())
    table = table.set_column(at, "measure", canonical)
    return table.add_column(at + 1, "written", pa.array(labels, pa.string()))


def to_records(table: pa.Table) -> list[dict[str, object]]:
    """Return a table as records for JSON: None where a number is undefined, text where it is infinite."""
    columns = {name: [_to_json(value) for value in table[name].to_pylist()] for name in table.column_names}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _to_json(value: object) -> object:
    return None if isinstance(value, float) and value != value else to_builtins(value)  # noqa: PLR0124 - NaN


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
