"""A run meets preferences: tables in, the view that preference measures are computed on out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from judged.engine.align import located, wide_lines
from judged.engine.observations import Observations
from judged.errors import BadInput, BadMeasure
from judged.kernels.preferences.view import (
    PreferencePairs,
    PreferenceView,
    build_pairs,
    build_preference_view,
    find_contradiction,
    order_documents,
)
from judged.kernels.scan.align import Aligned, Progress
from judged.kernels.segments import Flags, Ints, segment_count, segment_ids
from judged.measures.measure import Measure
from judged.problem import Problem
from judged.protocol import Protocol
from judged.tables.columns import to_arrow
from judged.tables.preferences import Preferences
from judged.tables.run import Run

__all__ = ["Hearing", "hear"]


@dataclass(frozen=True, eq=False)
class Hearing:
    """A run and preferences, met: the view, which queries it holds, and what was noticed."""

    opinions: PreferenceView
    queries: pa.Array
    present: Flags
    """Which of these queries have results; the others are missing from the run."""
    observations: Observations


def hear(
    preferences: Preferences,
    run: Run,
    protocol: Protocol,
    measures: Sequence[Measure] = (),
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Hearing:
    """Where the documents stand that the preferences speak of, under the protocol."""
    if protocol.ties == "expected":
        msg = "measures of preferences have no mean over the orders of tied results"
        raise BadMeasure(msg, hint="another rule for `ties` chooses one order")
    documents = preferences.documents
    aligned, run, absent = located(documents, run, protocol, threads=threads, progress=progress)
    present = aligned.retrieved > 0
    keep = present if protocol.missing == "skip" else np.ones(len(present), dtype=bool)
    rows = keep[preferences.query]
    views = _views(preferences, rows, protocol)
    _refuse_contradiction(views, preferences, rows)
    _refuse_grades_in_parts(views, preferences, measures)
    query = segment_ids(documents.offset)
    rank = _ranks(aligned, protocol.depth, len(query))
    retrieved = aligned.retrieved if protocol.depth is None else np.minimum(aligned.retrieved, protocol.depth)
    opinions = build_preference_view(
        views,
        place=order_documents(rank, query),
        rank=rank,
        retrieved=retrieved[keep],
        query_offset=_query_offset(preferences.query[rows], preferences.group[rows]),
        removed=protocol.unjudged == "removed",
        rel=float(protocol.rel),
        recall_points=protocol.recall_points,
    )
    ids = preferences.queries.take(to_arrow(np.flatnonzero(keep)))
    noticed = _observations(preferences, run, aligned, absent, keep)
    if any(each.needs != "judges" for each in measures) and protocol.ties != "document-ascending":
        noticed = _with_rule_of_trec_eval(noticed)
    return Hearing(opinions, ids, present[keep], noticed)


def _views(preferences: Preferences, rows: Flags, protocol: Protocol) -> PreferencePairs:
    """What the groups of the kept rows say, levels compared at the width at which scores are."""
    levels = preferences.levels[rows]
    if protocol.precision == "float32":
        levels = levels.astype(np.float32).astype(np.float64)
    group, subgroup = (_renumbered(each[rows]) for each in (preferences.group, preferences.subgroup))
    return build_pairs(levels, preferences.document[rows], group, subgroup)


def _renumbered(numbers: Ints) -> Ints:
    """Ascending numbers without gaps."""
    return np.cumsum(np.diff(numbers, prepend=numbers[:1]) > 0)


def _query_offset(query: Ints, group: Ints) -> Ints:
    """How the groups of sorted rows are cut into queries."""
    first = np.unique(group, return_index=True)[1]
    cuts = np.flatnonzero(np.diff(query[first], prepend=-1))
    return np.append(cuts, len(first)).astype(np.int64)


def _ranks(aligned: Aligned, depth: int | None, documents: int) -> Ints:
    """The rank of every document; 0 if it was not retrieved within the depth."""
    rank = np.zeros(documents, dtype=np.int64)
    rank[aligned.row] = aligned.rank if depth is None else np.where(aligned.rank <= depth, aligned.rank, 0)
    return rank


def _refuse_contradiction(views: PreferencePairs, preferences: Preferences, rows: Flags) -> None:
    """Refuse a group whose sub-groups prefer each of two documents to the other."""
    torn = find_contradiction(views)
    if torn is None:
        return
    first, second = (preferences.documents.table["document"][int(views.document[entry])] for entry in torn)
    number = int(np.searchsorted(views.offset, torn[0], side="right")) - 1
    row = int(np.flatnonzero(rows)[np.searchsorted(_renumbered(preferences.group[rows]), number)])
    query, group = (preferences.table[name][row] for name in ("query", "group"))
    told = f"its sub-groups prefer `{first}` to `{second}` and `{second}` to `{first}`"
    fault = Problem.error("contradiction", f"group `{group}` on query `{query}`", told)
    raise BadInput(
        preferences.name, [fault], hint="views that contradict each other belong in different groups"
    )


def _refuse_grades_in_parts(
    views: PreferencePairs, preferences: Preferences, measures: Sequence[Measure]
) -> None:
    """Refuse levels of several sub-groups as grades, for they can be compared only within one."""
    wanted = next((each for each in measures if each.needs == "judges"), None)
    if wanted is not None and views.partial.any():
        fault = Problem.error(
            "several-subgroups",
            f"`{wanted}`",
            "takes levels as grades, but some groups have several sub-groups",
        )
        raise BadInput(preferences.name, [fault], hint="give each judge one grade for each document")


def _observations(
    preferences: Preferences,
    run: Run,
    aligned: Aligned,
    absent: tuple[str, ...],
    keep: Flags,
) -> Observations:
    tied: Flags = np.repeat(keep, np.diff(aligned.offset)) & (aligned.tied > 1)
    return Observations(
        queries=int(keep.sum()),
        rows=aligned.rows,
        missing=absent,
        extra=aligned.extra,
        tied_documents=int(tied.sum()),
        tied_queries=int((segment_count(tied, aligned.offset) > 0).sum()),
        infinite=aligned.infinite,
        interleaved=aligned.interleaved,
        notes=(*preferences.notes, *run.notes, *wide_lines(aligned)),
    )


def _with_rule_of_trec_eval(noticed: Observations) -> Observations:
    """What was noticed, and a note where there are ties, which trec_eval orders otherwise."""
    told = "trec_eval's `prefs_*` order ties by document id, ascending (`document-ascending`)"
    return replace(noticed, notes=(*noticed.notes, told)) if noticed.tied_documents else noticed
