"""Phoenix: the runs of an experiment, as its REST API returns them in JSON and CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judged.io.scores.content import Content, Row, decode_cell, get, list_objects, to_question
from judged.io.scores.format import Record, ScoreFormat

_SCORE = re.compile(r"annotation_(.+)_score")


def _recognises(content: Content) -> bool:
    return content.has("example_id", "repetition_number") and (
        content.has("annotations") or any(map(_SCORE.fullmatch, content.columns))
    )


def _read(content: Content) -> Iterator[Record]:
    for number, row in enumerate(content.rows):
        yield Record(
            content.place(number),
            _list_values(row),
            row.get("example_id"),
            to_question(decode_cell(row.get("input"))),
            attempt=row.get("repetition_number"),
        )


def _list_values(row: Row) -> dict[str, object]:
    """Return the scores of annotations by name, and the latency of the run."""
    if "annotations" in row:
        values = {str(get(note, "name")): get(note, "score") for note in list_objects(row["annotations"])}
    else:
        values = {found[1]: row[name] for name in row if (found := _SCORE.fullmatch(name))}
    return {**values, **({"latency_ms": row["latency_ms"]} if "latency_ms" in row else {})}


FORMAT = ScoreFormat(
    "phoenix",
    "an experiment of Phoenix",
    "`GET /v1/experiments/ID/json` and `…/csv`; queries are paired by `example_id`, and repetitions are attempts",
    _recognises,
    _read,
)
