"""Rows of files of answers and labels, and their cells: texts, words of a scale, lists, each problem with its place."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from judged.answers.tables import RESPONSES, Rows
from judged.errors import BadInput
from judged.io.scores.content import Content, Json, decode_cell, list_objects, open_content
from judged.problem import Place, Problem, Problems
from judged.tables.mapping import map_schema
from judged.tables.schema import Schema

LISTS = ("results", "data", "records", "responses", "answers")
"""Keys under which a document may hold its rows."""
_OPENING = ("", "{", "[", " ", "\t", "\n")
"""First characters of cells that are empty or may hold JSON."""
IDS = ("docid", "doc_id", "id", "document_id", "segment_id", "title")
"""Fields that may hold the id of a document, the likeliest first."""
T = TypeVar("T")


def open_rows(source: object, what: str, name: str | None = None) -> Content:
    """Return the rows of a source: a path, a frame, or rows as dicts; a document holds them under a key."""
    if isinstance(source, Mapping):
        source = [source]
    content = open_content(source, name=name or (None if is_file(source) else what))
    content.problems.raise_if_any()
    if content.document is not None:
        content.rows, content.document = [content.document], None
        content.problems = Problems(content.label)
    if len(content.rows) == 1 and not RESPONSES["query"].find(
        {name.lower(): name for name in content.columns}
    ):
        only = content.rows[0]
        content.rows = next((rows for key in LISTS if (rows := list_objects(only.get(key)))), [only])
        content.problems = Problems(content.label)
        content.__dict__.pop("columns", None)  # cached
        content.__dict__.pop("lower", None)
    content.rows = [
        # most cells are plain, and there may be millions
        {
            key: _decode(key, value) if value.__class__ is str and value[:1] in _OPENING else value
            for key, value in row.items()
        }
        for row in content.rows
    ]
    if not content.rows:
        raise BadInput(content.label, [Problem.error("empty", content.label, f"holds no {what}")])
    return content


def _decode(column: str, cell: str) -> Json:
    """Return what a cell holds as JSON; an answer that is JSON is a text all the same, unless it lists sentences."""
    value = decode_cell(cell)
    if column.lower() not in RESPONSES["text"].names or value is None:
        return value
    return value if list_objects(value) and len(list_objects(value)) == len(value) else cell


def is_file(source: object) -> bool:
    """Return whether a source is a path, bytes or an open file, and not rows."""
    return isinstance(source, str | os.PathLike | bytes | bytearray | memoryview) or hasattr(source, "read")


@dataclass(frozen=True)
class Fields:
    """The columns of a content by the fields of a schema."""

    columns: Mapping[str, tuple[str, ...]]
    problems: Problems

    @classmethod
    def of(cls, content: Content, schema: Schema, source: object = None) -> Fields:
        """Return the columns of each field; raise `BadInput` if a required one is missing."""
        found = map_schema(schema, source).match(content.columns, subject=content.label)
        return cls(found.columns, content.problems)

    def raw(self, row: Mapping[str, Json], name: str) -> Json:
        """Return a value of a row; None if it has none."""
        for column in self.columns.get(name, ()):
            value = row.get(column)
            if value is not None:
                return value
        return None

    def text(self, row: Mapping[str, Json], number: int, name: str, *, required: bool = False) -> str | None:
        """Return a value as text; a problem is added for one that is neither text nor a number."""
        value = self.raw(row, name)
        if value is None and not required:
            return None
        if isinstance(value, str) and (value.strip() or not required):
            return value if name == "text" else value.strip()
        if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
            return str(value).lower() if isinstance(value, bool) else str(int(value))
        if value is not None or required:
            self.problems.add("not-text", number, f"{name} is {describe(value)}, expected text")
        return None

    def word(self, row: Mapping[str, Json], number: int, name: str, words: Mapping[str, T]) -> T | None:
        """Return what a value stands for on its scale; a problem is added for one that is not on it."""
        value = self.text(row, number, name)
        if value is None or value == "":
            return None
        found = words.get(value)
        if found is None:
            found = words.get("_".join(value.lower().replace("-", " ").split()))
        if found is None:
            scale = ", ".join(f"`{word}`" for word in dict.fromkeys(map(_name_word, words.values())) if word)
            self.problems.add("unknown-label", number, f"{name} is `{value}`, expected one of {scale}")
        return found


def _name_word(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def describe(value: Json) -> str:
    """Return a value in words, for messages."""
    if value is None:
        return "missing"
    return (
        "a list"
        if isinstance(value, list | tuple)
        else "an object"
        if isinstance(value, Mapping)
        else f"`{value}`"
    )


def to_number(text: str, row: int, problems: Problems) -> int:
    """Return the number of a part; a problem is added for a text that is none."""
    if text.isdecimal():
        return int(text)
    problems.add("not-a-number", row, f"part is `{text}`, expected a whole number from 1")
    return 1


def list_documents(value: Json) -> list[str]:
    """Return the ids of the references of an answer; the position of one that has none, from 1."""
    if isinstance(value, Mapping):
        return [str(key) for key in value]
    documents = []
    for place, item in enumerate(split_list(value) if value is not None else [], 1):
        if isinstance(item, Mapping):
            item = next((item[key] for key in IDS[:-1] if item.get(key) not in (None, "")), place)  # noqa: PLW2901
        documents.append(str(item))
    return documents


def split_list(value: Json) -> Sequence[Json]:
    """Return the items of a list, or of a cell with items between blanks, commas, semicolons or bars."""
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, str):
        return value.replace(",", " ").replace(";", " ").replace("|", " ").split()
    return [] if value is None else [value]


def to_rows(content: Content, rows: Sequence[Any], owners: Sequence[int], **more: Any) -> Rows[Any]:
    """Return rows whose problems have the places of the rows of the file."""
    place = content.place

    def locate(row: int) -> Place:
        found = place(owners[row])
        return found if found.file else Place(content.label, row=found.row, field=found.field)

    return Rows(tuple(rows), Problems(content.label, locate), content.label, tuple(content.notes), **more)
