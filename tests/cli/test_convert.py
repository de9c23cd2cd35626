"""`judged convert` turns files into other formats, reports what it did, and never damages a file."""

from __future__ import annotations

import gzip
from inspect import signature
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from judged.cli.convert import FORMATS as OFFERED, READABLE, command
from judged.errors import JudgedError
from judged.io.read import read_judgments, read_run
from judged.io.sniff import FORMATS

RUN = "q1 Q0 d2 1 2.5 old\nq1 Q0 d1 2 0.1 old\nq2 Q0 d1 1 -1.0 old\n"
QRELS = "q1 0 d1 1\nq1 0 d3 0\nq2 0 d1 2\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a run and judgments."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bm25.run").write_text(RUN)
    (tmp_path / "some.qrels").write_text(QRELS)
    return tmp_path


def convert(*arguments: str, given: bytes = b"") -> Result:
    """What the command does with these arguments."""
    apart = (
        {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
    )  # click before 8.2
    return CliRunner(**apart).invoke(command, arguments, input=given)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.json", "a.csv", "a.tsv.gz", "a.parquet", "a.arrow", "a.trec.zst"]
)
def test_a_run_goes_there_and_back(name: str) -> None:
    """A run that was TREC text is the same text after a way through another format."""
    there = convert("bm25.run", name)
    back = convert(name, "-", "--to", "trec", "--tag", "old", "--kind", "run")

    assert (there.exit_code, there.stdout, there.stderr) == (0, "", f"wrote the run `bm25` to {name}\n")
    assert (back.exit_code, back.stdout) == (0, RUN)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.json", "a.csv", "a.tsv.gz", "a.parquet", "a.arrow", "a.txt.xz"]
)
def test_judgments_go_there_and_back(name: str) -> None:
    """Judgments that were TREC text are the same text after a way through another format."""
    there = convert("some.qrels", name)
    back = convert(name, "-", "--kind", "judgments")

    assert (there.exit_code, there.stderr) == (0, f"wrote 3 judgments to {name}\n")
    assert (back.exit_code, back.stdout) == (0, QRELS)


@pytest.mark.usefixtures("here")
def test_standard_input_is_converted() -> None:
    """What comes through a pipe is recognised as a file is."""
    done = convert("-", "a.jsonl.gz", given=gzip.compress(RUN.encode()))

    assert done.exit_code == 0
    assert done.stderr == "wrote the run `stdin` to a.jsonl.gz\n"
    assert read_run("a.jsonl.gz").to_arrow().num_rows == 3


def test_beir_judgments_are_converted(here: Path) -> None:
    """A folder or its file becomes TREC text, and TREC text becomes such a file."""
    (here / "scifact" / "qrels").mkdir(parents=True)
    to_beir = convert("some.qrels", "scifact/qrels/test.tsv", "--to", "beir")
    from_folder = convert("scifact", "-")

    assert to_beir.exit_code == 0
    assert from_folder.stdout == QRELS


@pytest.mark.usefixtures("here")
def test_a_file_that_may_be_either_needs_a_word() -> None:
    """JSON with whole numbers may be judgments or a run; nothing is guessed."""
    Path("a.json").write_text('{"q": {"d": 1}}')
    unclear, clear = convert("a.json", "-"), convert("a.json", "-", "--kind", "judgments")

    assert isinstance(unclear.exception, JudgedError)
    assert str(unclear.exception) == (
        "a.json may hold judgments or a run\n\nhint: say which: `--kind judgments` or `--kind run`"
    )
    assert clear.stdout == "q 0 d 1\n"


def test_nothing_is_written_over_unless_forced(here: Path) -> None:
    """A file that is there stays, unless `--force` is given."""
    (here / "a.csv").write_text("precious")
    refused = convert("bm25.run", "a.csv")
    kept = (here / "a.csv").read_text()
    forced = convert("bm25.run", "a.csv", "--force")

    assert (
        str(refused.exception) == "a.csv exists already\n\nhint: `--force`, or `force=True`, writes over it"
    )
    assert kept == "precious"
    assert forced.exit_code == 0
    assert read_run("a.csv").to_arrow().num_rows == 3


@pytest.mark.usefixtures("here")
def test_notes_are_reported() -> None:
    """Notes on reading are printed beside the data, not in it."""
    Path("wide.qrels").write_text("q1 0 d1 1 extra\n")
    done = convert("wide.qrels", "-")

    assert done.stdout == "q1 0 d1 1\n"
    assert done.stderr == "note: 1 line has more than 4 columns: the rest was ignored\n"


@pytest.mark.usefixtures("here")
def test_a_file_that_cannot_be_read_is_reported_and_leaves_nothing() -> None:
    """What is wrong with the source is reported as everywhere."""
    Path("bad.run").write_text(RUN + "q3 Q0 d1 1 high old\n")
    done = convert("bad.run", "a.parquet")

    assert str(done.exception) == "bad.run cannot be scored\n  bad.run:4: score is `high`, expected a number"
    assert not Path("a.parquet").exists()


@pytest.mark.usefixtures("here")
def test_formats_may_be_named() -> None:
    """`--from` and `--to` win over names."""
    Path("odd.name").write_text("query;document;grade\nq;d;1\n")
    done = convert("odd.name", "other.name", "--from", "csv", "--to", "jsonl")

    assert done.exit_code == 0
    assert Path("other.name").read_text() == '{"query":"q","document":"d","grade":1.0}\n'
    assert read_judgments("other.name").table.num_rows == 1


def test_every_format_is_offered() -> None:
    """The command knows the formats of the catalogue without importing them."""
    held = [name for name in FORMATS if name != "topics"]

    assert list(READABLE) == held
    assert list(OFFERED) == [name for name in held if FORMATS[name].write is not None]


def test_help_has_examples() -> None:
    """The help shows examples."""
    message = convert("--help").stdout

    assert "judged convert bm25.run.gz bm25.parquet" in message
