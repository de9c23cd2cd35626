"""What is wrong with a file is reported all at once, with file and line."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judged.errors import BadInput, JudgedError, Unreadable
from judged.io.read import read_judgments, read_run
from judged.wording import worded_for_commands


def message_of_judgments(name: str, content: bytes) -> str:
    """Return the problems of a file that should hold judgments."""
    Path(name).write_bytes(content)
    with pytest.raises(JudgedError) as caught:
        read_judgments(name)
    assert caught.value.exit_code == 2
    return str(caught.value)


def message_of_run(name: str, content: bytes) -> str:
    """Return the problems of a file that should hold a run, when all of it is read."""
    Path(name).write_bytes(content)
    with pytest.raises(JudgedError) as caught:
        read_run(name).to_arrow()
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.mark.usefixtures("here")
def test_all_problems_of_judgments_are_listed_in_the_order_of_their_lines() -> None:
    """Malformed lines, bad numbers, bad bytes and repeated documents are in one message."""
    content = (
        b"\xef\xbb\xbf# a comment\n"
        b"q1 0 d1 1\n"
        b"q1 0 d2\n"
        b"\n"
        b" q2\t0\tx#y  2 more\r\n"
        b"q1 0 d1 0\n"
        b"q1 0 d3 1_0\n"
        b"q3 0 \xff 1\n"
        b"q4 0 d4 nan\n"
        b"q4 0 d5 -inf\n"
    )

    assert message_of_judgments("some.qrels", content) == (
        "some.qrels cannot be scored: not-finite (2), few-columns (1), not-a-number (1), not-utf-8 (1), repeated-document (1)\n"
        "  some.qrels:3: 3 columns, expected 4\n"
        "  some.qrels:6: document `d1` is judged again for query `q1`, first at some.qrels:2\n"
        "  some.qrels:7: grade is `1_0`, expected a number\n"
        "  some.qrels:8: document is b'\\xff', expected UTF-8 text\n"
        "  some.qrels:9: grade is nan, expected a finite number\n"
        "  some.qrels:10: grade is -inf, expected a finite number"
    )


@pytest.mark.usefixtures("here")
def test_all_problems_of_a_run_are_listed_when_it_is_read_in_full() -> None:
    """A run that stays text until it is scored can still name every line that is wrong."""
    content = b"q1 Q0 d1 1 9.5 t\nq1 Q0 d2 2 high t\nq1 Q0 d1 3 nan t\nq1 Q0 d4 4 -inf t\nq1\n"

    assert message_of_run("some.run", content) == (
        "some.run cannot be scored: few-columns (1), not-a-number (1), repeated-document (1), score-nan (1)\n"
        "  some.run:2: score is `high`, expected a number\n"
        "  some.run:3: score is nan, expected a number\n"
        "  some.run:3: document `d1` is retrieved again for query `q1`, first at some.run:1\n"
        "  some.run:5: 1 column, expected 6"
    )


@pytest.mark.usefixtures("here")
def test_the_first_ten_problems_are_shown_and_the_rest_counted() -> None:
    """A file that is wrong throughout does not flood the screen."""
    shown = message_of_judgments("some.qrels", b"q 0 d\n" * 1234).splitlines()

    assert shown[0] == "some.qrels cannot be scored: few-columns (1,234)"
    assert shown[1] == "  some.qrels:1: 3 columns, expected 4"
    assert shown[10] == "  some.qrels:10: 3 columns, expected 4"
    assert shown[11] == "  … and 1,224 more"
    assert len(shown) == 12


@pytest.mark.usefixtures("here")
def test_judgments_given_as_a_run_are_recognised() -> None:
    """Four columns where six should be is a likely mistake, and the hint says which."""
    message = message_of_run("some.qrels", b"q1 0 d1 1\nq1 0 d2 0\n")

    assert message == (
        "some.qrels cannot be scored: few-columns (2)\n"
        "  some.qrels:1: 4 columns, expected 6\n"
        "  some.qrels:2: 4 columns, expected 6\n"
        "\n"
        "hint: it has the columns of judgments: were the two files given in the wrong order?"
    )


@pytest.mark.usefixtures("here")
def test_csv_without_a_header_is_recognised() -> None:
    """Commas where white space should be is another."""
    message = message_of_judgments("some.txt", b"q1,d1,1\nq1,d2,0\n")

    assert message.endswith("hint: it looks like CSV without a header: name the columns in a first line")


@pytest.mark.usefixtures("here")
def test_problems_of_csv_have_lines() -> None:
    """Quoted values may span lines; a row is named by the line it begins on."""
    content = b'query,document,grade\nq1,"d\n1",1\nq1,d2,x\nq1,d3\nq1,"d\n1",0\nq1,d4,nan\nq1,\xff,1\n'

    assert message_of_judgments("some.csv", content) == (
        "some.csv cannot be scored: bad-id (1), malformed-line (1), not-a-number (1), not-finite (1), repeated-document (1)\n"
        "  some.csv:4: grade is 'x', expected a number\n"
        "  some.csv:5: 2 columns, expected 3\n"
        "  some.csv:6: document `d\n1` is judged again for query `q1`, first at some.csv:2\n"
        "  some.csv:8: grade is nan, expected a finite number\n"
        "  some.csv:9: document is '\\udcff' (str), expected text that UTF-8 can hold\n\n"
        "hint: text in another encoding is converted by, for example, `iconv -f LATIN1 -t UTF-8 FILE`"
    )


@pytest.mark.usefixtures("here")
def test_repeats_in_sound_csv_have_lines() -> None:
    """Where Arrow reads the file, the lines are found afterwards."""
    message = message_of_judgments("some.csv", b'\nquery,document,grade\n\nq1,"d\n1",1\nq1,"d\n1",0\n')

    assert message == (
        "some.csv cannot be scored\n"
        "  some.csv:6: document `d\n1` is judged again for query `q1`, first at some.csv:4"
    )


@pytest.mark.usefixtures("here")
def test_csv_that_breaks_off_is_reported() -> None:
    """A quote that nobody closes is a malformed line."""
    message = message_of_judgments("some.csv", b'query,document,grade\nq1,d1,1\nq1,"d2,1\n')

    assert message == "some.csv cannot be scored\n  some.csv:3: cannot be read: unexpected end of data"


@pytest.mark.usefixtures("here")
def test_problems_of_jsonl_have_lines() -> None:
    """Lines that are no JSON, no objects, or lack a value are reported together."""
    content = (
        b'{"query": "q", "document": "d", "score": 1}\n'
        b"\n"
        b'{"query": "q"\n'
        b'{"query": "q", "document": 1.5, "score": "x"}\n'
        b"[]\n"
        b'{"query": "q", "score": 1}\n'
    )

    assert message_of_run("some.jsonl", content) == (
        "some.jsonl cannot be scored: bad-id (1), malformed-line (1), missing-value (1), not-a-number (1), not-an-object (1)\n"
        "  some.jsonl:3: is not valid JSON: Input data was truncated\n"
        "  some.jsonl:4: document is 1.5 (float), expected text or a whole number\n"
        "  some.jsonl:4: score is 'x' (str), expected a number\n"
        "  some.jsonl:5: holds list, expected an object with named values\n"
        "  some.jsonl:6: document is missing, expected text or a whole number"
    )


@pytest.mark.usefixtures("here")
def test_repeats_in_parquet_have_rows() -> None:
    """Where there are no lines, rows are counted from 1."""
    sink = io.BytesIO()
    pq.write_table(pa.table({"query": ["q", "q"], "document": ["d", "d"], "grade": [1, 2]}), sink)

    assert message_of_judgments("some.parquet", sink.getvalue()) == (
        "some.parquet cannot be scored\n  row 2: document `d` is judged again for query `q`, first at row 1"
    )


@pytest.mark.usefixtures("here")
def test_a_file_that_is_not_there_is_reported_with_its_neighbour() -> None:
    """A slip of the keyboard is answered with the name that was meant."""
    Path("bm25.run").write_bytes(b"")

    with pytest.raises(Unreadable) as caught:
        read_run("bm52.run")
    assert str(caught.value) == "bm52.run does not exist\n\nhint: did you mean `bm25.run`?"


@pytest.mark.usefixtures("here")
def test_content_given_as_text_is_recognised() -> None:
    """Text is a path; who gives the content itself is reported how."""
    with pytest.raises(
        Unreadable, match="hint: to give the content of a file rather than its path, give bytes"
    ):
        read_run("q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 0.25 tag\n")


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_a_text_that_no_path_can_be_is_an_error_in_words(path: str) -> None:
    """What the operating system refuses is reported as any other mistake."""
    with pytest.raises(Unreadable):
        read_run(path)


def test_a_folder_that_is_no_data_set_is_reported(here: Path) -> None:
    """A folder without judgments is named, with what lies in it."""
    (here / "data").mkdir()
    (here / "data" / "b.qrels").write_bytes(b"")

    with pytest.raises(Unreadable) as caught:
        read_judgments("data")
    assert str(caught.value) == (
        "data is a folder without qrels/test.tsv, expected a file or the folder of a BEIR data set\n\n"
        "hint: files in it: b.qrels"
    )
    with pytest.raises(Unreadable, match=r"^data holds no run: 1 file of judgments \(b\.qrels\)$"):
        read_run("data")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_recognised(encoding: str) -> None:
    """An editor's favourite mistake is reported, with the way out."""
    message = message_of_judgments("some.qrels", "q1 0 d1 1\n".encode(encoding))

    assert message == (
        "some.qrels is UTF-16 text, expected UTF-8\n\nhint: convert it: `iconv -f UTF-16 -t UTF-8 FILE`"
    )


