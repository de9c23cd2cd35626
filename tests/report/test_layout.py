"""The plain table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judged.blocks import Estimate, Table, format_value, is_numeric, mark_best, transpose


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.25, "0.2500"),
        (-0.00001, "0.0000"),
        (3, "3"),
        (None, ""),
        ("plain", "plain"),
        ("a\x1b[31mb\n", "a\\x1b[31mb\\n"),
        (Estimate(0.5, 0.25, 0.75), "0.5000 [0.2500, 0.7500]"),
        (float("inf"), "inf"),
    ],
)
def test_values_are_written_for_people(value: object, text: str) -> None:
    """Four decimals, no minus zero, and no control character reaches the terminal."""
    assert format_value(value) == text  # type: ignore[arg-type]


def test_the_best_is_the_highest_or_the_lowest_by_direction() -> None:
    """Without a direction nothing is marked."""
    table = Table(("run", "up", "down", "count"), (("a", 0.1, 0.1, 1), ("b", 0.2, 0.2, 2)))
    marked = mark_best(table, {"up": True, "down": False, "count": None})

    assert marked.best == {(1, 1), (0, 2)}


def test_values_that_read_the_same_are_equally_good() -> None:
    """A difference that is not shown makes no winner."""
    table = Table(("run", "x"), (("a", 0.50001), ("b", 0.5), ("c", 0.1)))

    assert mark_best(table, {"x": True}).best == {(0, 1), (1, 1)}


def test_equal_values_and_single_rows_have_no_best() -> None:
    """Being alone, or like all others, is no distinction."""
    assert not mark_best(Table(("run", "x"), (("a", 0.5), ("b", 0.5))), {"x": True}).best
    assert not mark_best(Table(("run", "x"), (("a", 0.5),)), {"x": True}).best


def test_turning_a_table_keeps_its_marks() -> None:
    """The mark of a cell goes where the cell goes."""
    table = Table(("run", "x", "y"), (("a", 1, 2), ("b", 3, 4)), best=frozenset({(1, 2)}))
    turned = transpose(replace(table, corner="measure"))

    assert turned.columns == ("measure", "a", "b")
    assert turned.rows == (("x", 1, 3), ("y", 2, 4))
    assert turned.best == {(1, 2)}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [((1, 0.5), True), (("a", 1), False), ((None, None), False), (("<0.0001", 0.5), True)],
)
def test_columns_of_numbers_are_known(cells: tuple[object, ...], expected: bool) -> None:
    """Numbers, and text that reads like one, are set flush right."""
    table = Table(("x",), tuple((cell,) for cell in cells))  # type: ignore[arg-type]

    assert is_numeric(table, 0) is expected
