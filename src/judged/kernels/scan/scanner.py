"""The NumPy scanner of `align`: rows in, the places of judged documents out.

It says readably what the compiled scanner `_scan` says quickly, and both keep one contract: a stretch of rows
is cut into *blocks*, runs of rows of one query, and a `Part` tells of each block how many rows it has and
where the judged documents of its query stand in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.kernels.scan.keys import Keys
from judged.kernels.scan.strings import Bytes, Strings
from judged.kernels.scan.text import parse_numbers, split_lines
from judged.kernels.segments import Flags, Floats, Ints

__all__ = ["KINDS", "Index", "Part", "as_compared", "index_from", "scan_columns", "scan_text"]

KINDS = ("few-columns", "not-a-number", "score-nan", "repeated-document")
"""What can be wrong with a row, in the order of `Part.counts`."""
FEW_COLUMNS, NOT_NUMBER, NAN, REPEATED = range(4)
KEPT = 1000
"""How many faults of a kind one scan remembers; all are counted."""
DESCENDING, ASCENDING, AS_GIVEN = range(3)


def _none() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Part:
    """What one scan found: blocks in order, and the hits of each block one after another, by rank."""

    query: Ints = field(default_factory=_none)
    """Of each block, the number of its query, or -1 if nobody judged it."""
    begin: Ints = field(default_factory=_none)
    end: Ints = field(default_factory=_none)
    """Where it begins and ends, in bytes or rows."""
    count: Ints = field(default_factory=_none)
    """How many documents it has."""
    hits: Ints = field(default_factory=_none)
    """How many judged documents it has."""
    row: Ints = field(default_factory=_none)
    rank: Ints = field(default_factory=_none)
    above: Ints = field(default_factory=_none)
    tied: Ints = field(default_factory=_none)
    """Of each hit: judgment row, rank, documents of higher score, documents of equal score."""
    faults: Ints = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    """Kind, place, detail: columns found, length of the token, or the place of the first occurrence."""
    counts: Ints = field(default_factory=lambda: np.zeros(len(KINDS), dtype=np.int64))
    infinite: int = 0
    wide: int = 0
    """Lines with more columns than needed."""


class Index:
    """The judged documents, ready to be looked up by hash."""

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
        keys = _keys(self.documents, query)
        self.order = np.argsort(keys, kind="stable")
        self.keys = Keys(keys[self.order])
        self.longest = int(
            np.diff(np.flatnonzero(np.r_[True, _differs(self.keys.ordered), True])).max(initial=1)
        )

    def find(self, query: Ints, documents: Strings) -> tuple[Ints, Ints]:
        """Which documents are judged for their query, and their judgment rows."""
        keys = _keys(documents, query)
        maybe, first = self.keys.find(keys)
        maybe, first = maybe[query[maybe] >= 0], first[query[maybe] >= 0]
        hit, row = [], []
        for step in range(self.longest):  # once, unless hashes of different judged documents met
            at = np.minimum(first + step, len(self.order) - 1)
            there = self.order[at]
            right = (self.keys.ordered[at] == keys[maybe]) & documents[maybe].equals(self.documents[there])
            hit.append(maybe[right])
            row.append(there[right])
        return np.concatenate(hit), np.concatenate(row)


index_from = Index
"""The compiled scanner has its own kind of index; both are made in this way."""


def scan_text(index: Index, text: Bytes, ranges: Ints, *, query: int | None, rule: int, single: bool) -> Part:
    """Scan lines of the byte ranges given: block by block, or all as one block of `query`."""
    stretch = _Stretch(text, ranges)
    lines = split_lines(stretch.data, 6)
    head, document, token = lines.columns[0], lines.columns[2], lines.columns[4]
    score, good = parse_numbers(token)
    nan = good & np.isnan(score)
    faults = [
        _faults(FEW_COLUMNS, stretch.place(lines.short), lines.short_count),
        _faults(NOT_NUMBER, stretch.place(token.start[~good]), token.length[~good]),
        _faults(NAN, stretch.place(token.start[nan]), token.length[nan]),
    ]
    rows = _Rows(
        head, document, score, good & ~nan, stretch.place(lines.begin), stretch.place(document.start)
    )
    return _scanned(index, rows, faults, ranges, lines.wide, query=query, rule=rule, single=single)


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
    """Scan the row ranges given of three columns: block by block, or all as one block of `query`."""
    which = np.concatenate([np.arange(begin, end) for begin, end in ranges.tolist()])
    document = Strings.from_offsets(document_bytes, document_offset)[which]
    head = Strings.from_offsets(query_bytes, query_offset)[which]
    score = scores[which]
    nan = np.isnan(score)
    faults = [_faults(NAN, document.start[nan], np.zeros(int(nan.sum()), dtype=np.int64))]
    rows = _Rows(head, document, score, ~nan, which, document.start)
    return _scanned(index, rows, faults, ranges, 0, query=query, rule=rule, single=single)


class _Stretch:
    """Several ranges of a text, end to end, and the way back from there to places in the text."""

    def __init__(self, text: Bytes, ranges: Ints) -> None:
        parts = [text[begin:end] for begin, end in ranges.tolist()]
        self.data = parts[0] if len(parts) == 1 else np.concatenate(parts)
        self._local = np.concatenate(([0], np.cumsum(ranges[:, 1] - ranges[:, 0])))[:-1]
        self._shift = ranges[:, 0] - self._local

    def place(self, local: Ints) -> Ints:
        """Where bytes of the stretch lie in the text."""
        return local + self._shift[np.searchsorted(self._local, local, "right") - 1]


def as_compared(scores: Floats, *, single: bool) -> Floats:
    """The scores at the width at which they are compared; what float32 cannot hold becomes infinite."""
    if not single:
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows as they came: ids, scores, which are sound, and where they stand."""

    query: Strings
    document: Strings
    score: Floats
    sound: Flags
    begin: Ints
    place: Ints