@pytest.mark.usefixtures("here")
def test_binary_files_are_recognised() -> None:
    """A file with zero bytes is no text."""
    message = message_of_judgments("some.qrels", b"\x7fELF\x02\x01\x01\x00\x00\x00")

    assert message.startswith("some.qrels is not text: byte 8 is zero")


@pytest.mark.usefixtures("here")
def test_bare_carriage_returns_are_recognised() -> None:
    """Read as one line, such a file would seem to hold a single row."""
    message = message_of_judgments("some.qrels", b"q1 0 d1 1\rq1 0 d2 1\r")

    assert message.startswith("some.qrels ends its lines with a bare carriage return, expected a line feed")


@pytest.mark.usefixtures("here")
def test_files_cut_short_are_recognised() -> None:
    """Half a gzip or Parquet file is reported to be that."""
    packed = gzip.compress(b"q1 0 d1 1\n" * 100)
    sink = io.BytesIO()
    pq.write_table(pa.table({"query": ["q"], "document": ["d"], "grade": [1]}), sink)
    arrow = io.BytesIO()
    with pa.ipc.new_file(arrow, pa.schema([("query", pa.string())])):
        pass

    assert message_of_judgments("some.qrels.gz", packed[:-12]).startswith(
        "some.qrels.gz is compressed with gzip and cannot be unpacked: Compressed file ended"
    )
    assert message_of_judgments("some.parquet", sink.getvalue()[:-30]).startswith(
        "some.parquet cannot be read as Parquet: "
    )
    assert message_of_judgments("some.arrow", arrow.getvalue()[:-9]).startswith(
        "some.arrow cannot be read as Arrow: "
    )


