"""`--scores`: files of other tools in place of judgments and runs, in `compare`, `gate`, `score` and `power`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from judged.cli.main import judged
from judged.pytest import judged_gate
from judged.testing import assert_no_regression

ODD = "Answer Relevancy (v2)@k=3"
OLD = [0.5, 0.7, 0.6, 0.8, 0.75, 0.55, 0.8, 0.5]
NEW = [0.9, 0.8, 0.7, 0.9, 0.95, 0.6, 0.85, 0.7]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, values in (("old", OLD), ("new", NEW)):
        rows = [f"q{at},{value},{at // 2},{1 - value}" for at, value in enumerate(values)]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"id,{ODD},page,cost", *rows, ""]))
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    """Run a command."""
    return CliRunner().invoke(judged, list(arguments), prog_name="judged")


def test_compare_reads_scores() -> None:
    """The difference of the means, under the name that has blanks, brackets and signs."""
    done = run("compare", "--scores", "old.csv", "b=new.csv", "-m", ODD, "--higher", ODD, "--format", "json")
    document = json.loads(done.stdout)
    (row,) = document["tables"]["differences"]

    assert done.exit_code == 0, done.output
    assert (row["measure"], row["system"], row["baseline"]) == (ODD, "b", "old")
    assert row["difference"] == pytest.approx((sum(NEW) - sum(OLD)) / 8)


def test_several_names_may_be_in_one_option() -> None:
    """Separated by blanks or commas, unless the whole is a name."""
    done = run(
        "compare",
        "--scores",
        "old.csv",
        "new.csv",
        "-m",
        "cost page",
        "--lower",
        "cost",
        "--format",
        "json",
    )

    assert {row["measure"] for row in json.loads(done.stdout)["tables"]["differences"]} == {
        "cost",
        "page",
    }


def test_a_column_names_clusters_and_is_not_a_measure() -> None:
    """Four pages with two questions each."""
    done = run("compare", "--scores", "old.csv", "new.csv", "--cluster", "page", "--format", "json")

    assert done.exit_code == 0, done.output
    assert "page" not in {row["measure"] for row in json.loads(done.stdout)["tables"]["differences"]}
    assert "cluster" in done.stderr


@pytest.mark.parametrize(("higher", "code"), [(["--higher", ODD], 0), (["--lower", ODD], 1), ([], 2)])
def test_gate_exits_by_its_verdict(higher: list[str], code: int) -> None:
    """Pass, fail, and an error without a direction."""
    done = run(
        "gate", "--scores", "new.csv", "--baseline", "old.csv", "-m", ODD, "--min-delta", "-0.02", *higher
    )

    assert done.exit_code == code, done.output


def test_gates_of_a_file_may_be_of_scores(tmp_path: Path) -> None:
    """Next to those of runs; the paths are relative to the file."""
    (tmp_path / "gates.yaml").write_text(
        f"gates:\n  - scores: new.csv\n    baseline: old.csv\n    measures: ['{ODD}']\n    higher: '{ODD}'\n"
        "    min_delta: -0.01\n"
    )
    done = run("gate", "--config", "gates.yaml")
    (tmp_path / "both.yaml").write_text("gates:\n  - {scores: new.csv, run: x, baseline: old.csv}\n")
    refused = run("gate", "--config", "both.yaml")

    assert done.exit_code == 0, done.output
    assert "Verdict: pass (new against old" in done.stdout
    assert refused.exit_code == 2
    assert "`gates[0]` has `scores` and `run`, expected one or the other" in refused.output


def test_score_shows_means_with_intervals() -> None:
    """Student's, of the values of the queries."""
    done = run("score", "--scores", "old.csv", "-m", ODD)

    assert done.exit_code == 0, done.output
    assert "0.6500 [" in done.stdout
    assert "brackets hold the 95 % confidence interval" in done.stderr


def test_score_sorts_by_a_name_that_is_odd() -> None:
    """In descending order with a sign."""
    done = run("score", "--scores", "old.csv", "new.csv", f"--sort=-{ODD}", "--format", "csv")

    assert [line.split(",")[0] for line in done.stdout.splitlines()[1:]] == ["new", "old"]


def test_missing_values_are_read_as_the_option_says(tmp_path: Path) -> None:
    """Zero in place of left out, printed as the protocol."""
    path = tmp_path / "new.csv"
    path.write_text(path.read_text().replace("q0,0.9", "q0,"))
    done = run("score", "--scores", "new.csv", "-m", ODD, "--missing", "zero", "--format", "csv")

    assert "missing values count as 0" in done.stderr
    assert float(done.stdout.splitlines()[1].split(",")[1]) == pytest.approx(sum(NEW[1:]) / 8)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "old.csv"], "Missing argument 'RUN...'"),
        (["compare", "--scores", "old.csv"], "1 system was given (old), expected two or more"),
        (["compare", "old.csv", "new.csv", "--higher", "x"], "`--higher` has no effect without `--scores`"),
        (
            ["compare", "--scores", "old.csv", "new.csv", "--threads", "2"],
            "`--threads` has no effect with `--scores`",
        ),
        (
            ["compare", "--scores", "old.csv", "new.csv", "--ties", "expected"],
            "`--ties` has no effect with `--scores`",
        ),
        (["compare", "--scores", "old.csv", "new.csv", "--missing", "error"], "expected `skip` or `zero`"),
        (["compare", "--scores", "old.csv", "new.csv", "-m", "cots"], "did you mean `cost`?"),
        (["compare", "--scores", "old.csv", "new.csv", "--scores-format", "ragsa"], "did you mean `ragas`?"),
        (["score", "--scores", "old.csv", "--intents"], "`--intents` has no effect with `--scores`"),
        (["gate", "--scores", "old.csv", "new.csv", "--baseline", "old.csv"], "two files given"),
        (["gate", "--scores", "old.csv"], "no `--baseline` given"),
        (["compare", "--scores", "none.csv", "new.csv"], "none.csv does not exist"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], words: str) -> None:
    """In words, with the exit code of an error."""
    done = run(*arguments)

    assert done.exit_code == 2
    assert words in done.output


def test_the_report_is_written(tmp_path: Path) -> None:
    """As for runs."""
    done = run("compare", "--scores", "old.csv", "new.csv", "-o", "report.html", "-o", "all.json")

    assert done.exit_code == 0, done.output
    assert ODD in (tmp_path / "report.html").read_text()
    assert json.loads((tmp_path / "all.json").read_text())["schema"].startswith("judged.comparison/")


def test_tests_can_gate_scores() -> None:
    """By the assertion, which the fixture of the plugin shares."""
    report = assert_no_regression("new.csv", measures=ODD, baseline="old.csv", higher=ODD, min_delta=-0.01)

    assert report.passed
    assert judged_gate is not None
    with pytest.raises(AssertionError, match="fail"):
        assert_no_regression("old.csv", measures=ODD, baseline="new.csv", higher=ODD, min_delta=-0.01)


def test_power_takes_names_as_they_are() -> None:
    """Of a pilot's file."""
    done = run("power", "--scores", "old.csv", "new.csv", "-m", ODD, "--difference", "0.05")

    assert done.exit_code == 0, done.output
