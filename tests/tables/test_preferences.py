"""Preferences as a table: order, notes, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import judged
from judged.errors import BadInput, WrongKind
from judged.tables.preferences import Preferences


def test_rows_are_ordered_by_query_group_and_sub_group() -> None:
    """In the order of their bytes, whatever order they came in; documents are listed once."""
    table = judged.read_preferences(b"9 u s2 d2 1\n9 u s1 d1 2\n10 v s d1 1\n9 u s1 d2 3\n").to_arrow()

    assert table["query"].to_pylist() == ["10", "9", "9", "9"]
    assert table["subgroup"].to_pylist() == ["s", "s1", "s1", "s2"]
    assert Preferences(table).documents.table["document"].to_pylist() == ["d1", "d1", "d2"]
    assert Preferences(table).document.tolist() == [0, 1, 2, 2]


def test_the_first_line_decides_the_number_of_columns(tmp_path: Path) -> None:
    """Four are a group's grades, five have a sub-group; comments and blank lines do not count."""
    path = tmp_path / "judges.txt"
    path.write_text("# four columns\n\nq1 ann d1 2\nq1 bob d1 0\n")
    preferences = judged.read_preferences(path)

    assert repr(preferences) == "Preferences(judges: 2 levels by 2 groups on 1 query)"
    assert preferences.to_arrow()["subgroup"].to_pylist() == ["0", "0"]


def test_columns_are_found_by_name() -> None:
    """In a data frame, by the names that people use; integers are written out, with a note."""
    frame = pa.table({"qid": [1, 1], "judge": ["ann", "ann"], "docno": ["a", "b"], "grade": [2, 0]})
    preferences = judged.read_preferences(frame, name="mine")

    assert preferences.name == "mine"
    assert preferences.levels.tolist() == [2.0, 0.0]
    assert preferences.notes == ("integer ids were taken as their decimal text",)
    with pytest.raises(BadInput, match="no group and no level among them"):
        judged.read_preferences(pa.table({"query": ["q"], "document": ["d"]}))


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ({"q": {"u": {"d": float("nan")}}}, BadInput, "level is nan, expected a finite number"),
        ({"q": {"u": {"d": "high"}}}, BadInput, "expected a number"),
        ({"q": {"d": 1}}, BadInput, "is not query → group → document → level"),
        ({}, BadInput, "holds no preferences"),
        (b"", BadInput, "holds no preferences"),
        (b"q u d1 1\nq u d1 2\n", BadInput, "is twice in a sub-group"),
        (b"q u \xff 1\n", BadInput, "expected UTF-8 text"),
        (3, WrongKind, "cannot be read from an object of type `int`"),
        (judged.read_run({"q": ["d"]}), WrongKind, "expected preferences"),
    ],
)
def test_what_holds_no_preferences_is_refused_in_words(
    source: object, error: type[Exception], message: str
) -> None:
    """What, where, what was expected."""
    with pytest.raises(error) as caught:
        judged.read_preferences(source)

    assert message in str(caught.value)


def test_columns_of_different_lengths_are_refused() -> None:
    """With the length of each."""
    with pytest.raises(BadInput, match="`level` has 1 rows"):
        Preferences.from_columns(["q", "q"], ["u", "u"], ["a", "b"], [1.0])
