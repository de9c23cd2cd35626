"""`align`: where do the judged documents stand in a run? The one operation on the hot path.

Both implementations, this one in NumPy and the compiled one, keep the contract of `Aligned`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.kernels.segments import Ints

__all__ = ["Aligned", "JudgedIndex", "RawFault", "TieRule", "align_mapping"]

Bytes: TypeAlias = NDArray[np.uint8]
TieRule: TypeAlias = Literal["document-descending", "document-ascending", "input-order"]


@dataclass(frozen=True, eq=False)
class JudgedIndex:
    """The judged documents of every query as flat bytes, rows grouped by query."""

    query_bytes: Bytes
    query_offset: Ints
    document_bytes: Bytes
    document_offset: Ints
    row_offset: Ints
    """Query `q` owns judgment rows `row_offset[q]` to `row_offset[q + 1]`."""

    @property
    def queries(self) -> list[str]:
        """Query ids as strings."""
        return _strings(self.query_bytes, self.query_offset)

    @property
    def documents(self) -> list[str]:
        """Document ids as strings, row by row."""
        return _strings(self.document_bytes, self.document_offset)


class RawFault(NamedTuple):
    """A fault where the kernel met it: a kind, a place (row or byte), and the text it stumbled over."""

    kind: str
    place: int
    query: str
    text: str


@dataclass(frozen=True, eq=False)
class Aligned:
    """For each judged document that was retrieved, its place; sorted by query, then rank."""

    row: Ints
    """Its judgment row."""
    rank: Ints
    """Its rank from 1 under the tie rule."""
    above: Ints
    """How many documents have a higher score."""
    tied: Ints
    """How many documents, itself among them, have its score."""
    offset: Ints
    """Query `q` owns entries `offset[q]` to `offset[q + 1]`."""
    retrieved: Ints
    """How many documents each query retrieved; 0: the query is missing from the run."""
    rows: int = 0
    extra: tuple[str, ...] = ()
    """Queries of the run that nobody judged, in order of appearance."""
    infinite: int = 0
    interleaved: int = 0
    faults: tuple[RawFault, ...] = ()
    counts: Counter[str] = field(default_factory=Counter)
    """How many faults of each kind there were; `faults` holds the first ones."""


def align_mapping(
    index: JudgedIndex,
    run: Mapping[Any, Mapping[Any, Any]],
    *,
    ties: TieRule = "document-descending",
    single: bool = True,
) -> Aligned:
    """Where the judged documents stand in a dict of dicts, without sorting or copying its names."""
    dtype = np.float32 if single else np.float64
    documents = index.documents
    found: list[tuple[list[int], Sequence[int], Sequence[int], Sequence[int]]] = []
    retrieved = np.zeros(len(index.row_offset) - 1, dtype=np.int64)
    infinite, rows, counts, faults = 0, 0, Counter[str](), []
    for q, query in enumerate(index.queries):
        scores = run.get(query)
        if not scores:
            found.append(([], [], [], []))
            continue
        every = np.fromiter(scores.values(), np.float64, len(scores)).astype(dtype)
        bad = np.flatnonzero(np.isnan(every))
        if len(bad):
            counts["scores that are not numbers"] += len(bad)
            names = list(scores)
            faults += [RawFault("nan", i, query, str(names[i])) for i in bad[:10].tolist()]
        infinite += int(np.isinf(every).sum())
        retrieved[q], rows = len(scores), rows + len(scores)
        judged = range(int(index.row_offset[q]), int(index.row_offset[q + 1]))
        hit = [row for row in judged if documents[row] in scores]
        mine = np.array([scores[documents[row]] for row in hit], dtype=np.float64).astype(dtype)
        ordered = np.sort(every)
        high = np.searchsorted(ordered, mine, "right")
        above, tied = len(every) - high, high - np.searchsorted(ordered, mine, "left")
        rank = above + 1
        for i in np.flatnonzero(tied > 1).tolist():
            peers = [doc for doc, s in zip(scores, every.tolist(), strict=True) if s == mine[i]]
            me = documents[hit[i]]
            if ties == "document-descending":
                rank[i] += sum(doc > me for doc in peers)
            elif ties == "document-ascending":
                rank[i] += sum(doc < me for doc in peers)
            else:
                rank[i] += peers.index(me)
        order = np.argsort(rank, kind="stable")
        found.append(([hit[i] for i in order], rank[order], above[order], tied[order]))
    known = set(index.queries)
    return Aligned(
        row=_joined([part[0] for part in found]),
        rank=_joined([part[1] for part in found]),
        above=_joined([part[2] for part in found]),
        tied=_joined([part[3] for part in found]),
        offset=np.cumsum([0, *(len(part[0]) for part in found)], dtype=np.int64),
        retrieved=retrieved,
        rows=rows,
        extra=tuple(str(query) for query in run if query not in known),
        infinite=infinite,
        faults=tuple(faults),
        counts=counts,
    )


def _joined(parts: Sequence[Any]) -> Ints:
    return np.concatenate([np.asarray(part, dtype=np.int64) for part in parts] or [np.zeros(0, np.int64)])


def _strings(data: Bytes, offset: Ints) -> list[str]:
    raw, cuts = data.tobytes(), offset.tolist()
    return [raw[i:j].decode() for i, j in zip(cuts[:-1], cuts[1:], strict=True)]
