"""Forms of answers: one label, labels of several units, or records; each is asked for by a schema and read strictly.

A value that is not on the scale never counts, and a record that lacks a part makes the whole answer a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from judged.labels.answer import (
    Label,
    Verdict,
    find_objects,
    match_label,
    read_answer,
    strip_thinking,
)

Schema: TypeAlias = dict[str, object]

TOKENS_PER_FIELD, TOKENS_PER_RECORD = 8, 60
"""Assumed length of one field and of one record of an answer, before a model has answered."""
EXPECTED_RECORDS = 5
"""Assumed number of records of an answer."""


class Form(Protocol):
    """The form of an answer."""

    def schema(self, count: int) -> Schema:
        """Return the JSON schema of an answer about that number of units."""

    def read(self, text: str | None, count: int, *, complete: bool) -> Verdict:
        """Return what an answer states; `complete` is False if the model was cut off."""

    def accepts(self, stated: object) -> bool:
        """Return whether a stored value is one that `read` can return."""

    def tokens(self, count: int) -> int:
        """Return the assumed length of an answer."""


@dataclass(frozen=True)
class OneLabel:
    """One label; fields before the last one are steps towards it."""

    scale: tuple[Label, ...]
    fields: tuple[str, ...] = ("score",)

    def schema(self, count: int) -> Schema:  # noqa: ARG002 - one label for one unit
        """Return the JSON schema: every field has a value on the scale."""
        return _object_of(dict.fromkeys(self.fields, _one_of(self.scale)))

    def read(self, text: str | None, count: int, *, complete: bool) -> Verdict:  # noqa: ARG002 - as above
        """Return the label of the last field, or as stated in words."""
        return read_answer(text, scale=self.scale, field=self.fields[-1], complete=complete)

    def accepts(self, stated: object) -> bool:
        """Return whether a stored value is on the scale."""
        return stated in self.scale

    def tokens(self, count: int) -> int:  # noqa: ARG002 - as above
        """Return the assumed length of an answer."""
        return TOKENS_PER_FIELD * len(self.fields)


@dataclass(frozen=True)
class NumberedLabels:
    """A label for each of several units, in one JSON object from the number of the unit to its label."""

    scale: tuple[Label, ...]

    def schema(self, count: int) -> Schema:
        """Return the JSON schema: the numbers from 1, each with a value on the scale."""
        return _object_of({str(number): _one_of(self.scale) for number in range(1, count + 1)})

    def read(self, text: str | None, count: int, *, complete: bool) -> Verdict:
        """Return a label for each number; None, and why, for those that the answer does not label."""
        plain, failure = _strip(text, complete=complete)
        if plain is None:
            return Verdict(None, failure)
        objects = [document for _, document in find_objects(plain)]
        wanted = [str(number) for number in range(1, count + 1)]
        rows = [document for document in objects if any(number in document for number in wanted)]
        if len(rows) != 1:
            return Verdict(None, "contradiction" if rows else "no grade")
        verdicts = [match_label(rows[0].get(number), self.scale) for number in wanted]
        labels = [verdict.grade for verdict in verdicts]
        reasons = [verdict.reason for verdict in verdicts if verdict.reason]
        if all(label is None for label in labels):
            return Verdict(None, reasons[0])
        return Verdict(labels, reasons[0] if reasons else None)

    def accepts(self, stated: object) -> bool:
        """Return whether stored values are on the scale, where they are known."""
        return isinstance(stated, list) and all(label is None or label in self.scale for label in stated)

    def tokens(self, count: int) -> int:
        """Return the assumed length of an answer."""
        return TOKENS_PER_FIELD * count


@dataclass(frozen=True)
class Records:
    """A list of records, such as nuggets with their importance; an empty list says that there are none."""

    field: str
    """The field of the answer that holds the list."""
    columns: Mapping[str, tuple[Label, ...] | None]
    """Columns of a record, with the scale of those that have one; the others are texts."""
    most: int = 30
    """The largest number of records that an answer may hold."""

    def schema(self, count: int) -> Schema:  # noqa: ARG002 - about one unit
        """Return the JSON schema: a list of objects with all columns."""
        columns = {
            name: {"type": "string"} if scale is None else _one_of(scale)
            for name, scale in self.columns.items()
        }
        return _object_of({self.field: {"type": "array", "items": _object_of(columns)}})

    def read(self, text: str | None, count: int, *, complete: bool) -> Verdict:  # noqa: ARG002 - as above
        """Return the records of the only object that holds them."""
        plain, failure = _strip(text, complete=complete)
        if plain is None:
            return Verdict(None, failure)
        lists = [document[self.field] for _, document in find_objects(plain) if self.field in document]
        if not complete and not lists:
            return Verdict(None, "unfinished")
        if len(lists) != 1 or not isinstance(lists[0], list):
            return Verdict(None, "contradiction" if len(lists) > 1 else "no list")
        if len(lists[0]) > self.most:
            return Verdict(None, "too many")
        records = [self._read_record(record) for record in lists[0]]
        failures = [record for record in records if isinstance(record, str)]
        if failures:
            return Verdict(None, failures[0])
        texts = [name for name, scale in self.columns.items() if scale is None]
        # models list a fact twice, and a list of nuggets has each once: the first counts
        unique: dict[tuple[Label, ...], dict[str, Label]] = {}
        for record in records:
            if isinstance(record, dict):
                unique.setdefault(tuple(record[name] for name in texts), record)
        return Verdict(list(unique.values()))

    def _read_record(self, record: object) -> dict[str, Label] | str:
        """Return a record, or the reason why it is none."""
        if not isinstance(record, dict):
            return "incomplete record"
        read: dict[str, Label] = {}
        for name, scale in self.columns.items():
            value = record.get(name)
            if scale is not None:
                verdict = match_label(value, scale)
                if not isinstance(verdict.grade, int | str):
                    return verdict.reason or "incomplete record"
                read[name] = verdict.grade
            elif isinstance(value, str) and value.strip():
                # half a surrogate pair, which JSON can spell, has no place in a file
                read[name] = " ".join(value.encode("utf-8", "replace").decode().split())
            else:
                return "incomplete record"
        return read

    def accepts(self, stated: object) -> bool:
        """Return whether stored records have all columns."""
        return isinstance(stated, list) and all(
            isinstance(record, dict)
            and set(record) == set(self.columns)
            and all(
                isinstance(record[name], str) if scale is None else record[name] in scale
                for name, scale in self.columns.items()
            )
            for record in stated
        )

    def tokens(self, count: int) -> int:  # noqa: ARG002 - as above
        """Return the assumed length of an answer."""
        return TOKENS_PER_RECORD * min(self.most, EXPECTED_RECORDS)


def _strip(text: str | None, *, complete: bool) -> tuple[str | None, str | None]:
    """Return an answer without the model's reasoning; or None, and why nothing is left."""
    plain = strip_thinking(text or "")
    if plain is None:
        return None, "unfinished"
    if not plain.strip():
        return None, "empty" if complete else "unfinished"
    return plain, None


def _one_of(scale: tuple[Label, ...]) -> Schema:
    return {"type": "string" if isinstance(scale[0], str) else "integer", "enum": list(scale)}


def _object_of(properties: Mapping[str, Any]) -> Schema:
    """Return the schema of an object with exactly these properties; strict modes require all of them."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
