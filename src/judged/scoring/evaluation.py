"""Evaluation: the scores of one system, with their protocol and what was observed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, nan
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.arrays import Flags, Floats, Ints
from judged.blocks import Block, Display
from judged.errors import BadMeasure, BadSample, JudgedError, UnknownName
from judged.kernels.elementary import log
from judged.measures.measure import Measure, pooled_value
from judged.measures.written import list_spellings, note_spellings, restore_spellings
from judged.problem import Note
from judged.profiles.profile import Profile
from judged.progress import Progress
from judged.protocol import BaseProtocol, Protocol
from judged.result import ProtocolRecord, Provenance, Result
from judged.scoring.align import RankedAlignment
from judged.scoring.alignment import Alignment, Counts, View
from judged.scoring.family import FAMILIES, Family, Measures
from judged.tables.columns import to_numpy, to_strings
from judged.tables.scores import Scores

FLOOR = 1e-5
"""Lower bound of the values in a geometric mean, as in trec_eval."""

Ends: TypeAlias = Callable[..., tuple[Floats, Floats]]
"""Returns the least and the greatest value of each query."""


class Range(NamedTuple):
    """The two values that a number lies between."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Part:
    """The measures of an evaluation that were computed under one protocol."""

    protocol: BaseProtocol
    measures: tuple[Measure, ...]
    notes: tuple[Note, ...] = ()
    units: int = 0
    """Number of units that these measures have a value for."""
    counts: Counts | None = None
    """Counts under this protocol; not kept in saved evaluations."""


@dataclass(frozen=True, eq=False)
class SavedPart:
    """A part of an evaluation as it is saved: measures and conventions by name."""

    protocol: Mapping[str, object]
    measures: tuple[str, ...]
    notes: tuple[Note, ...]
    units: int


