"""Candidates: the documents that several runs retrieved for the same queries, as flat arrays ready to be fused.

Every run becomes a `RankedList` whose rows refer to the candidates by number. Ranks are those that `judged score`
sees: by score, compared as float32, then by document id, descending.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from judged.arrays import Floats, Ints
from judged.errors import BadInput, JudgedError
from judged.io.read import read_runs as read_tables
from judged.io.systems import name_systems
from judged.kernels.scan.order import sort_results
from judged.kernels.scan.scanner import round_scores
from judged.kernels.scan.strings import Strings
from judged.problem import Problem, Problems
from judged.tables.columns import add_repeats, take, to_bytes, to_numpy
from judged.tables.run import Columns, Run

if TYPE_CHECKING:
    from judged.studies.fusion.methods import FusedRuns


_QUERY, _NAMELESS = pa.array([""], pa.large_string()), pa.array([], pa.large_string())
"""The query of candidates of one query, and their documents, whose names are elsewhere."""


@dataclass(frozen=True, eq=False)
class RankedList:
    """The rows of one run, sorted by query, then rank."""

    candidate: Ints
    """The number of the candidate of each row."""
    score: Floats
    offset: Ints
    """Cuts the rows by query; a query without results has none."""

    @classmethod
    def from_query(cls, candidate: Ints, score: Floats) -> RankedList:
        """Return the list of a single query, whose ranks are known without looking for where others begin."""
        made = cls(candidate, score, np.array([0, len(score)]))
        made.__dict__["rank"] = np.arange(1, len(score) + 1)
        return made

    @cached_property
    def rank(self) -> Ints:
        """The rank of each row in its query, from 1."""
        first = np.repeat(self.offset[:-1], self.size)
        return np.arange(1, len(self.score) + 1) - first

    @cached_property
    def size(self) -> Ints:
        """The number of results of each query."""
        return np.diff(self.offset)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Every pair of query and document that a run retrieved, and the lists of the runs."""

    queries: pa.Array
    """The distinct queries, in the order in which the runs first name them."""
    documents: pa.Array
    """The distinct documents of all queries."""
    query: Ints
    """The number of each candidate's query."""
    document: Ints
    """The number of each candidate's document."""
    lists: tuple[RankedList, ...]
    """The list of each run."""
    names: tuple[str, ...]
    """The name of each run."""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def count(self) -> Ints:
        """Number of runs that retrieved each candidate."""
        counts = np.zeros(len(self), dtype=np.int64)
        for ranked in self.lists:
            counts[ranked.candidate] += 1
        return counts

    @cached_property
    def size(self) -> Ints:
        """The number of candidates of each query."""
        return np.bincount(self.query, minlength=len(self.queries))

    @cached_property
    def _names(self) -> Strings:
        return Strings.from_offsets(*to_bytes(self.documents))[self.document]

    def sort(self, score: Floats) -> Ints:
        """Return the candidates by query, then score, then document id, descending."""
        return sort_results(self.query, score, self._names)

    def to_run(self, score: Floats, *, name: str, depth: int | None = None) -> Run:
        """Return the run in which every candidate has its score, or the first `depth` of each query."""
        order = self.sort(score)
        if depth is not None:
            place = np.arange(len(order)) - np.repeat(np.cumsum(self.size) - self.size, self.size)
            order = order[place < depth]
        query, document = (
            take(self.queries, self.query[order]),
            take(self.documents, self.document[order]),
        )
        return Run(Columns(query, document, score[order]), name=name, notes=self.notes)


def read_runs(runs: FusedRuns) -> list[Run]:
    """Return the runs of a mapping from names, or of a list; each has a name of its own."""
    if isinstance(runs, str | bytes) or not isinstance(runs, Iterable):
        msg = f"runs are of type `{type(runs).__name__}`, expected a list of runs, or runs by name"
        raise JudgedError(msg, hint="`judged.fuse([first, second])`")
    read = [
        run if name is None else replace(run, name=name)
        for system in name_systems(runs)
        for name, run in system.select(read_tables(system.source)).items()
    ]
    names = [run.name for run in read]
    return [
        run if names.count(run.name) == 1 else replace(run, name=f"{run.name} {number}")
        for number, run in enumerate(read, start=1)
    ]


def collect_candidates(runs: Sequence[Run]) -> Candidates:
    """Return the candidates of several runs; raise `BadInput` for infinite scores and repeated documents."""
    if len(runs) < 2:
        problem = Problem.error("few-runs", "runs", f"{len(runs)}, expected two or more")
        raise BadInput("fusion", [problem])
    columns = [_check_scores(run) for run in runs]
    queries, query = _encode([column.query for column in columns])
    documents, document = _encode([column.document for column in columns])
    texts = Strings.from_offsets(*to_bytes(documents))
    cuts = np.cumsum([0, *(len(column.score) for column in columns)])
    keys, candidate = _number(query * max(len(documents), 1) + document)
    lists = []
    for run, column, (first, last) in zip(runs, columns, pairwise(cuts.tolist()), strict=True):
        rows = slice(first, last)
        _check_repeats(run, column, candidate[rows], len(keys))
        compared = round_scores(column.score, single=True)
        order = sort_results(query[rows], compared, texts[document[rows]])
        many = np.bincount(query[rows], minlength=len(queries))
        offset = np.concatenate(([0], np.cumsum(many))).astype(np.int64)
        lists.append(RankedList(candidate[rows][order], column.score[order], offset))
    names = tuple(run.name for run in runs)
    owner, named = np.divmod(keys, max(len(documents), 1))
    return Candidates(queries, documents, owner, named, tuple(lists), names, _notes(queries, lists, names))


