"""Scored systems: the values that are compared, whether evaluated now, loaded, or read from a file of scores."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import msgspec
from msgspec import Struct

from judged.errors import BadInput, UnknownName, Unreadable, WrongKind
from judged.io.open import name_files, open_file, split_name
from judged.io.sniff import FORMATS, detect, find_by_extension
from judged.io.table import Table, read_table
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.problem import Note, Problem
from judged.result import InputFile, ProtocolRecord, Provenance, Result, find_kind, load, refuse_damage
from judged.scoring.evaluation import Evaluation
from judged.scoring.family import FAMILIES, Measures, Pair
from judged.tables.schema import SCORES
from judged.tables.scores import Scores

if TYPE_CHECKING:
    from judged.comparison.result import Comparison

AGAIN = "write it with `judged score QRELS RUN --per-query -o scores.parquet`"


ScoresLike: TypeAlias = Result | Scores | str | os.PathLike[str]
"""An evaluation, scores, or a file of either."""
Sources: TypeAlias = ScoresLike | Sequence[ScoresLike] | Mapping[str, ScoresLike]
"""Scores of one or several systems, perhaps by name."""


@dataclass(frozen=True, eq=False)
class System:
    """The values of one system, and what is known about how they were made."""

    name: str
    values: Mapping[str, Mapping[str, float]]
    """For each measure, as it is written, the value of every query; NaN if it has none, or none that counts."""
    measures: tuple[Measure, ...] = ()
    unit: str = "query"
    provenance: Provenance = field(default_factory=Provenance)
    notes: tuple[Note, ...] = ()
    family: str = "ranked"
    saved: bool = False
    """Whether the values were computed before this call."""
    evaluation: Evaluation | None = None
    """The evaluation that the values come from, if any."""

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

    def rename(self, name: str) -> System:
        """Return the same under another name, which its files carry too."""
        files = (
            replace(file, system=name) if file.system == self.name else file
            for file in self.provenance.inputs
        )
        return replace(self, name=name, provenance=replace(self.provenance, inputs=tuple(files)))

    @property
    def judgments(self) -> str | None:
        """The SHA-256 of the judgments, if it is known."""
        return next((file.sha256 for file in self.provenance.inputs if file.role == "judgments"), None)


def to_system(scored: Evaluation | Scores) -> System:
    """Return the values of an evaluation or of scores, with their protocols and notes."""
    scores = scored if isinstance(scored, Scores) else scored.scores
    values = {
        name: scores.by_query(name, averaged=True)
        for name, column in scores.values.items()
        if column.dtype != object
    }
    if isinstance(scored, Scores):
        return System(scores.run, values, unit=scores.unit, saved=True)
    return System(
        scored.system,
        values,
        scored.measures,
        scores.unit,
        scored.provenance,
        scored.notes,
        scored.family,
        evaluation=scored,
    )


def list_systems(result: Result) -> list[System]:
    """Return the systems whose values a result holds for every query; empty if it holds none."""
    comparison: Comparison | None = result.comparison
    with refuse_damage(result.loaded_from):
        if comparison is not None and comparison is result:
            return [_select_system(comparison, name) for name in comparison.systems]
        return [to_system(evaluation) for evaluation in result.evaluations()]


def _select_system(comparison: Comparison, name: str) -> System:
    """Return one system of a comparison, on the queries that were compared."""
    values = {
        scores.measure: dict(zip(scores.queries, scores.column(name).tolist(), strict=True))
        for scores in comparison.scores
    }
    family = comparison.scores[0].family
    measures = tuple(parse_measures(list(values), family=family))
    inputs = tuple(file for file in comparison.provenance.inputs if file.system in {None, name})
    provenance = replace(comparison.provenance, inputs=inputs)
    return System(name, values, measures, comparison.unit, provenance, family=family, saved=True)


def read_systems(sources: Sources, measures: Measures | None = None) -> list[System]:
    """Return the systems of evaluations, of scores, or of files of them, with the chosen measures or with all of them."""
    if not isinstance(sources, Mapping) and isinstance(sources, Result | Scores | str | os.PathLike):
        sources = [sources]
    named = list(sources.items() if isinstance(sources, Mapping) else ((None, source) for source in sources))
    paths = [str(source) for _, source in named if isinstance(source, str | os.PathLike)]
    by_path = dict(zip(paths, name_files(paths), strict=True))
    systems = [
        system if name is None else replace(system, name=str(name))
        for name, source in named
        for system in _read(
            source, by_path.get(str(source)) if isinstance(source, str | os.PathLike) else None
        )
    ]
    if not systems:
        return []
    chosen = next((system.measures for system in systems if system.measures), ())
    if measures is not None or not chosen:
        wanted = list(systems[0].values) if measures is None else measures
        chosen = tuple(parse_measures(wanted, family=systems[0].family))
    return [replace(system, measures=chosen) for system in systems]


def pair_units(sources: Sources) -> tuple[Sources, list[Note]]:
    """Return evaluations in the units by which their family pairs systems, with notes on that; other sources unchanged."""
    if not isinstance(sources, Mapping):
        sources = [sources] if isinstance(sources, Result | Scores | str | os.PathLike) else list(sources)
    pair = find_pairing(list(sources.values() if isinstance(sources, Mapping) else sources))
    if pair is None:
        return sources, []
    named = sources.items() if isinstance(sources, Mapping) else ((None, source) for source in sources)
    evaluations = cast("Iterable[tuple[str | None, Evaluation]]", named)
    return pair([known if name is None else replace(known, system=name) for name, known in evaluations])


def find_pairing(sources: Sequence[object]) -> Pair | None:
    """Return how the family of evaluations pairs systems; None if their units are paired as they are.

    So are sources that are paired already, and saved ones, which do not keep what their units belong to.
    """
    evaluations = [source for source in sources if isinstance(source, Evaluation) and source.alignments]
    if not evaluations or len(evaluations) < len(sources):
        return None
    family = FAMILIES[evaluations[0].family]
    same = all((known.family, known.unit) == (family.name, family.unit) for known in evaluations)
    return family.pair if same else None


def _read(source: ScoresLike, name: str | None) -> list[System]:
    if isinstance(source, Evaluation | Scores):
        return [to_system(source)]
    if isinstance(source, Result) and (systems := list_systems(source)):
        return systems
    if not isinstance(source, str | os.PathLike):
        msg = f"a system is of type `{type(source).__name__}`, expected an evaluation, scores, or a file of them"
        raise WrongKind(msg, hint="`compare(qrels, runs, measures)` scores runs first")
    saved = read_scores(Path(source), name=name)
    if saved is None:
        msg = f"{source} holds no scores"
        raise Unreadable(msg, hint=AGAIN)
    return list(saved)


def read_scores(path: Path, *, name: str | None = None) -> tuple[System, ...] | None:
    """Return the systems whose values a file holds for every query; None if it holds something else, such as a run.

    The file is a saved evaluation, or a table that `judged score --per-query` wrote: Parquet, CSV, TSV, JSON or JSONL.
    `name` is that of a system that the file does not name, by default the name of the file.
    """
    unnamed = name or name_files([str(path)])[0]
    extension = split_name(path)[1]
    if extension == ".json":
        return _read_result(path, unnamed)
    named = find_by_extension(extension)
    if named is None or FORMATS[named].columns is None:
        return None
    file = open_file(path)
    columns = detect(file, SCORES).columns
    if columns is None or not _has_scores(columns(file), path):
        return None
    table = read_table(path, SCORES)
    try:
        recorded = msgspec.json.decode(table.metadata.get("judged.provenance", "{}"), type=_Provenance)
    except msgspec.DecodeError:
        recorded = _Provenance()  # as if the file did not say, which is noted
    return _to_systems(table, recorded.restore(), unnamed)


class _Protocol(Struct):
    fingerprint: str
    measures: tuple[str, ...] = ()


class _File(Struct):
    role: str
    path: str
    sha256: str | None = None


class _Provenance(Struct):
    """The fields of a provenance, written as plain data, that a comparison needs."""

    protocols: tuple[_Protocol, ...] = ()
    inputs: tuple[_File, ...] = ()

    def restore(self) -> Provenance:
        """Return the protocols and inputs as results have them."""
        return Provenance(
            protocols=tuple(
                ProtocolRecord("", protocol.fingerprint, measures=protocol.measures)
                for protocol in self.protocols
            ),
            inputs=tuple(InputFile(file.role, file.path, file.sha256) for file in self.inputs),
        )


class _Document(Struct):
    """A result in JSON: with its state if `judged.load` reads it, else with its tables only."""

    provenance: _Provenance = msgspec.field(default_factory=_Provenance)
    tables: dict[str, msgspec.Raw] = {}
    state: msgspec.Raw = msgspec.Raw()


def _read_result(path: Path, unnamed: str) -> tuple[System, ...] | None:
    """Read the systems of a result; a run in JSON may be large, so the beginning of the file decides."""
    if find_kind(path) is None:
        return None
    file = open_file(path)
    try:
        document = msgspec.json.decode(bytes(file.data), type=_Document)
        if bytes(document.state):
            return tuple(replace(system, saved=True) for system in list_systems(load(path))) or None
        if "scores" not in document.tables:
            raise _only_means(path)
        rows = msgspec.json.decode(document.tables["scores"], type=list[dict[str, str | float | None]])
    except msgspec.DecodeError:
        msg = f"{path} holds scores, and not as `judged score --per-query` writes them"
        raise Unreadable(msg, hint=AGAIN) from None
    return _to_systems(read_table(rows, SCORES, name=str(path)), document.provenance.restore(), unnamed)


def _has_scores(columns: Sequence[str], path: Path) -> bool:
    """Return whether the columns are those of scores; raise BadInput for means, which cannot be tested."""
    names = {name.strip().lower() for name in columns}
    units = names & set(SCORES["query"].names)
    if {"measure", "value"} <= names and units:
        return True
    if list(columns[:1]) in (["run"], ["system"]) and not units and not any("doc" in name for name in names):
        raise _only_means(path)
    return False


def _only_means(path: Path) -> BadInput:
    message = "holds means of whole runs, expected the scores of every query"
    return BadInput(str(path), [Problem.error("only-means", str(path), message)], hint=AGAIN)


def _to_systems(table: Table, provenance: Provenance, unnamed: str) -> tuple[System, ...]:
    """Group values by system, measure and query; collect every row that is not a score, then raise.

    A table without a column of systems has those of one system, `unnamed`.
    """
    systems: dict[str, dict[str, dict[str, float]]] = {}
    columns = {name: column.to_pylist() for name, column in table.columns.items()}
    names, texts, left_out = columns.get("run"), columns.get("text"), columns.get("left_out")
    rows = zip(columns["query"], columns["measure"], columns["value"], strict=True)
    for row, (query, measure, value) in enumerate(rows):
        if texts is not None and texts[row]:
            continue
        name = (names[row] if names is not None else None) or unnamed
        values = systems.setdefault(name, {}).setdefault(measure, {})
        if query in values:
            message = f"query `{query}` has a value of {measure} already"
            table.problems.add("repeated-query", row, message)
        values[query] = nan if left_out is not None and left_out[row] == 1 else value
    table.problems.raise_if_any(hint=AGAIN)
    return tuple(System(name, values, provenance=provenance, saved=True) for name, values in systems.items())
