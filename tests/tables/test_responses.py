"""Responses: answers in parts, with what each part cites."""

from __future__ import annotations

import pytest

from judged.errors import BadInput
from judged.tables.responses import Part, Responses


def part(number: int, text: str = "Cats sleep.", *citations: str, attempt: str | None = None) -> Part:
    """Return a part of one answer."""
    return Part(query="q1", system="rag", part=number, text=text, citations=citations, attempt=attempt)


def test_parts_stand_in_order() -> None:
    """Whatever the order of the rows; answers keep the order in which they first occur."""
    other = Part(query="q0", system="rag", text="No.")
    table = Responses.from_rows([part(2, "b", "d2", "d1"), other, part(1, "a")])

    assert table.rows == (part(1, "a"), part(2, "b", "d2", "d1"), other)
    assert list(table.answers) == [("q1", "rag", None), ("q0", "rag", None)]
    assert table.to_arrow()["citations"].to_pylist() == [[], ["d2", "d1"], []]
    assert table.systems == ("rag",)


def test_attempts_are_answers_of_their_own() -> None:
    """Two answers of a system to one query are distinguished by their attempt."""
    table = Responses.from_rows([part(1, attempt="a"), part(1, attempt="b")])

    assert len(table.answers) == 2
    assert repr(table) == "Responses(responses: 2 parts of 2 answers)"


def test_every_fault_is_reported_at_once() -> None:
    """A part that occurs twice, one that is missing, a number below 1, half of a character, and an empty id."""
    rows = [part(1), part(1), part(3), part(0, attempt="b"), part(1, "\ud800", attempt="c")]
    with pytest.raises(BadInput) as caught:
        Responses.from_rows([*rows, Part(query="", system="rag", text="x")])

    codes = {problem.code for problem in caught.value.problems}
    assert codes == {"repeated-part", "missing-part", "bad-part", "not-text", "missing-value"}
    assert "part 3 and no part 2" in str(caught.value)


def test_an_empty_answer_is_an_answer() -> None:
    """It has one part without text; a query without any part was not answered."""
    assert len(Responses.from_rows([part(1, "")]).answers) == 1
    assert len(Responses.from_rows([]).answers) == 0
