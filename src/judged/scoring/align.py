"""The ranked family: a run aligned with judgments, as the view that measures of rankings are computed on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadMeasure, MissingQueries
from judged.io.read import read_judgments, read_run
from judged.kernels.diversity import INTENTS_HINT
from judged.kernels.ranked.ranking import Intents, Ranking
from judged.kernels.scan.align import Aligned
from judged.kernels.segments import segment_count, segment_ids
from judged.measures.families import MEASURES
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.progress import Progress
from judged.protocol import Protocol
from judged.scoring.alignment import Alignment
from judged.scoring.counts import RunCounts, to_notes
from judged.scoring.family import Family
from judged.scoring.locate import ReducedRun, locate_judged
from judged.tables.columns import one_array, take, to_arrow, to_numpy
from judged.tables.judgments import Judgments, order_intents
from judged.tables.run import Run


@dataclass(frozen=True, eq=False)
class RankedAlignment(Alignment):
    """A run aligned with judgments, and the views that other orders of tied results would give."""

    view: Ranking
    protocol: Protocol
    counts: RunCounts
    rebuild: Callable[[], Ranking] | None = None
    """Makes the view before ties were broken at the protocol's depth."""

    @cached_property
    def untied(self) -> Ranking:
        """The view before ties were broken: it holds what they could move into the protocol's depth."""
        return self.view if self.protocol.depth is None or self.rebuild is None else self.rebuild()

    @cached_property
    def by_grade(self) -> tuple[Ranking, Ranking]:
        """The view with tied documents in ascending order of grade, and in descending order."""
        from judged.kernels.ties import order_ties_by_grade

        worst, best = (
            order_ties_by_grade(self.untied, self.protocol.depth, best=best) for best in (False, True)
        )
        return worst, best

    def values(self, measure: Measure) -> NDArray[Any]:
        """Return one value for each query, averaged over the orders of ties where the protocol says so."""
        if self.protocol.ties != "expected" or not self.counts.tied_documents:
            return self._check_finite(measure, Alignment.values(self, measure))
        from judged.scoring.ties import average_over_ties

        return self._check_finite(measure, self.zero_absent(measure, average_over_ties(measure, self)))

    def _check_finite(self, measure: Measure, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values; raise `BadMeasure` for one that is too large to compute, or not a number."""
        if measure.text or np.isfinite(values).all():
            return values
        query = self.units[int(np.flatnonzero(~np.isfinite(values))[0])].as_py()
        msg = f"{measure} of query `{query}` is beyond floating-point numbers, with grades up to {self.view.highest:g}"
        raise BadMeasure(msg, hint="judge on a smaller scale")


def align(
    judgments: Judgments,
    run: Run | ReducedRun,
    protocol: Protocol,
    measures: Sequence[Measure] = (),  # noqa: ARG001 - the view is the same for all measures
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> RankedAlignment:
    """Return the ranks of the judged documents in the run, under the protocol."""
    located = locate_judged(judgments, run, protocol, threads=threads, progress=progress)
    ranks = located.ranks
    present = ranks.present
    keep = present if protocol.missing == "skip" else np.ones(len(present), dtype=bool)
    without_relevant = keep & ~_find_relevant(judgments, protocol)
    if protocol.no_relevant == "skip":
        keep = keep & ~without_relevant
    view = _make_view(judgments, ranks, protocol, keep)
    tied = np.repeat(keep, np.diff(ranks.offset)) & (ranks.tied > 1)
    counts = RunCounts(
        queries=int(keep.sum()),
        rows=ranks.rows,
        missing=located.missing,
        empty=int((present & (ranks.retrieved == 0)).sum()),
        judged_queries=len(present),
        zero_relevant=int((_read_grades(judgments, protocol) == 0).sum()) if protocol.rel <= 0 else 0,
        unjudged_queries=ranks.unjudged_queries,
        without_relevant=int(without_relevant.sum()),
        tied_documents=int(tied.sum()),
        tied_queries=int((segment_count(tied, ranks.offset) > 0).sum()),
        unjudged=_unjudged_share(view) if protocol.unjudged == "nonrelevant" else 0.0,
        infinite=ranks.infinite,
        interleaved=ranks.interleaved,
        input_notes=to_notes((*judgments.notes, *located.notes)),
    )
    alignment = RankedAlignment(
        view,
        take(judgments.queries, np.flatnonzero(keep)),
        protocol,
        counts,
        present[keep],
        rebuild=lambda: _make_view(judgments, ranks, protocol, keep, tied_across=True),
    )
    if protocol.unjudged_queries == "zero" and ranks.unjudged_queries:
        return _append_unjudged_queries(alignment, ranks.unjudged_queries)
    return alignment


def check_overlap(alignment: Alignment, run: str) -> None:
    """Raise `MissingQueries` if a run has none of the judged queries at all: its values would all be 0."""
    counts = alignment.counts
    if not isinstance(counts, RunCounts) or not 0 < counts.judged_queries == len(counts.missing):
        return
    some, judged = ", ".join(counts.missing[:3]), len(counts.missing)
    if not counts.rows and not counts.unjudged_queries:
        msg, hint = (
            f"{run} is empty: it has no results for any of the {judged:,} judged queries ({some})",
            None,
        )
    else:
        msg = f"{run} has results for none of the {judged:,} judged queries ({some})"
        hint = f"its own queries are {', '.join(counts.unjudged_queries[:3])}: are these the right judgments?"
    raise MissingQueries(msg, hint=hint)


def _append_unjudged_queries(alignment: RankedAlignment, queries: tuple[str, ...]) -> RankedAlignment:
    """Append queries without judgments, which score 0."""
    more = len(queries)
    return replace(
        alignment,
        view=_append_empty(alignment.view, more),
        units=pa.concat_arrays([alignment.units, pa.array(queries, type=alignment.units.type)]),
        present=np.append(alignment.present, np.zeros(more, dtype=bool)),
        counts=replace(alignment.counts, queries=alignment.counts.queries + more),
        rebuild=lambda: _append_empty(alignment.untied, more),
    )


def _append_empty(view: Ranking, more: int) -> Ranking:
    """Append queries with neither results nor judgments."""
    return replace(
        view,
        offset=np.append(view.offset, np.repeat(view.offset[-1:], more)),
        retrieved=np.append(view.retrieved, np.zeros(more, dtype=np.int64)),
        best_offset=np.append(view.best_offset, np.repeat(view.best_offset[-1:], more)),
        intents=None if view.intents is None else view.intents.followed_by(more),
        _cache={},
    )


def _find_relevant(judgments: Judgments, protocol: Protocol) -> Flags:
    """Return which queries have a relevant document."""
    grades = _read_grades(judgments, protocol)
    return segment_count((grades >= protocol.rel) & (grades >= 0), judgments.offset) > 0


def _read_grades(judgments: Judgments, protocol: Protocol) -> Floats:
    """Return the grades, with negative ones as 0 where the protocol says that they are not relevant."""
    return np.maximum(judgments.grades, 0.0) if protocol.negative == "nonrelevant" else judgments.grades


class _Hits(NamedTuple):
    """The judged documents of the kept queries that were retrieved, sorted by query and rank."""

    row: Ints
    rank: Ints
    above: Ints
    tied: Ints
    offset: Ints
    retrieved: Ints


def _make_view(
    judgments: Judgments, ranks: Aligned, protocol: Protocol, keep: Flags, *, tied_across: bool = False
) -> Ranking:
    """Return the view of the kept queries.

    `tied_across` keeps the documents below the protocol's depth that are tied with one above it.
    """
    grades = _read_grades(judgments, protocol)
    targets = _number_targets(judgments)
    hits = _select_hits(ranks, grades, protocol, keep, tied_across=tied_across)
    judged_query = segment_ids(judgments.offset)
    kept_rows = np.flatnonzero(keep[judged_query])
    best = kept_rows[np.lexsort((-grades[kept_rows], judged_query[kept_rows]))]
    intents, document = _make_intents(judgments, keep)
    return Ranking(
        rank=hits.rank,
        grade=grades[hits.row],
        offset=hits.offset,
        retrieved=hits.retrieved,
        best=grades[best],
        best_offset=np.concatenate(([0], np.cumsum(np.diff(judgments.offset)[keep]))),
        target=targets[hits.row],
        best_target=targets[best],
        document=document[hits.row],
        intents=intents,
        rel=float(protocol.rel),
        highest=float(grades.max(initial=0.0)),
        above=hits.above,
        tied=hits.tied,
        recall_points=protocol.recall_points,
    )


def _select_hits(
    ranks: Aligned, grades: Floats, protocol: Protocol, keep: Flags, *, tied_across: bool
) -> _Hits:
    """Select the hits of the kept queries, after depth and removal of unjudged documents."""
    query, retrieved = segment_ids(ranks.offset), ranks.retrieved
    chosen = keep[query]
    if protocol.depth is not None:
        chosen &= (ranks.above if tied_across else ranks.rank - 1) < protocol.depth
        retrieved = np.minimum(retrieved, protocol.depth)
    if protocol.unjudged == "removed":
        chosen &= grades[ranks.row] >= 0
    row, rank = ranks.row[chosen], ranks.rank[chosen]
    above, tied = ranks.above[chosen], ranks.tied[chosen]
    renumbered = (np.cumsum(keep) - 1)[query[chosen]]
    offset = np.searchsorted(renumbered, np.arange(int(keep.sum()) + 1)).astype(np.int64)
    if protocol.unjudged != "removed":
        return _Hits(row, rank, above, tied, offset, retrieved[keep])
    left = np.diff(offset)
    rank = np.arange(1, len(rank) + 1) - np.repeat(offset[:-1], left)
    above, tied = _recount_ties(renumbered, above, offset)
    return _Hits(row, rank, above, tied, offset, left)


def _recount_ties(query: Ints, above: Ints, offset: Ints) -> tuple[Ints, Ints]:
    """Count, among the documents that are left, those above each and those that share its score."""
    group = query * (int(above.max(initial=0)) + 1) + above
    first = np.searchsorted(group, group, side="left")
    tied = np.searchsorted(group, group, side="right") - first
    return first - offset[query], tied


def _number_targets(judgments: Judgments) -> Ints:
    """Return a number for each judged document's target; a document without one is its own."""
    if "target" not in judgments.table.column_names:
        return np.arange(len(judgments), dtype=np.int64)
    codes = to_numpy(judgments.column("target").dictionary_encode().indices).astype(np.int64)
    return segment_ids(judgments.offset) * (int(codes.max(initial=0)) + 1) + codes


def _unjudged_share(view: Ranking) -> float:
    """Return the share of unjudged documents among the first ten results."""
    shown = int(np.minimum(view.retrieved, 10).sum())
    judged = int((view.within(10) & (view.grade >= 0)).sum())
    return (shown - judged) / shown if shown else 0.0


def _make_intents(judgments: Judgments, keep: Flags) -> tuple[Intents | None, Ints]:
    """Return the intents of the kept queries, and for each row of the judgments the number of its document.

    Without intents, a document's target is its one intent; without either, there is no view of intents.
    """
    if not judgments.by_intent:
        return None, np.zeros(len(judgments), dtype=np.int64)
    query = segment_ids(judgments.offset)
    number = _number_documents(judgments, np.flatnonzero(keep[query]), query)
    row, code, grade, weight = _read_intents(judgments)
    chosen = np.flatnonzero(number[row] >= 0)
    chosen = chosen[np.argsort(number[row[chosen]], kind="stable")]
    row, grade = row[chosen], grade[chosen]
    base = int(code.max(initial=0)) + 1
    pair, first, intent = np.unique(query[row] * base + code[chosen], return_index=True, return_inverse=True)
    renumbered = (np.cumsum(keep) - 1)[pair // base]
    documents = int(keep[query].sum())
    return Intents(
        offset=np.searchsorted(number[row], np.arange(documents + 1)).astype(np.int64),
        intent=intent.reshape(-1).astype(np.int64),
        grade=grade,
        query_offset=np.searchsorted(renumbered, np.arange(int(keep.sum()) + 1)).astype(np.int64),
        weight=weight[chosen][first],
    ), number


def _number_documents(judgments: Judgments, kept: Ints, query: Ints) -> Ints:
    """Assign numbers to the kept documents by query and descending id, as ndeval breaks ties."""
    import pyarrow.compute as pc

    document = judgments.column("document").cast(pa.large_binary()).take(to_arrow(kept))
    keyed = pa.table({"query": to_arrow(query[kept]), "document": document})
    order = to_numpy(pc.sort_indices(keyed, [("query", "ascending"), ("document", "descending")]))
    number = np.full(len(judgments), -1, dtype=np.int64)
    number[kept[order]] = np.arange(len(kept))
    return number


def _read_intents(judgments: Judgments) -> tuple[Ints, Ints, Floats, Floats]:
    """Return row of the document, number of the intent, grade and weight for every pair of document and intent."""
    if judgments.intents is None:
        code, _ = order_intents(judgments.column("target"))
        return np.arange(len(judgments)), code, judgments.grades, np.ones(len(judgments))
    table = {name: one_array(judgments.intents[name]) for name in judgments.intents.column_names}
    code, _ = order_intents(table["intent"])
    weight = to_numpy(table["weight"]) if "weight" in table else np.ones(len(code))
    return to_numpy(table["row"]), code, to_numpy(table["grade"]), weight


def read_judgments_for(source: Any, measures: Sequence[Measure], *, intents: bool = False) -> Judgments:
    """Read judgments, by intent where a measure needs that or `intents` is set."""
    needing = [measure for measure in measures if measure.needs == "intents"]
    judgments = read_judgments(source, intents=intents or bool(needing))
    if needing and not judgments.by_intent:
        msg = f"{needing[0]} looks at intents, and {judgments.name} gives none"
        raise BadMeasure(msg, hint=INTENTS_HINT)
    return judgments


def _read_run(source: Any, name: str | None) -> Run:
    return read_run(source) if name is None else read_run(source, name=name)


RANKED = Family(
    name="ranked",
    unit="query",
    protocol=Protocol,
    view=Ranking,
    align=align,
    measures=MEASURES,
    default_measures=("nDCG@10", "AP", "RR", "P@10", "R@100"),
    parse=parse_measures,
    read_truth=read_judgments_for,
    read_system=_read_run,
    documents=lambda judgments: judgments,
    threaded=True,
    empty=0.0,
)
"""Runs of ranked documents, scored against judgments."""
