"""`explain_reported`: why another tool's values for every query differ, and which conventions explain each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from judged.arrays import Flags, Floats
from judged.blocks import Block, Display, Sentence, Table, Value
from judged.errors import BadInput
from judged.explanation.evidence import Evidence
from judged.explanation.lists import read_graded_judgments
from judged.explanation.reported_scores import ReportedScores, read_reported
from judged.explanation.result import list_facts, name_measure, observe_inputs
from judged.explanation.scoring_rule import Conventions, ScoringRule, diff, parse_rule
from judged.explanation.variants import Trials, Variant
from judged.io.read import read_run
from judged.measures.measure import Measure
from judged.measures.written import find_written, note_spellings
from judged.problem import Note, Problem
from judged.progress import Progress
from judged.result import Provenance, Result, table_to_arrow
from judged.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from judged.tables.inputs import JudgmentsLike, RunLike

MAX_CHANGES = 2
"""The number of conventions changed at once, by default."""
MAX_QUERIES, MAX_EVIDENCE, MAX_ALIKE = 10, 3, 3
"""The number of queries shown, of those with evidence, and of other conventions named that explain as many."""


@dataclass(frozen=True, eq=False, repr=False)
class Reported(Result):
    """Another tool's values for every query next to those of judged, and the conventions that explain the differences.

    >>> import judged
    >>> qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0, "x": 1.0}, "q2": {"b": 2.0}}
    >>> why = judged.explain(qrels, run, "RR", against={"q1": {"recip_rank": 1.0}, "q2": {"recip_rank": 1.0}})
    >>> why.differing, why.unexplained, why.rows()[0]["explained by"]
    (1, 0, 'ties=document-ascending')
    """

    kind: ClassVar[str] = "reported"
    detail: ClassVar[str] = ""

    run: str
    measure: str
    conventions: str
    """The name of the conventions that were asked about."""
    source: str
    """Source of the other values."""
    compared: int
    """The number of queries that have a value on one side at least."""
    best: str
    """The changed conventions under which most queries have the value reported; empty where none has more."""
    agreeing: int
    """Number of queries that have it then."""
    causes: Table
    """A row for each set of conventions that explains a query: how many it explains, and the first of them."""
    queries: Table
    """A row for every query whose values differ, the largest difference first, with what explains it."""
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    written: str = ""
    """The name of the measure as the user wrote it; empty: the canonical one."""

    @property
    def differing(self) -> int:
        """The number of queries whose values differ."""
        return len(self.queries.rows)

    @property
    def unexplained(self) -> int:
        """The number of queries whose reported value no combination of conventions gives."""
        return sum(row["explained by"] is None for row in self.rows())

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the queries that differ, and the causes."""
        return {"queries": table_to_arrow(self.queries), "causes": table_to_arrow(self.causes)}

    def summary(self) -> Mapping[str, object]:
        """Return what was compared, and how many queries differ and are explained."""
        names = (
            *("conventions", "source", "compared"),
            *("differing", "unexplained", "best", "agreeing"),
        )
        head = {"run": self.run, **name_measure(self.measure, self.written)}
        return {**head, **{name: getattr(self, name) for name in names}}

    def blocks(self, display: Display) -> Iterator[Block]:
        """Return how many queries differ and why, the causes, and the queries with the largest differences."""
        yield Sentence(self._conclude())
        if self.causes.rows:
            yield Table(self.causes.columns, self.causes.rows, title="What explains them")
        if self.queries.rows:
            columns = self.queries.columns[:-1]
            at = columns.index("difference")
            rows = tuple(
                (*row[:at], None if row[at] is None else f"{row[at]:+.{display.digits}f}", *row[at + 1 : -1])
                for row in self.queries.rows[:MAX_QUERIES]
            )
            yield Table(columns, rows, title="Queries that differ, the largest difference first")
        yield from list_facts(self._facts())

    def _conclude(self) -> str:
        """Say in a sentence how many queries differ, and whether one set of conventions explains them."""
        head = f"{self.written or self.measure} of {self.run}: "
        if not self.differing:
            return f"{head}all {self.compared:,} queries are as in {self.source}"
        some = f"{head}{self.differing:,} of {counted(self.compared, 'query')} "
        some += "differs" if self.differing == 1 else "differ"
        some += f" from {self.source}; "
        if not self.best:
            return f"{some}no convention that was tried explains {'it' if self.differing == 1 else 'them'}"
        rest = self.compared - self.agreeing
        exact = "every query is" if not rest else f"{self.agreeing:,} of {self.compared:,} are"
        return f"{some}with {self.best}, {exact} as reported"

    def _facts(self) -> Iterator[str]:
        yield from (f"{row[0]}: {row[-1]}" for row in self.queries.rows[:MAX_QUERIES] if row[-1])
        if self.differing > MAX_QUERIES:
            yield f"{self.differing - MAX_QUERIES:,} more differ"
        if self.unexplained:
            yield f"unexplained: {counted(self.unexplained, 'query')}"
        yield from (note.message for note in self.notes)


