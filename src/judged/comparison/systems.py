"""Scored systems: the values that are compared, whether evaluated now, loaded, or read from a file of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import pyarrow as pa

from judged.arrays import Floats
from judged.errors import BadMeasure, UnknownName
from judged.measures.measure import Measure
from judged.measures.written import restore_spellings
from judged.problem import NAMED, Note
from judged.result import ProtocolRecord, Provenance, Result, refuse_damage
from judged.scoring.evaluation import Evaluation
from judged.scoring.family import FAMILIES, Measures, Pair
from judged.scoring.foreign import describe_measure, make_measure, merge_kinds, split_names
from judged.tables.scores import ScoreKind, Scores
from judged.wording import name_some

if TYPE_CHECKING:
    from judged.comparison.result import Comparison
    from judged.tables.inputs import Frame

ScoresLike: TypeAlias = "Result | Scores | Frame | Mapping[str, Mapping[str, float | None]]"
"""An evaluation, scores, a file of either, or scores by query that another tool computed."""
Sources: TypeAlias = "ScoresLike | Sequence[ScoresLike] | Mapping[str, ScoresLike]"
"""Scores of one or several systems, perhaps by name."""


@dataclass(frozen=True, eq=False)
class System:
    """The values of one system, and what is known about how they were made."""

    name: str
    values: Mapping[str, Mapping[str, float]]
    """For each measure, by its canonical name, the value of every query; NaN if it has none, or none that counts."""
    measures: tuple[Measure, ...] = ()
    unit: str = "query"
    provenance: Provenance = field(default_factory=Provenance)
    notes: tuple[Note, ...] = ()
    family: str = "ranked"
    saved: bool = False
    """Whether the values were computed before this call."""
    evaluation: Evaluation | None = None
    """The evaluation that the values come from, if any."""
    repeats: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict)
    """For each measure with repeated values, those of every query; NaN where there is none."""
    clusters: Mapping[str, str] = field(default_factory=dict)
    """The cluster of every query, if the scores have clusters."""
    attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Attributes of queries that came with the scores: for each, the value of every query that has one."""
    written: Mapping[str, str] = field(default_factory=dict)
    """The canonical name of each measure by the name that is shown, where a file says it."""

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
    queries = scores.queries.to_pylist()
    more = _More(
        repeats={name: dict(zip(queries, rows, strict=True)) for name, rows in scores.repeats.items()},
        clusters={} if scores.clusters is None else _by_query(queries, scores.clusters),
        attributes={name: _by_query(queries, column) for name, column in scores.attributes.items()},
    )
    if isinstance(scored, Scores):
        written = {label: name for name, label in scores.written.items()}
        return System(scores.run, values, unit=scores.unit, saved=True, written=written, **more)
    return System(
        scored.system,
        values,
        scored.measures,
        scores.unit,
        scored.provenance,
        scored.notes,
        scored.family,
        evaluation=scored,
        **more,
    )


class _More(TypedDict):
    """The fields of a system that few scores have."""

    repeats: Mapping[str, Mapping[str, Floats]]
    clusters: Mapping[str, str]
    attributes: Mapping[str, Mapping[str, str]]


def _by_query(queries: Sequence[str], column: pa.Array) -> dict[str, str]:
    """Return the values of a column by query, without those that are null."""
    named = zip(queries, column.to_pylist(), strict=True)
    return {query: str(value) for query, value in named if value is not None}


def list_systems(result: Result) -> list[System]:
    """Return the systems whose values a result holds for every query; empty if it holds none."""
    comparison: Comparison | None = result.comparison
    with refuse_damage(result.loaded_from):
        if comparison is not None and comparison is result:
            return [_select_system(comparison, name) for name in comparison.systems]
        return [to_system(evaluation) for evaluation in result.evaluations()]


def _select_system(comparison: Comparison, name: str) -> System:
    """Return one system of a comparison, on the queries that were compared."""
    names = comparison.names
    values = {
        names[scores.measure]: dict(zip(scores.queries, scores.column(name).tolist(), strict=True))
        for scores in comparison.scores
    }
    family = comparison.scores[0].family
    directions = {names[scores.measure]: scores.higher_is_better for scores in comparison.scores}
    measures = restore_spellings(
        (
            replace(measure, higher_is_better=directions[str(measure)])
            for measure in FAMILIES[family].parse_measures(list(values))
        ),
        names,
    )
    inputs = tuple(file for file in comparison.provenance.inputs if file.system in {None, name})
    provenance = replace(comparison.provenance, inputs=inputs)
    more = _More(
        repeats={
            names[scores.measure]: dict(zip(scores.queries, scores.repeats[name], strict=True))
            for scores in comparison.scores
            if name in scores.repeats
        },
        clusters={
            query: cluster
            for scores in comparison.scores
            if scores.clusters
            for query, cluster in zip(scores.queries, scores.clusters, strict=True)
        },
        attributes={},
    )
    return System(name, values, measures, comparison.unit, provenance, family=family, saved=True, **more)