def collect_ranked(
    lists: Sequence[tuple[Sequence[str], Sequence[float]]], names: Sequence[str]
) -> tuple[Candidates, list[str]]:
    """Return the candidates of one query, whose lists are in any order, and the name of each candidate's document.

    A study fuses query by query, in the time of the query: so names stay a list, and Arrow is left out.
    """
    rows: dict[str, int] = {}
    number = rows.setdefault
    numbered = [np.array([number(name, len(rows)) for name in some], dtype=np.int64) for some, _ in lists]
    ranked = []
    for (some, scores), candidate in zip(lists, numbered, strict=True):
        score = np.array(scores, dtype=np.float64)
        order = sort_names(round_scores(score, single=True), some)
        if order is not None:
            candidate, score = candidate[order], score[order]  # noqa: PLW2901 - the same list, in its order
        ranked.append(RankedList.from_query(candidate, score))
    everything = np.arange(len(rows))
    query = np.zeros(len(rows), dtype=np.int64)
    return Candidates(_QUERY, _NAMELESS, query, everything, tuple(ranked), tuple(names)), list(rows)


def sort_names(score: Floats, names: Sequence[str]) -> list[int] | None:
    """Return rows by score, then name, descending, as `sort_results` has them; None if that is the order they are in."""
    if not len(score) or (score[1:] < score[:-1]).all():
        return None
    order: list[int] = np.argsort(-score, kind="stable").tolist()
    ordered = score[order]
    tied = np.flatnonzero(ordered[1:] == ordered[:-1]).tolist()
    first = 0
    for at, row in enumerate(tied):
        if at + 1 == len(tied) or tied[at + 1] > row + 1:  # the last of those that are tied with each other
            some = slice(tied[first], row + 2)
            # characters are compared by their code points, which is the order of their bytes in UTF-8
            order[some] = sorted(order[some], key=names.__getitem__, reverse=True)
            first = at + 1
    return order


def _check_scores(run: Run) -> Columns:
    whole = run.to_columns()
    if not np.isfinite(whole.score).all():
        problems = Problems(run.name, whole.place)
        infinite = np.flatnonzero(~np.isfinite(whole.score))
        problems.add_rows(
            "score-infinite",
            infinite,
            lambda row: f"score is {whole.score[row]:g}, expected a finite number",
        )
        problems.raise_if_any(hint="fusion adds scores of several runs; an infinite one leaves no order")
    return whole


def _check_repeats(run: Run, column: Columns, candidate: Ints, candidates: int) -> None:
    """Raise `BadInput` if a run lists a document twice for a query."""
    seen = np.zeros(candidates, dtype=bool)
    seen[candidate] = True
    if np.count_nonzero(seen) < len(candidate):
        problems = Problems(run.name, column.place)
        add_repeats(column.query, column.document, problems, verb="retrieved")
        problems.raise_if_any(hint="`judged lint --fix` writes a copy with each document once")


def _encode(columns: Sequence[pa.Array]) -> tuple[pa.Array, Ints]:
    """Return the distinct values of several columns, and the number of the value of each row, end to end."""
    encoded = pa.concat_arrays(list(columns)).dictionary_encode()
    return encoded.dictionary, to_numpy(encoded.indices).astype(np.int64)


def _number(keys: Ints) -> tuple[Ints, Ints]:
    """Return the distinct keys in the order in which they first occur, and the number of each row's."""
    buffer = pa.py_buffer(np.ascontiguousarray(keys))
    encoded = pa.Array.from_buffers(pa.int64(), len(keys), [None, buffer]).dictionary_encode()
    return to_numpy(encoded.dictionary), to_numpy(encoded.indices).astype(np.int64)


def _notes(queries: pa.Array, lists: Sequence[RankedList], names: Sequence[str]) -> tuple[str, ...]:
    """Return a note for each run that has no results for some of the queries."""
    notes = []
    for name, ranked in zip(names, lists, strict=True):
        missing = np.flatnonzero(ranked.size == 0)
        if len(missing):
            first = ", ".join(take(queries, missing[:3]).to_pylist())
            many = "query" if len(missing) == 1 else "queries"
            more = ", …" if len(missing) > 3 else ""
            notes.append(
                f"{name} has no results for {len(missing):,} {many} of the others ({first}{more}): "
                "fused from the runs that have"
            )
    return tuple(notes)
