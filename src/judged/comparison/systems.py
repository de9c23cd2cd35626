"""Scored systems: the values that are compared, whether evaluated now, loaded, or read from a file of scores."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from judged.engine.evaluation import Evaluation
from judged.engine.evaluations import Evaluations
from judged.engine.family import Measures
from judged.errors import BadInput, UnknownName, Unreadable
from judged.io.open import open_file, split_name
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.problem import Note, Place, Problem
from judged.result import InputFile, ProtocolRecord, Provenance, load
from judged.tables.scores import Scores

__all__ = ["System", "SystemLike", "read_scores", "read_systems", "to_system"]

UNITS = ("query", "session", "task", "request")
"""What the column of queries may be called."""
AGAIN = "write it with `judged score QRELS RUN --per-query -o scores.parquet`"


SystemLike: TypeAlias = Evaluation | Scores | str | os.PathLike[str]
"""An evaluation, scores, or a file of either."""


@dataclass(frozen=True, eq=False)
class System:
    """The values of one system, and what is known about how they were made."""

    name: str
    values: Mapping[str, Mapping[str, float]]
    """For each measure, as it is written, the value of every query; NaN if it has none."""
    measures: tuple[Measure, ...] = ()
    unit: str = "query"
    provenance: Provenance = field(default_factory=Provenance)
    notes: tuple[Note, ...] = ()
    family: str = "ranked"
    saved: bool = False
    """Whether the values were made before, not in this call."""

    def __getitem__(self, measure: str) -> Mapping[str, float]:
        if measure not in self.values:
            kind = f"measure of the {'baseline' if self.saved else 'system'} `{self.name}`"
            raise UnknownName(kind, measure, list(self.values))
        return self.values[measure]

    def protocol(self, measure: str) -> ProtocolRecord | None:
        """Return the protocol that the measure was computed under, if it is known."""
        records = self.provenance.protocols
        own = (record for record in records if measure in record.measures)
        return next(own, next((record for record in records if not record.measures), None))

    @property
    def judgments(self) -> str | None:
        """The SHA-256 of the judgments, if it is known."""
        return next((file.sha256 for file in self.provenance.inputs if file.role == "judgments"), None)


def to_system(scored: Evaluation | Scores) -> System:
    """Return the values of an evaluation or of scores, with their protocols and notes."""
    scores = scored if isinstance(scored, Scores) else scored.scores
    values = {name: scores.by_query(name) for name, column in scores.values.items() if column.dtype != object}
    if isinstance(scored, Scores):
        return System(scores.run, values, unit=scores.unit, saved=True)
    notes = tuple(replace(note, message=f"{scored.system}: {note.message}") for note in scored.notes)
    return System(
        scored.system, values, scored.measures, scores.unit, scored.provenance, notes, scored.family
    )


def read_systems(
    sources: Sequence[SystemLike] | Mapping[str, SystemLike],
    measures: Measures | None = None,
) -> list[System]:
    """Return the systems of evaluations, of scores, or of files of them, by the measures wanted or by all."""
    named = sources.items() if isinstance(sources, Mapping) else ((None, source) for source in sources)
    systems = [
        system if name is None else replace(system, name=str(name))
        for name, source in named
        for system in _read(source)
    ]
    if not systems:
        return []
    chosen = next((system.measures for system in systems if system.measures), ())
    if measures is not None or not chosen:
        wanted = list(systems[0].values) if measures is None else measures
        chosen = tuple(parse_measures(wanted, family=systems[0].family))
    return [replace(system, measures=chosen) for system in systems]


def _read(source: SystemLike) -> list[System]:
    if not isinstance(source, str | os.PathLike):
        return [to_system(source)]
    found = read_scores(Path(source))
    if found is None:
        msg = f"{source} holds no scores"
        raise Unreadable(msg, hint=AGAIN)
    return list(found)


def read_scores(path: Path) -> tuple[System, ...] | None:
    """Return the systems whose values a file holds for every query; None if it holds something else, such as a run.

    The file is a saved evaluation, or a table that `judged score --per-query` wrote: Parquet, CSV, TSV, JSON or JSONL.
    """
    reader = _READERS.get(split_name(path)[1])
    try:
        return None if reader is None else reader(path)
    except (KeyError, TypeError, AttributeError, csv.Error):
        msg = f"{path} holds scores, and not as `judged score --per-query` writes them"
        raise Unreadable(msg, hint=AGAIN) from None


Row: TypeAlias = Mapping[str, Any]


def _read_parquet(path: Path) -> tuple[System, ...] | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
        if not _has_scores(schema.names, path):
            return None
        rows = pq.read_table(path).to_pylist()
    except (pa.ArrowInvalid, OSError) as error:
        msg = f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}"
        raise Unreadable(msg, hint=AGAIN) from None
    about = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
    return _to_systems(rows, path, _read_metadata(about))


def _read_delimited(path: Path) -> tuple[System, ...] | None:
    delimiter = "\t" if "\t" in _first_line(path) else ","
    names = next(csv.reader([_first_line(path)], delimiter=delimiter), [])
    if not _has_scores(names, path):
        return None
    return _to_systems(csv.DictReader(io.StringIO(_read_text(path)), delimiter=delimiter), path)


def _read_json_lines(path: Path) -> tuple[System, ...] | None:
    try:
        first = json.loads(_first_line(path) or "null")
        if not isinstance(first, dict) or not _has_scores(list(first), path):
            return None
        rows = [json.loads(line) for line in _read_text(path).splitlines() if line.strip()]
    except ValueError as error:
        if isinstance(error, BadInput):
            raise
        return None  # the reader of runs says what is wrong, with its line
    return _to_systems(rows, path)


def _load_systems(path: Path) -> tuple[System, ...] | None:
    loaded = load(path)
    evaluations = loaded.values() if isinstance(loaded, Evaluations) else [loaded]
    found = [to_system(result) for result in evaluations if isinstance(result, Evaluation)]
    return tuple(replace(system, saved=True) for system in found) or None


def _read_json(path: Path) -> tuple[System, ...] | None:
    """Read a saved result, or a document of `judged score`; a run may be large, so its beginning decides."""
    head = open_file(path).head()
    if re.match(rb'\s*\{\s*"schema":\s*"judged\.', head) and b'"state"' in open_file(path).data[:400]:
        return _load_systems(path)
    if not re.match(rb'\s*\{\s*"(judged|schema)":', head):
        return None
    try:
        document = json.loads(_read_text(path))
    except ValueError:
        return None
    if "tables" in document:
        rows = document["tables"].get("scores")
        if rows is None:
            raise _only_means(path)
        return _to_systems(rows, path, _to_provenance(document["provenance"]))
    if not {"protocol", "inputs", "runs"} <= set(document):
        return None
    if not all("per_query" in run for run in document["runs"]):
        raise _only_means(path)
    return _to_systems(_flatten_runs(document["runs"]), path, _to_provenance(_gather_provenance(document)))


def _flatten_runs(runs: Iterable[Row]) -> Iterator[Row]:
    """Yield a row for each value in the runs of a document of `judged score`."""
    for run in runs:
        for query, values in run["per_query"].items():
            for measure, value in values.items():
                if not isinstance(value, str):
                    yield {"run": run["name"], "query": query, "measure": measure, "value": value}


def _gather_provenance(document: Row) -> Row:
    """Return the provenance of a document of `judged score`, as results write it."""
    return {
        "protocols": [*document.get("protocols", ()), {"fingerprint": document["protocol"]["fingerprint"]}],
        "inputs": document["inputs"],
    }


def _to_provenance(recorded: Row) -> Provenance:
    """Return the protocols and inputs of a provenance that was written as plain data."""
    return Provenance(
        protocols=tuple(
            ProtocolRecord("", record["fingerprint"], measures=tuple(record.get("measures", ())))
            for record in recorded.get("protocols", ())
        ),
        inputs=tuple(
            InputFile(file["role"], file["path"], file["sha256"]) for file in recorded.get("inputs", ())
        ),
    )


_READERS = {
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
    ".csv": _read_delimited,
    ".tsv": _read_delimited,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".json": _read_json,
}


def _has_scores(columns: Sequence[str], path: Path) -> bool:
    """Return whether the columns are those of scores; raise BadInput for means, which cannot be tested."""
    if {"measure", "value"} <= set(columns) and set(UNITS) & set(columns):
        return True
    named = columns[:1] in (["run"], ["system"])
    if named and not set(UNITS) & set(columns) and not any("doc" in name for name in columns):
        raise _only_means(path)
    return False


def _only_means(path: Path) -> BadInput:
    message = "holds means of whole runs, expected the scores of every query"
    return BadInput(str(path), [Problem.error("only-means", str(path), message)], hint=AGAIN)


def _first_line(path: Path) -> str:
    return open_file(path).head().partition(b"\n")[0].decode("utf-8-sig", errors="replace").strip("\r")


def _read_text(path: Path) -> str:
    try:
        return bytes(open_file(path).data).decode("utf-8-sig")
    except UnicodeDecodeError:
        msg = f"{path} is not UTF-8"
        raise Unreadable(msg) from None


def _to_systems(rows: Iterable[Row], path: Path, provenance: Provenance | None = None) -> tuple[System, ...]:
    """Group rows by system, measure and query; collect every row that is not a score, then raise."""
    systems: dict[str, dict[str, dict[str, float]]] = {}
    problems: list[Problem] = []
    for number, row in enumerate((row for row in rows if not row.get("text")), 1):
        place = Place(str(path), row=number)
        query, measure = (
            next((row[unit] for unit in UNITS if row.get(unit) is not None), None),
            row.get("measure"),
        )
        name = str(row.get("run") or row.get("system") or "baseline")
        values = systems.setdefault(name, {}).setdefault(str(measure), {})
        if query is None or measure is None:
            problems.append(Problem.error("incomplete", place, "has no query or no measure, expected both"))
        elif str(query) in values:
            message = f"query `{query}` has a value of {measure} already"
            problems.append(Problem.error("repeated", place, message))
        else:
            values[str(query)] = _to_number(row.get("value"))
            if math.isinf(values[str(query)]):
                message = f"value is `{row.get('value')}`, expected a finite number"
                problems.append(Problem.error("not-a-number", place, message))
    if problems:
        raise BadInput(str(path), problems, hint=AGAIN)
    return tuple(
        System(name, values, provenance=provenance or Provenance(), saved=True)
        for name, values in systems.items()
    )


def _to_number(value: object) -> float:
    """Return the number; NaN for none, infinity for anything that is not a number."""
    if value is None or value == "":
        return math.nan
    try:
        return float(str(value))
    except ValueError:
        return math.inf


def _read_metadata(about: Mapping[str, str]) -> Provenance:
    """Return the protocols and the judgments that a Parquet file's metadata record."""
    try:
        if "judged.provenance" in about:
            return _to_provenance(json.loads(about["judged.provenance"]))
        by_measure = dict(json.loads(about.get("judged.protocols", "{}")))
    except ValueError:
        by_measure = {}  # as if the file did not say, which is noted
    found = re.search(r"#([0-9a-f]{12})$", about.get("judged.protocol", ""))
    protocols = [ProtocolRecord("", mark, measures=(measure,)) for measure, mark in by_measure.items()]
    protocols += [ProtocolRecord("", found[1])] if found else []
    digest = about.get("judged.judgments")
    inputs = (InputFile("judgments", "", digest),) if digest else ()
    return Provenance(protocols=tuple(protocols), inputs=inputs)
