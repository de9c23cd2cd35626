"""Each format of a table."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from judged.blocks import Table
from judged.report.data import to_delimited, to_json, to_json_lines, to_parquet
from judged.report.latex import to_latex
from judged.report.markdown import to_markdown
from judged.report.text import to_text
from judged.result import table_to_arrow
from judged.store.files import write_file

NASTY = 'a|b & 50% $x_1$ #{~^}\\ <t> "q" *s* `c` [l]\u202e\x07'
TABLE = Table(("run", "AP"), (("bm25", 0.25), ("dense", 0.5)), best=frozenset({(1, 1)}))


def test_text_is_aligned_and_bold_where_wanted() -> None:
    """Names of columns and the best cells are bold; without, there is no escape code."""
    plain, bold = to_text(TABLE), to_text(TABLE, bold=True)

    assert plain == "run        AP\n─────────────\nbm25   0.2500\ndense  0.5000\n"
    assert bold.splitlines()[3] == "dense  \x1b[1m0.5000\x1b[0m"
    assert bold.replace("\x1b[1m", "").replace("\x1b[0m", "") == plain


def test_text_counts_cells_not_characters() -> None:
    """Ideographs take two cells and combining marks none, so columns stay aligned."""
    table = Table(("run", "x"), (("検索", 1), ("e\u0301", 2), ("ab", 3)))

    assert to_text(table).splitlines()[2:] == ["検索  1", "e\u0301     2", "ab    3"]
    assert to_text(table).splitlines()[1] == "─" * 7


def test_text_of_no_rows_is_its_head() -> None:
    """An empty table still names its columns."""
    assert to_text(Table(("run", "x"), ())) == "run  x\n──────\n"


def test_markdown_escapes_what_would_break_a_table() -> None:
    """A bar in a name does not open a column."""
    line = to_markdown(Table(("run", "x"), ((NASTY, 1),))).splitlines()[2]

    assert line.count("|") - line.count("\\|") == 3
    assert "\\*s\\*" in line
    assert "\x07" not in line


def test_markdown_leaves_the_names_of_measures_alone() -> None:
    """An underscore inside a word means nothing to Markdown."""
    assert "|  gm_AP |" in to_markdown(Table(("run", "gm_AP"), (("a", 0.5),)))


def test_latex_escapes_every_special_character() -> None:
    """Nothing in a name is a command."""
    cell = to_latex(Table(("run", "x"), ((NASTY, 1),))).splitlines()[4]

    for escaped in (
        r"\&",
        r"\%",
        r"\$",
        r"\_",
        r"\#",
        r"\{",
        r"\}",
        r"\textbackslash{}",
        r"\textasciitilde{}",
    ):
        assert escaped in cell
    assert cell.count("&") - cell.count(r"\&") == 1


@pytest.mark.parametrize("name", ["[x]", "*x"])
def test_latex_guards_what_would_belong_to_the_line_break_before(name: str) -> None:
    r"""`[` and `*` after `\\` would be taken as its argument."""
    assert f"{{{name[0]}}}{name[1:]} & 1" in to_latex(Table(("run", "x"), ((name, 1),)))


def test_csv_quotes_and_reads_back() -> None:
    """Commas, quotes and line breaks in ids survive."""
    rows = (('a,b"c\nd', 0.1 + 0.2), ("e", None))
    text = to_delimited(table_to_arrow(Table(("run", "x"), rows)))

    assert list(csv.reader(io.StringIO(text))) == [
        ["run", "x"],
        ['a,b"c\nd', "0.30000000000000004"],
        ["e", ""],
    ]


def test_json_keeps_letters_of_all_kinds() -> None:
    """Nothing is turned into escapes that people cannot read."""
    assert to_json({"é": "検"}) == '{\n  "é": "検"\n}\n'


def test_json_lines_leave_out_what_is_not_there() -> None:
    """A row without a value has no key for it."""
    lines = to_json_lines(
        [{"run": "a", "value": 0.5, "text": None}, {"run": "a", "value": None, "text": "10"}]
    )

    assert [json.loads(line) for line in lines.splitlines()] == [
        {"run": "a", "value": 0.5},
        {"run": "a", "text": "10"},
    ]


def test_parquet_has_types_and_says_what_it_is() -> None:
    """Text, floats and nulls come back; the metadata is kept."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = table_to_arrow(Table(("run", "x", "n"), (("a", 0.5, 1), ("b", None, 2))))
    back = pq.read_table(pa.BufferReader(to_parquet(table, about={"judged.protocol": "p"})))

    assert back.to_pydict() == {"run": ["a", "b"], "x": [0.5, None], "n": [1, 2]}
    assert back.schema.field("n").type == pa.int64()
    assert back.schema.metadata[b"judged.protocol"] == b"p"


def test_parquet_takes_whole_numbers_among_others() -> None:
    """A column of 1 and 0.5 is one of floats."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    back = pq.read_table(pa.BufferReader(to_parquet(table_to_arrow(Table(("x",), ((1,), (0.5,)))))))

    assert back.to_pydict() == {"x": [1.0, 0.5]}


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """The new content is there, and nothing else is left behind."""
    path = tmp_path / "scores.csv"
    path.write_text("old")
    write_file(path, "new")

    assert path.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interruption half way does not cost what was there."""
    path = tmp_path / "scores.csv"
    path.write_text("old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("judged.store.files.os.fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_file(path, "new")

    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What a symbolic link points to is written, not the link."""
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write_file(tmp_path / "link.csv", b"new")

    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
def test_cells_that_a_spreadsheet_would_run_are_escaped_on_request(start: str) -> None:
    """An apostrophe before texts, names of columns among them; numbers stay numbers, and nothing changes unasked."""
    formula = f'{start}HYPERLINK("http://example.com")'
    table = table_to_arrow(Table((formula, "AP"), ((formula, -0.25), ("plain=", 0.5))))
    plain, escaped = (
        list(csv.reader(io.StringIO(to_delimited(table, escape_formulas=escape), newline="")))
        for escape in (False, True)
    )

    assert plain == [[formula, "AP"], [formula, "-0.25"], ["plain=", "0.5"]]
    assert escaped == [[f"'{formula}", "AP"], [f"'{formula}", "-0.25"], ["plain=", "0.5"]]
