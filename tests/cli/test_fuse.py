"""`judged fuse`: files in, one run out, in every format; weights given or tuned."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import judged
from judged.cli.main import judged as program

BM25 = "q1 Q0 a 1 9 x\nq1 Q0 b 2 7 x\nq2 Q0 c 1 5 x\nq2 Q0 a 2 4 x\n"
DENSE = "q1 Q0 b 1 0.8 y\nq1 Q0 c 2 0.4 y\nq2 Q0 c 1 0.9 y\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs and judgments, in the current folder."""
    for name, text in (("bm25.run", BM25), ("dense.run", DENSE), ("qrels.txt", "q1 0 b 1\nq2 0 c 1\n")):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments: str) -> tuple[int, str, str]:
    """Run the command; return its exit code and what it printed."""
    done = CliRunner().invoke(program, ["fuse", *arguments])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.usefixtures("folder")
def test_a_fused_run_goes_to_standard_output() -> None:
    """As TREC text, tagged with the method."""
    code, text, _ = call("bm25.run", "dense.run")

    assert code == 0
    assert text.splitlines()[0] == f"q1 Q0 b 1 {1 / 61 + 1 / 62} rrf"
    assert [line.split()[2] for line in text.splitlines()] == ["b", "a", "c", "c", "a"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["h.run", "h.jsonl", "h.csv", "h.parquet", "h.run.gz"])
def test_every_format_holds_the_same_run(name: str) -> None:
    """And is not written over unless that is asked for."""
    code, _, notes = call("bm25.run", "dense.run", "--method", "combsum", "--depth", "2", "-o", name)
    rows = judged.read_run(name).to_arrow().to_pylist()

    assert (code, notes) == (0, f"Wrote: {name}\n")
    assert [(row["query"], row["document"]) for row in rows] == [
        ("q1", "b"),
        ("q1", "a"),
        ("q2", "c"),
        ("q2", "a"),
    ]
    assert call("bm25.run", "dense.run", "-o", name)[0] != 0
    assert call("bm25.run", "dense.run", "-o", name, "--force")[0] == 0


@pytest.mark.usefixtures("folder")
def test_weights_and_parameters_are_by_name() -> None:
    """`NAME=NUMBER`; names of runs are those of their files, or given."""
    options = ("--method", "rrf", "--set", "k=0", "--weight", "bm25=1", "--weight", "d=0.5")

    assert call("bm25.run", "d=dense.run", *options)[1].splitlines()[0] == "q1 Q0 b 1 1.0 rrf"


@pytest.mark.usefixtures("folder")
def test_tuning_prints_the_held_out_score(folder: Path) -> None:
    """Writes the run that has it, and a report."""
    options = ("--tune", "RR", "--qrels", "qrels.txt", "--folds", "2", "--step", "0.5")
    code, text, notes = call("bm25.run", "dense.run", *options, "-o", "h.run", "--report", "tuning.json")

    assert code == 0
    assert text.startswith("wsum, min-max scores: RR 1.0000")
    assert "Wrote: tuning.json" in notes
    assert judged.evaluate("qrels.txt", "h.run", "RR")["RR"] == 1.0
    assert isinstance(judged.load("tuning.json"), judged.FusionTuning)
    (folder / "train.txt").write_text("q1\n")
    assert "1 held-out queries" in " ".join(
        call("bm25.run", "dense.run", *options[:4], "--train", "train.txt")[1].split()
    )


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--weight", "bm25"), "expected NAME=NUMBER"),
        (("--folds", "3"), "`--folds` has no effect without `--tune MEASURE`"),
        (("--tune", "RR"), "`--tune` needs `--qrels FILE`"),
        (("--tune", "RR", "--qrels", "qrels.txt", "--weight", "bm25=1"), "leave `--weight` out"),
        (("--method", "rff"), "did you mean `rrf`"),
        (("-o", "h.xyz"), "names no format to write"),
    ],
)
def test_mistakes_are_named(options: tuple[str, ...], message: str) -> None:
    """With an exit code, and nothing on standard output."""
    done = CliRunner().invoke(program, ["fuse", "bm25.run", "dense.run", *options])

    assert done.exit_code != 0
    assert message in done.output