def explain_reported(
    qrels: JudgmentsLike,
    run: RunLike,
    measure: Measure | str,
    reported: object,
    *,
    protocol: Conventions = "trec_eval-9",
    changes: int = MAX_CHANGES,
    name: str | None = None,
    join: bool = False,
    progress: Progress | None = None,
) -> Reported:
    """Compare a run query by query with the values that another tool reported, and find what explains them.

    `reported` is a file or table of query, measure and value: what `trec_eval -q` prints, ir_measures, pytrec_eval
    (query → measure → value) and ranx (measure → query → value) write. Values are equal if they are so to the digits
    that are written. Conventions are changed one by one, then `changes` at once, until all queries are explained.
    """
    rule = parse_rule(protocol, measure)
    scores = read_reported(reported, rule.measure)
    inputs = observe_inputs(qrels, run)
    judgments = read_graded_judgments(qrels, rule.measure)
    ranked = read_run(run, name=name, join=join)
    trials = Trials(judgments, ranked, progress)
    goal = _Agreement(trials, scores)
    trials.search(
        rule, measure, changes=changes, combined_from=2, reached=goal.is_reached, matters=goal.matters
    )
    grid = goal.grid
    if not grid.known.any():
        raise _nothing_in_common(scores, grid)
    evidence = Evidence(judgments, ranked, rule, rule)
    chosen = {i: grid.explain(i) for i in grid.differing}
    best = trials.variants[grid.best]
    return Reported(
        ranked.name,
        str(rule.measure),
        rule.name,
        scores.source,
        len(grid.ids),
        str(best) if grid.best else "",
        int(grid.match[grid.best].sum()),
        _tabulate_causes(grid, chosen, trials.variants),
        _tabulate_queries(grid, chosen, trials.variants, evidence),
        notes=(*_make_notes(grid, scores, trials.variants), *note_spellings([rule.measure])),
        written=find_written(rule.measure),
        provenance=Provenance(protocols=(rule.record,), inputs=inputs, settings={"changes": changes}),
    )


def _nothing_in_common(scores: ReportedScores, grid: _Grid) -> BadInput:
    ours = [query for query in grid.ids if query not in scores.values]
    message = f"has values for `{next(iter(scores.values), '')}` and others, none of which is judged"
    problem = Problem.error("nothing-in-common", scores.source, message)
    hint = f"queries of the judgments are `{ours[0]}` and others" if ours else None
    return BadInput(scores.source, [problem], hint=hint)


@dataclass(frozen=True, eq=False)
class _Grid:
    """The value of every query under every variant, next to the value reported; NaN if undefined."""

    ids: list[str]
    variants: Sequence[Variant]
    values: Floats
    reported: Floats
    match: Flags
    """For every variant and query, whether the value is the one reported."""

    @classmethod
    def build(cls, trials: Trials, scores: ReportedScores) -> _Grid:
        """Align the trials with the reported values."""
        ids = list(dict.fromkeys([*trials.list_queries(), *scores.values]))
        values = trials.tabulate(ids)
        reported = np.array([scores.values.get(query, np.nan) for query in ids])
        with np.errstate(invalid="ignore"):
            match = np.abs(values - reported) <= scores.tolerance
        return cls(ids, trials.variants, values, reported, match | (np.isnan(values) & np.isnan(reported)))

    @property
    def known(self) -> Flags:
        """The queries with a value on both sides."""
        both: Flags = ~np.isnan(self.values).all(axis=0) & ~np.isnan(self.reported)
        return both

    @property
    def best(self) -> int:
        """The variant that most queries agree with; of equals the one with the fewest changes."""
        return int(np.argmax(self.match.sum(axis=1)))

    @property
    def differing(self) -> list[int]:
        """The queries whose values differ without a change, the largest difference first."""
        queries = np.flatnonzero(~self.match[0])
        size = np.nan_to_num(np.abs(self.values[0, queries] - self.reported[queries]), nan=-1.0)
        return [int(i) for i in queries[np.argsort(-size, kind="stable")]]

    def explain(self, query: int) -> int | None:
        """Return the variant that explains a query: part of the best one if it can be, with the fewest changes."""
        best, total = set(self.variants[self.best].changes), self.match.sum(axis=1)
        candidates = np.flatnonzero(self.match[:, query]).tolist()
        order = [
            (not set(self.variants[i].changes) <= best, len(self.variants[i].changes), -int(total[i]), i)
            for i in candidates
        ]
        return min(order)[-1] if order else None


