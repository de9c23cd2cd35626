"""The first results of every query, with their grades and what each adds to a measure, for a whole run at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from judged.arrays import Floats, Ints
from judged.explanation.ranked_list import CELLS, cut_lists
from judged.kernels.scan.align import RULES
from judged.kernels.scan.order import sort_results
from judged.kernels.scan.strings import Strings
from judged.kernels.segments import segment_ids
from judged.measures.measure import Measure
from judged.protocol import Protocol
from judged.scoring.align import RankedAlignment
from judged.scoring.locate import apply_run_conventions
from judged.tables.columns import to_arrow, to_bytes, to_numpy
from judged.tables.judgments import Judgments
from judged.tables.run import Columns, Run


@dataclass(frozen=True, eq=False)
class RankedLists:
    """The first results of every query in one run, best first under the protocol, as flat arrays cut by offsets."""

    queries: tuple[str, ...]
    offset: Ints
    """Query `q` owns the results `offset[q]` to `offset[q + 1]`."""
    documents: tuple[str, ...]
    grade: Floats
    """NaN if the document is unjudged."""
    retrieved: Ints
    """The number of results of each query, with those that are not here."""

    def results(self, query: int) -> list[tuple[str, float | None]]:
        """Return the documents of one query with their grades, None for an unjudged one."""
        own = slice(int(self.offset[query]), int(self.offset[query + 1]))
        grades = [None if grade != grade else grade for grade in self.grade[own].tolist()]  # noqa: PLR0124 - NaN
        return list(zip(self.documents[own], grades, strict=True))


def list_results(
    judgments: Judgments, run: Run, protocol: Protocol, *, queries: Sequence[str], depth: int = 10
) -> RankedLists:
    """Return the first `depth` results of the queries, in the order of the protocol.

    Ranks are those that measures see: its tie rule, precision, depth and treatment of unjudged documents apply. Where
    ties are averaged over all orders, one order is shown.

    >>> from judged.io.read import read_judgments, read_run
    >>> qrels, run = read_judgments({"q": {"a": 1}}), read_run({"q": {"a": 1.0, "b": 2.0, "c": 1.0}})
    >>> list_results(qrels, run, Protocol(), queries=["q"], depth=2).results(0)
    [('b', None), ('c', None)]
    """
    source = apply_run_conventions(run, protocol).as_columns().source
    assert isinstance(source, Columns)  # noqa: S101 - `as_columns` returns nothing else
    wanted = pa.array(queries, pa.large_string())
    query = to_numpy(pc.fill_null(pc.index_in(source.query, wanted), -1)).astype(np.int64)
    score = source.score
    if protocol.precision == "float32" and protocol.order == "score":
        score = score.astype(np.float32).astype(np.float64)
    grade = _find_grades(judgments, wanted, query, source.document)
    if protocol.negative == "nonrelevant":
        grade = np.maximum(grade, 0.0)
    ranked = np.ones(len(query), dtype=bool)
    if protocol.unjudged == "removed":
        ranked = grade >= 0
    limit = depth if protocol.depth is None else min(depth, protocol.depth)
    retrieved = np.bincount(query[(query >= 0) & ranked], minlength=len(wanted))
    if protocol.depth is not None:
        retrieved = np.minimum(retrieved, protocol.depth)
    rows = np.flatnonzero((query >= 0) & ranked)
    names = Strings.from_offsets(*to_bytes(source.document))[rows]
    # the rule `expected` has no order, so that the first one is shown
    rule = RULES.index(protocol.ties) if protocol.ties in RULES else 0
    order = rows[sort_results(query[rows], score[rows], names, rule)]
    order = order[_count_from_first(query[order]) < limit]
    counts = np.bincount(query[order], minlength=len(wanted))
    offset = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    documents = tuple(source.document.take(to_arrow(order)).to_pylist())
    return RankedLists(tuple(queries), offset, documents, grade[order], retrieved)


def _find_grades(judgments: Judgments, wanted: pa.Array, query: Ints, document: pa.Array) -> Floats:
    """Return the grade of every row; NaN if the document is unjudged."""
    names = judgments.column("document")
    known = to_numpy(pc.fill_null(pc.index_in(judgments.queries, wanted), -1)).astype(np.int64)
    owner = known[segment_ids(judgments.offset)]
    every = pc.unique(names)
    number = to_numpy(pc.fill_null(pc.index_in(document.cast(every.type), every), -1)).astype(np.int64)
    width = len(every) + 1
    judged = owner * width + to_numpy(pc.index_in(names, every)).astype(np.int64)
    order = np.argsort(judged, kind="stable")
    key = query * width + number
    at = np.searchsorted(judged[order], key)
    at = np.minimum(at, max(len(judged) - 1, 0))
    if not len(judged):
        return np.full(len(key), np.nan)
    match = (judged[order][at] == key) & (query >= 0) & (number >= 0)
    grades: Floats = np.where(match, judgments.grades[order][at], np.nan)
    return grades


def _count_from_first(group: Ints) -> Ints:
    """Return the place of every element among those of its group; groups are contiguous."""
    if not len(group):
        return np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    length = np.diff(np.append(starts, len(group)))
    return np.arange(len(group)) - np.repeat(starts, length)


def first_contributions(
    alignment: RankedAlignment, measures: Sequence[Measure], *, depth: int = 10
) -> Mapping[str, Floats]:
    """Return what each of the first `depth` ranks adds to each measure: a row for each query, a column for each rank.

    A rank adds the value of the list cut below it minus that of the list cut above it, as in `judged.explain`.
    Measures with text values have none.
    """
    view = alignment.view
    found: dict[str, list[Floats]] = {str(measure): [] for measure in measures if not measure.text}
    held = np.maximum(np.diff(view.offset), 1) + np.diff(view.best_offset)
    batch = np.cumsum(held * (depth + 1)) // CELLS
    for first in np.flatnonzero(np.diff(batch, prepend=-1)).tolist():
        last = int(np.searchsorted(batch, batch[first], side="right"))
        queries, cut = np.arange(first, last), np.arange(depth + 1)
        cuts = cut_lists(view, np.repeat(queries, depth + 1), np.tile(cut, len(queries)))
        for measure in measures:
            if not measure.text:
                values = measure.per_query(cuts).astype(np.float64).reshape(last - first, depth + 1)
                found[str(measure)].append(np.diff(values, axis=1))
    return {name: np.concatenate(parts) if parts else np.zeros((0, depth)) for name, parts in found.items()}
