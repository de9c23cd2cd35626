"""Build small views by hand, for examples and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from judged.arrays import Floats, Ints
from judged.kernels.preferences import PreferenceView, build_pairs, build_preference_view, order_documents
from judged.kernels.ranked.ranking import Intents, Ranking
from judged.kernels.sessions import GAINS, UNLABELLED, Reference, SessionView

__all__ = ["make_intents", "make_preferences", "make_ranking", "make_sessions"]

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


def make_sessions(
    *sessions: Sequence[str],
    tokens: Sequence[Sequence[float]] | None = None,
    seconds: Sequence[Sequence[float]] | None = None,
    reference: Sequence[str] | None = None,
) -> SessionView:
    """Return the view of sessions that are lists of iterations, written as `"a3 b? | a3 c0"`.

    A result is a name followed by its gain, or by `?` if it is unlabelled. A repeated name is a duplicate, and the
    first gain given for a name holds. A bar separates the searches of an iteration. `tokens` and `seconds` are the
    costs of the iterations of every session, and `reference` is what every session could have found.

    >>> make_sessions(["a3 b1 | a3", "b1 c2"]).grades.tolist()
    [[0, 0, 1, 0, 1, 0], [0, 0, 0, 1, 0, 0]]
    """
    parsed = [[_parse_results(iteration) for iteration in session] for session in sessions]
    names = [[name for iteration in session for name, _ in iteration] for session in parsed]
    labels = [_first_labels(result for iteration in session for result in iteration) for session in parsed]
    view = SessionView.from_results(
        _ints(len(session) for session in parsed),
        _ints(len(iteration) for session in parsed for iteration in session),
        np.array([name not in row[:i] for row in names for i, name in enumerate(row)], dtype=bool),
        _ints(label[name] for row, label in zip(names, labels, strict=True) for name in row).astype(np.int8),
        searches=_ints(iteration.count("|") + 1 for session in sessions for iteration in session),
        tokens=None if tokens is None else _flat(tokens),
        seconds=None if seconds is None else _flat(seconds),
    )
    return view if reference is None else replace(view, reference=_reference(labels, reference))


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


def _parse_results(iteration: str) -> list[tuple[str, int]]:
    """Return the names and gains of an iteration, from all its searches."""
    texts = iteration.replace("|", " ").split()
    return [(text[:-1], UNLABELLED if text[-1] == "?" else int(text[-1])) for text in texts]


def _first_labels(results: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the first gain given for every name, in the order in which names first occur."""
    labels: dict[str, int] = {}
    for name, gain in results:
        if labels.get(name, UNLABELLED) == UNLABELLED:
            labels[name] = gain
    return labels


def _reference(found: Sequence[dict[str, int]], texts: Sequence[str]) -> Reference:
    """Return the reference, seen from the results that every session found."""
    known = [dict(_parse_results(text)) for text in texts]
    gains = [gain.get(name, UNLABELLED) for names, gain in zip(found, known, strict=True) for name in names]
    counts = [[sum(gain >= least for gain in gains.values()) for least in GAINS] for gains in known]
    return Reference(np.array(gains, dtype=np.int8), np.array(counts, dtype=np.int64).reshape(-1, len(GAINS)))


def _subgroups(levels: GroupLevels) -> Sequence[Mapping[str, float]]:
    return [levels] if isinstance(levels, Mapping) else levels


def _flat(rows: Sequence[Sequence[float]]) -> Floats:
    return np.array([value for row in rows for value in row], dtype=np.float64)


def _ints(values: Iterable[int]) -> Ints:
    return np.array(list(values), dtype=np.int64)


def _offsets(rows: Sequence[Sequence[object] | Mapping[int, float]]) -> Ints:
    return np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
