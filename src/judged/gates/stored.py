"""A baseline that was scored before: the values of every query, as `judged score --per-query` wrote them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judged.engine.evaluation import Evaluation
from judged.errors import BadInput, UnknownName, Unreadable
from judged.io.open import open_file, split_name
from judged.problem import Problem
from judged.tables.scores import Scores

__all__ = ["Stored", "digest_of", "read_stored"]

LONG = {"query", "measure", "value"}
AGAIN = "write it with `judged score QRELS RUN --per-query -o scores.parquet`"


@dataclass(frozen=True)
class Stored:
    """The scores of one run, and what is known of how they were made."""

    name: str
    values: Mapping[str, Mapping[str, float]]
    """For each measure, as it is written, the value of every query; NaN: it has none."""
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    """The protocol of each measure; that of all others under the empty name."""
    judgments: str | None = None
    """The SHA-256 of the judgments they were scored against."""

    def fingerprint(self, measure: str) -> str | None:
        """The protocol under which the measure was made, as far as it is told."""
        return self.fingerprints.get(measure, self.fingerprints.get(""))

    def __getitem__(self, measure: str) -> Mapping[str, float]:
        if measure not in self.values:
            kind = f"measure of the baseline `{self.name}`"
            raise UnknownName(kind, measure, list(self.values))
        return self.values[measure]


def read_stored(source: Any, *, run: str | None = None) -> Stored | None:
    """The stored scores that `source` holds; None where it is something else, such as a run.

    `run` names the one that is meant where a file holds several.
    """
    if isinstance(source, Evaluation):
        made = {str(m): part.protocol.fingerprint for part in source.every_part for m in part.measures}
        return Stored(source.run, _of_scores(source.scores), made)
    if isinstance(source, Scores):
        return Stored(source.run, _of_scores(source))
    if not isinstance(source, str | os.PathLike) or str(source) == "-" or not Path(source).is_file():
        return None
    path = Path(source)
    reader = _READERS.get(split_name(path)[1])
    try:
        found = None if reader is None else reader(path)
    except (KeyError, TypeError, AttributeError, csv.Error):
        msg = f"{path} holds scores, and not as `judged score --per-query` writes them"
        raise Unreadable(msg, hint=AGAIN) from None
    return None if found is None else _one_run(found, path, run)


def digest_of(path: Any) -> str | None:
    """The SHA-256 of a file, in hexadecimal; None for what is not a file."""
    if not isinstance(path, str | os.PathLike) or not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class _File:
    """What a file of scores holds, run by run."""

    runs: Mapping[str, Mapping[str, Mapping[str, float]]]
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    judgments: str | None = None


def _of_scores(scores: Scores) -> dict[str, dict[str, float]]:
    return {name: scores.by_query(name) for name, values in scores.values.items() if values.dtype != object}


def _one_run(file: _File, path: Path, wanted: str | None) -> Stored:
    """The run that is meant: the one that was named, or the only one."""
    if wanted is not None and wanted not in file.runs:
        kind = f"run in {path}"
        raise UnknownName(kind, wanted, list(file.runs))
    if wanted is None and len(file.runs) != 1:
        told = f"holds scores of {len(file.runs)} runs ({', '.join(list(file.runs)[:5])}), expected one"
        hint = f"name the one that is meant, with `--baseline-run {next(iter(file.runs), 'NAME')}`"
        raise BadInput(str(path), [Problem.error("several-runs", str(path), told)], hint=hint)
    name = next(iter(file.runs)) if wanted is None else wanted
    return Stored(name, file.runs[name], file.fingerprints, file.judgments)


def _from_parquet(path: Path) -> _File | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
        if not _is_long(schema.names, path):
            return None
        columns = pq.read_table(path).to_pydict()
    except (pa.ArrowInvalid, OSError) as error:
        msg = f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}"
        raise Unreadable(msg, hint=AGAIN) from None
    about = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
    rows = zip(
        columns.get("run") or ["baseline"] * len(columns["query"]),
        *(columns[name] for name in ("query", "measure", "value")),
        strict=True,
    )
    return _File(_by_run(rows, path), _fingerprints(about), about.get("judged.judgments"))


def _from_delimited(path: Path) -> _File | None:
    delimiter = "\t" if "\t" in _first_line(path) else ","
    names = next(csv.reader([_first_line(path)], delimiter=delimiter), [])
    if not _is_long(names, path):
        return None
    return _File(_by_run(_fields(csv.DictReader(io.StringIO(_text(path)), delimiter=delimiter)), path))


def _from_json_lines(path: Path) -> _File | None:
    try:
        first = json.loads(_first_line(path) or "null")
        if not isinstance(first, dict) or not _is_long(list(first), path):
            return None
        rows = [json.loads(line) for line in _text(path).splitlines() if line.strip()]
    except ValueError as error:
        if isinstance(error, BadInput):
            raise
        return None  # whoever reads runs words it with its line
    return _File(_by_run(_fields(rows), path))


def _from_json(path: Path) -> _File | None:
    if not re.match(rb'\s*\{\s*"judged":', open_file(path).head()):
        return None  # a run may be large: only what begins like our own is read whole
    try:
        document = json.loads(_text(path))
    except ValueError:
        return None
    if not {"protocol", "inputs", "runs"} <= set(document):
        return None
    rows = (
        (run["name"], query, measure, value)
        for run in document["runs"]
        for query, values in run.get("per_query", {}).items()
        for measure, value in values.items()
        if not isinstance(value, str)
    )
    if not all("per_query" in run for run in document["runs"]):
        raise _means(path)
    protocols = {m: each["fingerprint"] for each in document.get("protocols", ()) for m in each["measures"]}
    judgments = next((each["sha256"] for each in document["inputs"] if each["role"] == "judgments"), None)
    return _File(_by_run(rows, path), {"": document["protocol"]["fingerprint"], **protocols}, judgments)


_READERS = {
    ".parquet": _from_parquet,
    ".pq": _from_parquet,
    ".csv": _from_delimited,
    ".tsv": _from_delimited,
    ".jsonl": _from_json_lines,
    ".ndjson": _from_json_lines,
    ".json": _from_json,
}


def _is_long(columns: list[str], path: Path) -> bool:
    """Whether the columns are those of stored scores; means alone are refused, for no test can be made of them."""
    if set(columns) >= LONG:
        return True
    if columns[:1] == ["run"] and "query" not in columns and not any("doc" in name for name in columns):
        raise _means(path)
    return False


def _means(path: Path) -> BadInput:
    told = "holds means of whole runs, expected the scores of every query"
    return BadInput(str(path), [Problem.error("means-only", str(path), told)], hint=AGAIN)


def _first_line(path: Path) -> str:
    return open_file(path).head().partition(b"\n")[0].decode("utf-8-sig", errors="replace").strip("\r")


def _text(path: Path) -> str:
    try:
        return bytes(open_file(path).data).decode("utf-8-sig")
    except UnicodeDecodeError:
        msg = f"{path} is not UTF-8"
        raise Unreadable(msg) from None


def _fields(rows: Iterable[Mapping[str, Any]]) -> Iterable[tuple[Any, Any, Any, Any]]:
    for row in rows:
        if not row.get("text"):  # measures that are strings have no number to compare
            yield row.get("run") or "baseline", row.get("query"), row.get("measure"), row.get("value")


def _by_run(rows: Iterable[tuple[Any, Any, Any, Any]], path: Path) -> dict[str, dict[str, dict[str, float]]]:
    """The values by run, measure and query; every row that cannot be one is a fault."""
    runs: dict[str, dict[str, dict[str, float]]] = {}
    faults = []
    for number, (run, query, measure, value) in enumerate(rows, 1):
        where = f"{path}, row {number:,}"
        values = runs.setdefault(str(run), {}).setdefault(str(measure), {})
        if query is None or measure is None:
            faults.append(Problem.error("missing-value", where, "has no query or no measure, expected both"))
        elif str(query) in values:
            faults.append(
                Problem.error("repeated-query", where, f"query `{query}` has a value of {measure} already")
            )
        else:
            values[str(query)] = _number_of(value)
            if math.isinf(values[str(query)]):
                faults.append(
                    Problem.error("not-a-number", where, f"value is `{value}`, expected a finite number")
                )
    if faults:
        raise BadInput(str(path), faults, hint=AGAIN)
    return runs


def _number_of(value: Any) -> float:
    """The number; NaN for nothing, infinity for what is no number at all."""
    if value is None or value == "":
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.inf


def _fingerprints(about: Mapping[str, str]) -> dict[str, str]:
    """The protocols that a Parquet file's own metadata tell of."""
    found = re.search(r"#([0-9a-f]{12})$", about.get("judged.protocol", ""))
    try:
        several = dict(json.loads(about.get("judged.protocols", "{}")))
    except ValueError:
        several = {}  # as if it were not told, which is noted
    return ({"": found[1]} if found else {}) | several