def _scanned(
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
    """Cut rows into blocks and rank the judged documents of each."""
    starts, owners = _blocks(index, rows, query)
    ends = np.append(starts, len(rows.score))[1:]
    sound = rows.sound
    score = as_compared(rows.score[sound], single=single)
    block = np.repeat(np.arange(len(starts)), ends - starts)[sound]
    document, place = rows.document[np.flatnonzero(sound)], rows.place[sound]
    offset = np.searchsorted(block, np.arange(len(starts) + 1))
    again, first = _repeats(document, block, owners[block] >= 0)
    faults.append(_faults(REPEATED, place[again], place[first]))
    fresh = np.ones(len(block), dtype=bool)
    fresh[again] = False
    hit, row = index.find(owners[block], document)
    row, hit = row[fresh[hit]], hit[fresh[hit]]
    rank, above, tied = _ranks(score, document, block, offset, hit, rule)
    order = np.lexsort((rank, block[hit]))
    kept = np.concatenate([each[:KEPT] for each in faults])
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
        counts=_counted(faults),
        infinite=int(np.isinf(score).sum()),
        wide=wide,
    )


def _blocks(index: Index, rows: _Rows, query: int | None) -> tuple[Ints, Ints]:
    """Where blocks start, and the number of the query of each."""
    if len(rows.score) == 0:
        return _none(), _none()
    if query is not None:
        return np.zeros(1, dtype=np.int64), np.array([query])
    changed = ~rows.query[1:].equals(rows.query[:-1])
    starts = np.concatenate(([0], np.flatnonzero(changed) + 1))
    heads = [rows.query.at(i) for i in starts.tolist()]
    return starts, np.array([index.queries.get(head, -1) for head in heads], dtype=np.int64)


