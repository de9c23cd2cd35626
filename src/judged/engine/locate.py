"""Locate the judged documents of a run: apply the conventions on its rows, scan it, report what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judged.errors import SHOWN, BadInput, MissingQueries, Unreadable
from judged.kernels.scan.align import (
    Aligned,
    JudgedIndex,
    Progress,
    RowProblem,
    align_columns,
    align_mapping,
    align_text,
)
from judged.kernels.scan.scanner import FEW_COLUMNS, KINDS, NAN, NOT_NUMBER
from judged.problem import Problem
from judged.protocol import Protocol
from judged.tables.columns import call, take, to_bytes, to_numpy
from judged.tables.judgments import Judgments
from judged.tables.run import Columns, Mappings, Run, Text

__all__ = ["Located", "apply_run_conventions", "locate_judged", "raise_run_problems", "to_index"]


HEAD = 4096
"""Bytes of a line that a message may show."""


@dataclass(frozen=True, eq=False)
class Located:
    """The ranks of the judged documents of a run."""

    ranks: Aligned
    run: Run
    """The run with the conventions on its rows applied."""
    missing: tuple[str, ...]
    """Judged queries that the run has no results for."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found in the rows of the run."""
        if not self.ranks.wide:
            return self.run.notes
        lines = "line has" if self.ranks.wide == 1 else "lines have"
        return (
            *self.run.notes,
            f"{self.ranks.wide:,} {lines} more than 6 columns: the rest was ignored",
        )


def locate_judged(
    judgments: Judgments,
    run: Run,
    protocol: Protocol,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Located:
    """Return the rank of every judged document; raise what is wrong with the run."""
    run = apply_run_conventions(run, protocol)
    ranks, run = _scan(judgments, run, protocol, threads, progress)
    raise_run_problems(ranks, run)
    missing = tuple(take(judgments.queries, np.flatnonzero(ranks.retrieved == 0)).to_pylist())
    if missing and protocol.missing == "error":
        msg = f"{run.name} has no results for {len(missing):,} judged queries: {', '.join(missing[:5])}"
        raise MissingQueries(msg, hint="`missing` of the protocol may also be `zero` or `skip`")
    return Located(ranks, run, missing)


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
    source = _columns(run)
    return replace(run, source=replace(source, score=-np.arange(len(source.score), dtype=np.float64)))


def _remove_self_matches(run: Run) -> Run:
    """Remove documents that have the id of their query, and add a note of how many there were."""
    source = _columns(run)
    other = call("not_equal", source.query, source.document)
    kept = np.flatnonzero(to_numpy(other))
    removed = len(source.score) - len(kept)
    if not removed:
        return replace(run, source=source)
    columns = Columns(
        source.query.filter(other),
        source.document.filter(other),
        source.score[kept],
        place=lambda row: source.place(int(kept[row])),
    )
    note = f"{removed:,} {'result has' if removed == 1 else 'results have'} the id of the query: removed"
    return replace(run, source=columns, notes=(*run.notes, note))


def _columns(run: Run) -> Columns:
    source = run.as_columns().source
    assert isinstance(source, Columns)  # noqa: S101 - `as_columns` returns nothing else
    return source


def _scan(
    judgments: Judgments, run: Run, protocol: Protocol, threads: int, progress: Progress | None
) -> tuple[Aligned, Run]:
    """Scan the run as it is held in memory; a dict with ids or scores of unusual types becomes columns first."""
    single = protocol.precision == "float32" and protocol.order == "score"
    ties = "document-descending" if protocol.ties == "expected" else protocol.ties  # averaged later
    if isinstance(run.source, Mappings):
        names = judgments.queries.to_pylist(), judgments.documents
        try:
            mapping = run.source.mapping
            return align_mapping(*names, judgments.offset, mapping, ties=ties, single=single), run
        except (TypeError, ValueError, OverflowError):  # an id that is not text, or a score that is no number
            run = run.as_columns()
        except RuntimeError as error:  # a score's own conversion changed the dict
            msg = f"{run.name} cannot be read: {error}"
            raise Unreadable(msg) from None
    index, source = to_index(judgments), run.source
    if isinstance(source, Text):
        text = (
            source.buffer if hasattr(source.buffer, "read_into") else np.frombuffer(source.buffer, np.uint8)
        )
        with source.reading():
            found = align_text(index, text, ties=ties, single=single, threads=threads, progress=progress)
        return found, run
    assert isinstance(source, Columns)  # noqa: S101 - the only kind left
    query, document = to_bytes(source.query), to_bytes(source.document)
    found = align_columns(
        index, query, document, source.score, ties=ties, single=single, threads=threads, progress=progress
    )
    return found, run


def raise_run_problems(ranks: Aligned, run: Run) -> None:
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
    what = f"document `{source.document[row]}` of query `{source.query[row]}`"
    if problem.kind == KINDS[NAN]:
        return Problem.error(problem.kind, where, f"the score of {what} is NaN, expected a number")
    first = source.place(_row(source, problem.detail))
    return Problem.error(problem.kind, where, f"{what} is retrieved again, first at {first}")


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