class _Agreement:
    """The goal of the search: under one variant every query has the value reported."""

    def __init__(self, trials: Trials, scores: ReportedScores) -> None:
        self._trials, self._scores = trials, scores

    def is_reached(self) -> bool:
        self.grid = _Grid.build(self._trials, self._scores)
        return bool(self.grid.match[self.grid.best].all())

    def matters(self, trial: int) -> bool:
        """Return whether the change moves a query that differs."""
        own, base = self.grid.values[trial], self.grid.values[0]
        moved = (own != base) & ~(np.isnan(own) & np.isnan(base))
        return bool(moved[self.grid.differing].any())


def _tabulate_causes(grid: _Grid, chosen: Mapping[int, int | None], variants: Sequence[Variant]) -> Table:
    """Count the queries that each set of conventions explains, most first; those that none does last."""
    groups: dict[int | None, list[str]] = {}
    for query, variant in chosen.items():
        groups.setdefault(variant, []).append(grid.ids[query])
    ordered = sorted(groups.items(), key=lambda item: (item[0] is None, -len(item[1])))
    rows = [
        ("unexplained" if variant is None else str(variants[variant]), len(queries), queries[0])
        for variant, queries in ordered
    ]
    return Table(("conventions", "queries", "first"), tuple(rows))


def _tabulate_queries(
    grid: _Grid, chosen: Mapping[int, int | None], variants: Sequence[Variant], evidence: Evidence
) -> Table:
    """Return the queries that differ, with both values, what explains the difference, and evidence for the first."""
    rows: list[tuple[Value, ...]] = []
    for place, (query, variant) in enumerate(chosen.items()):
        ours, theirs = (
            None if np.isnan(value) else float(value)
            for value in (grid.values[0, query], grid.reported[query])
        )
        change = None if ours is None or theirs is None else theirs - ours
        why = None
        if variant is not None and place < MAX_EVIDENCE:
            why = _describe(grid.ids[query], variants[variant], evidence)
        explained = None if variant is None else str(variants[variant])
        rows.append((grid.ids[query], ours, theirs, change, explained, why))
    return Table(("query", "judged", "reported", "difference", "explained by", "evidence"), tuple(rows))


def _describe(query: str, variant: Variant, evidence: Evidence) -> str | None:
    """Say what in the query makes the change matter; None for several changes at once."""
    changed = ScoringRule(str(variant), variant.measure, variant.protocol)
    causes = diff(evidence.first, changed)
    return replace(evidence, second=changed).describe(query, causes[0]) if len(causes) == 1 else None


def _make_notes(grid: _Grid, scores: ReportedScores, variants: Sequence[Variant]) -> Iterator[Note]:
    """Note which conventions explain as much, and which queries only one side has."""
    total = grid.match.sum(axis=1)
    alike = [
        str(variant)
        for i, variant in enumerate(variants)
        if grid.best
        and i != grid.best
        and total[i] == total[grid.best]
        and len(variant.changes) == len(variants[grid.best].changes)
    ]
    if alike:
        more = f", and {len(alike) - MAX_ALIKE:,} more" if len(alike) > MAX_ALIKE else ""
        yield Note("alike", "info", f"as many queries are explained by {'; '.join(alike[:MAX_ALIKE])}{more}")
    unjudged = [query for query in scores.values if np.isnan(grid.values[:, grid.ids.index(query)]).all()]
    if unjudged:
        message = f"without judgments: {counted(len(unjudged), 'query')} of {scores.source}, such as `{unjudged[0]}`"
        yield Note("unjudged-query", "info", message)
    yield Note("reported-as", "info", f"read as `{scores.name}`, with {counted(scores.decimals, 'decimal')}")
