"""Files are written whole or not at all, never over another unless forced."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from judged.errors import BadInput, JudgedError, Unwritable
from judged.io.read import read_judgments, read_run
from judged.io.sniff import FORMATS
from judged.io.write import find_format, write_judgments, write_run
from judged.tables.judgments import Judgments
from judged.tables.run import Run
from judged.tables.schema import JUDGMENTS as JUDGMENTS_SCHEMA, RUN as RUN_SCHEMA

RUN = Run.from_mapping(
    {"q2": {"b": 0.1, "a": 0.1, "é": 1e-300}, "q1": {"x": float("-inf"), "y": 3}}, name="my run"
)
JUDGMENTS = Judgments.from_mapping({"q2": {"b": 1, "a": 0.5}, "q1": {"x": -2}})


def test_trec_runs_are_ranked_as_trec_eval_ranks(tmp_path: Path) -> None:
    """Within a query the score decides, then the id from the greatest down; scores keep every digit."""
    write_run(RUN, tmp_path / "a.run")

    assert (tmp_path / "a.run").read_text(encoding="utf-8") == (
        "q2 Q0 b 1 0.1 my_run\n"
        "q2 Q0 a 2 0.1 my_run\n"
        "q2 Q0 é 3 1e-300 my_run\n"
        "q1 Q0 y 1 3.0 my_run\n"
        "q1 Q0 x 2 -inf my_run\n"
    )


def test_trec_judgments_have_whole_grades_without_a_point(tmp_path: Path) -> None:
    """Tools that read grades as integers can read what is whole."""
    write_judgments(JUDGMENTS, tmp_path / "a.qrels")

    assert (tmp_path / "a.qrels").read_text() == "q1 0 x -2\nq2 0 b 1\nq2 0 a 0.5\n"


def test_other_formats_look_as_people_expect(tmp_path: Path) -> None:
    """Names of columns and order of rows are those of the table."""
    run = Run.from_mapping({"q": {"a,b": 0.5, "c": 2}})
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.json"):
        write_run(run, tmp_path / name)

    assert (tmp_path / "a.csv").read_text() == 'query,document,score\n"q","a,b",0.5\n"q","c",2\n'
    assert (tmp_path / "a.tsv").read_text() == "query\tdocument\tscore\nq\ta,b\t0.5\nq\tc\t2\n"
    assert (tmp_path / "a.jsonl").read_text() == (
        '{"query":"q","document":"a,b","score":0.5}\n{"query":"q","document":"c","score":2.0}\n'
    )
    assert (tmp_path / "a.json").read_text() == '{"q":{"a,b":0.5,"c":2.0}}\n'


def test_beir_judgments_have_beirs_header(tmp_path: Path) -> None:
    """What is written as BEIR, BEIR reads: its header, tabs, whole grades."""
    write_judgments(Judgments.from_mapping({"q": {"d": 2}}), tmp_path / "test.tsv", format="beir")

    assert (tmp_path / "test.tsv").read_text() == "query-id\tcorpus-id\tscore\nq\td\t2\n"


def test_a_file_is_not_written_over(tmp_path: Path) -> None:
    """Only `force` replaces what is there."""
    place = tmp_path / "a.run"
    place.write_text("precious")

    with pytest.raises(JudgedError, match="exists already"):
        write_run(RUN, place)
    assert place.read_text() == "precious"
    write_run(RUN, place, force=True)
    assert read_run(place).to_arrow().num_rows == 5


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    """Neither half a file nor a passing one; what was there stays."""
    place = tmp_path / "a.qrels"
    place.write_text("precious")

    with pytest.raises(Unwritable):
        write_judgments(Judgments.from_mapping({"q 1": {"d": 1}}), place, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.qrels"]
    assert place.read_text() == "precious"


@pytest.mark.skipif(os.name != "posix", reason="permissions as Unix has them")
def test_files_have_the_permissions_that_any_other_would(tmp_path: Path) -> None:
    """A file written through a passing one is no more secret than others."""
    (tmp_path / "plain").write_text("")
    write_run(RUN, tmp_path / "a.run")

    assert stat.S_IMODE((tmp_path / "a.run").stat().st_mode) == stat.S_IMODE(
        (tmp_path / "plain").stat().st_mode
    )


@pytest.mark.skipif(os.name != "posix", reason="links as Unix has them")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """Writing over a link writes the file that it leads to."""
    (tmp_path / "real.run").write_text("old")
    (tmp_path / "link.run").symlink_to(tmp_path / "real.run")
    write_run(RUN, tmp_path / "link.run", force=True)

    assert (tmp_path / "link.run").is_symlink()
    assert (tmp_path / "real.run").read_text(encoding="utf-8").startswith("q2 Q0 b 1 0.1")


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    """What the operating system refuses is an error in words."""
    with pytest.raises(JudgedError, match=r"a\.run cannot be written: no such file or directory"):
        write_run(RUN, tmp_path / "nowhere" / "a.run")


@pytest.mark.parametrize(
    ("query", "document", "message"),
    [
        ("q 1", "d", "query is 'q 1', expected text without white space"),
        ("q", "d\t1", "document is 'd\\t1', expected text without white space"),
        ("#q", "d", "query is '#q', expected text without white space, `#` or mark at its start"),
        ("\ufeffq", "d", "query is '\\ufeffq', expected"),
        ("q", "", "document is '', expected"),
        ("q", "d\0", "document is 'd\\x00', expected"),
    ],
)
def test_ids_that_trec_text_cannot_hold_are_refused(
    tmp_path: Path, query: str, document: str, message: str
) -> None:
    """An id that would come back as another is named, with formats that can hold it."""
    with pytest.raises(Unwritable) as caught:
        write_run(Run.from_mapping({query: {document: 1}}), tmp_path / "a.run")
    assert str(caught.value).startswith(f"run cannot be written in this format\n  row 1: {message}")
    assert "hint: write JSONL, CSV, Parquet or Arrow, which hold any id" in str(caught.value)


def test_hash_signs_within_ids_are_written(tmp_path: Path) -> None:
    """Only a line that begins with `#` is a comment."""
    write_run(Run.from_mapping({"q#1": {"#d": 1}}), tmp_path / "a.run")

    assert read_run(tmp_path / "a.run").to_arrow()["document"].to_pylist() == ["#d"]


def test_what_a_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    """Targets in TREC and BEIR, fractions in BEIR, infinite scores in JSON, white space in tags."""
    targets = Judgments.from_columns(["q"], ["d"], [1], ["t"])

    with pytest.raises(Unwritable, match="TREC judgments have no column for the target"):
        write_judgments(targets, tmp_path / "a.qrels")
    with pytest.raises(Unwritable, match="its judgments have no column for the target"):
        write_judgments(targets, tmp_path / "a.tsv", format="beir")
    with pytest.raises(Unwritable, match=r"row 3: grade is 0\.5, expected a whole number"):
        write_judgments(JUDGMENTS, tmp_path / "a.tsv", format="beir")
    with pytest.raises(Unwritable, match="row 4: score is -inf, which JSON cannot hold"):
        write_run(RUN, tmp_path / "a.jsonl")
    with pytest.raises(Unwritable, match="the tag is `a b`, expected text without white space"):
        write_run(RUN, tmp_path / "a.run", tag="a b")
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_repeats_a_document_is_not_passed_on(tmp_path: Path) -> None:
    """What cannot be scored is not converted either."""
    run = Run.from_columns(["q", "q"], ["d", "d"], [1, 2])

    with pytest.raises(
        BadInput, match="row 2: document `d` is retrieved again for query `q`, first at row 1"
    ):
        write_run(run, tmp_path / "a.parquet")


def test_a_name_that_says_nothing_needs_a_format(tmp_path: Path) -> None:
    """The format is never guessed when writing."""
    with pytest.raises(JudgedError, match="names no format to write\n\nhint: name one: trec, jsonl, json"):
        write_run(RUN, tmp_path / "a.xyz")
    with pytest.raises(JudgedError, match="BEIR has no way to hold a run"):
        find_format("a.tsv", RUN_SCHEMA, "beir")


READ_ONLY = {"topics", "svmlight"}
"""Formats of other tools that are read and not written."""


def test_every_format_can_be_written_and_read() -> None:
    """No format of the catalogue is without a reader; all but those of other tools have a writer and a kind."""
    for name in FORMATS:
        made = FORMATS[name]

        assert made.name == name
        assert (made.write is None) == (name in READ_ONLY)
        assert made.kind or made.columns or name == "topics"
        assert made.holds(JUDGMENTS_SCHEMA) or name == "topics"


def test_what_was_read_can_be_written_in_place(tmp_path: Path) -> None:
    """A file may be replaced by what was read from it, although it is still mapped."""
    place = tmp_path / "a.qrels"
    place.write_text("q 0 b 1\nq 0 a 0\n")
    write_judgments(read_judgments(place), place, force=True)

    assert place.read_text() == "q 0 b 1\nq 0 a 0\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    """Nor is a device: a file in its place would be a surprise to all who use it. It holds nothing to lose."""
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_text)
        write_run(RUN, pipe)
        assert len(read.result(10).splitlines()) == 5

    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]
