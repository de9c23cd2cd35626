"""The ranked family: a run aligned with judgments, as the view that measures of rankings are computed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol as TypingProtocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadMeasure, MissingQueries, WrongKind
from judged.io.read import read_judgments, read_run, read_runs
from judged.kernels.ranked.ranking import Intents, Ranking
from judged.kernels.scan.align import Aligned
from judged.kernels.segments import segment_count, segment_ids
from judged.kernels.sorting import sort_descending
from judged.measures.measure import Measure
from judged.problem import Note
from judged.progress import Progress
from judged.protocol import Protocol
from judged.scoring.alignment import Alignment
from judged.scoring.counts import RunCounts, to_notes
from judged.scoring.family import Family
from judged.scoring.folds import CompiledFolds, compile_folds
from judged.scoring.locate import (
    Graded,
    Located,
    ReducedRun,
    find_relevant,
    locate_judged,
    read_grades,
    remove_negative,
)
from judged.tables.columns import one_array, take, to_arrow, to_numpy
from judged.tables.judgments import Judgments, order_intents
from judged.tables.run import Run
from judged.wording import name_setting


class MakeView(TypingProtocol):
    """Makes the view of a run that was aligned."""

    def __call__(self, *, tied_across: bool = False) -> Ranking:
        """Return the view; `tied_across` keeps documents below the protocol's depth that are tied with one above it."""


