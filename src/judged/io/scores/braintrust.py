"""Braintrust: the rows of an experiment, with `scores` by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan

from judged.io.scores.assemble import parse_value
from judged.io.scores.content import Content, Row, decode_cell, get, list_objects, to_question
from judged.io.scores.format import Record, ScoreFormat, know_directions, list_measures
from judged.problem import Place
from judged.tables.scores import ScoreKind


def _list_rows(content: Content) -> list[Row]:
    if content.document is None:
        return list(content.rows)
    return list_objects(get(content.document, "events") or get(content.document, "results"))


def _recognises(content: Content) -> bool:
    rows = _list_rows(content)
    return bool(rows) and all("input" in row and "scores" in row for row in rows)


def _read(content: Content) -> Iterator[Record]:
    for number, row in enumerate(_list_rows(content)):
        scores = decode_cell(row.get("scores"))
        if not isinstance(scores, Mapping):
            if row.get("is_root") is False or scores is None:
                continue  # a span inside the trace of a row, which has no scores of its own
            content.problems.add("bad-scores", number, "`scores` is not an object of values by name")
            continue
        metadata = decode_cell(row.get("metadata"))
        yield Record(
            content.place(number)
            if content.document is None
            else Place(content.label, field=f"events[{number}]"),
            scores,
            # `id` differs between experiments
            get(decode_cell(row.get("origin")), "id") or row.get("dataset_record_id"),
            to_question(decode_cell(row.get("input"))),
            attributes={
                str(name): value
                for name, value in (metadata if isinstance(metadata, Mapping) else {}).items()
                if isinstance(value, str | int | float)
            },
        )


def _kinds(_content: Content, records: Sequence[Record]) -> Mapping[str, ScoreKind]:
    # Braintrust accepts scores from 0 to 1 only, of which more is better; other programs write such rows too
    beyond = {
        name
        for record in records
        for name, raw in record.values.items()
        if (value := parse_value(raw)[0]) is not None and not (isnan(value) or 0 <= value <= 1)
    }
    names = [name for name in list_measures(records) if name not in beyond]
    return know_directions(names, bounds=(0.0, 1.0))


FORMAT = ScoreFormat(
    "braintrust",
    "an experiment of Braintrust",
    "the export of an experiment as JSON or CSV, the response of `…/experiment/ID/fetch`, and the results of `Eval`; queries are paired by the record of the data set, else by `input`",
    _recognises,
    _read,
    _kinds,
    "higher: scores of Braintrust lie between 0 and 1",
)
