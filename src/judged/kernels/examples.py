"""Build small views by hand, for examples and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from judged.arrays import Floats, Ints
from judged.kernels.preferences import PreferenceView, build_pairs, build_preference_view, order_documents
from judged.kernels.ranked.ranking import Intents, Ranking

GroupLevels: TypeAlias = Mapping[str, float] | Sequence[Mapping[str, float]]
"""The levels that a group gives to documents: one mapping, or one for each of its sub-groups."""


def make_ranking(
    *grades: Sequence[float | None],
    missed: Sequence[Sequence[float]] | None = None,
    targets: Sequence[Sequence[int]] | None = None,
    intents: Sequence[Sequence[Iterable[int]]] | None = None,
    rel: float = 1.0,
) -> Ranking:
    """Return the view of one or more ranked lists, given as grades from the top down.

    Args:
        grades: For every list, the grades of its results; `None` is an unjudged document.
        missed: For every list, the grades of judged documents that were not retrieved.
        targets: For every list, the targets of its judged documents, retrieved ones first.
        intents: For every list, in the same order, the intents that a document is graded for, or a mapping from
            intents to grades. By default a document's intent is its target.
        rel: The relevance threshold.

    >>> make_ranking([3, None, 1]).rank
    array([1, 3])
    """
    missing = [()] * len(grades) if missed is None else missed
    ranks = [[rank for rank, grade in enumerate(row, 1) if grade is not None] for row in grades]
    found = [[float(grade) for grade in row if grade is not None] for row in grades]
    judged = [row + [float(grade) for grade in lost] for row, lost in zip(found, missing, strict=True)]
    offset, best_offset = _offsets(ranks), _offsets(judged)
    if targets is None:
        names = [
            list(range(int(first), int(first) + len(row)))
            for first, row in zip(best_offset, judged, strict=False)
        ]
    else:
        names = [[query * 1_000_000 + target for target in row] for query, row in enumerate(targets)]
    order = [np.argsort(-np.array(row), kind="stable").tolist() for row in judged]
    documents = [
        range(int(first), int(first) + len(row)) for first, row in zip(best_offset, found, strict=False)
    ]
    return Ranking(
        rank=_flat(ranks).astype(np.int64),
        grade=_flat(found),
        offset=offset,
        retrieved=np.array([len(row) for row in grades], dtype=np.int64),
        best=_flat([[row[i] for i in places] for row, places in zip(judged, order, strict=True)]),
        best_offset=best_offset,
        target=_flat([row[: len(own)] for row, own in zip(names, found, strict=True)]).astype(np.int64),
        best_target=_flat(
            [[row[i] for i in places] for row, places in zip(names, order, strict=True)]
        ).astype(np.int64),
        document=_flat(documents).astype(np.int64),
        intents=make_intents(
            judged, [[[name] for name in row] for row in names] if intents is None else intents
        ),
        rel=rel,
        highest=max((grade for row in judged for grade in row), default=1.0),
    )


def make_intents(grades: Sequence[Sequence[float]], intents: Sequence[Sequence[Iterable[int]]]) -> Intents:
    """Return judgments by intent, from the grades of every query's documents and the intents of every document.

    Intents are numbers, or a mapping from numbers to the grades that the document has for them.

    >>> make_intents([[1, 2]], [[{7}, {7: 2, 8: 1}]]).grade
    array([1., 2., 1.])
    """
    queries = [
        [_grades_by_intent(named, grade) for grade, named in zip(row, names, strict=True)]
        for row, names in zip(grades, intents, strict=True)
    ]
    names = [sorted({name for document in query for name in document}) for query in queries]
    query_offset = _offsets(names)
    number = [
        {name: int(first) + place for place, name in enumerate(row)}
        for first, row in zip(query_offset, names, strict=False)
    ]
    rows = [
        (number[at][name], grade)
        for at, query in enumerate(queries)
        for document in query
        for name, grade in document.items()
    ]
    return Intents(
        offset=_offsets([document for query in queries for document in query]),
        intent=np.array([intent for intent, _ in rows], dtype=np.int64),
        grade=np.array([grade for _, grade in rows], dtype=np.float64),
        query_offset=query_offset,
        weight=np.ones(int(query_offset[-1])),
    )


def make_preferences(*queries: tuple[Sequence[str], Mapping[str, GroupLevels]]) -> PreferenceView:
    """Return the view of queries, each given as its ranked documents and the levels that groups give to documents.

    A group is a mapping from document to level, or a list of such mappings, its sub-groups.

    >>> make_preferences((["b", "a"], {"ann": {"a": 2, "b": 1}})).fulfilled
    array([False])
    """
    rows: list[tuple[float, int, int, int]] = []
    ranks: list[int] = []
    owners: list[int] = []
    groups = subgroups = 0
    for query, (ranked, judgments) in enumerate(queries):
        split = [_subgroups(judgments[name]) for name in sorted(judgments)]
        names = sorted({document for group in split for part in group for document in part})
        number = {document: len(ranks) + at for at, document in enumerate(names)}
        ranks += [ranked.index(document) + 1 if document in ranked else 0 for document in names]
        owners += [query] * len(names)
        for group in split:
            for part in group:
                rows += [(level, number[document], groups, subgroups) for document, level in part.items()]
                subgroups += 1
            groups += 1
    level, *ids = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    document, group_number, subgroup_number = (column.astype(np.int64) for column in ids)
    rank = np.array(ranks, dtype=np.int64)
    return build_preference_view(
        build_pairs(level, document, group_number, subgroup_number),
        place=order_documents(rank, np.array(owners, dtype=np.int64)),
        rank=rank,
        retrieved=np.array([len(ranked) for ranked, _ in queries], dtype=np.int64),
        query_offset=_offsets([list(judgments) for _, judgments in queries]),
    )


def _grades_by_intent(intents: Iterable[int], grade: float) -> dict[int, float]:
    graded = dict(intents) if isinstance(intents, Mapping) else dict.fromkeys(intents, grade)
    return dict(sorted(graded.items()))


def _subgroups(levels: GroupLevels) -> Sequence[Mapping[str, float]]:
    return [levels] if isinstance(levels, Mapping) else levels


def _flat(rows: Sequence[Sequence[float]]) -> Floats:
    return np.array([value for row in rows for value in row], dtype=np.float64)


def _offsets(rows: Sequence[Sequence[object] | Mapping[int, float]]) -> Ints:
    return np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
