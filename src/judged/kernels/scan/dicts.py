"""The scanner of `align` for dicts in NumPy: one query at a time, sorting its scores but not its names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from judged.kernels.scan.scanner import AS_GIVEN, DESCENDING, as_compared
from judged.kernels.segments import Floats, Ints

__all__ = ["scan_mapping", "scan_query"]


def scan_mapping(
    queries: list[str],
    documents: list[str],
    row_offset: Ints,
    run: Mapping[Any, Mapping[Any, Any]],
    *,
    rule: int,
    single: bool,
) -> tuple[Ints, Ints, Ints, int, int, list[int]]:
    """What each query retrieved, where its judged documents stand, and how many scores are strange.

    Returns, for each query, how many documents it retrieved and how many of them are judged; row, rank, documents
    above and documents tied of each; infinite scores; scores that are NaN; queries left to `scan_query`, here none.
    """
    count, hits = np.zeros(len(queries), dtype=np.int64), np.zeros(len(queries), dtype=np.int64)
    parts, infinite, nan = [np.zeros((0, 4), dtype=np.int64)], 0, 0
    for q, (first, last) in enumerate(pairwise(row_offset.tolist())):
        every, places = scan_query(run.get(queries[q]) or {}, documents[first:last], rule=rule, single=single)
        count[q], hits[q] = len(every), len(places)
        infinite, nan = infinite + int(np.isinf(every).sum()), nan + int(np.isnan(every).sum())
        parts.append(places + np.array([first, 0, 0, 0]))
    return count, hits, np.concatenate(parts), infinite, nan, []


def scan_query(
    scores: Mapping[Any, Any], judged: Sequence[str], *, rule: int, single: bool
) -> tuple[Floats, Ints]:
    """The scores as they are compared; and number, rank, documents above and tied of each judged document found."""
    _refuse_strange(scores)
    every = as_compared(np.fromiter(scores.values(), np.float64, len(scores)), single=single)
    found = [i for i, document in enumerate(judged) if document in scores]
    mine = as_compared(np.array([scores[judged[i]] for i in found], dtype=np.float64), single=single)
    ordered = np.sort(every)
    high = np.searchsorted(ordered, mine, "right")
    above, tied = len(every) - high, high - np.searchsorted(ordered, mine, "left")
    before = _order_of_equals(scores, every, set(mine[tied > 1].tolist()), rule)
    rank = above + 1 + np.array([before.get(judged[i], 0) for i in found], dtype=np.int64)
    places = np.column_stack((np.array(found, dtype=np.int64), rank, above, tied)).reshape(-1, 4)
    return every, places[np.argsort(rank, kind="stable")]


def _refuse_strange(scores: Mapping[Any, Any]) -> None:
    """Raise where an id is no text or a score is text, which NumPy would quietly read."""
    if not all(issubclass(kind, str) for kind in set(map(type, scores))):
        msg = "a document id is no text"
        raise TypeError(msg)
    if any(issubclass(kind, (str, bytes)) for kind in set(map(type, scores.values()))):
        msg = "a score is no number"
        raise TypeError(msg)


def _order_of_equals(
    scores: Mapping[Any, Any], every: Floats, wanted: set[float], rule: int
) -> dict[Any, int]:
    """For each document whose score is among those wanted, how many of that score stand before it."""
    groups: dict[float, list[Any]] = {score: [] for score in wanted}
    if wanted:
        for document, score in zip(scores, every.tolist(), strict=True):
            if score in groups:
                groups[score].append(document)
    if rule != AS_GIVEN:
        groups = {score: sorted(group, reverse=rule == DESCENDING) for score, group in groups.items()}
    return {document: i for group in groups.values() for i, document in enumerate(group)}
