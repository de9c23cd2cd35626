"""Responses: what systems answered, sentence by sentence, with the documents that each sentence cites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import msgspec
import pyarrow as pa
from msgspec import Struct

from judged.problem import Locate, Problems, locate_row
from judged.tables.columns import can_encode
from judged.wording import counted


class Part(Struct, kw_only=True, frozen=True, omit_defaults=True, gc=False):
    """One sentence of an answer, or another piece that is labelled as a whole.

    An answer without any text has one part with an empty text, so that it differs from a query never answered.
    """

    query: str
    system: str
    part: int = 1
    """Its number within the answer, from 1."""
    text: str
    """Without the marks of its citations."""
    citations: tuple[str, ...] = ()
    """The documents that it cites, in order."""
    attempt: str | None = None
    """Tells several answers of a system to one query apart."""


SCHEMA = pa.schema(
    {
        "query": pa.large_string(),
        "system": pa.large_string(),
        "part": pa.int64(),
        "text": pa.large_string(),
        "citations": pa.list_(pa.large_string()),
        "attempt": pa.large_string(),
    }
)


@dataclass(frozen=True, eq=False)
class Responses:
    """A table of (query, system, part, text, citations, attempt); the parts of an answer stand together, in order."""

    table: pa.Table
    name: str = "responses"
    notes: tuple[str, ...] = ()
    """Notes on how they were read."""

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Part],
        *,
        name: str = "responses",
        locate: Locate | None = None,
        problems: Problems | None = None,
    ) -> Responses:
        """Return a table of parts; a part that occurs twice, or is missing before a later one, is refused.

        `problems` may hold what a reader has found so far; they are raised together with what is found here.

        >>> Responses.from_rows([Part(query="q1", system="rag", text="Cats chase mice.", citations=("d1",))])
        Responses(responses: 1 part of 1 answer)
        """
        faults = Problems(name, locate or locate_row) if problems is None else problems
        listed = list(rows)
        answers: dict[tuple[str, str, str | None], dict[int, int]] = {}
        for row, part in enumerate(listed):
            _check_text(row, part, faults)
            places = answers.setdefault((part.query, part.system, part.attempt), {})
            if part.part in places:
                message = f"part {part.part} of {_describe(part)} occurs twice, expected each once"
                faults.add("repeated-part", row, message)
            places.setdefault(part.part, row)
        for places in answers.values():
            for number, row in places.items():
                if number < 1:
                    faults.add("bad-part", row, f"part is {number}, expected a whole number from 1")
                elif number > 1 and number - 1 not in places:
                    message = f"{_describe(listed[row])} has part {number} and no part {number - 1}"
                    faults.add("missing-part", row, message)
        if "repeated-part" in faults.counts:
            faults.hint = "an answer that occurs twice may be that of two systems of one name: give them names of their own"
        faults.raise_if_any()
        ordered = [listed[row] for places in answers.values() for _, row in sorted(places.items())]
        records = [msgspec.structs.asdict(part) for part in ordered]
        return cls(pa.Table.from_pylist(records, schema=SCHEMA), name=name)

    @cached_property
    def rows(self) -> tuple[Part, ...]:
        """Every part."""
        return tuple(
            Part(**{**row, "citations": tuple(row["citations"] or ())}) for row in self.table.to_pylist()
        )

    @cached_property
    def answers(self) -> dict[tuple[str, str, str | None], tuple[Part, ...]]:
        """The parts of every answer, by query, system and attempt."""
        found: dict[tuple[str, str, str | None], list[Part]] = {}
        for part in self.rows:
            found.setdefault((part.query, part.system, part.attempt), []).append(part)
        return {key: tuple(parts) for key, parts in found.items()}

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Every system, in the order in which they first occur."""
        return tuple(dict.fromkeys(self.table["system"].to_pylist()))

    def __iter__(self) -> Iterator[Part]:
        return iter(self.rows)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return (
            f"Responses({self.name}: {counted(len(self), 'part')} of {counted(len(self.answers), 'answer')})"
        )

    def to_arrow(self) -> pa.Table:
        """Return the table, as Arrow."""
        return self.table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def _check_text(row: int, part: Part, problems: Problems) -> None:
    """Add texts that UTF-8 cannot hold, and names that are empty."""
    for name in ("query", "system"):
        if not getattr(part, name):
            problems.add("missing-value", row, f"{name} is empty, expected an id")
    texts = {"query": part.query, "system": part.system, "text": part.text, "attempt": part.attempt or ""}
    for name, text in (*texts.items(), *(("citation", document) for document in part.citations)):
        if not can_encode(text):
            problems.add("not-text", row, f"{name} has half of a surrogate pair, expected text")


def _describe(part: Part) -> str:
    attempt = "" if part.attempt is None else f", attempt `{part.attempt}`"
    return f"the answer of `{part.system}` to `{part.query}`{attempt}"
