"""Judgments are grouped by query, hold each document once, and keep everything else as it was given."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from judged.errors import BadInput, WrongKind
from judged.problem import Problems
from judged.tables.judgments import Judgments

ids = st.text(st.characters(codec="utf-8"), max_size=3)


@settings(deadline=None)
@given(rows=st.lists(st.tuples(ids, ids, st.integers(-2, 4)), unique_by=lambda row: row[:2], max_size=30))
def test_queries_are_grouped_in_the_order_of_their_bytes(rows: list[tuple[str, str, int]]) -> None:
    """Whatever the order given, offsets cut the table into one block for each query."""
    query, document, grade = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    judgments = Judgments.from_columns(query, document, grade)
    names, cuts = judgments.queries.to_pylist(), judgments.offset.tolist()
    blocks = [judgments.table.slice(i, j - i).to_pylist() for i, j in pairwise(cuts)]

    assert names == sorted(set(query), key=str.encode)
    assert cuts[-1] == len(judgments) == len(rows)
    for name, block in zip(names, blocks, strict=True):
        assert [(row["query"], row["document"], row["grade"]) for row in block] == [
            r for r in rows if r[0] == name
        ]


@settings(deadline=None)
@given(rows=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), min_size=1, max_size=12))
def test_every_repeated_document_is_a_fault(rows: list[tuple[str, str]]) -> None:
    """As many problems are counted as rows stand under a query that has their document already."""
    query, document = (list(column) for column in zip(*rows, strict=True))
    repeats = len(rows) - len(set(rows))
    if repeats == 0:
        assert len(Judgments.from_columns(query, document, [1] * len(rows))) == len(rows)
        return

    with pytest.raises(BadInput) as caught:
        Judgments.from_columns(query, document, [1] * len(rows))
    assert caught.value.counts == {"repeated-document": repeats}


def test_columns_of_unequal_length_are_refused() -> None:
    """The error says how long each is."""
    with pytest.raises(
        BadInput, match="`query` has 1 rows, `document` has 2 rows, `grade` has 1 rows, expected the"
    ):
        Judgments.from_columns(["q"], ["d", "e"], [1])


def test_problems_found_before_are_reported_with_those_found_here() -> None:
    """A reader's own problems and those of the table are one message, in the order of the lines."""
    problems = Problems("file", line=lambda row: row + 10)
    problems.add_line("malformed-line", 11, "is malformed")

    with pytest.raises(BadInput) as caught:
        Judgments.from_columns(["q", "q", "q"], ["d", "e", "d"], [float("nan"), 1, 1], problems=problems)
    assert str(caught.value).splitlines()[1:] == [
        "  file:10: grade is nan, expected a finite number",
        "  file:11: is malformed",
        "  file:12: document `d` is judged again for query `q`, first at file:10",
    ]


@pytest.mark.parametrize(
    "column",
    [["a", "b"], ("a", "b"), np.array(["a", "b"]), pa.array(["a", "b"]), pa.chunked_array([["a"], ["b"]])],
    ids=["list", "tuple", "numpy", "array", "chunks"],
)
def test_a_column_may_be_of_any_kind(column: Any) -> None:
    """Lists, NumPy arrays and Arrow arrays make the same table."""
    judgments = Judgments.from_columns(column, column, np.array([1, 2], dtype=np.int8))

    assert judgments.table["document"].to_pylist() == ["a", "b"]
    assert judgments.table.schema.types == [pa.large_string(), pa.large_string(), pa.float64()]


def test_columns_of_series_are_columns() -> None:
    """A series of Polars or pandas is a column."""
    for library in ("polars", "pandas"):
        series = pytest.importorskip(library).Series(["a", "b"])

        assert Judgments.from_columns(series, series, [1, 2]).table["query"].to_pylist() == ["a", "b"]


def test_more_than_one_chunk_comes_out_as_one_array() -> None:
    """A column is contiguous however it came."""
    ids = pa.chunked_array([["b"], [], ["a", "c"]], type=pa.string())
    judgments = Judgments.from_columns(ids, ids, [1, 2, 3])

    assert isinstance(judgments.column("query"), pa.Array)
    assert judgments.column("grade").to_pylist() == [2.0, 1.0, 3.0]


def test_judgments_are_an_arrow_table_to_others() -> None:
    """Other libraries take judgments as they take any table."""
    judgments = Judgments.from_lists({"q": ["d"]})

    assert pa.table(judgments).to_pylist() == [{"query": "q", "document": "d", "grade": 1.0}]
    assert repr(judgments) == "Judgments(judgments: 1 of 1 queries)"


@pytest.mark.parametrize("make", [Judgments.from_mapping, Judgments.from_lists])
def test_what_is_no_dict_is_refused(make: Any) -> None:
    """The error says what was given."""
    with pytest.raises(WrongKind, match="judgments is a list, expected a dict"):
        make([1])
