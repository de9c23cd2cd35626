"""Predictions: the scores that a model gives to the rows of a file of judgments, in their order."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from judged.arrays import Floats, Ints
from judged.errors import BadInput, JudgedError, check_kind
from judged.io.open import is_file, open_bytes, open_file
from judged.io.table import read_table
from judged.io.trec import looks_predicted, read_line_text
from judged.problem import Place, Problem, Problems
from judged.result import observe_files
from judged.tables.columns import encode
from judged.tables.run import Run
from judged.tables.schema import JUDGMENTS
from judged.tables.scored_rows import ArrayLike, to_array

if TYPE_CHECKING:
    from judged.tables.inputs import JudgmentsLike


def read_predictions(source: ArrayLike, rows: JudgmentsLike, *, name: str | None = None) -> Run:
    r"""Return the run of a file of predictions: a number for each row of the judgments `rows`, line by line.

    A line has a number, or as RankLib writes it `query<TAB>index<TAB>score`, of which query and index are compared with
    the rows. `rows` is a file of judgments, whose rows are those that the model scored; an array takes the place of the
    file.

    >>> run = read_predictions(b"0.5\n2\n", b"1 qid:7 1:0.3 # a\n0 qid:7 1:0.2 # b\n")
    >>> run.to_arrow()["document"].to_pylist(), run.to_arrow()["score"].to_pylist()
    (['a', 'b'], [0.5, 2.0])
    """
    check_kind("name", "" if name is None else name, str, "a text")
    table = read_table(rows, JUDGMENTS)
    table.problems.raise_if_any()
    query, document = table.columns["query"], table.columns["document"]
    if not is_file(source):
        scores = to_array(source, "predictions").reshape(-1)
        _check_length(len(scores), len(query), "the predictions", table.name)
        return Run.from_columns(query, document, scores, name=name or "predictions")
    files = () if isinstance(source, bytes) else observe_files([("predictions", source)])
    file = (
        open_bytes(bytes(source), label="predictions", name="")
        if isinstance(source, bytes)
        else open_file(os.fsdecode(source))
    )
    lines = bytes(read_line_text(file)).rstrip().split(b"\n")
    problems = Problems(file.label, line=lambda row: row + 1)
    _check_length(len(lines) if lines != [b""] else 0, len(query), file.label, table.name)
    parts = [line.split() for line in lines]
    scores = _parse_scores(parts, problems)
    if any(len(part) == 3 for part in parts):
        _check_places(parts, query, problems)
    problems.raise_if_any(hint="a line has a number, or query, index and score with tabs between them")
    run = Run.from_columns(
        query,
        document,
        scores,
        name=name or file.name or "predictions",
        locate=lambda row: Place(file.label, line=row + 1),
    )
    return replace(run, input_files=files)


def holds_predictions(path: str) -> bool:
    """Return whether the first line of a file is one of predictions, which is none of a run and none of scores."""
    if path == "-":
        return False  # it can be read once
    try:
        return looks_predicted(open_file(path).head().split(b"\n", 1)[0].split())
    except JudgedError:
        return False  # what reads it says what is wrong


def _check_length(predictions: int, rows: int, subject: str, judged: str) -> None:
    if predictions != rows:
        message = f"{predictions:,} predictions for {rows:,} rows of {judged}, expected as many"
        raise BadInput(subject, [Problem.error("lengths-differ", "lines", message)])


def _parse_scores(parts: list[list[bytes]], problems: Problems) -> Floats:
    """Return the last column of every line; a line of another width, or without a number, is a problem."""
    width = 3 if parts and len(parts[0]) == 3 else 1
    scores = np.zeros(len(parts))
    for row, part in enumerate(parts):
        try:
            scores[row] = float(part[-1]) if len(part) == width else np.nan
        except ValueError:
            scores[row] = np.nan
        if len(part) != width:
            columns = f"{len(part)} column{'' if len(part) == 1 else 's'}"
            problems.add("few-columns", row, f"{columns}, expected {width} as in the first line")
        elif np.isnan(scores[row]):
            problems.add(
                "not-a-number", row, f"prediction is `{part[-1].decode(errors='replace')}`, expected a number"
            )
    return scores


def _check_places(parts: list[list[bytes]], query: pa.Array, problems: Problems) -> None:
    """Add a problem for each line whose query or index is not that of its row."""
    places = _count_within(encode(query))
    for row, (part, name) in enumerate(zip(parts, query.to_pylist(), strict=True)):
        if len(part) == 3 and (part[0].decode(errors="replace"), part[1]) != (name, b"%d" % places[row]):
            got = " ".join(cell.decode(errors="replace") for cell in part[:2])
            problems.add("other-row", row, f"query and index are `{got}`, expected `{name} {places[row]}`")


def _count_within(code: Ints) -> Ints:
    """Return for each row how many rows of its query come before it."""
    order = np.argsort(code, kind="stable")
    first = np.concatenate(([0], np.cumsum(np.bincount(code))))[:-1]
    places = np.empty(len(code), dtype=np.int64)
    places[order] = np.arange(len(code)) - first[code[order]]
    return places