Opened: TypeAlias = "System | Evaluation | Scores"
"""Scores of one system, as a source holds them."""
Named: TypeAlias = "tuple[str | None, Opened]"
"""The same with the name that it was given, if any."""


def choose_systems(opened: Sequence[Named], measures: Measures | None = None) -> list[System]:
    """Return the systems of what was opened, under the names given, with the chosen measures or with all of them."""
    systems = [
        system if name is None else replace(system, name=name)
        for name, source in opened
        for system in [source if isinstance(source, System) else to_system(source)]
    ]
    chosen = next((system.measures for system in systems if system.measures), ())
    if systems and any(system.family == "score" for system in systems):
        systems, measures = [replace(system, family="score") for system in systems], None
    if systems and (measures is not None or not chosen):
        wanted = list(systems[0].values) if measures is None else measures
        chosen = tuple(FAMILIES[systems[0].family].parse_measures(wanted))
        chosen = chosen if measures is not None else restore_spellings(chosen, systems[0].written)
    return [replace(system, measures=chosen) for system in systems]


def share_measures(
    opened: Sequence[Named], measures: Measures | None, *, without: str = ""
) -> tuple[list[Named], list[Note]]:
    """Return systems of other tools with the measures that were named, or that all share, and what any says about them.

    Other systems are returned unchanged. A note names the measures that only some systems have. The column `without`,
    which names clusters, is a measure only if it is named.
    """
    if not any(_is_foreign(source) for _, source in opened):
        return list(opened), []
    systems = [source if isinstance(source, System) else to_system(source) for _, source in opened]
    names = [name or system.name for (name, _), system in zip(opened, systems, strict=True)]
    chosen, notes = _choose_names(names, systems, measures, without)
    shared = [
        make_measure(
            name,
            merge_kinds(
                name, [(own, _find_kind(system, name)) for own, system in zip(names, systems, strict=True)]
            ),
        )
        for name in chosen
    ]
    return [(name, _restrict(source, shared)) for name, source in opened], notes


def _is_foreign(opened: Opened) -> bool:
    return isinstance(opened, System | Evaluation) and opened.family == "score"


def _choose_names(
    names: Sequence[str], systems: Sequence[System], measures: Measures | None, without: str
) -> tuple[list[str], list[Note]]:
    known = dict.fromkeys(name for system in systems for name in system.values)
    if measures is None:
        known.pop(without, None)
        shared = [name for name in known if all(name in system.values for system in systems)]
        others = [name for name in known if name not in shared]
        if not shared:
            each = zip(names, systems, strict=True)
            listed = "; ".join(f"{name}: {name_some(list(system.values), NAMED)}" for name, system in each)
            msg = f"no measure is shared by all systems ({listed})"
            raise BadMeasure(msg)
        message = f"not compared, because only some systems have them: {name_some(others, NAMED)}"
        return shared, [Note("unshared-measures", "warning", message)] if others else []
    listed_measures = [measures] if isinstance(measures, str | Measure) else list(measures)
    attributes = {
        name: by_query.values() for system in systems for name, by_query in system.attributes.items()
    }
    chosen = [part for measure in listed_measures for part in split_names(str(measure), known, attributes)]
    for name in chosen:
        for own, system in zip(names, systems, strict=True):
            cells = {name: by_query.values() for name, by_query in system.attributes.items()}
            split_names(name, system.values, cells, kind=f"measure of the system `{own}`")
    return list(dict.fromkeys(chosen)), []


def _find_kind(system: System, name: str) -> ScoreKind:
    """Return what a system says about a measure: of judged's own measures, their direction and range."""
    found = next((measure for measure in system.measures if str(measure) == name), None)
    return ScoreKind() if found is None else describe_measure(found)


def _restrict(source: Opened, measures: Sequence[Measure]) -> Opened:
    """Return a system with these measures alone, which may be judged's own."""
    if isinstance(source, Evaluation) and source.family == "score" and source.alignments:
        restricted = source.measure(measures)
        return replace(restricted, provenance=source.provenance)
    system = source if isinstance(source, System) else to_system(source)
    values = {str(measure): system.values[str(measure)] for measure in measures}
    return replace(system, values=values, measures=tuple(measures))


def name_system(opened: Opened) -> str:
    """Return the name that a system has by itself."""
    if isinstance(opened, System):
        return opened.name
    return opened.run if isinstance(opened, Scores) else opened.system


def pair_units(opened: Sequence[Named]) -> tuple[list[Named], list[Note]]:
    """Return evaluations in the units by which their family pairs systems, with notes on that; others unchanged."""
    pair = find_pairing([source for _, source in opened])
    if pair is None:
        return list(opened), []
    evaluations, notes = pair(
        [
            source if name is None else replace(source, system=name)
            for name, source in opened
            if isinstance(source, Evaluation)
        ]
    )
    return [(None, evaluation) for evaluation in evaluations], notes


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
