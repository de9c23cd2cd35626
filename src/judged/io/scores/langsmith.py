"""LangSmith: the results of an experiment, as `to_pandas()` and the download of the web page write them."""

from __future__ import annotations

from collections.abc import Iterator

from judged.io.scores.content import Content, to_question
from judged.io.scores.format import Record, ScoreFormat

INPUTS, FEEDBACK = ("inputs.", "input."), "feedback."


def _recognises(content: Content) -> bool:
    return any(name.startswith(FEEDBACK) for name in content.columns) and any(
        name.startswith(INPUTS) or name in {"inputs", "example_id", "reference_example_id"}
        for name in content.columns
    )


def _read(content: Content) -> Iterator[Record]:
    measures = [name for name in content.columns if name.startswith(FEEDBACK)]
    inputs = [name for name in content.columns if name.startswith(INPUTS)]
    times = [name for name in ("execution_time",) if content.has(name)]
    for number, row in enumerate(content.rows):
        asked = {name.partition(".")[2]: row.get(name) for name in inputs if row.get(name) is not None}
        values = {name.removeprefix(FEEDBACK): row.get(name) for name in measures}
        yield Record(
            content.place(number),
            values | {name: row.get(name) for name in times},
            row.get("example_id") or row.get("reference_example_id"),
            to_question(asked or row.get("inputs")),
            attempt=row.get("repetition"),
        )


FORMAT = ScoreFormat(
    "langsmith",
    "results of LangSmith",
    "the result of `langsmith.evaluate`, or its `to_pandas()` as CSV, JSON, JSONL or Parquet; queries are paired by `example_id`, else by their inputs",
    _recognises,
    _read,
)