@dataclass(frozen=True, eq=False)
class SavedEvaluation:
    """An evaluation as it is saved: scores and totals, without the alignments that they come from."""

    system: str
    family: str
    scores: Scores
    measures: tuple[str, ...]
    totals: Mapping[str, float]
    parts: tuple[SavedPart, ...]
    notes: tuple[Note, ...]
    provenance: Provenance
    written: Mapping[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Result):
    """The scores of one system, with the protocol they were computed under and what was observed.

    `evaluation["nDCG@10"]` is the mean over all units (queries, sessions, requests); `scores` has every unit.
    """

    kind: ClassVar[str] = "evaluation"
    detail: ClassVar[str] = "scores"
    pages: ClassVar[tuple[str, ...]] = ("leaderboard", "queries", "query", "curves")

    system: str
    """The name of the system."""
    scores: Scores
    """A value for each unit and measure; NaN where a measure has none."""
    measures: tuple[Measure, ...]
    protocol: BaseProtocol
    """The protocol of all measures; where a profile has several, that of the first measure: see `parts`."""
    parts: tuple[Part, ...]
    """The measures by protocol; a single part unless a profile has several protocols."""
    notes: tuple[Note, ...] = ()
    family: str = "ranked"
    provenance: Provenance = field(default_factory=Provenance)
    profile: Profile | None = None
    """The profile that was asked for by name."""
    alignments: Mapping[BaseProtocol, Alignment] = field(default_factory=dict)
    """The alignment under each protocol, for later questions such as the effect of ties; not saved."""
    inputs: tuple[Any, Any] | None = None
    """The tables that were read, of the truth and of the system, if they were to be kept; not saved."""
    _totals: dict[str, float] = field(default_factory=dict)
    _ends: dict[tuple[Ends, Measure], tuple[Floats, Floats]] = field(default_factory=dict)
    """Ranges that were asked for, which may take long to compute."""

    @property
    def unit(self) -> str:
        """The unit of a value: `query`, `session`, `task`, `request`."""
        return self.scores.unit

    @property
    def view(self) -> View:
        """The view that the measures were computed on."""
        return self._alignment(self.measures[0]).view

    @property
    def counts(self) -> Any:
        """Counts under the first protocol: `RunCounts` for a run, `SessionTotals` for sessions."""
        return self.parts[0].counts

    @property
    def written(self) -> Mapping[str, str]:
        """The names that the user wrote, with the names of the measures they mean."""
        return {text: str(measure) for measure in self.measures for text in list_spellings(measure)}

    def __getitem__(self, measure: Measure | str) -> float:
        """Return one measure over all units: its mean, sum, geometric mean, percentile or pooled value."""
        return self._total(self.find_measure(measure))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the measures that have an aggregate; `dict(evaluation)` maps them to it."""
        return iter(self.keys())

    def keys(self) -> list[str]:
        """Return the names of the measures that have an aggregate."""
        return [measure.label for measure in self.measures if not measure.text]

    def mean(self) -> dict[str, float]:
        """Return every measure, as the user wrote it, with its aggregate; measures with text values have none."""
        return {measure.label: self._total(measure) for measure in self.measures if not measure.text}

    def per_query(self) -> Scores:
        """Return the scores, unit by unit; NaN where the tool of the profile leaves a query out."""
        return self.scores

    def values(self, measure: Measure | str) -> NDArray[Any]:
        """Return the values of one measure for the units that count in its mean."""
        values = self.scores.averaged(self.find_measure(measure))
        return values[~_is_undefined(values)]

    def undefined(self, measure: Measure | str) -> int:
        """Return how many units are left out of the mean: those without a value, and those whose value does not count."""
        return int(_is_undefined(self.scores.averaged(self.find_measure(measure))).sum())

    def part(self, measure: Measure) -> Part:
        """Return the part that the measure belongs to."""
        return next(part for part in self.parts if measure in part.measures)

    def find_measure(self, measure: Measure | str) -> Measure:
        """Return the measure of this evaluation that is meant, by any of its names; raise `UnknownName` if there is none."""
        named = measure if isinstance(measure, Measure) else self.written.get(str(measure), measure)
        # companions of a measure follow it
        wanted = FAMILIES[self.family].parse_measures([named])[0]
        if wanted not in self.measures and isinstance(measure, str):
            wanted = self._read_by_profile(measure) or wanted
        for known in self.measures:
            if known == wanted:
                return known
        raise UnknownName(
            "measure of this evaluation", str(measure), [known.label for known in self.measures]
        )

    def _read_by_profile(self, name: str) -> Measure | None:
        """Return what the tool of the profile means by a name: perhaps another measure than judged; None if nothing."""
        try:
            return None if self.profile is None else self.profile.read(name).measure
        except JudgedError:
            return None

    def measure(self, measures: Measures) -> Evaluation:
        """Return the same units scored by other measures; nothing is read again."""
        alignment = self._alignment(self.measures[0])
        chosen = tuple(FAMILIES[self.family].find_measures(measures, alignment.view))
        alignments = {self.protocol: alignment.restrict(chosen)}
        return score(FAMILIES[self.family], alignments, chosen, self.system, self.provenance)

    def under(self, protocol: BaseProtocol, measures: Sequence[Measure]) -> Evaluation:
        """Return the evaluation of some of its measures, all under one of its protocols; nothing is read again."""
        if len(self.parts) == 1 and tuple(measures) == self.measures:
            return self
        alignments = {protocol: self.alignments[protocol]}
        return score(FAMILIES[self.family], alignments, measures, self.system, self.provenance)

    def average_by(self, keys: Sequence[str], unit: str) -> Evaluation:
        """Return the evaluation with a row for each key: the mean over the units that share it, which are its attempts."""
        # by bytes, as judgments sort queries
        names = sorted(set(keys), key=str.encode)
        place = {name: number for number, name in enumerate(names)}
        group = np.array([place[key] for key in keys], dtype=np.int64)
        values, left_out, repeats = {}, {}, {}
        for name, column in self.scores.values.items():
            counted = _group_means(self.scores.averaged(name), group, len(names))
            values[name] = np.where(np.isnan(counted), _group_means(column, group, len(names)), counted)
            left_out[name] = np.isnan(counted) & ~np.isnan(values[name])
            if len(names) < len(group):
                repeats[name] = _spread_attempts(self.scores.averaged(name), group, len(names))
        scores = replace(
            self.scores,
            queries=to_strings(names),
            values=values,
            run=self.system,
            unit=unit,
            left_out=_keep_any(left_out),
            repeats=repeats,
            clusters=_share_clusters(self.scores.clusters, group, names),
            texts=None,
            attributes={},
        )
        return replace(self, scores=scores, _totals={}, _ends={})

    @cached_property
    def systems(self) -> Mapping[str, Evaluation]:
        """The evaluation of each system alone, where several were evaluated together."""
        several = self.alignments[self.protocol].systems() if self.alignments else {}
        if len(several) < 2:
            return {self.system: self}
        return {name: self.select(units, system=name) for name, units in several.items()}

    def select(self, units: Ints, *, system: str) -> Evaluation:
        """Return the evaluation of some units only."""
        alignments = {protocol: whole.select(units) for protocol, whole in self.alignments.items()}
        first = alignments[self.protocol]
        part = Part(self.protocol, self.measures, first.notes, len(units), first.counts)
        return replace(
            self,
            system=system,
            scores=replace(self.scores.take(units), queries=first.units, run=system),
            parts=(part,),
            notes=first.notes,
            alignments=alignments,
            _totals={},
            _ends={},
        )

    @property
    def has_ties(self) -> bool:
        """Whether the order of tied results can have changed a number; where they are averaged, it cannot."""
        return any(
            alignment.counts.tied_documents and alignment.protocol.ties != "expected"
            for alignment in self.alignments.values()
            if isinstance(alignment, RankedAlignment)
        )

    def tie_range(self, measure: Measure | str) -> Range:
        """Return the least and the greatest aggregate over all orders of tied results."""
        from judged.scoring.ties import tie_range

        return self._range(measure, tie_range)

    def tie_ranges(self, measure: Measure | str) -> dict[str, Range]:
        """Return, for each query, the least and the greatest value over all orders of its tied results."""
        from judged.scoring.ties import tie_range

        return self._ranges(measure, tie_range)

    def unjudged_range(self, measure: Measure | str, *, progress: Progress | None = None) -> Range:
        """Return the least and the greatest aggregate over all grades that unjudged results could have.

        `progress` is called with the number of queries that are done, and of all.
        """
        from judged.scoring.unjudged import unjudged_range

        return self._range(measure, unjudged_range, progress=progress)

    def unjudged_ranges(self, measure: Measure | str) -> dict[str, Range]:
        """Return, for each query, the least and the greatest value over all grades of its unjudged results."""
        from judged.scoring.unjudged import unjudged_range

        return self._ranges(measure, unjudged_range)

    def judged_share(self, measure: Measure | str) -> float:
        """Return the mean share of judged documents among the results that the measure uses."""
        from judged.scoring.unjudged import judged_shares

        known = self.find_measure(measure)
        cutoff = known.parameters.get("cutoff")
        shares = judged_shares(self._ranked(known), cutoff if isinstance(cutoff, int) else None)
        return float(shares.mean())

    def _total(self, measure: Measure) -> float:
        name = str(measure)
        if name not in self._totals:
            alignment = self.alignments.get(self.part(measure).protocol)
            # others need no view, which may have to be made
            view = None if alignment is None or measure.aggregate != "pooled" else alignment.view
            empty = FAMILIES[self.family].empty
            self._totals[name] = aggregate(measure, self.values(measure), view=view, empty=empty)
        return self._totals[name]

    def _alignment(self, measure: Measure) -> Alignment:
        alignment = self.alignments.get(self.part(measure).protocol)
        if alignment is None:
            msg = f"{self.system} was loaded from a file, which keeps scores but no alignment"
            raise BadMeasure(msg, hint="evaluate the run again")
        return alignment

    def _ranked(self, measure: Measure) -> RankedAlignment:
        alignment = self._alignment(measure)
        if not isinstance(alignment, RankedAlignment):
            msg = f"{measure} has no range over ties or unjudged results"
            raise BadMeasure(msg, hint="only measures of judgments have one")
        return alignment

    def _range(self, measure: Measure | str, ends: Ends, **options: object) -> Range:
        known = self.find_measure(measure)
        empty = FAMILIES[self.family].empty
        low, high = (
            aggregate(known, values, empty=empty) for values in self._find_ends(known, ends, **options)
        )
        return Range(low, high)

    def _ranges(self, measure: Measure | str, ends: Ends) -> dict[str, Range]:
        known = self.find_measure(measure)
        low, high = self._find_ends(known, ends)
        ranges = map(Range, low.tolist(), high.tolist())
        return dict(zip(self._ranked(known).units.to_pylist(), ranges, strict=True))

    def _find_ends(self, measure: Measure, ends: Ends, **options: object) -> tuple[Floats, Floats]:
        """Return the ends of every query, computed once."""
        if (ends, measure) not in self._ends:
            self._ends[ends, measure] = ends(measure, self._ranked(measure), **options)
        return self._ends[ends, measure]

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the aggregates, and the value of every unit."""
        return _alone(self).tables()

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return a table of the aggregates, every unit if it is asked for, and the notes."""
        return _alone(self).blocks(display)

    def evaluations(self) -> Sequence[Evaluation]:
        """Return itself."""
        return [self]

    def leaderboard(self) -> Any:
        """Return the evaluation of each system."""
        from judged.scoring.evaluations import Evaluations

        return Evaluations(dict(self.systems))

    def summary(self) -> Mapping[str, Any]:
        """Return the name of the system, the unit, and how many units were scored."""
        return {"system": self.system, "unit": self.unit, "units": len(self.scores.queries)}

    def to_saved(self) -> SavedEvaluation:
        """Return what is saved; alignments are not part of it."""
        return SavedEvaluation(
            self.system,
            self.family,
            self.scores,
            tuple(map(str, self.measures)),
            {str(measure): self._total(measure) for measure in self.measures if not measure.text},
            tuple(
                SavedPart(part.protocol.to_dict(), tuple(map(str, part.measures)), part.notes, part.units)
                for part in self.parts
            ),
            self.notes,
            self.provenance,
            self.written,
        )

    @classmethod
    def from_saved(cls, saved: SavedEvaluation) -> Evaluation:
        """Return the evaluation that was saved."""
        scores = saved.scores
        if {len(scores.queries)} != {
            len(column) for column in (scores.queries, *scores.values.values(), *scores.left_out.values())
        }:
            msg = f"the columns of the scores of {saved.system} differ in length"
            raise ValueError(msg)
        family = FAMILIES[saved.family]
        measures = restore_spellings(family.find_measures(saved.measures, saved.scores), saved.written)
        known = {str(measure): measure for measure in measures}
        parts = tuple(
            Part(
                family.protocol.from_dict(part.protocol),
                tuple(known[name] for name in part.measures),
                part.notes,
                part.units,
            )
            for part in saved.parts
        )
        return cls(
            saved.system,
            saved.scores,
            measures,
            parts[0].protocol,
            parts,
            saved.notes,
            saved.family,
            saved.provenance,
            _totals=dict(saved.totals),
        )


def score(
    family: Family,
    alignments: Mapping[BaseProtocol, Alignment],
    measures: Sequence[Measure] | Mapping[BaseProtocol, Sequence[Measure]],
    system: str,
    provenance: Provenance,
    *,
    profile: Profile | None = None,
    order: Sequence[str] = (),
    records: tuple[ProtocolRecord, ...] | None = None,
) -> Evaluation:
    """Compute the measures on their alignments.

    `order` names them in the order in which results list them; `records` are those of the protocols, if they were made
    before.
    """
    first = next(iter(alignments))
    groups = measures if isinstance(measures, Mapping) else {first: measures}
    units = alignments[first].units if len(alignments) == 1 else _merge_units(alignments.values())
    values: dict[str, NDArray[Any]] = {}
    left_out: dict[str, Flags] = {}
    parts = []
    for protocol, group in groups.items():
        alignment = alignments[protocol]
        scored = None if len(alignments) == 1 else _find_units(units, alignment.units)
        for measure in group:
            own = alignment.values(measure)
            values[str(measure)] = own if scored is None else _spread(own, scored)
            if measure.averaged is not None:
                left_out[str(measure)] = np.zeros(len(units), dtype=bool)
                left_out[str(measure)][slice(None) if scored is None else scored] = alignment.left_out(
                    measure
                )
        parts.append(
            Part(protocol, tuple(group), alignment.notes_on(group), len(alignment.units), alignment.counts)
        )
    by_name = {str(measure): measure for group in groups.values() for measure in group}
    names = [name for name in order if name in by_name] or list(by_name)
    chosen = tuple(by_name[name] for name in names)
    notes = tuple(dict.fromkeys((*(note for part in parts for note in part.notes), *note_spellings(chosen))))
    records = make_records(groups) if records is None else records
    scores = Scores(
        units,
        {name: values[name] for name in names},
        run=system,
        unit=family.unit,
        left_out=_keep_any({name: left_out[name] for name in names if name in left_out}),
        written={name: by_name[name].label for name in names},
    )
    return Evaluation(
        system,
        alignments[first].complete(scores) if len(alignments) == 1 else scores,
        chosen,
        parts[0].protocol,
        tuple(parts),
        notes,
        family.name,
        replace(provenance, protocols=records),
        profile=profile,
        alignments=alignments,
    )


def aggregate(measure: Measure, values: Floats, *, view: View | None = None, empty: float = 0.0) -> float:
    """Return one number from the values of all units, in the way the measure says; `empty` of no units."""
    if measure.aggregate == "pooled" and view is not None and measure.parts is not None:
        return pooled_value(measure, view)
    if len(values) == 0:
        return empty
    if measure.aggregate == "sum":
        return float(values.sum())
    if measure.aggregate == "geometric":
        return exp(log(np.maximum(values, FLOOR)).mean())
    if measure.aggregate == "percentile":
        return float(np.percentile(values, float(dict(measure.set_parameters)[measure.percentile])))  # type: ignore[arg-type]
    return float(values.mean())


def make_records(groups: Mapping[BaseProtocol, Sequence[Measure]]) -> tuple[ProtocolRecord, ...]:
    """Return the records of protocols, each with its measures where there are several."""
    return tuple(
        _record(protocol, () if len(groups) == 1 else measures) for protocol, measures in groups.items()
    )


def _record(protocol: BaseProtocol, measures: Sequence[Measure]) -> ProtocolRecord:
    names, labels = tuple(map(str, measures)), tuple(measure.label for measure in measures)
    return ProtocolRecord(
        str(protocol),
        protocol.fingerprint,
        protocol.to_dict(),
        protocol.profile if isinstance(protocol, Protocol) else None,
        names,
        protocol.short,
        labels if labels != names else (),
    )


def _merge_units(alignments: Iterable[Alignment]) -> pa.Array:
    """Return the units of all alignments, in the order of their bytes."""
    ids = {unit for alignment in alignments for unit in alignment.units.to_pylist()}
    return pa.array(sorted(ids, key=str.encode), type=pa.large_string())


def _find_units(units: pa.Array, some: pa.Array) -> Flags | None:
    """Return which of the units are among `some`; None: all."""
    import pyarrow.compute as pc

    found: Flags = to_numpy(pc.is_in(units, value_set=some.cast(units.type)))
    return None if found.all() else found


def _spread(values: NDArray[Any], scored: Flags) -> NDArray[Any]:
    """Return the values at the units that have one; NaN, or None where values are text, at the others."""
    out = np.full(len(scored), None if values.dtype == object else np.nan, dtype=values.dtype)
    out[scored] = values
    return out


def _is_undefined(values: NDArray[Any]) -> Flags:
    if values.dtype == object:
        return np.array([value is None for value in values], dtype=bool)
    undefined: Flags = np.isnan(values)
    return undefined


def _keep_any(left_out: Mapping[str, Flags]) -> dict[str, Flags]:
    """Return the measures that leave any unit out."""
    return {name: flags for name, flags in left_out.items() if flags.any()}


def _group_means(values: Floats, group: Ints, count: int) -> Floats:
    """Return the mean of each group's values without those that are NaN; NaN where a group has none."""
    there = ~np.isnan(values)
    total = np.bincount(group[there], weights=values[there], minlength=count)
    many = np.bincount(group[there], minlength=count)
    means: Floats = np.divide(total, many, out=np.full(count, nan), where=many > 0)
    return means


def _spread_attempts(values: Floats, group: Ints, count: int) -> Floats:
    """Return the values of each group in a row of its own, in their order; NaN after the last."""
    order = np.argsort(group, kind="stable")
    many = np.bincount(group, minlength=count)
    column = np.arange(len(group)) - np.repeat(np.cumsum(many) - many, many)
    attempts = np.full((count, int(many.max(initial=0))), nan)
    attempts[group[order], column] = values[order]
    return attempts


def _share_clusters(clusters: pa.Array | None, group: Ints, names: Sequence[str]) -> pa.Array | None:
    """Return the cluster of each group; raise `BadSample` for a group with units of two clusters."""
    if clusters is None:
        return None
    shared: dict[int, str] = {}
    for number, cluster in zip(group.tolist(), clusters.to_pylist(), strict=True):
        if shared.setdefault(number, cluster) != cluster:
            msg = f"`{names[number]}` is in the clusters `{shared[number]}` and `{cluster}`, expected one"
            raise BadSample(msg)
    return to_strings(shared[number] for number in range(len(names)))


def _alone(evaluation: Evaluation) -> Result:
    from judged.scoring.evaluations import Evaluations

    return Evaluations({evaluation.system: evaluation})
