"""Locate the judged documents of a run: apply the conventions on its rows, scan it, report what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol as TypingProtocol

import numpy as np
import pyarrow as pa

from judged.arrays import Flags, Floats, Ints
from judged.errors import SHOWN, BadInput, MissingQueries, Unreadable
from judged.kernels.scan.align import (
    RULES,
    Aligned,
    JudgedIndex,
    RowProblem,
    Scanned,
    align_mapping,
    scan_columns,
    scan_text,
)
from judged.kernels.scan.scanner import FEW_COLUMNS, KINDS, NAN, NOT_NUMBER
from judged.kernels.segments import segment_count, segment_ids
from judged.problem import Note, Problem
from judged.progress import Progress
from judged.protocol import BaseProtocol, Protocol
from judged.tables.columns import call, to_bytes, to_numpy
from judged.tables.judgments import Judgments
from judged.tables.run import Columns, Mappings, Run, Text

HEAD = 4096
"""Bytes of a line that a message may show."""


class Located(NamedTuple):
    """The ranks of the judged documents of a run."""

    ranks: Aligned
    missing: tuple[str, ...]
    """Judged queries that the run does not have."""
    notes: tuple[str, ...] = ()
    """Notes on the rows of the run."""


@dataclass(frozen=True, eq=False)
class ReducedRun:
    """A run of which only the ranks of its judged documents are left: what is kept of a stream or a cluster."""

    name: str
    scans: Mapping[BaseProtocol, Scanned]
    """Scan result under each requested protocol."""
    self_matches: Mapping[BaseProtocol, int]
    """Rows that each of them removed because their document has the id of their query."""
    notes: tuple[str, ...] = ()
    """Notes on how it was read."""


class Graded(TypingProtocol):
    """Judged documents by query: judgments, or rows of arrays, which have no ids."""

    @property
    def notes(self) -> Sequence[Note | str]:
        """Notes on how they were read."""

    @property
    def queries(self) -> pa.Array:
        """The id of every query."""

    @property
    def offset(self) -> Ints:
        """Query `q` owns rows `offset[q]` to `offset[q + 1]`."""

    @property
    def grades(self) -> Floats:
        """The grade of every row."""

    @property
    def targets(self) -> pa.Array | None:
        """The target of every row, if any is given."""

    @property
    def by_intent(self) -> bool:
        """Whether documents were judged for intents."""


def locate_judged(
    judgments: Judgments,
    run: Run | ReducedRun,
    protocol: Protocol,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Located:
    """Return the rank of every judged document; raise what is wrong with the run."""
    if isinstance(run, ReducedRun):
        ranks = run.scans[protocol].arrange(len(judgments.queries))
        removed, notes = run.self_matches[protocol], run.notes
    else:
        ready = apply_run_conventions(run, protocol)
        ranks, ready = _align(judgments, ready, protocol, threads, progress)
        raise_run_problems(ranks, ready)
        removed = ready.source.self_matches if isinstance(ready.source, Columns) else 0
        notes = ready.notes
    missing = tuple(judgments.query_names[query] for query in np.flatnonzero(~ranks.present).tolist())
    if missing and protocol.missing == "error":
        msg = f"{run.name} has no results for {len(missing):,} judged queries: {', '.join(missing[:5])}"
        raise MissingQueries(msg, hint="`missing` of the protocol may also be `zero` or `skip`")
    return Located(ranks, missing, (*notes, *_describe_rows(removed, ranks.wide)))


def _describe_rows(removed: int, wide: int) -> Iterator[str]:
    """Yield what became of rows that were not taken as they are."""
    if removed:
        yield f"{removed:,} {'result has' if removed == 1 else 'results have'} the id of the query: removed"
    if wide:
        yield f"{wide:,} {'line has' if wide == 1 else 'lines have'} more than 6 columns: the rest was ignored"


def read_grades(judgments: Graded, protocol: Protocol) -> Floats:
    """Return the grades, with negative ones as 0 where the protocol says that they are not relevant."""
    return np.maximum(judgments.grades, 0.0) if protocol.negative == "nonrelevant" else judgments.grades


def remove_negative(judgments: Graded, located: Located) -> Located:
    """Return the ranks without documents of negative grade, as if the run had never had them."""
    ranks = located.ranks
    junk = judgments.grades[ranks.row] < 0
    if not junk.any():
        return located
    query, width = segment_ids(ranks.offset), int(ranks.rank.max()) + 1
    removed = (query * width + ranks.rank)[junk]  # ascending, as are queries and the ranks of each

    def count_above(rank: Ints) -> Ints:
        """Count the removed documents of the same query down to a rank."""
        down_to = np.searchsorted(removed, query * width + rank, side="right")
        return down_to - np.searchsorted(removed, query * width)

    higher, kept = count_above(ranks.above), ~junk
    removed_ties = count_above(ranks.above + ranks.tied) - higher
    count = segment_count(junk, ranks.offset)
    left = replace(
        ranks,
        row=ranks.row[kept],
        rank=(ranks.rank - count_above(ranks.rank))[kept],
        above=(ranks.above - higher)[kept],
        tied=(ranks.tied - removed_ties)[kept],
        offset=np.concatenate(([0], np.cumsum(np.diff(ranks.offset) - count))).astype(np.int64),
        retrieved=ranks.retrieved - count,
    )
    total = int(junk.sum())
    note = f"{total:,} {'result has' if total == 1 else 'results have'} a negative grade: removed"
    return Located(left, located.missing, (*located.notes, note))


def find_relevant(judgments: Graded, protocol: Protocol) -> Flags:
    """Return which queries have a relevant document."""
    grades = read_grades(judgments, protocol)
    return segment_count((grades >= protocol.rel) & (grades >= 0), judgments.offset) > 0


def to_index(judgments: Judgments) -> JudgedIndex:
    """Return the judged ids as flat bytes, without copying them."""
    query_bytes, query_offset = to_bytes(judgments.queries)
    document_bytes, document_offset = to_bytes(judgments.column("document"))
    return JudgedIndex(query_bytes, query_offset, document_bytes, document_offset, judgments.offset)


def apply_run_conventions(run: Run, protocol: Protocol) -> Run:
    """Return the run with the scores and documents that the protocol uses; the run itself if that is all of it."""
    if protocol.self_matches == "removed":
        run = _remove_self_matches(run)
    return _rank_by_row(run) if protocol.order == "input" else run


def _rank_by_row(run: Run) -> Run:
    """Replace scores by ones that decrease from row to row, which keeps each query's documents in input order."""
    source = run.to_columns()
    return replace(run, source=replace(source, score=-np.arange(len(source.score), dtype=np.float64)))


