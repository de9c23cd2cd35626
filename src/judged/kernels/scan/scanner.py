"""The NumPy scanner of `align`: rows in, ranks of judged documents out.

It is the readable counterpart of the compiled `_scan` and `_dicts`, with the same contract: a stretch of rows is cut
into *blocks*, consecutive rows of one query, and a `Part` holds the number of rows of every block and the ranks of
the judged documents of its query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Bytes, Flags, Floats, Ints
from judged.kernels.scan.order import AS_GIVEN, DESCENDING, make_tie_keys
from judged.kernels.scan.strings import Keys, Strings, find_repeats
from judged.kernels.scan.text import parse_numbers, split_lines

KINDS = ("few-columns", "not-a-number", "score-nan", "repeated-document")
"""Codes of the problems of a row, in the order of `Part.counts`."""
FEW_COLUMNS, NOT_NUMBER, NAN, REPEATED = range(4)
KEPT = 1000
"""The number of problems of a kind that one scan records; all are counted."""


def _empty() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Part:
    """The outcome of one scan: blocks in order, and the hits of every block one after another, by rank."""

    query: Ints = field(default_factory=_empty)
    """The query of every block, or -1 if it is unjudged."""
    begin: Ints = field(default_factory=_empty)
    end: Ints = field(default_factory=_empty)
    """Its start and end, in bytes or rows."""
    count: Ints = field(default_factory=_empty)
    """The number of its documents."""
    hits: Ints = field(default_factory=_empty)
    """The number of its judged documents."""
    row: Ints = field(default_factory=_empty)
    rank: Ints = field(default_factory=_empty)
    above: Ints = field(default_factory=_empty)
    tied: Ints = field(default_factory=_empty)
    """Judgment row, rank, documents of higher score and documents of equal score of every hit."""
    faults: Ints = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    """Kind, place, detail: columns found, length of the token, or the place of the first occurrence."""
    counts: Ints = field(default_factory=lambda: np.zeros(len(KINDS), dtype=np.int64))
    infinite: int = 0
    wide: int = 0
    """Lines with more columns than needed."""


class Index:
    """The judged documents, for lookup by hash."""

    def __init__(
        self,
        query_bytes: Bytes,
        query_offset: Ints,
        document_bytes: Bytes,
        document_offset: Ints,
        row_offset: Ints,
    ) -> None:
        names = Strings.from_offsets(query_bytes, query_offset).tolist()
        self.queries = {name: i for i, name in enumerate(names)}
        self.documents = Strings.from_offsets(document_bytes, document_offset)
        query = np.repeat(np.arange(len(names)), np.diff(row_offset))
        keys = _hash_keys(self.documents, query)
        self.order = np.argsort(keys, kind="stable")
        self.keys = Keys(keys[self.order])
        self.longest = int(
            np.diff(np.flatnonzero(np.r_[True, _differs(self.keys.ordered), True])).max(initial=1)
        )

    def find(self, query: Ints, documents: Strings) -> tuple[Ints, Ints]:
        """Return which documents are judged for their query, and their judgment rows."""
        keys = _hash_keys(documents, query)
        maybe, first = self.keys.find(keys)
        maybe, first = maybe[query[maybe] >= 0], first[query[maybe] >= 0]
        hit, row = [], []
        for step in range(self.longest):  # once, unless hashes of different judged documents collide
            at = np.minimum(first + step, len(self.order) - 1)
            there = self.order[at]
            right = (self.keys.ordered[at] == keys[maybe]) & documents[maybe].equals(self.documents[there])
            hit.append(maybe[right])
            row.append(there[right])
        return np.concatenate(hit), np.concatenate(row)


index_from = Index
"""The compiled scanner has its own kind of index; both are made in this way."""


def scan_text(index: Index, text: Bytes, ranges: Ints, *, query: int | None, rule: int, single: bool) -> Part:
    """Scan the lines in the given byte ranges: block by block, or all as one block of `query`."""
    stretch = _Stretch(text, ranges)
    lines = split_lines(stretch.data, 6)
    head, document, token = lines.columns[0], lines.columns[2], lines.columns[4]
    score, good = parse_numbers(token)
    nan = good & np.isnan(score)
    faults = [
        _make_faults(FEW_COLUMNS, stretch.place(lines.begins[lines.short]), lines.counts[lines.short]),
        _make_faults(NOT_NUMBER, stretch.place(token.start[~good]), token.length[~good]),
        _make_faults(NAN, stretch.place(token.start[nan]), token.length[nan]),
    ]
    rows = _Rows(
        head,
        document,
        score,
        good & ~nan,
        stretch.place(lines.begins[lines.row]),
        stretch.place(document.start),
    )
    return _scan_rows(index, rows, faults, ranges, lines.wide, query=query, rule=rule, single=single)


def scan_columns(
    index: Index,
    query_bytes: Bytes,
    query_offset: Ints,
    document_bytes: Bytes,
    document_offset: Ints,
    scores: Floats,
    ranges: Ints,
    *,
    query: int | None,
    rule: int,
    single: bool,
) -> Part:
    """Scan the given row ranges of three columns: block by block, or all as one block of `query`."""
    which = np.concatenate([np.arange(begin, end) for begin, end in ranges.tolist()])
    document = Strings.from_offsets(document_bytes, document_offset)[which]
    head = Strings.from_offsets(query_bytes, query_offset)[which]
    score = scores[which]
    nan = np.isnan(score)
    faults = [_make_faults(NAN, document.start[nan], np.zeros(int(nan.sum()), dtype=np.int64))]
    rows = _Rows(head, document, score, ~nan, which, document.start)
    return _scan_rows(index, rows, faults, ranges, 0, query=query, rule=rule, single=single)


class _Stretch:
    """Several ranges of a text end to end, and the mapping back to places in the text."""

    def __init__(self, text: Bytes, ranges: Ints) -> None:
        parts = [text[begin:end] for begin, end in ranges.tolist()]
        self.data = parts[0] if len(parts) == 1 else np.concatenate(parts)
        self._local = np.concatenate(([0], np.cumsum(ranges[:, 1] - ranges[:, 0])))[:-1]
        self._shift = ranges[:, 0] - self._local

    def place(self, local: Ints) -> Ints:
        """Return where bytes of the stretch are in the text."""
        return local + self._shift[np.searchsorted(self._local, local, "right") - 1]


def round_scores(scores: Floats, *, single: bool) -> Floats:
    """Return scores at the precision at which they are compared; beyond float32's range they become infinite."""
    if not single:
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows in input order: ids, scores, which are valid, and where they are."""

    query: Strings
    document: Strings
    score: Floats
    sound: Flags
    begin: Ints
    place: Ints


def _scan_rows(
    index: Index,
    rows: _Rows,
    faults: list[Ints],
    ranges: Ints,
    wide: int,
    *,
    query: int | None,
    rule: int,
    single: bool,
) -> Part:
    """Cut rows into blocks and rank the judged documents of every block."""
    starts, owners = _find_blocks(index, rows, query)
    ends = np.append(starts, len(rows.score))[1:]
    sound = rows.sound
    score = round_scores(rows.score[sound], single=single)
    block = np.repeat(np.arange(len(starts)), ends - starts)[sound]
    document, place = rows.document[np.flatnonzero(sound)], rows.place[sound]
    offset = np.searchsorted(block, np.arange(len(starts) + 1))
    scored = np.flatnonzero(owners[block] >= 0)
    keys = _hash_keys(document, block)[scored]
    again, first = (scored[at] for at in find_repeats(keys, block[scored], document[scored]))
    faults.append(_make_faults(REPEATED, place[again], place[first]))
    fresh = np.ones(len(block), dtype=bool)
    fresh[again] = False
    hit, row = index.find(owners[block], document)
    row, hit = row[fresh[hit]], hit[fresh[hit]]
    rank, above, tied = _rank_hits(score, document, block, offset, hit, rule)
    order = np.lexsort((rank, block[hit]))
    kept = np.concatenate([rows[:KEPT] for rows in faults])
    return Part(
        query=owners,
        begin=rows.begin[starts],
        end=np.append(rows.begin[starts], ranges[-1, 1])[1:],
        count=np.diff(offset),
        hits=np.bincount(block[hit], minlength=len(starts)).astype(np.int64),
        row=row[order],
        rank=rank[order],
        above=above[order],
        tied=tied[order],
        faults=kept,
        counts=_count_kinds(faults),
        infinite=int(np.isinf(score).sum()),
        wide=wide,
    )


def _find_blocks(index: Index, rows: _Rows, query: int | None) -> tuple[Ints, Ints]:
    """Return where blocks start, and the query of every block."""
    if len(rows.score) == 0:
        return _empty(), _empty()
    if query is not None:
        return np.zeros(1, dtype=np.int64), np.array([query])
    changed = ~rows.query[1:].equals(rows.query[:-1])
    starts = np.concatenate(([0], np.flatnonzero(changed) + 1))
    heads = [rows.query.at(i) for i in starts.tolist()]
    return starts, np.array([index.queries.get(head, -1) for head in heads], dtype=np.int64)


def _rank_hits(
    score: Floats, document: Strings, block: Ints, offset: Ints, hit: Ints, rule: int
) -> tuple[Ints, Ints, Ints]:
    """Return rank, documents above and documents tied of every hit; rank is position where scores fall strictly."""
    above = (np.arange(len(score)) - offset[:-1][block])[hit]
    tied, before = np.ones(len(hit), dtype=np.int64), np.zeros(len(hit), dtype=np.int64)
    mixed = np.zeros(len(offset) - 1, dtype=bool)  # blocks in which some score does not fall
    mixed[block[1:][(score[1:] >= score[:-1]) & ~_differs(block)]] = True
    some = np.flatnonzero(mixed[block[hit]])
    if len(some):
        rows = np.flatnonzero(mixed[block])
        group, higher, size = _group_ties(score[rows], block[rows])
        at = np.searchsorted(rows, hit[some])
        above[some], tied[some] = higher[at], size[at]
        before[some] = _count_before(document[rows], group, at, size, rule)
    return above + before + 1, above, tied


def _group_ties(score: Floats, block: Ints) -> tuple[Ints, Ints, Ints]:
    """Return for every row its group of equal scores, the documents of higher score, and the size of the group."""
    order = np.lexsort((-score, block))
    fresh = np.concatenate(([True], _differs(score[order]) | _differs(block[order])))
    group = np.cumsum(fresh) - 1
    place = np.arange(len(order)) - np.searchsorted(block[order], block[order])
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return group[back], place[fresh][group][back], np.bincount(group)[group][back]


def _count_before(document: Strings, group: Ints, at: Ints, size: Ints, rule: int) -> Ints:
    """Count for every row at `at` the rows of its group before it; other groups are skipped."""
    wanted = np.flatnonzero(np.isin(group, group[at][size[at] > 1]))
    before = np.zeros(len(group), dtype=np.int64)
    before[wanted] = _order_ties(document[wanted], group[wanted], rule)
    return before[at]


def _differs(values: NDArray[np.number]) -> Flags:
    """Flag the elements that differ from the one before, from the second on."""
    changed: Flags = values[1:] != values[:-1]
    return changed


def _order_ties(document: Strings, group: Ints, rule: int) -> Ints:
    """Count for every document the documents of its group before it under the tie rule."""
    order = np.lexsort((*make_tie_keys(document, rule), group))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - np.searchsorted(group[order], group[order])
    return place


def _hash_keys(documents: Strings, group: Ints) -> NDArray[np.uint64]:
    """Return a hash for every document of a group."""
    with np.errstate(over="ignore"):
        return documents.hashes ^ ((group.astype(np.uint64) + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F))


def _make_faults(kind: int, place: Ints, detail: Ints) -> Ints:
    return np.stack((np.full(len(place), kind, dtype=np.int64), place, detail), axis=1)


def _count_kinds(faults: list[Ints]) -> Ints:
    return np.bincount(np.concatenate(faults)[:, 0], minlength=len(KINDS)).astype(np.int64)


def scan_mapping(
    queries: list[str],
    documents: list[str],
    row_offset: Ints,
    run: Mapping[str, Mapping[str, float]],
    *,
    rule: int,
    single: bool,
) -> tuple[Ints, Ints, Ints, int, int, list[int]]:
    """Return how many documents every query retrieved, the ranks of its judged documents, and invalid scores.

    Returns, for every query, the number of documents and of judged documents; then row, rank, documents above and
    documents tied of all of these; infinite scores; NaN scores; and the queries left to `scan_query`, here none.
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
    scores: Mapping[str, float], judged: Sequence[str], *, rule: int, single: bool
) -> tuple[Floats, Ints]:
    """Return the scores as compared; and number, rank, documents above and tied of every judged document found."""
    _check_types(scores)
    every = round_scores(np.fromiter(scores.values(), np.float64, len(scores)), single=single)
    hits = [i for i, document in enumerate(judged) if document in scores]
    mine = round_scores(np.array([scores[judged[i]] for i in hits], dtype=np.float64), single=single)
    ordered = np.sort(every)
    high = np.searchsorted(ordered, mine, "right")
    above, tied = len(every) - high, high - np.searchsorted(ordered, mine, "left")
    before = _order_in_groups(scores, every, set(mine[tied > 1].tolist()), rule)
    rank = above + 1 + np.array([before.get(judged[i], 0) for i in hits], dtype=np.int64)
    places = np.column_stack((np.array(hits, dtype=np.int64), rank, above, tied)).reshape(-1, 4)
    return every, places[np.argsort(rank, kind="stable")]


def _check_types(scores: Mapping[str, float]) -> None:
    """Raise `TypeError` if an id is not text, or a score is text or None, which NumPy would convert."""
    if not all(issubclass(kind, str) for kind in set(map(type, scores))):
        msg = "a document id is not text"
        raise TypeError(msg)
    if any(issubclass(kind, (str, bytes, type(None))) for kind in set(map(type, scores.values()))):
        msg = "a score is not a number"
        raise TypeError(msg)


def _order_in_groups(
    scores: Mapping[str, float], every: Floats, wanted: set[float], rule: int
) -> dict[str, int]:
    """Count for every document with one of the wanted scores the documents of that score before it."""
    groups: dict[float, list[str]] = {score: [] for score in wanted}
    if wanted:
        for document, score in zip(scores, every.tolist(), strict=True):
            if score in groups:
                groups[score].append(document)
    if rule != AS_GIVEN:
        groups = {score: sorted(group, reverse=rule == DESCENDING) for score, group in groups.items()}
    return {document: i for group in groups.values() for i, document in enumerate(group)}
