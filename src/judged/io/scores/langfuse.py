"""Langfuse: scores as the API and the page of scores export them, a row for each score of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from judged.io.scores.content import Content, Row, get, list_objects, to_question
from judged.io.scores.format import Record, ScoreFormat
from judged.problem import Place

TRACE = ("traceId", "trace_id")
ITEM = ("datasetItemId", "dataset_item_id")


def _list_scores(content: Content) -> list[Row]:
    return list_objects(get(content.document, "data")) if content.document is not None else list(content.rows)


def _recognises(content: Content) -> bool:
    scores = _list_scores(content)
    return bool(scores) and all(
        "name" in score
        and ("value" in score or "stringValue" in score)
        and _first(score, (*TRACE, *ITEM)) is not None
        for score in scores
    )


def _read(content: Content) -> Iterator[Record]:
    numbers = 0
    for number, score in enumerate(_list_scores(content)):
        kind = str(score.get("dataType") or score.get("data_type") or "NUMERIC").upper()
        if kind in {"CATEGORICAL", "TEXT", "CORRECTION"}:
            content.note_unread([str(score["name"])], f"is {kind.lower()}, not a number")
            continue
        numbers += 1
        value = score.get("value")
        yield Record(
            content.place(number)
            if content.document is None
            else Place(content.label, field=f"data[{number}]"),
            {str(score["name"]): bool(value) if kind == "BOOLEAN" and value in {0, 1} else value},
            _first(score, (*ITEM, *TRACE)),
            to_question(_find_input(score)),
        )


def _find_input(score: Row) -> object:
    trace = score.get("trace")
    return score.get("input") or (trace.get("input") if isinstance(trace, Mapping) else None)


def _first(score: Row, names: tuple[str, ...]) -> object:
    return next((score[name] for name in names if score.get(name)), None)


FORMAT = ScoreFormat(
    "langfuse",
    "scores of Langfuse",
    "the response of `GET /api/public/scores`, or the export of the page of scores; queries are known by `datasetItemId`, else by `traceId`, which differs between runs",
    _recognises,
    _read,
)