def _remove_self_matches(run: Run) -> Run:
    """Remove documents that have the id of their query, and count them.

    A query whose only result is itself stays in the run, without results.
    """
    source = run.to_columns()
    other = call("not_equal", source.query, source.document)
    kept = np.flatnonzero(to_numpy(other))
    removed = source.query.filter(call("invert", other))
    columns = Columns(
        source.query.filter(other),
        source.document.filter(other),
        source.score[kept],
        place=lambda row: source.place(int(kept[row])),
        self_matches=len(removed),
        # too many are named here: a query that keeps some rows is not empty, and the scan sees that
        empty=removed if source.empty is None else pa.concat_arrays([source.empty, removed]),
    )
    return replace(run, source=columns if columns.self_matches else source)


def _align(
    judgments: Judgments, run: Run, protocol: Protocol, threads: int, progress: Progress | None
) -> tuple[Aligned, Run]:
    """Scan the run as it is held in memory; a dict with ids or scores of unusual types becomes columns first."""
    if isinstance(run.source, Mappings):
        names = judgments.query_names, judgments.documents
        try:
            mapping = run.source.mapping
            return align_mapping(*names, judgments.offset, mapping, **to_rules(protocol)), run
        except (
            TypeError,
            ValueError,
            OverflowError,
        ):  # an id that is not text, or a score that is not a number
            run = run.as_columns()
        except RuntimeError as error:
            raise refuse_changed(run.name, error) from None
    index = to_index(judgments)
    return scan_run(index, run, protocol, threads=threads, progress=progress).arrange(len(index)), run


def refuse_changed(run: str, error: RuntimeError) -> Unreadable:
    """Return the error that a run cannot be read, because a score's own conversion changed the dict."""
    return Unreadable(f"{run} cannot be read: {error}")


