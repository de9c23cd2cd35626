"""One query's view, and the same cut after each of its results: what a rank adds is what its cut changes."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from judged.kernels.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["CELLS", "cut_values", "one_query", "prefixes", "with_every_result"]

CELLS = 1_000_000
"""How many judged documents the cuts computed at once may hold, so that long lists need no more memory."""
_ROWS = ("rank", "grade", "target", "document", "above", "tied")
"""Fields of a view with an element for each retrieved judged document, as far as views have them."""


def one_query(view: Ranking, number: int) -> Ranking:
    """The view of one of the queries alone."""
    own = slice(int(view.offset[number]), int(view.offset[number + 1]))
    best = slice(int(view.best_offset[number]), int(view.best_offset[number + 1]))
    return replace(
        view,
        **_by_row(view, own),
        offset=np.array([0, own.stop - own.start]),
        retrieved=view.retrieved[number : number + 1],
        best=view.best[best],
        best_target=view.best_target[best],
        best_offset=np.array([0, best.stop - best.start]),
        _cache={},
    )


def _by_row(view: Ranking, taken: Any) -> dict[str, Any]:
    """Some of the rows of every array that has one for each retrieved judged document."""
    known = ((each.name, getattr(view, each.name)) for each in fields(view))
    rows = {name: value for name, value in known if name in _ROWS and value is not None}
    return {name: value[taken] for name, value in rows.items() if len(value) == len(view.rank)}


def prefixes(view: Ranking, first: int, last: int) -> Ranking:
    """The list of a single query cut after `first`, …, `last` results, each cut as a query of its own.

    Judgments stay whole, so that what lies below a cut is missed, not forgotten.

    >>> from judged.kernels.ranking import rank
    >>> prefixes(rank([1, None, 2]), 0, 3).retrieved, prefixes(rank([1, None, 2]), 0, 3).offset
    (array([0, 1, 2, 3]), array([0, 0, 1, 2, 4]))
    """
    cut = np.arange(first, last + 1)
    held = np.searchsorted(view.rank, cut, side="right")
    offset = np.concatenate(([0], np.cumsum(held)))
    taken = np.arange(offset[-1]) - np.repeat(offset[:-1], held)
    copy, every = np.arange(len(cut)), len(view.best)
    lowest, highest = (each(view.best_target, initial=0) for each in (np.min, np.max))
    apart = int(highest - lowest) + 1  # the number of a target belongs to one query only
    return replace(
        view,
        **{**_by_row(view, taken), "target": view.target[taken] + np.repeat(copy * apart, held)},
        offset=offset,
        retrieved=np.minimum(cut, view.retrieved[0]),
        best=np.tile(view.best, len(cut)),
        best_offset=np.arange(len(cut) + 1) * every,
        best_target=np.tile(view.best_target, len(cut)) + np.repeat(copy * apart, every),
        _cache={},
    )


def cut_values(measure: Measure, view: Ranking, number: int = 0) -> Floats:
    """The value of one query's list cut after 0, 1, …, all results; the last is its value.

    >>> from judged.kernels.ranking import rank
    >>> from judged.measures.ranked.ap import AP
    >>> cut_values(AP, rank([1, 0, 1]))
    array([0.        , 0.5       , 0.5       , 0.83333333])
    """
    whole = int(view.retrieved[number])
    if getattr(view, "intents", None) is not None:  # what is known of intents cannot be repeated, cut by cut
        cuts = [measure.per_query(_cut(view, number, depth))[number] for depth in range(whole + 1)]
        return np.array(cuts, dtype=np.float64)
    own = one_query(view, number)
    each = max(CELLS // (len(own.rank) + len(own.best) + 1), 1)
    parts = [
        measure.per_query(prefixes(own, first, min(first + each - 1, whole)))
        for first in range(0, whole + 1, each)
    ]
    return np.concatenate(parts).astype(np.float64)


def _cut(view: Ranking, number: int, depth: int) -> Ranking:
    """The view of all queries with the list of one of them cut."""
    kept = np.flatnonzero((view.query != number) | (view.rank <= depth))
    retrieved = view.retrieved.copy()
    retrieved[number] = min(depth, int(retrieved[number]))
    offset = np.searchsorted(view.query[kept], np.arange(len(view) + 1))
    return replace(view, **_by_row(view, kept), retrieved=retrieved, offset=offset, _cache={})


def with_every_result(view: Ranking, grades: tuple[float | None, ...]) -> Ranking:
    """The view of a single query with a row for each result; one that nobody judged has the grade −1.

    That is how a pooled document looks that was not assessed; workings may be computed on it, scores may not.
    """
    count = len(grades)
    every = np.arange(count)
    return replace(
        view,
        rank=every + 1,
        grade=np.array([-1.0 if grade is None else grade for grade in grades]),
        target=every,
        offset=np.array([0, count]),
        _cache={},
    )
