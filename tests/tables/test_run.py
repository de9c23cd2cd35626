"""Runs keep the form in which they were given, and every form yields the same rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from judged.errors import BadInput
from judged.problem import Place
from judged.tables.run import Columns, Mappings, Run, Text

ids = st.text(st.characters(codec="utf-8"), max_size=3)


@settings(deadline=None)
@given(mapping=st.dictionaries(ids, st.dictionaries(ids, st.floats(allow_nan=False), max_size=4), max_size=4))
def test_a_dict_and_its_columns_are_the_same_run(mapping: dict[str, dict[str, float]]) -> None:
    """A dict stays a dict; its rows are those of its columns."""
    rows = [(q, d, s) for q, inner in mapping.items() for d, s in inner.items()]
    query, document, score = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    held, flat = Run.from_mapping(mapping), Run.from_columns(query, document, score)

    assert isinstance(held.source, Mappings)
    assert held.source.mapping is mapping
    assert held.to_arrow().equals(flat.to_arrow())


def test_a_strange_score_in_a_dict_is_reported_when_it_is_read() -> None:
    """Documents and scores of a dict are looked at when they are needed."""
    run = Run.from_mapping({"q": {"a": 1.0, "b": "high"}})

    with pytest.raises(
        BadInput, match=r"query `q`, document `b`: score is 'high' \(str\), expected a number"
    ):
        run.to_arrow()


def test_whole_numbers_as_ids_make_columns() -> None:
    """Queries that are integers must become text before they can meet those of judgments."""
    run = Run.from_mapping({7: {"d": 1.0}})

    assert isinstance(run.source, Columns)
    assert run.source.query.to_pylist() == ["7"]


def test_documents_that_are_whole_numbers_are_found_when_a_dict_becomes_columns() -> None:
    """A whole number beside texts is converted to text then, with a note."""
    run = Run.from_mapping({"q": {"a": 1.0, 5: 2.0}}).as_columns()

    assert run.to_arrow()["document"].to_pylist() == ["a", "5"]
    assert run.notes == ("integer ids were taken as their decimal text",)


def test_a_number_and_its_text_are_one_id() -> None:
    """Rows of 1 and "1" belong to the same query."""
    run = Run.from_mapping({1: {"a": 1.0}, "1": {"b": 2.0}})

    assert run.to_arrow()["query"].to_pylist() == ["1", "1"]


def test_scores_that_are_not_numbers_are_refused_with_their_place() -> None:
    """NaN compares with nothing, so it has no rank."""
    with pytest.raises(BadInput) as caught:
        Run.from_columns(
            ["q"] * 3, ["a", "b", "c"], [1.0, np.nan, np.nan], locate=lambda row: Place(f"place {row}")
        )
    assert str(caught.value) == (
        "run cannot be scored: score-nan (2)\n"
        "  place 1: score is nan, expected a number\n"
        "  place 2: score is nan, expected a number"
    )


def test_infinite_scores_are_scores() -> None:
    """They have an order, and are merely counted."""
    run = Run.from_columns(["q", "q"], ["a", "b"], [np.inf, -np.inf])

    assert run.to_arrow()["score"].to_pylist() == [np.inf, -np.inf]


def test_scores_keep_every_bit() -> None:
    """Neither width nor layout of the given scores is lost."""
    given_scores = np.array([[0.1, 1 / 3], [5e-324, 1e308]]).T.reshape(-1)
    run = Run.from_columns(["q"] * 4, list("abcd"), given_scores)

    assert run.to_arrow()["score"].to_pylist() == given_scores.tolist()


def test_a_byte_of_a_text_has_a_line() -> None:
    """Kernels speak of bytes; messages speak of lines."""
    text = Text(memoryview(b"one\ntwo\nthree"), lambda: pa.table({}), file="a.run")

    assert [str(text.place(byte)) for byte in (0, 3, 4, 8)] == ["a.run:1", "a.run:1", "a.run:2", "a.run:3"]


def test_columns_know_where_their_rows_came_from() -> None:
    """A matrix names row and column, a dict query and document, a frame the row."""
    matrix = Run.from_matrix(np.array([[4, -1, 6]]))
    frame = Run.from_columns(["q"], ["d"], [1])

    assert isinstance(matrix.source, Columns)
    assert isinstance(frame.source, Columns)
    assert str(matrix.source.place(1)) == "row 0, column 2"
    assert str(frame.source.place(0)) == "row 1"


def test_columns_of_unequal_length_are_refused() -> None:
    """The error says how long each is."""
    with pytest.raises(
        BadInput,
        match="`query` has 1 rows, `document` has 2 rows, `score` has 1 rows, expected the same number",
    ):
        Run.from_columns(["q"], ["d", "e"], [1])


def test_a_run_is_an_arrow_table_to_others() -> None:
    """Other libraries take a run as they take any table."""
    run = Run.from_lists({"q": ["d"]}, name="bm25")

    assert pa.table(run).to_pylist() == [{"query": "q", "document": "d", "score": -1.0}]
    assert repr(run) == "Run(bm25)"