def _ranks(
    score: Floats, document: Strings, block: Ints, offset: Ints, hit: Ints, rule: int
) -> tuple[Ints, Ints, Ints]:
    """Rank, documents above and documents tied of each hit: its position wherever scores fall strictly."""
    above = (np.arange(len(score)) - offset[:-1][block])[hit]
    tied, before = np.ones(len(hit), dtype=np.int64), np.zeros(len(hit), dtype=np.int64)
    mixed = np.zeros(len(offset) - 1, dtype=bool)  # blocks in which some score does not fall
    mixed[block[1:][(score[1:] >= score[:-1]) & ~_differs(block)]] = True
    some = np.flatnonzero(mixed[block[hit]])
    if len(some):
        rows = np.flatnonzero(mixed[block])
        group, higher, size = _groups(score[rows], block[rows])
        at = np.searchsorted(rows, hit[some])
        above[some], tied[some] = higher[at], size[at]
        before[some] = _before(document[rows], group, at, size, rule)
    return above + before + 1, above, tied


def _groups(score: Floats, block: Ints) -> tuple[Ints, Ints, Ints]:
    """For each row: the number of its group of equal scores, documents of higher score, documents of the group."""
    order = np.lexsort((-score, block))
    fresh = np.concatenate(([True], _differs(score[order]) | _differs(block[order])))
    group = np.cumsum(fresh) - 1
    place = np.arange(len(order)) - np.searchsorted(block[order], block[order])
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return group[back], place[fresh][group][back], np.bincount(group)[group][back]


def _before(document: Strings, group: Ints, at: Ints, size: Ints, rule: int) -> Ints:
    """For each row at `at`, how many of its group stand before it; other groups are not looked at."""
    wanted = np.flatnonzero(np.isin(group, group[at][size[at] > 1]))
    before = np.zeros(len(group), dtype=np.int64)
    before[wanted] = _order_of_equals(document[wanted], group[wanted], rule)
    return before[at]


def _differs(values: NDArray[Any]) -> Flags:
    """Which elements differ from the one before, from the second on."""
    changed: Flags = values[1:] != values[:-1]
    return changed


def _order_of_equals(document: Strings, group: Ints, rule: int) -> Ints:
    """For each document, how many of its group stand before it under the tie rule."""
    keys: list[NDArray[np.uint64]] = []
    if rule != AS_GIVEN:
        keys = [document.length.astype(np.uint64), *document.sort_keys()[::-1]]
    if rule == DESCENDING:
        keys = [~key for key in keys]
    order = np.lexsort((*keys, group.astype(np.uint64)))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - np.searchsorted(group[order], group[order])
    return place


def _repeats(document: Strings, block: Ints, scored: Flags) -> tuple[Ints, Ints]:
    """Rows of scored queries whose document came before in the same block, and the row where it first came."""
    keys = _keys(document, block)
    order = np.argsort(keys, kind="stable")
    order = order[scored[order]]
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    if len(same) == 0:
        return _none(), _none()
    later, earlier = order[same + 1], order[same]
    if not document[later].equals(document[earlier]).all():
        return _repeats_by_name(document, block, np.unique(np.concatenate((later, earlier))))
    first = dict(zip(later.tolist(), earlier.tolist(), strict=True))
    for row in sorted(first):
        first[row] = first.get(first[row], first[row])
    rows = np.array(sorted(first), dtype=np.int64)
    return rows, np.array([first[row] for row in rows.tolist()], dtype=np.int64)


def _repeats_by_name(document: Strings, block: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """The same for rows among which hashes of different documents met."""
    seen: dict[tuple[int, bytes], int] = {}
    first = {row: seen.setdefault((int(block[row]), document.at(row)), row) for row in rows.tolist()}
    again = [row for row in first if first[row] != row]
    return np.array(again, dtype=np.int64), np.array([first[row] for row in again], dtype=np.int64)


def _keys(documents: Strings, group: Ints) -> NDArray[np.uint64]:
    """One number for a document of a group."""
    with np.errstate(over="ignore"):
        return documents.hashes ^ ((group.astype(np.uint64) + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F))


def _faults(kind: int, place: Ints, detail: Ints) -> Ints:
    return np.stack((np.full(len(place), kind, dtype=np.int64), place, detail), axis=1)


def _counted(faults: list[Ints]) -> Ints:
    return np.bincount(np.concatenate(faults)[:, 0], minlength=len(KINDS)).astype(np.int64)
