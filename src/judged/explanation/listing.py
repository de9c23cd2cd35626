"""What a run retrieved for one query, document by document, in the order that the protocol gives."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pyarrow.compute as pc

from judged.engine.inputs import judgments_demanded
from judged.engine.run_conventions import prepared
from judged.errors import BadMeasure
from judged.kernels.scan.align import RULES, JudgedIndex, align_columns
from judged.kernels.segments import Flags, Floats, Ints
from judged.measures.measure import Measure
from judged.protocol import Protocol
from judged.tables.columns import to_arrow, to_bytes, to_numpy
from judged.tables.judgments import Judgments
from judged.tables.run import Columns, Mappings, Run, Text

__all__ = ["Listing", "Results", "grades_of", "judgments_for"]


def judgments_for(measure: Measure, qrels: Any) -> Judgments:
    """The judgments that the measure is computed on; one that looks at no grades cannot be explained."""
    if measure.family == "preference":
        msg = f"{measure} looks at no grades, and cannot be explained rank by rank"
        raise BadMeasure(msg, hint="`judged.evaluate` gives its value for each query")
    return cast("Judgments", judgments_demanded(qrels, [measure]))


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

    run: Run
    """The rows of this query alone."""
    grades: dict[str, float]
    """Every judged document, retrieved or not, in the order of the table."""

    @classmethod
    def of(cls, judgments: Judgments, run: Run, query: str) -> Results:
        """What the run holds for the query; the run is looked through once."""
        names, score = _rows(run, query)
        columns = [query] * len(names), names, score
        return cls(Run.from_columns(*columns, name=run.name), grades_of(judgments, query))

    def under(self, protocol: Protocol) -> Listing:
        """Every result with its rank, after depth and removal of unjudged documents."""
        whole = _ranked(self.run, self.grades, protocol)
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


def _ranked(run: Run, grades: dict[str, float], protocol: Protocol) -> Listing:
    """The results in order; the kernel that scores ranks them, as though every one of them were judged."""
    given, ready = _columns_of(run), _columns_of(prepared(run, protocol))
    scores = dict(zip(given.document.to_pylist(), given.score.tolist(), strict=True))
    count = len(ready.score)
    one = np.zeros(1, dtype=np.uint8), np.array([0, 1])
    queries = np.zeros(max(count, 1), dtype=np.uint8), np.arange(count + 1)
    index = JudgedIndex(*one, *to_bytes(ready.document), np.array([0, count]))
    ties = protocol.ties if protocol.ties in RULES else RULES[0]  # where all orders count, one is shown
    single = protocol.precision == "float32" and protocol.order == "score"
    found = align_columns(index, queries, to_bytes(ready.document), ready.score, ties=ties, single=single)
    names = ready.document.take(to_arrow(found.row)).to_pylist()
    least = 0.0 if protocol.negative == "nonrelevant" else -np.inf
    grade = tuple(None if name not in grades else max(grades[name], least) for name in names)
    score = np.array([scores[name] for name in names], dtype=np.float64)
    return Listing(tuple(names), score, found.rank, found.above, found.tied, grade)


def _columns_of(run: Run) -> Columns:
    source = run.as_columns().source
    assert isinstance(source, Columns)  # noqa: S101 - `as_columns` returns nothing else
    return source


def _rows(run: Run, query: str) -> tuple[list[str], Floats]:
    """The documents of one query and their scores, as they stand in the run."""
    source = run.source
    if isinstance(source, Text):
        return _lines(source.buffer, query)
    if isinstance(source, Mappings):
        own = source.mapping.get(query) or {}
        return [str(name) for name in own], np.array([float(each) for each in own.values()])
    at = np.flatnonzero(to_numpy(pc.equal(source.query, query)))
    return source.document.take(to_arrow(at)).to_pylist(), source.score[at]


def _lines(buffer: Any, query: str) -> tuple[list[str], Floats]:
    """The lines of one query; the others are passed over without being taken apart."""
    blank = rb"[ \t\x0b\x0c\r]"
    own = re.escape(query.encode())
    wanted = re.compile(rb"^(?:\xef\xbb\xbf)?%b*%b%b[^\n]*" % (blank, own, blank), re.MULTILINE)
    fields = [line.group().split() for line in wanted.finditer(buffer)]
    names = [each[2].decode(errors="backslashreplace") for each in fields]
    return names, np.array([float(each[4]) for each in fields], dtype=np.float64)
