"""Judgments by intent: the grades of every judged document for the possible meanings of a query."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.kernels.segments import segment_ids, take_segments

__all__ = ["Intents"]


@dataclass(frozen=True, eq=False)
class Intents:
    """The grades of the judged documents of many queries by intent, as flat arrays cut by offsets.

    Documents are numbered by query; of two documents that are equally good for an ideal ranking, the one
    with the lower number comes first. Intents are numbered by query too, so that a number belongs to one query.
    """

    offset: Ints
    """Document `d` owns the rows `offset[d]` to `offset[d + 1]`, at least one."""
    intent: Ints
    """The intent of every row, ascending within a document."""
    grade: Floats
    """The grade that the document has for it."""
    query_offset: Ints
    """Query `q` owns the intents `query_offset[q]` to `query_offset[q + 1]`."""
    weight: Floats
    """The weight of every intent within its query."""

    @property
    def query(self) -> Ints:
        """The query of every intent."""
        return segment_ids(self.query_offset)

    def rows(self, document: Ints) -> tuple[Ints, Ints]:
        """Return the rows of the given documents in order, and for every row its place in `document`."""
        start, length = self.offset[document], np.diff(self.offset)[document]
        place = np.repeat(np.arange(len(document)), length)
        first = np.cumsum(length) - length
        return np.arange(len(place)) - first[place] + start[place], place

    def of_lists(self, query: Ints, document: Ints, offset: Ints) -> Intents:
        """Return the intents of lists that are queries of their own, with documents and intents renumbered.

        List `a` belongs to the query `query[a]`, and its documents are `document[offset[a]:offset[a + 1]]`.
        """
        row, place = self.rows(document)
        list_of_row = segment_ids(offset)[place]
        chosen, query_offset = take_segments(self.query_offset, query)
        moved = query_offset[:-1] - self.query_offset[query]
        return Intents(
            offset=np.concatenate(([0], np.cumsum(np.diff(self.offset)[document]))).astype(np.int64),
            intent=self.intent[row] + moved[list_of_row],
            grade=self.grade[row],
            query_offset=query_offset,
            weight=self.weight[chosen],
        )

    def alike(self, document: Ints) -> Ints:
        """Return a number for every document, equal for documents with the same grades for the same intents."""
        known: dict[tuple[tuple[int, float], ...], int] = {}
        ends = zip(self.offset[document].tolist(), self.offset[document + 1].tolist(), strict=True)
        rows = [zip(self.intent[a:b].tolist(), self.grade[a:b].tolist(), strict=True) for a, b in ends]
        return np.array([known.setdefault(tuple(row), len(known)) for row in rows], dtype=np.int64)

    def followed_by(self, more: int) -> Intents:
        """Return the same with `more` queries without intents at the end."""
        return replace(
            self, query_offset=np.append(self.query_offset, np.repeat(self.query_offset[-1:], more))
        )

    def relevant(self, at: float) -> Flags:
        """Flag the rows in which the document is relevant to the intent."""
        return (self.grade >= at) & (self.grade >= 0)
