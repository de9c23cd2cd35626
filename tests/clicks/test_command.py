"""`judged clicks` and `judged interleave`: what they print and write, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import judged
from judged.cli.main import judged as program
from support.every_result import list_clicks


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log of two systems."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in list_clicks()))
    Path("new.run").write_text(
        "".join(f"q{q} Q0 {d} 0 {s} new\n" for q in range(3) for d, s in (("y", 2), ("x", 1)))
    )
    Path("old.run").write_text(
        "".join(f"q{q} Q0 {d} 0 {s} old\n" for q in range(3) for d, s in (("x", 2), ("y", 1)))
    )
    return path


def run(*words: str) -> Result:
    """The command, as it is called."""
    return CliRunner().invoke(program, list(words))


@pytest.mark.usefixtures("log")
def test_means_differences_and_checks() -> None:
    """And the same numbers as in Python, in JSON."""
    done = run(
        "clicks", "log.jsonl", "-m", "CTR CTR@1", "--baseline", "a", "-o", "out.json", "-o", "report.html"
    )

    assert done.exit_code == 0, done.output
    assert "A/A splits" in done.output
    assert "sample ratio as planned: a 10, b 10 users" in done.output
    report = judged.load("out.json")
    expected = judged.evaluate_clicks("log.jsonl", "CTR CTR@1", baseline="a")
    assert report.rows("differences") == expected.rows("differences")
    assert 'definePage("clicks"' in Path("report.html").read_text()


@pytest.mark.usefixtures("log")
def test_files_are_systems() -> None:
    """Named by their files, or as the user says."""
    done = run("clicks", "one=log.jsonl", "two=log.jsonl", "-m", "CTR", "--format", "csv")

    assert done.exit_code == 0, done.output
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == ["system", "one", "two"]


@pytest.mark.usefixtures("log")
def test_a_model_and_its_judgments() -> None:
    """Written as TREC text, with what was left out."""
    done = run(
        "clicks",
        "log.jsonl",
        "--model",
        "SDBN(prior=(1, 2))",
        "--test",
        "0",
        "--judgments",
        "c.qrels",
        "--minimum",
        "13",
        "--levels",
        "2",
    )

    assert done.exit_code == 0, done.output
    assert "Predictions" in done.output
    kept = [line.split() for line in Path("c.qrels").read_text().splitlines()]
    assert kept
    assert {grade for *_, grade in kept} <= {"0", "1"}
    assert (
        f"{6 - len(kept)} pairs of query and document with fewer than 13 impressions left out"
        in done.output.replace("\n  ", " ")
    )


@pytest.mark.usefixtures("log")
def test_the_value_of_a_run() -> None:
    """With the weights beside it."""
    done = run("clicks", "log.jsonl", "--value", "new.run", "--method", "IPS,DR")

    assert done.exit_code == 0, done.output
    assert "effective sample size" in done.output


@pytest.mark.usefixtures("log")
def test_lists_are_made_and_judged() -> None:
    """From two runs to an outcome."""
    made = run("interleave", "old.run", "new.run", "--k", "2", "-o", "lists.csv")
    assert made.exit_code == 0, made.output
    lists = [line.split(",") for line in Path("lists.csv").read_text().splitlines()[1:]]
    Path("shown.csv").write_text(
        "impression,user,query,document,rank,click\n"
        + "".join(
            f"{query}-{at},{at},{query},{document},{rank},{int(team == 'new')}\n"
            for query, _, rank, document, team, _ in lists
            for at in range(8)
        )
    )
    done = run("clicks", "shown.csv", "--lists", "lists.csv", "-m", "Interleaving")

    assert done.exit_code == 0, done.output
    assert "1 is for `new`, −1 for `old`" in done.output
    ignored = run("clicks", "shown.csv", "--lists", "lists.csv", "-m", "Interleaving", "--ignore-prefix")
    assert ignored.exit_code == 0, ignored.output


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("clicks missing.csv", "missing.csv does not exist"),
        ("clicks log.jsonl -m nDCG@10", "nDCG"),
        ("clicks log.jsonl -m TimeToClick", "needs times of clicks"),
        ("clicks log.jsonl --baseline zzz", "zzz"),
        ("clicks log.jsonl --ratio a=x", "is not a share"),
        ("clicks log.jsonl --model PBM -m CTR", "has no effect with `--model NAME`"),
        ("clicks log.jsonl --clip 3", "has no effect without `--value FILE`"),
        ("clicks log.jsonl --model NOPE", "NOPE"),
        ("clicks log.jsonl --value new.run --method ABC", "ABC"),
        ("clicks log.jsonl log.jsonl", "two logs are called `log`"),
        ("clicks new.run", "new.run"),
        ("interleave old.run missing.run", "missing.run does not exist"),
    ],
)
def test_what_is_wrong_is_said(words: str, message: str) -> None:
    """In one sentence, without a traceback."""
    done = run(*words.split())

    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output
