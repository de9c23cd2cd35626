"""The preference family: a run aligned with preferences, as the view that their measures are computed on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from judged.arrays import Flags, Ints
from judged.errors import BadInput, BadMeasure
from judged.io.read import read_preferences
from judged.kernels.preferences import (
    PreferencePairs,
    PreferenceView,
    build_pairs,
    build_preference_view,
    find_contradiction,
    order_documents,
)
from judged.kernels.scan.align import Aligned
from judged.kernels.segments import segment_count, segment_ids
from judged.measures.measure import Measure
from judged.measures.parse import parse_measures
from judged.problem import Note, Problem
from judged.progress import Progress
from judged.protocol import Protocol
from judged.scoring.align import RANKED
from judged.scoring.alignment import Alignment
from judged.scoring.counts import RunCounts, to_notes
from judged.scoring.family import Family
from judged.scoring.locate import Located, ReducedRun, locate_judged
from judged.tables.columns import to_arrow
from judged.tables.preferences import Preferences
from judged.tables.run import Run

ASCENDING = Note(
    "tie-order",
    "info",
    "trec_eval's `prefs_*` order ties by document id, ascending (`document-ascending`)",
)


def align_preferences(
    preferences: Preferences,
    run: Run | ReducedRun,
    protocol: Protocol,
    measures: Sequence[Measure] = (),
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Alignment:
    """Return the ranks of the documents that the preferences are about, under the protocol."""
    if protocol.ties == "expected":
        msg = "measures of preferences have no mean over the orders of tied results"
        raise BadMeasure(msg, hint="another rule for `ties` chooses one order")
    documents = preferences.documents
    located = locate_judged(documents, run, protocol, threads=threads, progress=progress)
    ranks = located.ranks
    present = ranks.present
    keep = present if protocol.missing == "skip" else np.ones(len(present), dtype=bool)
    rows = keep[preferences.query]
    pairs = _make_pairs(preferences, rows, protocol)
    _raise_contradictions(pairs, preferences, rows)
    _raise_partial_grades(pairs, preferences, measures)
    query = segment_ids(documents.offset)
    rank = _to_ranks(ranks, protocol.depth, len(query))
    retrieved = ranks.retrieved if protocol.depth is None else np.minimum(ranks.retrieved, protocol.depth)
    view = build_preference_view(
        pairs,
        place=order_documents(rank, query),
        rank=rank,
        retrieved=retrieved[keep],
        query_offset=_query_offset(preferences.query[rows], preferences.group[rows]),
        removed=protocol.unjudged == "removed",
        rel=float(protocol.rel),
        recall_points=protocol.recall_points,
    )
    units = preferences.queries.take(to_arrow(np.flatnonzero(keep)))
    pairwise = any(measure.needs != "judges" for measure in measures)
    reversed_ties = pairwise and protocol.ties != "document-ascending"
    counts = _count(preferences, located, keep, reversed_ties=reversed_ties)
    return Alignment(view, units, protocol, counts, present[keep])


def _make_pairs(preferences: Preferences, rows: Flags, protocol: Protocol) -> PreferencePairs:
    """Return the pairs that the groups of the kept rows prefer, levels compared at the precision of scores."""
    levels = preferences.levels[rows]
    if protocol.precision == "float32":
        levels = levels.astype(np.float32).astype(np.float64)
    group, subgroup = (_renumber(numbers[rows]) for numbers in (preferences.group, preferences.subgroup))
    return build_pairs(levels, preferences.document[rows], group, subgroup)


def _renumber(numbers: Ints) -> Ints:
    """Return ascending numbers without gaps."""
    return np.cumsum(np.diff(numbers, prepend=numbers[:1]) > 0)


def _query_offset(query: Ints, group: Ints) -> Ints:
    """Return how the groups of sorted rows are cut into queries."""
    first = np.unique(group, return_index=True)[1]
    cuts = np.flatnonzero(np.diff(query[first], prepend=-1))
    return np.append(cuts, len(first)).astype(np.int64)


def _to_ranks(ranks: Aligned, depth: int | None, documents: int) -> Ints:
    """Return the rank of every document; 0 if it was not retrieved within the depth."""
    rank = np.zeros(documents, dtype=np.int64)
    rank[ranks.row] = ranks.rank if depth is None else np.where(ranks.rank <= depth, ranks.rank, 0)
    return rank


def _raise_contradictions(pairs: PreferencePairs, preferences: Preferences, rows: Flags) -> None:
    """Raise `BadInput` for a group whose sub-groups prefer each of two documents to the other."""
    contradiction = find_contradiction(pairs)
    if contradiction is None:
        return
    first, second = (
        preferences.documents.table["document"][int(pairs.document[entry])] for entry in contradiction
    )
    number = int(np.searchsorted(pairs.offset, contradiction[0], side="right")) - 1
    row = int(np.flatnonzero(rows)[np.searchsorted(_renumber(preferences.group[rows]), number)])
    query, group = (preferences.table[name][row] for name in ("query", "group"))
    message = f"its sub-groups prefer `{first}` to `{second}` and `{second}` to `{first}`"
    fault = Problem.error("contradiction", f"group `{group}` on query `{query}`", message)
    raise BadInput(
        preferences.name, [fault], hint="views that contradict each other belong in different groups"
    )


def _raise_partial_grades(
    pairs: PreferencePairs, preferences: Preferences, measures: Sequence[Measure]
) -> None:
    """Raise `BadInput` where levels of several sub-groups would be grades: they compare only within one."""
    wanted = next((measure for measure in measures if measure.needs == "judges"), None)
    if wanted is not None and pairs.partial.any():
        fault = Problem.error(
            "several-subgroups",
            f"`{wanted}`",
            "takes levels as grades, but some groups have several sub-groups",
        )
        raise BadInput(preferences.name, [fault], hint="give each judge one grade for each document")


def _count(preferences: Preferences, located: Located, keep: Flags, *, reversed_ties: bool) -> RunCounts:
    ranks = located.ranks
    tied: Flags = np.repeat(keep, np.diff(ranks.offset)) & (ranks.tied > 1)
    tied_documents = int(tied.sum())
    notes = to_notes((*preferences.notes, *located.notes))
    return RunCounts(
        queries=int(keep.sum()),
        rows=ranks.rows,
        missing=located.missing,
        empty=int((ranks.present & (ranks.retrieved == 0)).sum()),
        judged_queries=len(located.ranks.retrieved),
        unjudged_queries=ranks.unjudged_queries,
        tied_documents=tied_documents,
        tied_queries=int((segment_count(tied, ranks.offset) > 0).sum()),
        infinite=ranks.infinite,
        interleaved=ranks.interleaved,
        input_notes=(*notes, ASCENDING) if reversed_ties and tied_documents else notes,
    )


def _read_truth(source: Any, measures: Sequence[Measure]) -> Preferences:  # noqa: ARG001 - all read the same
    return read_preferences(source)


PREFERENCE = Family(
    name="preference",
    unit="query",
    protocol=Protocol,
    view=PreferenceView,
    align=align_preferences,
    default_measures=("prefs_simp", "prefs_pair"),
    parse=parse_measures,
    read_truth=_read_truth,
    read_system=RANKED.read_system,
    read_systems=RANKED.read_systems,
    of_runs=True,
    documents=lambda preferences: preferences.documents,
    threaded=True,
    empty=0.0,
)
"""Runs of ranked documents, scored against preferences between documents, or grades of several judges."""
