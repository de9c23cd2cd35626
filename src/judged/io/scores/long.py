"""Long tables: a row for each value, with the query, the measure and the value; judged's own files of every query too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import nan

from judged.io.scores.content import Content, Row
from judged.io.scores.format import Record, ScoreFormat
from judged.tables.schema import LONG_SCORES, SCORES
from judged.tables.scores import Scores

CLUSTER = "cluster"
"""The column in which judged writes the clusters of scores."""
WRITTEN = "written"
"""The column in which judged writes the name under which it showed a measure, where that is not its own."""
OWN = frozenset(name for field in SCORES.fields for name in field.names) | {"attempt", CLUSTER}
"""The columns of files that `judged score --per-query` writes, and of tables of `Scores`."""


def _recognises(content: Content) -> bool:
    return content.find(LONG_SCORES["measure"]) and content.find(LONG_SCORES["value"])


def is_own(content: Content) -> bool:
    """Return whether a table has only the columns that judged writes."""
    return content.map is None and content.lower <= OWN


def restore_clusters(scores: Scores) -> Scores:
    """Return scores that judged wrote with the clusters that they had."""
    clusters = scores.attributes.get(CLUSTER)
    return scores if clusters is None or clusters.null_count else replace(scores, clusters=clusters)


def restore_written(scores: Scores, content: Content) -> Scores:
    """Return scores that judged wrote with the names under which it showed their measures."""
    columns = content.match(LONG_SCORES)
    pairs = {str(row.get(columns["measure"])): row.get(WRITTEN) for row in content.rows}
    return replace(scores, written={name: str(label) for name, label in pairs.items() if label})


def _read(content: Content) -> Iterator[Record]:
    columns, own = content.match(LONG_SCORES), is_own(content)
    if "query" not in columns and "text" not in columns:
        raise content.refuse_unnamed()
    kept = {*columns.values(), WRITTEN} if own else set(columns.values())
    others = [name for name in content.columns if name not in kept]
    for number, row in enumerate(content.rows):
        if own and row.get("text"):
            continue  # the value of a measure that is text
        measure = row.get(columns["measure"])
        if not isinstance(measure, str) or not measure.strip():
            content.problems.add("no-measure", number, f"the measure is {measure!r}, expected its name")
            continue
        left_out = str(_get(row, columns.get("left_out")) or "") in {"1", "1.0"}
        yield Record(
            content.place(number),
            {measure: nan if left_out else row.get(columns["value"])},
            _get(row, columns.get("query")),
            _get(row, columns.get("text")),
            content.name_system(_get(row, columns.get("system"))),
            _get(row, columns.get("attempt")),
            {name: row.get(name) for name in others},
        )


def _get(row: Row, column: str | None) -> object:
    return None if column is None else row.get(column)


FORMAT = ScoreFormat(
    "long",
    "a table with a row for each value",
    "CSV, TSV, JSONL, JSON, Parquet or a data frame with the columns `query` (or `question`), `measure` and `value`",
    _recognises,
    _read,
)
