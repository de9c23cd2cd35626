"""Readers of what answers are scored against: nuggets, with their importance, and true answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from judged.answers.reading.rows import Fields, describe, open_rows, to_rows
from judged.answers.tables import ANSWERABLE, IMPORTANCE, NUGGETS, REFERENCES, Nugget, Reference, Rows
from judged.errors import BadInput
from judged.io.scores.content import Json, get, list_objects
from judged.problem import Problem, Problems


def read_nuggets(source: object) -> Rows[Nugget]:
    """Return the nuggets of queries: a file of nuggetizer, or a table with `query`, `nugget` and perhaps `importance`."""
    if isinstance(source, Rows):
        return source
    if isinstance(source, Mapping):
        source = [{"query": query, "nuggets": nuggets} for query, nuggets in source.items()]
    content = open_rows(source, "nuggets")
    fields = Fields.of(content, NUGGETS, source)
    rows, owners = [], []
    listed: dict[tuple[str, None], None] = {}
    for number, row in enumerate(content.rows):
        query = fields.text(row, number, "query", required=True)
        if query is None:
            continue
        listed[query, None] = None
        for nugget in _read_row_of_nuggets(fields, row, number, query):
            owners.append(number)
            rows.append(nugget)
    _refuse_repeated([(row.query, row.nugget) for row in rows], owners, content.problems, "nugget")
    content.problems.raise_if_any()
    return to_rows(content, rows, owners, listed=tuple(listed))


def _read_row_of_nuggets(
    fields: Fields, row: Mapping[str, Json], number: int, query: str
) -> Iterator[Nugget]:
    value = fields.raw(row, "nugget")
    if not isinstance(value, list | tuple):
        nugget = fields.text(row, number, "nugget", required=True)
        importance = fields.word(row, number, "importance", IMPORTANCE) or ""
        if nugget is not None:
            yield Nugget(query, nugget, importance, fields.text(row, number, "text") or nugget)
        return
    for item in value:
        found = read_nugget(fields, item, number)
        if found is not None:
            yield Nugget(query, *found[:3])


def read_nugget(fields: Fields, item: Json, number: int) -> tuple[str, str, str] | None:
    """Return the id, the importance and the text of a nugget in a list."""
    if isinstance(item, str):
        return item, "", item
    text = get(item, "text")
    known = next(
        (str(item[key]) for key in ("nugget_id", "id", "nugget") if get(item, key) is not None), text
    )
    if not isinstance(known, str):
        fields.problems.add(
            "not-text", number, f"a nugget is {describe(item)}, expected a text or an object with `text`"
        )
        return None
    own = Fields({"importance": ("importance",)}, fields.problems)
    return (
        known,
        own.word(item, number, "importance", IMPORTANCE) or "",
        text if isinstance(text, str) else known,
    )


def _refuse_repeated(
    keys: Sequence[tuple[str, ...]], owners: Sequence[int], problems: Problems, what: str
) -> None:
    seen: set[tuple[str, ...]] = set()
    for key, owner in zip(keys, owners, strict=True):
        if key in seen:
            problems.add(f"repeated-{what}", owner, f"{what} `{key[-1]}` of query `{key[0]}` occurs twice")
        seen.add(key)


def read_references(source: object) -> Rows[Reference]:
    """Return the true answers of queries: `query` and `answer`, several rows a query; a list in a row has spellings of one."""
    if isinstance(source, Rows):
        return source
    if isinstance(source, Mapping):
        source = [
            {"query": query, "answer": answer}
            for query, answers in source.items()
            for answer in (answers if isinstance(answers, list | tuple) else [answers])
        ]
    content = open_rows(source, "references")
    fields = Fields.of(content, REFERENCES, source)
    if not fields.columns.keys() & {"answer", "answerable"} and "qa_pairs" not in content.columns:
        message = f"has neither `answer` nor `answerable`: {content.describe()}"
        raise BadInput(content.label, [Problem.error("missing-column", content.label, message)])
    rows, owners = [], []
    for number, row in enumerate(content.rows):
        query = fields.text(row, number, "query", required=True)
        if query is None:
            continue
        answerable = fields.word(row, number, "answerable", ANSWERABLE)
        group = fields.text(row, number, "group") or f"row {number + 1}"
        pairs = [(group, fields.raw(row, "answer"))]
        if list_objects(row.get("qa_pairs")):  # ALCE: short answers, each with its spellings
            pairs = [
                (f"{group}.{place}", get(pair, "short_answers")) for place, pair in enumerate(row["qa_pairs"])
            ]
        found = [
            (name, answer)
            for name, answers in pairs
            for answer in (answers if isinstance(answers, list | tuple) else [answers])
            if answer is not None
        ]
        for name, answer in found or [(group, None)]:
            owners.append(number)
            rows.append(Reference(query, None if answer is None else str(answer), answerable, name))
    content.problems.raise_if_any()
    return to_rows(content, rows, owners)
