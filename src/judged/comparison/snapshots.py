"""`compare_snapshots`: systems through time, on judgments and runs of several dates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar

import numpy as np

from judged.blocks import Block, Display, Estimate, Figure, Notes, Sentence, Table, Value, format_p, state_p
from judged.errors import BadMeasure, BadProtocol, BadSample, UnknownName, WrongKind, check_kind
from judged.figures import draw_lines
from judged.problem import Note
from judged.result import InputFile, Provenance, Result, tabulate
from judged.scoring.evaluate import evaluate_many
from judged.stats.clusters import SampleMean, estimate_error
from judged.stats.corrections import holm
from judged.stats.outcome import Undefined
from judged.stats.paired import check_level
from judged.stats.rank_correlation import rank_biased_overlap
from judged.stats.unpaired import estimate_contrast, estimate_difference, p_of, student_of
from judged.tables.run import Run
from judged.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from judged.measures.measure import Measure
    from judged.profiles.profile import Profile
    from judged.protocol import Protocol
    from judged.scoring.evaluation import Evaluation
    from judged.scoring.evaluations import Evaluations

Lists: TypeAlias = Mapping[str, Mapping[str, float]]
"""The scores of the documents at the top of each query's list."""

Row = TypeVar("Row", "Change", "Trend")

DEPTH = 100
"""How deep lists of two dates are compared, and further only where documents are tied."""


