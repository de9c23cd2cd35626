"""A run meets its judgments: tables in, the view that measures are computed on out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.engine.observations import Observations
from judged.engine.protocol import Protocol
from judged.engine.refuse import refuse
from judged.errors import MissingQueries
from judged.kernels.align import (
    Aligned,
    JudgedIndex,
    Progress,
    align_columns,
    align_mapping,
    align_text,
)
from judged.kernels.ranking import Ranking
from judged.kernels.segments import Ints, segment_count, segment_ids
from judged.kernels.tie_groups import in_grade_order
from judged.tables.arrays import arrow_of, bytes_of, numpy_of
from judged.tables.judgments import Judgments
from judged.tables.run import Mappings, Run, Text

__all__ = ["Meeting", "align", "index_of", "located", "wide_lines"]


@dataclass(frozen=True, eq=False)
class Meeting:
    """A run and its judgments, met: the view, which queries it holds, and what was noticed."""

    ranking: Ranking
    queries: pa.Array
    present: NDArray[np.bool_]
    """Which of these queries have results; the others are missing from the run."""
    observations: Observations
    protocol: Protocol
    undecide: Callable[[], Ranking]

    @cached_property
    def undecided(self) -> Ranking:
        """The view before ties were decided: it holds what they could bring within the protocol's depth."""
        return self.undecide()

    @cached_property
    def by_grade(self) -> tuple[Ranking, Ranking]:
        """The view with tied documents in ascending order of grade, and in descending order."""
        worst, best = (
            in_grade_order(self.undecided, self.protocol.depth, best=best) for best in (False, True)
        )
        return worst, best


def index_of(judgments: Judgments) -> JudgedIndex:
    """The judged ids as flat bytes, without copying them."""
    query_bytes, query_offset = bytes_of(judgments.queries)
    document_bytes, document_offset = bytes_of(judgments.column("document"))
    return JudgedIndex(query_bytes, query_offset, document_bytes, document_offset, judgments.offset)


