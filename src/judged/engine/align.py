"""A run meets its judgments: tables in, the view that measures are computed on out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.engine.alignment import Meeting
from judged.engine.intents import view_of_intents
from judged.engine.observations import Observations
from judged.engine.run_conventions import prepared
from judged.engine.run_problems import refuse
from judged.errors import MissingQueries
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.scan.align import Aligned, JudgedIndex, Progress, align_columns, align_mapping, align_text
from judged.kernels.segments import Floats, Ints, segment_count, segment_ids
from judged.protocol import Protocol
from judged.tables.columns import to_arrow, to_bytes, to_numpy
from judged.tables.judgments import Judgments
from judged.tables.run import Mappings, Run, Text

__all__ = ["align", "index_of", "located", "wide_lines"]


def index_of(judgments: Judgments) -> JudgedIndex:
    """The judged ids as flat bytes, without copying them."""
    query_bytes, query_offset = to_bytes(judgments.queries)
    document_bytes, document_offset = to_bytes(judgments.column("document"))
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
    without_relevant = keep & ~_has_relevant(judgments, protocol)
    if protocol.no_relevant == "skip":
        keep = keep & ~without_relevant
    ranking = _view(judgments, aligned, protocol, keep)
    tied = np.repeat(keep, np.diff(aligned.offset)) & (aligned.tied > 1)
    observations = Observations(
        queries=int(keep.sum()),
        rows=aligned.rows,
        missing=absent,
        extra=aligned.extra,
        without_relevant=int(without_relevant.sum()),
        tied_documents=int(tied.sum()),
        tied_queries=int((segment_count(tied, aligned.offset) > 0).sum()),
        unjudged=_unjudged_share(ranking) if protocol.unjudged == "nonrelevant" else 0.0,
        infinite=aligned.infinite,
        interleaved=aligned.interleaved,
        notes=(*judgments.notes, *run.notes, *wide_lines(aligned)),
    )
    meeting = Meeting(
        ranking,
        ids.take(to_arrow(np.flatnonzero(keep))),
        present[keep],
        observations,
        protocol,
        lambda: _view(judgments, aligned, protocol, keep, tied_across=True),
    )
    return (
        _with_unjudged(meeting, aligned.extra)
        if protocol.unjudged_queries == "zero" and aligned.extra
        else meeting
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
    run = prepared(run, protocol)
    try:
        aligned = _aligned(judgments, run, protocol, threads, progress)
    except TypeError:  # a dict holds ids that are no text, or scores that are no numbers
        run = run.as_columns()
        aligned = _aligned(judgments, run, protocol, threads, progress)
    refuse(aligned, run)
    absent = tuple(judgments.queries.take(to_arrow(np.flatnonzero(aligned.retrieved == 0))).to_pylist())
    if absent and protocol.missing == "error":
        msg = f"{run.name} has no results for {len(absent):,} judged queries: {', '.join(absent[:5])}"
        raise MissingQueries(msg, hint="`missing` of the protocol may also be `zero` or `skip`")
    return aligned, run, absent


def _with_unjudged(meeting: Meeting, queries: tuple[str, ...]) -> Meeting:
    """The meeting with further queries behind, which nobody judged and which therefore score 0."""
    more = len(queries)
    return replace(
        meeting,
        ranking=_with_empty(meeting.ranking, more),
        queries=pa.concat_arrays([meeting.queries, pa.array(queries, type=meeting.queries.type)]),
        present=np.append(meeting.present, np.zeros(more, dtype=bool)),
        observations=replace(meeting.observations, queries=meeting.observations.queries + more),
        undecide=lambda: _with_empty(meeting.undecide(), more),
    )


def _with_empty(view: Ranking, more: int) -> Ranking:
    """The view with so many queries behind that have neither results nor judgments."""
    return replace(
        view,
        offset=np.append(view.offset, np.repeat(view.offset[-1:], more)),
        retrieved=np.append(view.retrieved, np.zeros(more, dtype=np.int64)),
        best_offset=np.append(view.best_offset, np.repeat(view.best_offset[-1:], more)),
        intents=None if view.intents is None else view.intents.followed_by(more),
        _cache={},
    )


def _aligned(
    judgments: Judgments, run: Run, protocol: Protocol, threads: int, progress: Progress | None
) -> Aligned:
    """The kernel that fits how the run is held."""
    single = protocol.precision == "float32" and protocol.order == "score"
    ties = "document-descending" if protocol.ties == "expected" else protocol.ties  # some order to begin with
    source = run.source
    if isinstance(source, Mappings):
        names = judgments.queries.to_pylist(), judgments.documents
        return align_mapping(*names, judgments.offset, source.mapping, ties=ties, single=single)
    index = index_of(judgments)
    if isinstance(source, Text):
        text = np.frombuffer(source.buffer, dtype=np.uint8)
        return align_text(index, text, ties=ties, single=single, threads=threads, progress=progress)
    query, document = to_bytes(source.query), to_bytes(source.document)
    return align_columns(
        index, query, document, source.score, ties=ties, single=single, threads=threads, progress=progress
    )


def _graded(judgments: Judgments, protocol: Protocol) -> Floats:
    """The grades, with negative ones as 0 where the protocol takes them for judgments."""
    grades = judgments.grades
    return np.maximum(grades, 0.0) if protocol.negative == "nonrelevant" else grades


def _has_relevant(judgments: Judgments, protocol: Protocol) -> NDArray[np.bool_]:
    """Which queries have a relevant document."""
    grades = judgments.grades
    return segment_count((grades >= protocol.rel) & (grades >= 0), judgments.offset) > 0


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
    grades = _graded(judgments, protocol)
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
    intents, number = view_of_intents(judgments, keep)
    return Ranking(
        rank=rank,
        grade=grades[row],
        offset=offset,
        retrieved=retrieved,
        best=grades[order],
        best_offset=np.concatenate(([0], np.cumsum(np.diff(judgments.offset)[keep]))),
        target=targets[row],
        best_target=targets[order],
        document=number[row],
        intents=intents,
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
    codes = to_numpy(judgments.column("target").dictionary_encode().indices).astype(np.int64)
    return segment_ids(judgments.offset) * (int(codes.max(initial=0)) + 1) + codes


def _unjudged_share(ranking: Ranking) -> float:
    """The share of unjudged documents among the first ten results."""
    shown = int(np.minimum(ranking.retrieved, 10).sum())
    judged = int((ranking.within(10) & (ranking.grade >= 0)).sum())
    return (shown - judged) / shown if shown else 0.0
