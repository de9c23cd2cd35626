"""Tables, sentences and notes fit the terminal, whatever names, numbers and widths they have."""

from __future__ import annotations

import re

from hypothesis import given, strategies as st

from judged.blocks import Between, Display, Estimate, Notes, Sentence, Table, Value, format_value
from judged.problem import Note
from judged.report.text import fit, render_blocks, to_text, wrap

WIDTHS = st.integers(40, 200)
NAMES = st.text("abcXYZ019_-./@(=) é検", max_size=60)
NUMBERS = st.floats(-1000, 1000, allow_nan=False)
CELLS: st.SearchStrategy[Value] = st.one_of(
    st.none(),
    NAMES,
    NUMBERS,
    st.integers(-(10**9), 10**9),
    st.builds(Between, NUMBERS, NUMBERS),
    st.builds(Estimate, NUMBERS, NUMBERS, NUMBERS, marks=st.text("abc", max_size=8), tied=st.booleans()),
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Tables of up to 14 columns, with names and numbers of any width."""
    columns = draw(st.lists(NAMES, min_size=1, max_size=14))
    rows = draw(st.lists(st.tuples(*[CELLS] * len(columns)), max_size=4))
    return Table(
        tuple(columns),
        tuple(rows),
        title=draw(st.none() | NAMES),
        corner=draw(st.sampled_from([None, "measure"])),
        keys=draw(st.integers(1, min(2, len(columns)))),
    )


def cells_wide(line: str) -> int:
    """How many cells of the terminal a line takes, where only 検 takes two."""
    return len(line) + line.count("検")


@given(table=tables(), width=WIDTHS, digits=st.integers(0, 6))
def test_no_line_of_a_table_is_wider_than_the_terminal(table: Table, width: int, digits: int) -> None:
    """Names are wrapped, columns set below each other, whatever it takes."""
    assert all(cells_wide(line) <= width for line in to_text(table, digits=digits, width=width).splitlines())


@given(table=tables(), width=WIDTHS)
def test_nothing_of_a_table_is_left_out(table: Table, width: int) -> None:
    """Every cell is somewhere, and the keys identify every row in each part."""
    parts = [part for part, _ in fit(table, width)]
    shown = [format_value(cell) for part in parts for row in (part.columns, *part.rows) for cell in row]
    whole = [format_value(cell) for row in (table.columns, *table.rows) for cell in row]
    keyed = len(parts) == 1 or all(
        part.columns[: table.keys] == table.columns[: table.keys] for part in parts
    )

    assert keyed
    assert set(whole) - {""} <= {*shown, table.corner or "", format_value(table.columns[0])}


@given(table=tables())
def test_without_a_terminal_the_layout_does_not_depend_on_anything(table: Table) -> None:
    """One part, each row one line."""
    (part,) = [part for part, _ in fit(table, None)]
    lines = to_text(table).splitlines()
    title = [] if table.title is None else [*(table.title.splitlines() or [""]), ""]

    assert len(lines) == len(title) + len(part.rows) + (2 if part.columns else 0)


@given(words=st.lists(st.text("ab%é検_", min_size=1, max_size=90), min_size=1), width=WIDTHS)
def test_sentences_and_notes_are_wrapped_between_words(words: list[str], width: int) -> None:
    """No word is lost, and none that fits a line is broken."""
    text = " ".join(words)
    shown = render_blocks([Sentence(text), Notes((Note("x", "info", text),))], Display(width=width))
    pieces = [piece for line in wrap(text, width) for piece in line.split()]

    assert all(cells_wide(line) <= width for line in shown.splitlines())
    assert re.sub(r"\s", "", shown) == "".join(words) * 2
    assert all(word in pieces for word in words if cells_wide(word) <= width)


def test_a_word_is_not_broken_to_stay_with_its_unit() -> None:
    """A number stays with its sign, unless both together are wider than a line that each fits alone."""
    assert wrap("9" * 12 + " %", 13) == ["9" * 12, "%"]
    assert wrap("unjudged: bm25 1.2 %", 14) == ["unjudged: bm25", "1.2 %"]