def align(
    judgments: Judgments,
    run: Run,
    protocol: Protocol,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Meeting:
    """Where the judged documents stand in the run, under the protocol."""
    aligned, run, absent = located(judgments, run, protocol, threads=threads, progress=progress)
    present = aligned.retrieved > 0
    ids = judgments.queries
    keep = present if protocol.missing == "skip" else np.ones(len(present), dtype=bool)
    ranking = _view(judgments, aligned, protocol, keep)
    tied = np.repeat(keep, np.diff(aligned.offset)) & (aligned.tied > 1)
    observations = Observations(
        queries=int(keep.sum()),
        rows=aligned.rows,
        missing=absent,
        extra=aligned.extra,
        without_relevant=int((ranking.relevant() == 0).sum()),
        tied_documents=int(tied.sum()),
        tied_queries=int((segment_count(tied, aligned.offset) > 0).sum()),
        unjudged=_unjudged_share(ranking) if protocol.unjudged == "nonrelevant" else 0.0,
        infinite=aligned.infinite,
        interleaved=aligned.interleaved,
        notes=(*judgments.notes, *run.notes, *wide_lines(aligned)),
    )
    return Meeting(
        ranking,
        ids.take(arrow_of(np.flatnonzero(keep))),
        present[keep],
        observations,
        protocol,
        lambda: _view(judgments, aligned, protocol, keep, tied_across=True) if protocol.depth else ranking,
    )


def located(
    judgments: Judgments,
    run: Run,
    protocol: Protocol,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[Aligned, Run, tuple[str, ...]]:
    """The rank of every judged document, the run as it had to be held, and the judged queries it misses."""
    try:
        aligned = _aligned(judgments, run, protocol, threads, progress)
    except TypeError:  # a dict holds ids that are no text, or scores that are no numbers
        run = run.as_columns()
        aligned = _aligned(judgments, run, protocol, threads, progress)
    refuse(aligned, run)
    absent = tuple(judgments.queries.take(arrow_of(np.flatnonzero(aligned.retrieved == 0))).to_pylist())
    if absent and protocol.missing == "error":
        msg = f"{run.name} has no results for {len(absent):,} judged queries: {', '.join(absent[:5])}"
        raise MissingQueries(msg, hint="`missing` of the protocol may also be `zero` or `skip`")
    return aligned, run, absent


def _aligned(
    judgments: Judgments, run: Run, protocol: Protocol, threads: int, progress: Progress | None
) -> Aligned:
    """The kernel that fits how the run is held."""
    single = protocol.precision == "float32"
    ties = "document-descending" if protocol.ties == "expected" else protocol.ties  # some order to begin with
    source = run.source
    if isinstance(source, Mappings):
        names = judgments.queries.to_pylist(), judgments.documents
        return align_mapping(*names, judgments.offset, source.mapping, ties=ties, single=single)
    index = index_of(judgments)
    if isinstance(source, Text):
        text = np.frombuffer(source.buffer, dtype=np.uint8)
        return align_text(index, text, ties=ties, single=single, threads=threads, progress=progress)
    query, document = bytes_of(source.query), bytes_of(source.document)
    return align_columns(
        index, query, document, source.score, ties=ties, single=single, threads=threads, progress=progress
    )


def _view(
    judgments: Judgments,
    aligned: Aligned,
    protocol: Protocol,
    keep: NDArray[np.bool_],
    *,
    tied_across: bool = False,
) -> Ranking:
    """The view of the kept queries, after depth and removal of unjudged documents.

    `tied_across` keeps the documents below the depth that are tied with one above it.
    """
    grades = judgments.grades
    targets = _targets(judgments)
    rank, row, retrieved = aligned.rank, aligned.row, aligned.retrieved
    query = segment_ids(aligned.offset)
    chosen = keep[query]
    if protocol.depth is not None:
        chosen &= (aligned.above if tied_across else rank - 1) < protocol.depth
        retrieved = np.minimum(retrieved, protocol.depth)
    if protocol.unjudged == "removed":
        chosen &= grades[row] >= 0
    rank, row, query = rank[chosen], row[chosen], query[chosen]
    above, tied = aligned.above[chosen], aligned.tied[chosen]
    renumbered = (np.cumsum(keep) - 1)[query]
    offset = np.searchsorted(renumbered, np.arange(int(keep.sum()) + 1)).astype(np.int64)
    retrieved = retrieved[keep]
    if protocol.unjudged == "removed":
        retrieved = np.diff(offset)
        above, tied = _condensed(renumbered, above, offset)
        rank = np.arange(1, len(rank) + 1) - np.repeat(offset[:-1], retrieved)
    judged_query = segment_ids(judgments.offset)
    kept_rows = np.flatnonzero(keep[judged_query])
    order = kept_rows[np.lexsort((-grades[kept_rows], judged_query[kept_rows]))]
    return Ranking(
        rank=rank,
        grade=grades[row],
        offset=offset,
        retrieved=retrieved,
        best=grades[order],
        best_offset=np.concatenate(([0], np.cumsum(np.diff(judgments.offset)[keep]))),
        target=targets[row],
        best_target=targets[order],
        rel=float(protocol.rel),
        highest=float(grades.max(initial=0.0)),
        above=above,
        tied=tied,
        recall_points=protocol.recall_points,
    )


def _condensed(query: Ints, above: Ints, offset: Ints) -> tuple[Ints, Ints]:
    """How many of the documents that are left stand above each, and how many share its score."""
    group = query * (int(above.max(initial=0)) + 1) + above
    first = np.searchsorted(group, group, side="left")
    tied = np.searchsorted(group, group, side="right") - first
    return first - offset[query], tied


def wide_lines(aligned: Aligned) -> tuple[str, ...]:
    """The note on lines with more columns than a run has, if there are any."""
    if not aligned.wide:
        return ()
    lines = "line has" if aligned.wide == 1 else "lines have"
    return (f"{aligned.wide:,} {lines} more than 6 columns: the rest was ignored",)


def _targets(judgments: Judgments) -> Ints:
    """A number for each judged document's target; a document without one is its own."""
    if "target" not in judgments.table.column_names:
        return np.arange(len(judgments), dtype=np.int64)
    codes = numpy_of(judgments.column("target").dictionary_encode().indices).astype(np.int64)
    return segment_ids(judgments.offset) * (int(codes.max(initial=0)) + 1) + codes


def _unjudged_share(ranking: Ranking) -> float:
    """The share of unjudged documents among the first ten results."""
    shown = int(np.minimum(ranking.retrieved, 10).sum())
    judged = int((ranking.within(10) & (ranking.grade >= 0)).sum())
    return (shown - judged) / shown if shown else 0.0
