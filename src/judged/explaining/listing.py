"""What a run retrieved for one query, document by document, in the order that the protocol gives."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judged.engine.protocol import Protocol
from judged.kernels.align import JudgedIndex, align_columns
from judged.kernels.segments import Flags, Floats, Ints
from judged.tables.judgments import Judgments
from judged.tables.run import Columns, Mappings, Run, Text

__all__ = ["Listing", "Results", "grades_of"]


@dataclass(frozen=True, eq=False)
class Listing:
    """The results of one query, best first: one element for each in every array."""

    documents: tuple[str, ...]
    score: Floats
    rank: Ints
    above: Ints
    """How many results have a higher score."""
    tied: Ints
    """How many results, itself among them, have its score."""
    grade: tuple[float | None, ...]
    """None: nobody judged it."""

    def __len__(self) -> int:
        return len(self.documents)

    def only(self, chosen: Flags) -> Listing:
        """Some of the results; their ranks stay."""
        at = np.flatnonzero(chosen)
        arrays = {name: getattr(self, name)[at] for name in ("score", "rank", "above", "tied")}
        names = tuple(self.documents[i] for i in at.tolist())
        return replace(self, documents=names, grade=tuple(self.grade[i] for i in at.tolist()), **arrays)


@dataclass(frozen=True, eq=False)
class Results:
    """The results of one query as they stand in the run, with the grades of its judged documents."""

    names: list[bytes]
    score: Floats
    grades: dict[str, float]
    """Every judged document, retrieved or not, in the order of the table."""

    @classmethod
    def of(cls, judgments: Judgments, run: Run, query: str) -> Results:
        """What the run holds for the query; the run is looked through once."""
        return cls(*_rows(run, query), grades_of(judgments, query))

    def under(self, protocol: Protocol) -> Listing:
        """Every result with its rank, after depth and removal of unjudged documents."""
        whole = _ranked(self.names, self.score, self.grades, protocol)
        if protocol.depth is not None:
            whole = whole.only(whole.rank <= protocol.depth)
        if protocol.unjudged == "removed":
            known = np.array([grade is not None and grade >= 0 for grade in whole.grade], dtype=bool)
            whole = whole.only(known)
            whole = replace(whole, rank=np.arange(1, len(whole) + 1))
        return whole


def grades_of(judgments: Judgments, query: str) -> dict[str, float]:
    """The judged documents of a query with their grades, in the order of the table."""
    number = judgments.queries.to_pylist().index(query)
    own = slice(int(judgments.offset[number]), int(judgments.offset[number + 1]))
    names = judgments.column("document")[own].to_pylist()
    return dict(zip(names, judgments.grades[own].tolist(), strict=True))


def _ranked(names: list[bytes], score: Floats, grades: dict[str, float], protocol: Protocol) -> Listing:
    """The results in order; the kernel that scores ranks them, as though every one of them were judged."""
    if not names:
        none = np.zeros(0, dtype=np.int64)
        return Listing((), score, none, none, none, ())
    offset = np.cumsum([0, *map(len, names)], dtype=np.int64)
    data = np.frombuffer(b"".join(names), dtype=np.uint8)
    one = np.zeros(1, dtype=np.uint8), np.array([0, 1])
    index = JudgedIndex(*one, data, offset, np.array([0, len(names)]))
    queries = np.zeros(len(names), dtype=np.uint8), np.arange(len(names) + 1)
    single = protocol.precision == "float32"
    found = align_columns(index, queries, (data, offset), score, ties=protocol.ties, single=single)
    texts = tuple(names[row].decode(errors="backslashreplace") for row in found.row.tolist())
    grade = tuple(grades.get(text) for text in texts)
    return Listing(texts, score[found.row], found.rank, found.above, found.tied, grade)


def _rows(run: Run, query: str) -> tuple[list[bytes], Floats]:
    """The documents of one query and their scores, as they stand in the run."""
    source = run.source
    if isinstance(source, Text):
        return _lines(source.buffer, query)
    if isinstance(source, Mappings):
        own = source.mapping.get(query) or {}
        return [str(name).encode() for name in own], np.array([float(each) for each in own.values()])
    return _columns(source, query)


def _columns(source: Columns, query: str) -> tuple[list[bytes], Floats]:
    import pyarrow.compute as pc

    mask = np.asarray(pc.equal(source.query, query).to_pylist(), dtype=bool)
    at = np.flatnonzero(mask)
    return [source.document[i].as_py().encode() for i in at.tolist()], source.score[at]


def _lines(buffer: Any, query: str) -> tuple[list[bytes], Floats]:
    """The lines of one query; the others are passed over without being taken apart."""
    blank = rb"[ \t\x0b\x0c\r]"
    wanted = re.compile(rb"^(?:\xef\xbb\xbf)?%b*%b%b[^\n]*" % (blank, re.escape(query.encode()), blank), re.MULTILINE)
    fields = [line.group().split() for line in wanted.finditer(buffer)]
    return [each[2] for each in fields], np.array([float(each[4]) for each in fields], dtype=np.float64)