@pytest.mark.usefixtures("here")
def test_json_that_breaks_off_is_reported() -> None:
    """Half a JSON object is reported to be that."""
    message = message_of_judgments("some.json", b'{"q1": {"d1": 1}')

    assert message == "some.json is not valid JSON: Input data was truncated"


@pytest.mark.usefixtures("here")
def test_columns_that_are_not_there_are_reported_with_the_names_that_would_do() -> None:
    """The names found and the names known are both in the message."""
    message = message_of_judgments("some.csv", b"qid,docno,value\n1,2,3\n")

    assert message == (
        "some.csv cannot be scored\n"
        "  columns: there is no column of grades, and `value` might be one\n"
        "\n"
        "hint: say which: `judged.read_judgments(…, map={'grade': 'value'})`, or "
        "`judged.read_judgments(…, map={'grade': ''})` if every row is relevant"
    )


def test_a_column_with_a_near_name_is_suggested_to_commands_and_in_python() -> None:
    """The few usual names, not all of them; in the words of who calls."""
    usual = "usual names are known (document: docno, doc_id, doc id, …)"
    with pytest.raises(BadInput) as caught:
        read_judgments([{"qid": "q", "docunemt": "d", "rel": 1}])
    with pytest.raises(BadInput) as by_command, worded_for_commands():
        read_judgments([{"qid": "q", "docunemt": "d", "rel": 1}])

    asked = "say which column it is: "
    assert caught.value.hint == f"{asked}`judged.read_judgments(…, map={{'document': 'docunemt'}})`; {usual}"
    assert by_command.value.hint == f"{asked}`--map document=docunemt`; {usual}"


def test_an_unknown_format_is_answered_with_the_known_ones() -> None:
    """A format's name is looked up as any other name."""
    with pytest.raises(JudgedError, match="no format is called `parket`\n\nhint: did you mean `parquet`"):
        read_run(b"", format="parket")


def test_beir_holds_no_runs() -> None:
    """A format that has no runs says so."""
    with pytest.raises(Unreadable, match="bytes cannot be read as BEIR, which holds no run"):
        read_run(b"", format="beir")


def test_more_columns_than_known_are_counted() -> None:
    """trec_eval ignores the rest of a line; so it is here, with a note."""
    judgments = read_judgments(b"q1 0 d1 1 x\nq1 0 d2 1\nq1 0 d3 1 x y z\n")

    assert judgments.table["document"].to_pylist() == ["d1", "d2", "d3"]
    assert judgments.notes == ("2 lines have more than 4 columns: the rest was ignored",)


def test_white_space_comments_and_marks_are_no_part_of_a_line() -> None:
    """Any white space separates; `#` begins a comment only at the start of a line."""
    content = b"\xef\xbb\xbf  # note\n\tq#1\v0\fd#1 +1e0\r\n\r\n#q2 0 d2 1\n q1 0  #d3\t-0.5"
    judgments = read_judgments(content)

    assert [tuple(row.values()) for row in judgments.table.to_pylist()] == [
        ("q#1", "d#1", 1.0),
        ("q1", "#d3", -0.5),
    ]


def test_errors_of_input_are_value_errors_and_of_files_os_errors() -> None:
    """Who catches Python's own errors catches these."""
    assert issubclass(BadInput, ValueError)
    assert issubclass(Unreadable, OSError)