@dataclass(frozen=True, slots=True)
class Level:
    """A measure of a system in one snapshot, with the value of every query."""

    measure: str
    system: str
    snapshot: str
    mean: float
    low: float | None
    high: float | None
    query: tuple[str, ...] = ()
    value: tuple[float, ...] = ()

    @property
    def array(self) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """The values as an array."""
        return np.array(self.value, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Change:
    """A measure of a system in a snapshot against the first one that has the system."""

    measure: str
    system: str
    first: str
    second: str
    paired: int
    """The number of queries that are in both."""
    first_mean: float
    second_mean: float
    difference: float
    """The second mean minus the first."""
    low: float | None
    high: float | None
    p: float | None
    corrected: float | None
    """The p-value after Holm's correction for all changes of the measure."""
    relative_drop: float | None
    """(M₀ − M₁) / M₀; None where M₀ is 0."""
    delta_ri: float | None = None
    """The relative improvement over the pivot in the first snapshot, minus that in the second."""
    effect_ratio: float | None = None
    """The improvement over the pivot in the second snapshot, as a share of that in the first."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The slope of a measure of a system over three snapshots or more: its change from one snapshot to the next."""

    measure: str
    system: str
    snapshots: int
    slope: float
    low: float | None
    high: float | None
    p: float | None
    corrected: float | None


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much the lists of one system at two dates share, by the mean rank-biased overlap of queries of both."""

    system: str
    first: str
    second: str
    queries: int
    overlap: float
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False, repr=False)
class SnapshotReport(Result):
    """Measures through time: levels, changes from the first snapshot, trends, and the overlap of lists."""

    kind: ClassVar[str] = "snapshots"
    detail: ClassVar[str] = "queries"

    snapshots: tuple[str, ...]
    levels: tuple[Level, ...]
    changes: tuple[Change, ...] = ()
    trends: tuple[Trend, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    pivot: str | None = None
    level: float = 0.95
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def measures(self) -> list[str]:
        """The measures, in their order."""
        return list(dict.fromkeys(row.measure for row in self.levels))

    def tables(self) -> Mapping[str, pa.Table]:
        """Return a row for each mean, change, trend and overlap, and the value of every query."""
        means = [{**asdict(row), "queries": len(row.query)} for row in self.levels]
        changes = [asdict(row) for row in self.changes]
        trends = [asdict(row) for row in self.trends]
        for row in (*changes, *trends):
            row["p_corrected"] = row.pop("corrected")
        return {
            "means": tabulate(
                [{key: value for key, value in row.items() if key not in {"query", "value"}} for row in means]
            ),
            "changes": tabulate(changes),
            **({"trends": tabulate(trends)} if trends else {}),
            **({"overlaps": tabulate([asdict(row) for row in self.overlaps])} if self.overlaps else {}),
            "queries": tabulate(
                [
                    {
                        "measure": row.measure,
                        "system": row.system,
                        "snapshot": row.snapshot,
                        "query": query,
                        "value": value,
                    }
                    for row in self.levels
                    for query, value in zip(row.query, row.value, strict=True)
                ]
            ),
        }

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return which systems changed, then means, changes and trends of each measure, overlaps, and the figures."""
        yield Sentence(self._answer())
        for measure in self.measures:
            yield self._show_means(measure)
            yield self._show_changes(measure, display.digits)
            if self.trends:
                yield self._show_trends(measure, display.digits)
        if self.overlaps:
            yield Table(
                ("system", "from", "to", "queries", "RBO"),
                tuple(
                    (row.system, row.first, row.second, row.queries, Estimate(row.overlap, row.low, row.high))
                    for row in self.overlaps
                ),
                title="Overlap of the lists of two dates",
            )
        yield from map(self._draw, self.measures)
        if display.notes and self.notes:
            yield Notes(self.notes)

    def _answer(self) -> str:
        """Return which systems changed in the first measure."""
        name = self.measures[0]
        found = [
            f"`{row.system}` {'rises' if row.difference > 0 else 'falls'} from {row.first_mean:.4f} ({row.first})"
            f" to {row.second_mean:.4f} ({row.second}), corrected {state_p(row.corrected)}"
            for row in self.changes
            if row.measure == name and row.corrected is not None and row.corrected < 1 - self.level
        ]
        if not found:
            return f"No change of {name} stands out from noise."
        return f"{name}: {'; '.join(found)}. No other change of it stands out from noise."

    def _show_means(self, measure: str) -> Table:
        rows = {
            (row.system, row.snapshot): Estimate(row.mean, row.low, row.high)
            for row in self.levels
            if row.measure == measure
        }
        systems = dict.fromkeys(system for system, _ in rows)
        return Table(
            ("system", *self.snapshots),
            tuple((name, *(rows.get((name, date)) for date in self.snapshots)) for name in systems),
            title=f"{measure} through time",
        )

    def _show_changes(self, measure: str, digits: int) -> Table:
        pivoted = ("ΔRI", "effect ratio") if self.pivot is not None else ()
        rows: list[tuple[Value, ...]] = [
            (
                row.system,
                row.first,
                row.second,
                row.paired,
                Estimate(row.difference, row.low, row.high),
                format_p(row.p, digits=digits),
                format_p(row.corrected, digits=digits),
                row.relative_drop,
                *((row.delta_ri, row.effect_ratio) if pivoted else ()),
            )
            for row in self.changes
            if row.measure == measure
        ]
        heads = (
            "system",
            "from",
            "to",
            "paired",
            "difference",
            "p",
            "corrected p",
            "relative drop",
            *pivoted,
        )
        return Table(heads, tuple(rows), title=f"Change of {measure}")

    def _show_trends(self, measure: str, digits: int) -> Table:
        rows: list[tuple[Value, ...]] = [
            (
                row.system,
                row.snapshots,
                Estimate(row.slope, row.low, row.high),
                format_p(row.p, digits=digits),
                format_p(row.corrected, digits=digits),
            )
            for row in self.trends
            if row.measure == measure
        ]
        heads = ("system", "snapshots", "slope", "p", "corrected p")
        return Table(heads, tuple(rows), title=f"Trend of {measure}, by snapshot")

    def _draw(self, measure: str) -> Figure:
        """Return the measure through time, with a band for each system."""
        points = [
            {
                "name": row.system,
                "x": self.snapshots.index(row.snapshot) + 1,
                "y": row.mean,
                "low": row.low,
                "high": row.high,
                "label": f"{row.system}, {row.snapshot}: {row.mean:.4f}",
            }
            for row in self.levels
            if row.measure == measure
        ]
        return draw_lines(
            points,
            name=f"through-time-{self.measures.index(measure) + 1}",
            title=f"{measure} through time",
            x="snapshot",
            y=measure,
            note=f"Bands are {self.level:.0%} intervals of each mean alone; the table of changes says which differ.",
            places_named=self.snapshots,
        )


def compare_snapshots(
    snapshots: Mapping[str, tuple[object, object]],
    measures: Measure | str | Sequence[Measure | str],
    *,
    pivot: str | None = None,
    paired: bool = True,
    level: float = 0.95,
    p: float = 0.9,
    protocol: Protocol | Profile | str = "trec_eval-9",
    threads: int | None = None,
) -> SnapshotReport:
    """Compare systems through time: `snapshots` maps the name of each date to its judgments and its runs.

    Judgments and runs are as `judged.evaluate_many` takes them, in the order of time. Systems are matched by name; each
    is compared with itself in the first snapshot that has it. Queries of one id are one query, and the change is then
    tested on their differences, as far as the two snapshots share queries; the rest counts as independent. `paired=False`
    says that ids of two snapshots do not mean the same queries.

    `pivot` names a system that should not change by itself, such as BM25: ΔRI and the effect ratio tell how much of the
    improvement over it is kept. `p` is the persistence of the rank-biased overlap of lists. p-values are corrected
    by Holm's rule over all systems and dates of a measure.

    >>> qrels = {"1": {"a": 1}, "2": {"b": 1}}
    >>> then, now = {"1": {"a": 2.0, "x": 1.0}, "2": {"b": 1.0}}, {"1": {"x": 2.0, "a": 1.0}, "2": {"b": 1.0}}
    >>> found = compare_snapshots({"May": (qrels, {"bm25": then}), "June": (qrels, {"bm25": now})}, "RR")
    >>> found.rows("changes")[0]["relative_drop"]
    0.25
    """
    _check_snapshots(snapshots)
    check_level(level)
    check_kind("paired", paired, bool, "True or False")
    rank_biased_overlap([1.0], [1.0], p=p)
    levels: list[Level] = []
    lists: dict[str, dict[str, Lists]] = {}
    notes: list[Note] = []
    inputs: list[InputFile] = []
    first: Evaluations | None = None
    for date, (judgments, runs) in snapshots.items():
        scored = evaluate_many(
            judgments,  # type: ignore[arg-type]
            runs,  # type: ignore[arg-type]
            measures,
            protocol=protocol,
            threads=threads,
            keep_inputs=paired,
        )
        first = first or scored
        levels += _read_levels(scored, date, level)
        lists[date] = {name: _read_top(found) for name, found in scored.items()} if paired else {}
        if paired and any(found.inputs is None for found in scored.values()):
            notes.append(Note("lists-not-compared", "info", f"{date}: runs too large to compare their lists"))
        notes += [
            Note(note.code, note.severity, f"{date}: {note.message}", subject=note.subject)
            for note in scored.notes
        ]
        inputs += scored.provenance.inputs
    assert first is not None  # noqa: S101 - there are two snapshots or more
    _check_pivot(levels, pivot, list(snapshots))
    changes = _find_changes(levels, pivot=pivot, paired=paired, level=level)
    if not changes:
        names = ", ".join(dict.fromkeys(f"`{row.system}`" for row in levels))
        msg = f"no system is in two snapshots: {names}"
        raise BadSample(msg, hint="systems are matched by name: give the runs of one system one name")
    settings = {"snapshots": list(snapshots), "pivot": pivot, "paired": paired, "level": level, "p": p}
    return SnapshotReport(
        tuple(snapshots),
        tuple(levels),
        tuple(changes),
        tuple(_find_trends(levels, list(snapshots), paired=paired, level=level)),
        tuple(_find_overlaps(lists, p, level)),
        pivot,
        level,
        (*_note(levels, changes, list(snapshots)), *dict.fromkeys(notes)),
        Provenance(
            protocols=first.provenance.protocols, inputs=tuple(dict.fromkeys(inputs)), settings=settings
        ),
    )


def _check_snapshots(snapshots: object) -> None:
    check_kind("snapshots", snapshots, Mapping, "judgments and runs by the name of each date")
    assert isinstance(snapshots, Mapping)  # noqa: S101 - just checked
    for date, parts in snapshots.items():
        check_kind("snapshots", date, str, "the name of each date")
        if not isinstance(parts, tuple | list) or len(parts) != 2:
            msg = f"snapshot `{date}` is a {type(parts).__name__}, expected judgments and runs"
            raise WrongKind(msg, hint=f'`{{"{date}": (qrels, runs), …}}`')
    if len(snapshots) < 2:
        msg = f"{counted(len(snapshots), 'snapshot')}, expected two or more"
        raise BadProtocol(msg, hint="`judged compare` compares systems of one date")


def _check_pivot(levels: Iterable[Level], pivot: str | None, dates: Sequence[str]) -> None:
    if pivot is None:
        return
    names = dict.fromkeys(row.system for row in levels)
    if pivot not in names:
        raise UnknownName("system", str(pivot), list(names))
    missing = set(dates) - {row.snapshot for row in levels if row.system == pivot}
    if missing:
        msg = (
            f"the pivot `{pivot}` has no run in {', '.join(sorted(missing))}, expected one in every snapshot"
        )
        raise BadSample(msg)


def _read_levels(scored: Evaluations, date: str, level: float) -> Iterator[Level]:
    """Yield the level of every measure of every system."""
    for measure in scored.measures:
        if measure.text or measure.aggregate != "mean":
            msg = f"{measure.label} is not a mean over queries, and only means have intervals through time"
            raise BadMeasure(msg)
        for name, evaluation in scored.items():
            by_query = {
                query: float(value)
                for query, value in evaluation.scores.by_query(str(measure), averaged=True).items()
                if not np.isnan(value)
            }
            if not by_query:
                msg = f"{date}: `{name}` has no query with a value of {measure.label}"
                raise BadSample(msg)
            of = estimate_error(list(by_query.values()))
            yield Level(
                measure.label,
                name,
                date,
                of.mean,
                *_bounds(of, level),
                tuple(by_query),
                tuple(by_query.values()),
            )


def _bounds(of: SampleMean, level: float) -> tuple[float | None, float | None]:
    interval = student_of(of, level=level)
    return (None, None) if isinstance(interval, Undefined) else (interval.low, interval.high)


def _read_top(evaluation: Evaluation) -> Lists:
    """Return the top of each query's list; empty if the lists were not kept."""
    run = evaluation.inputs[1] if evaluation.inputs is not None else None
    if not isinstance(run, Run):
        return {}
    found: dict[str, dict[str, float]] = {}
    columns = run.to_columns().to_arrow()
    for query, document, score in zip(
        *(columns[name].to_pylist() for name in ("query", "document", "score")), strict=True
    ):
        found.setdefault(query, {})[document] = score
    return {query: _cut(scores) for query, scores in found.items()}


def _cut(scores: Mapping[str, float]) -> Mapping[str, float]:
    if len(scores) <= DEPTH:
        return scores
    last = sorted(scores.values(), reverse=True)[DEPTH - 1]
    return {document: score for document, score in scores.items() if score >= last}


def _group(levels: Iterable[Level]) -> list[list[Level]]:
    """Return the levels of each measure and system, in the order of time."""
    groups: dict[tuple[str, str], list[Level]] = {}
    for row in levels:
        groups.setdefault((row.measure, row.system), []).append(row)
    return list(groups.values())


def _find_changes(levels: Sequence[Level], *, pivot: str | None, paired: bool, level: float) -> list[Change]:
    """Return the change of each system from the first snapshot that has it to every later one."""
    pivots = {(row.measure, row.snapshot): row.mean for row in levels if row.system == pivot}
    found: list[Change] = []
    for old, *later in _group(levels):
        for new in later:
            clusters = (new.query, old.query) if paired else (None, None)
            of = estimate_difference(new.array, old.array, *clusters)
            p = p_of(of)
            base = [pivots.get((row.measure, row.snapshot)) for row in (old, new)]
            kept = {} if old.system == pivot else _keep_improvement(old.mean, new.mean, *base)
            found.append(
                Change(
                    old.measure,
                    old.system,
                    old.snapshot,
                    new.snapshot,
                    len(set(old.query) & set(new.query)) if paired else 0,
                    old.mean,
                    new.mean,
                    of.mean,
                    *_bounds(of, level),
                    None if isinstance(p, Undefined) else p,
                    None,
                    _divide(old.mean - new.mean, old.mean),
                    **kept,
                )
            )
    return _correct(found)


def _keep_improvement(
    old: float, new: float, old_pivot: float | None, new_pivot: float | None
) -> dict[str, float | None]:
    """Return how much of the improvement over the pivot is kept."""
    if old_pivot is None or new_pivot is None:
        return {}
    before, after = _divide(old - old_pivot, old_pivot), _divide(new - new_pivot, new_pivot)
    return {
        "delta_ri": None if before is None or after is None else before - after,
        "effect_ratio": _divide(new - new_pivot, old - old_pivot),
    }


def _divide(value: float, by: float) -> float | None:
    return value / by if abs(by) > 1e-12 else None


def _correct(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with p-values that are corrected for all of their measure."""
    corrected: dict[int, float | None] = {}
    for measure in dict.fromkeys(row.measure for row in rows):
        places = [at for at, row in enumerate(rows) if row.measure == measure]
        corrected.update(zip(places, holm([rows[at].p for at in places]), strict=True))
    return [replace(row, corrected=corrected[at]) for at, row in enumerate(rows)]


def _find_trends(levels: Sequence[Level], dates: Sequence[str], *, paired: bool, level: float) -> list[Trend]:
    """Return the slope of every system that is in three snapshots or more, which are taken as equally far apart."""
    found: list[Trend] = []
    for rows in _group(levels):
        if len(rows) < 3:
            continue
        place = np.array([dates.index(row.snapshot) for row in rows], dtype=np.float64)
        weights = (place - place.mean()) / ((place - place.mean()) ** 2).sum()
        clusters = [row.query if paired else None for row in rows]
        of = estimate_contrast([row.array for row in rows], weights.tolist(), clusters)
        p = p_of(of)
        bounds = _bounds(of, level)
        value = None if isinstance(p, Undefined) else p
        found.append(Trend(rows[0].measure, rows[0].system, len(rows), of.mean, *bounds, value, None))
    return _correct(found)


def _find_overlaps(lists: Mapping[str, Mapping[str, Lists]], p: float, level: float) -> Iterator[Overlap]:
    """Yield the overlap of the lists of each system in consecutive snapshots that share queries."""
    for name in dict.fromkeys(name for systems in lists.values() for name in systems):
        dates = [date for date, systems in lists.items() if systems.get(name)]
        for old, new in pairwise(dates):
            first, second = lists[old][name], lists[new][name]
            found = [
                rank_biased_overlap(first[query], second[query], p=p, ties="b").value
                for query in first
                if query in second
            ]
            values = [value for value in found if not isinstance(value, Undefined)]
            if values:
                of = estimate_error(values)
                yield Overlap(name, old, new, len(values), of.mean, *_bounds(of, level))


def _note(levels: Sequence[Level], changes: Sequence[Change], dates: Sequence[str]) -> Iterator[Note]:
    """Yield notes on systems that are not in every snapshot, and on queries that are not in both."""
    for name in dict.fromkeys(row.system for row in levels):
        there = {row.snapshot for row in levels if row.system == name}
        if missing := [date for date in dates if date not in there]:
            yield Note("no-run", "warning", f"no run in {', '.join(missing)}", subject=name)
    queries = {(row.measure, row.system, row.snapshot): len(row.query) for row in levels}
    partly: dict[str, None] = {}
    for row in changes:
        sizes = [queries[row.measure, row.system, date] for date in (row.first, row.second)]
        if row.paired < max(sizes):
            partly[
                f"{row.first} has {sizes[0]:,} and {row.second} {counted(sizes[1], 'query')}, of which {row.paired:,}"
                " are the same and paired; the means are over different queries"
            ] = None
    yield from (Note("other-queries", "warning", message) for message in partly)