def scan_run(
    index: JudgedIndex,
    run: Run,
    protocol: Protocol,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Scanned:
    """Find the judged documents in the lines or columns of a run; its problems are not raised."""
    source, options = run.source, to_rules(protocol) | {"threads": threads, "progress": progress}
    if isinstance(source, Text):
        text = (
            source.buffer if hasattr(source.buffer, "read_into") else np.frombuffer(source.buffer, np.uint8)
        )
        with source.reading():
            return scan_text(index, text, **options)
    assert isinstance(source, Columns)  # noqa: S101 - dicts are not scanned
    scanned = scan_columns(index, to_bytes(source.query), to_bytes(source.document), source.score, **options)
    return scanned if source.empty is None else scanned.add_empty(_find_queries(index, source.empty))


def _find_queries(index: JudgedIndex, names: pa.Array) -> Ints:
    """Return the numbers of those queries that are judged."""
    ids = to_bytes(names)
    return scan_columns(index, ids, ids, np.zeros(len(names))).blocks.query


def to_rules(protocol: Protocol) -> dict[str, Any]:
    """Return how scores and ties are compared."""
    single = protocol.precision == "float32" and protocol.order == "score"
    # ties are averaged, or ordered by grade, later
    ties = protocol.ties if protocol.ties in RULES else "document-descending"
    return {"ties": ties, "single": single}


def raise_run_problems(ranks: Aligned | Scanned, run: Run) -> None:
    """Raise `BadInput` with everything that is wrong with the run, if anything is."""
    if not ranks.counts:
        return
    source, subject = run.source, run.name
    if isinstance(source, Text):
        subject = source.file
        problems = [_text_problem(source, problem) for problem in ranks.problems[:SHOWN]]
    elif isinstance(source, Columns):
        problems = [_column_problem(source, problem) for problem in ranks.problems[:SHOWN]]
    else:
        problems = _mapping_problems(source.mapping)
    raise BadInput(subject, problems, counts=ranks.counts)


def _text_problem(source: Text, problem: RowProblem) -> Problem:
    """Return a problem of a text, with its line."""
    where, rest = source.place(problem.position), source.buffer[problem.position : problem.position + HEAD]
    if problem.kind == KINDS[FEW_COLUMNS]:
        columns = f"{problem.detail} column{'s' if problem.detail != 1 else ''}"
        return Problem.error(
            problem.kind, where, f"{columns}, expected 6: query, Q0, document, rank, score, tag"
        )
    if problem.kind in {KINDS[NOT_NUMBER], KINDS[NAN]}:
        token = bytes(rest[: problem.detail]).decode(errors="replace")
        return Problem.error(problem.kind, where, f"score is `{token}`, expected a number")
    document = bytes(rest).split(None, 1)[0].decode(errors="replace")
    first = source.place(problem.detail)
    return Problem.error(
        problem.kind, where, f"document `{document}` is retrieved again for its query, first at {first}"
    )


def _column_problem(source: Columns, problem: RowProblem) -> Problem:
    """Return a problem of columns, with its row; places are byte positions in the column of documents."""
    row = _row(source, problem.position)
    where = source.place(row)
    subject = f"document `{source.document[row]}` of query `{source.query[row]}`"
    if problem.kind == KINDS[NAN]:
        return Problem.error(problem.kind, where, f"the score of {subject} is NaN, expected a number")
    first = source.place(_row(source, problem.detail))
    again = "twice" if str(first) == str(where) else f"again, first at {first}"
    return Problem.error(problem.kind, where, f"{subject} is retrieved {again}")


def _row(source: Columns, place: int) -> int:
    _, offsets, _ = source.document.buffers()
    cuts = np.frombuffer(offsets, dtype=np.int64)[source.document.offset :]
    return int(np.searchsorted(cuts, place, "right")) - 1


def _mapping_problems(mapping: Mapping[Any, Mapping[Any, Any]]) -> list[Problem]:
    """Return the first scores of a dict that are NaN."""
    problems: list[Problem] = []
    for query, scores in mapping.items():
        problems += [
            Problem.error(
                KINDS[NAN], f"query `{query}`, document `{document}`", "score is NaN, expected a number"
            )
            for document, score in scores.items()
            if math.isnan(score)
        ]
        if len(problems) >= SHOWN:
            break
    return problems