class RankedAlignment(Alignment):
    """A run aligned with judgments, and the views that other orders of tied results would give."""

    protocol: Protocol
    counts: RunCounts
    _make_view: MakeView
    _computed: Sequence[tuple[Measure, Floats]]
    _hopeless: dict[Measure, Flags]
    """For each measure that was computed, the queries without anything to find."""

    def __init__(
        self,
        make_view: MakeView,
        units: pa.Array,
        protocol: Protocol,
        counts: RunCounts,
        present: Flags,
        computed: Sequence[tuple[Measure, Floats]] = (),
    ) -> None:
        """Hold what was aligned; `computed` has the values of measures that were computed without a view."""
        state = {"units": units, "protocol": protocol, "counts": counts, "present": present, "name": None}
        self.__dict__.update(state, _make_view=make_view, _computed=computed, _hopeless={})

    @cached_property
    def view(self) -> Ranking:
        """The view of the kept queries, made when it is first looked at."""
        return self._make_view()

    @cached_property
    def untied(self) -> Ranking:
        """The view before the protocol's depth was applied: it holds what other orders of ties could move into it."""
        return self.view if self.protocol.depth is None else self._make_view(tied_across=True)

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
        for known, values in self._computed:
            if known is measure:  # one that is equal may have another function
                return values
        if self.protocol.ties != "expected" or not self.counts.tied_documents:
            values = Alignment.values(self, measure)
        else:
            from judged.scoring.ties import average_over_ties

            values = self.zero_absent(measure, average_over_ties(measure, self))
        return self._check_finite(measure, self.score_without_relevant(measure, values))

    def score_without_relevant(self, measure: Measure, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values, with 1 for queries in which there is nothing to find, where the protocol says so."""
        if self.protocol.no_relevant != "one":
            return values
        return np.where(self.find_hopeless(measure, values), 1.0, values)

    def find_hopeless(self, measure: Measure, values: NDArray[Any] | None = None) -> Flags:
        """Flag the queries that score 1 because even the best order of their documents scores 0.

        That depends on the measure: grade 1 has a gain, and is not relevant where a measure sets `rel=2`. `values` are
        those before the convention, if they are known.
        """
        flags = np.zeros(len(self.view), dtype=bool)
        if self.protocol.no_relevant != "one" or not _is_share(measure):
            return flags
        if measure not in self._hopeless:
            from judged.kernels.ties import make_ideal

            # a query of the run that was never judged has a convention of its own, `unjudged_queries`
            possible = (np.diff(self.view.best_offset) > 0) | self.present
            low = np.flatnonzero(possible if values is None else possible & (values == 0))
            flags[low] = measure.per_query(make_ideal(self.view, low)) == 0
            self._hopeless[measure] = flags
        return self._hopeless[measure]

    def notes_on(self, measures: Sequence[Measure]) -> tuple[Note, ...]:
        """Return the notes, and how many queries score 1 because they have no relevant document."""
        if self.protocol.no_relevant != "one":
            return self.notes
        by_count: dict[int, list[str]] = {}
        for measure in measures:
            by_count.setdefault(int(self.find_hopeless(measure).sum()), []).append(str(measure))
        ones = {
            ", ".join(names) if len(by_count) > 1 else "": many for many, names in by_count.items() if many
        }
        return replace(self.counts, scored_one=ones).notes(self.protocol)

    def _check_finite(self, measure: Measure, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values; raise `BadMeasure` for one that is too large to compute, or not a number."""
        if measure.text or np.isfinite(values).all():
            return values
        query = self.units[int(np.flatnonzero(~np.isfinite(values))[0])].as_py()
        msg = f"{measure} of query `{query}` is beyond floating-point numbers, with grades up to {self.view.highest:g}"
        raise BadMeasure(msg, hint="judge on a smaller scale")


def _is_share(measure: Measure) -> bool:
    """Return whether values are from 0 to 1, and 1 is best."""
    return not measure.text and measure.limits == (0.0, 1.0) and measure.higher_is_better is True


def align(
    judgments: Judgments,
    run: Run | ReducedRun,
    protocol: Protocol,
    measures: Sequence[Measure] = (),  # noqa: ARG001 - the view is the same for all measures
    *,
    threads: int = 1,
    progress: Progress | None = None,
    folds: CompiledFolds | None = None,
) -> RankedAlignment:
    """Return the ranks of the judged documents in the run, under the protocol; `folds` compute measures without a view."""
    by_text = judgments.by_text or (isinstance(run, Run) and run.by_text)
    if by_text and isinstance(run, Run):
        from judged.tables.content import match_contents

        judgments, run = match_contents(judgments, run)
    elif judgments.by_text:
        msg = f"the documents of {judgments.name} are texts without ids, and {run.name} is read as a stream of ids"
        raise WrongKind(msg, hint="give judgments with ids")
    folds = None if by_text else folds
    located = locate_judged(judgments, run, protocol, threads=threads, progress=progress)
    if by_text and isinstance(run, Run):
        from judged.tables.content import check_contents

        check_contents(judgments, run, len(located.ranks.row))
    return align_located(judgments, located, protocol, folds)


def align_located(
    judgments: Graded, located: Located, protocol: Protocol, folds: CompiledFolds | None = None
) -> RankedAlignment:
    """Return the alignment of judged documents whose ranks are known; `folds` compute measures without a view."""
    if protocol.negative == "removed":
        located = remove_negative(judgments, located)
    ranks = located.ranks
    present = ranks.present
    keep = present if protocol.missing == "skip" else np.ones(len(present), dtype=bool)
    without_relevant = keep & ~find_relevant(judgments, protocol)
    if protocol.no_relevant == "skip":
        keep = keep & ~without_relevant
    counts = _count(judgments, located, protocol, keep, int(np.count_nonzero(without_relevant)))

    def make_view(*, tied_across: bool = False) -> Ranking:
        return _make_view(judgments, ranks, protocol, keep, tied_across=tied_across)

    computed = () if folds is None else folds.of_ranks(ranks, keep, tied=counts.tied_documents > 0)
    units = judgments.queries if keep.all() else take(judgments.queries, np.flatnonzero(keep))
    alignment = RankedAlignment(make_view, units, protocol, counts, present[keep], computed)
    if protocol.unjudged_queries == "zero" and ranks.unjudged_queries:
        return _append_unjudged_queries(alignment, ranks.unjudged_queries)
    return alignment


def _count(
    judgments: Graded, located: Located, protocol: Protocol, keep: Flags, without_relevant: int
) -> RunCounts:
    """Return what is notable about the run, in the queries that are kept."""
    ranks, grades = located.ranks, read_grades(judgments, protocol)
    tied = _of_kept(ranks, keep, ranks.tied > 1)
    tied_documents = int(np.count_nonzero(tied))
    return RunCounts(
        queries=int(np.count_nonzero(keep)),
        rows=ranks.rows,
        missing=located.missing,
        empty=int(np.count_nonzero(ranks.present & (ranks.retrieved == 0))),
        judged_queries=len(keep),
        zero_relevant=int(np.count_nonzero(grades == 0)) if protocol.rel <= 0 else 0,
        unjudged_queries=ranks.unjudged_queries,
        without_relevant=without_relevant,
        tied_documents=tied_documents,
        tied_queries=int(np.count_nonzero(segment_count(tied, ranks.offset))) if tied_documents else 0,
        unjudged=_unjudged_share(ranks, grades, protocol, keep),
        infinite=ranks.infinite,
        interleaved=ranks.interleaved,
        input_notes=to_notes((*judgments.notes, *located.notes)),
    )


def _of_kept(ranks: Aligned, keep: Flags, hits: Flags) -> Flags:
    """Return which of the hits are of queries that are kept."""
    return hits if keep.all() else hits & np.repeat(keep, np.diff(ranks.offset))


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
        hint = f"its own queries are {', '.join(counts.unjudged_queries[:3])}: {_suggest_join(counts)}"
    raise MissingQueries(msg, hint=hint)


def _suggest_join(counts: RunCounts) -> str:
    """Return what to do about a run without any judged query: one side may name queries by their texts."""
    judged, retrieved = (
        any(len(name.split()) > 1 for name in names[:3])
        for names in (counts.missing, counts.unjudged_queries)
    )
    if judged == retrieved:
        return "are these the right judgments?"
    ours, theirs, key, table = (
        ("texts", "ids", "texts[id]", "judgments") if judged else ("ids", "texts", "ids[text]", "run")
    )
    how = name_setting(
        f"--map {table}:query=COLUMN", f"{{{key}: found for {theirs[:-1]}, found in run.items()}}"
    )
    return f"the judgments name queries by {ours} and the run by {theirs}; name them alike, as by {how}"


def _append_unjudged_queries(alignment: RankedAlignment, queries: tuple[str, ...]) -> RankedAlignment:
    """Append queries without judgments, which score 0."""
    more = len(queries)
    return RankedAlignment(
        lambda *, tied_across=False: _append_empty(alignment.untied if tied_across else alignment.view, more),
        pa.concat_arrays([alignment.units, pa.array(queries, type=alignment.units.type)]),
        alignment.protocol,
        replace(alignment.counts, queries=alignment.counts.queries + more),
        np.append(alignment.present, np.zeros(more, dtype=bool)),
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


class _Hits(NamedTuple):
    """The judged documents of the kept queries that were retrieved, sorted by query and rank."""

    row: Ints
    rank: Ints
    above: Ints
    tied: Ints
    offset: Ints
    retrieved: Ints


def _make_view(
    judgments: Graded, ranks: Aligned, protocol: Protocol, keep: Flags, *, tied_across: bool = False
) -> Ranking:
    """Return the view of the kept queries.

    `tied_across` keeps the documents below the protocol's depth that are tied with one above it.
    """
    grades = read_grades(judgments, protocol)
    targets = _number_targets(judgments)
    by_grade = protocol.ties_by_grade
    hits = _select_hits(ranks, grades, protocol, keep, tied_across=tied_across or by_grade)
    best = sort_descending(grades, judgments.offset)
    if not keep.all():
        best = best[keep[segment_ids(judgments.offset)]]  # rows of a query stay where the query has them
    intents, document = _make_intents(judgments, keep)
    view = Ranking(
        rank=hits.rank,
        grade=grades[hits.row],
        offset=hits.offset,
        retrieved=hits.retrieved,
        best=grades[best],
        best_offset=np.concatenate(([0], np.cumsum(np.diff(judgments.offset)[keep]))),
        target=hits.row if targets is None else targets[hits.row],
        best_target=best if targets is None else targets[best],
        document=document if intents is None else document[hits.row],
        intents=intents,
        rel=float(protocol.rel),
        highest=float(grades.max(initial=0.0)),
        above=hits.above,
        tied=hits.tied,
        recall_points=protocol.recall_points,
    )
    if not by_grade:
        return view
    from judged.kernels.ties import order_ties_by_grade

    return order_ties_by_grade(
        view, None if tied_across else protocol.depth, best=protocol.ties == "optimistic"
    )


def _select_hits(
    ranks: Aligned, grades: Floats, protocol: Protocol, keep: Flags, *, tied_across: bool
) -> _Hits:
    """Select the hits of the kept queries, after depth and removal of unjudged documents."""
    if keep.all() and protocol.depth is None and protocol.unjudged != "removed":  # every hit is kept
        return _Hits(ranks.row, ranks.rank, ranks.above, ranks.tied, ranks.offset, ranks.retrieved)
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


def _number_targets(judgments: Graded) -> Ints | None:
    """Return a number for each judged document's target; None where every document is its own."""
    if not judgments.by_intent or judgments.targets is None:
        return None
    codes = to_numpy(judgments.targets.dictionary_encode().indices).astype(np.int64)
    return segment_ids(judgments.offset) * (int(codes.max(initial=0)) + 1) + codes


def _unjudged_share(ranks: Aligned, grades: Floats, protocol: Protocol, keep: Flags) -> float:
    """Return the share of unjudged documents among the first ten results that count."""
    if protocol.unjudged == "removed":
        return 0.0
    near = 10 if protocol.depth is None else min(10, protocol.depth)
    shown = int(np.minimum(ranks.retrieved[keep], near).sum())
    judged = int(np.count_nonzero(_of_kept(ranks, keep, (ranks.rank <= near) & (grades[ranks.row] >= 0))))
    return (shown - judged) / shown if shown else 0.0


def _make_intents(judgments: Graded, keep: Flags) -> tuple[Intents | None, Ints]:
    """Return the intents of the kept queries, and for each row of the judgments the number of its document.

    Without intents, a document's target is its one intent; without either, there is no view of intents.
    """
    if not isinstance(judgments, Judgments) or not judgments.by_intent:
        return None, np.zeros(0, dtype=np.int64)
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
        from judged.kernels.diversity import INTENTS_HINT

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
    default_measures=("nDCG@10", "AP", "RR", "P@10", "R@100"),
    read_truth=read_judgments_for,
    read_system=_read_run,
    read_systems=lambda source, label: read_runs(source, name=label),
    of_runs=True,
    documents=lambda judgments: judgments,
    compile=compile_folds,
    threaded=True,
    empty=0.0,
)
"""Runs of ranked documents, scored against judgments."""
