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


BINARY = "query,right,ms\nq1,1,120\nq2,0,130\nq3,1,90\nq4,1,110\nq5,1,100\n"
REPEATED = "query,seed,f\nq1,1,0.5\nq1,2,0.7\nq2,1,0.4\nq2,2,\nq3,2,0.9\nq4,1,0.3\nq4,2,0.2\n"


def test_shares_have_wilsons_interval_in_every_command(tmp_path: Path) -> None:
    """4 of 5: statsmodels 0.15.0 `proportion_confint(4, 5, method="wilson")` has 0.3755 and 0.9638; 5 of 5 has 0.5655 and 1."""
    (tmp_path / "a.csv").write_text(BINARY)
    (tmp_path / "b.csv").write_text(BINARY.replace("q2,0", "q2,1"))
    done = run("score", "--scores", "a.csv", "b.csv")
    compared = run("compare", "--scores", "a.csv", "b.csv", "--higher", "right", "--intervals")

    for shown in (done, compared):
        assert "0.8000 [0.3755, 0.9638]" in shown.stdout
        assert "1.0000 [0.5655, 1.0000]" in shown.stdout
    assert "(Student's t; Wilson's score for right, values of 0 and 1 only)" in done.stderr


def test_the_note_on_wilsons_interval_comes_with_the_interval(tmp_path: Path) -> None:
    """Shown are the means of all measures with `--intervals`, else the best of the first measure alone."""
    (tmp_path / "a.csv").write_text(BINARY)
    (tmp_path / "b.csv").write_text(BINARY.replace("q2,0", "q2,1"))
    files = ("compare", "--scores", "a.csv", "b.csv")

    assert "Wilson" not in run(*files).stderr
    assert "Wilson" not in run(*files, "--lower", "ms").stderr
    assert "right: the interval of a mean is Wilson's" in run(*files, "--higher", "right").stderr
    assert "right: the interval of a mean is Wilson's" in run(*files, "--intervals").stderr


@pytest.mark.parametrize("lines", [1, 2, 5])
def test_score_and_compare_show_the_same_intervals(lines: int, tmp_path: Path) -> None:
    """Also of one query and of two: one rule decides what has an interval."""
    for name, text in (("a", BINARY), ("b", BINARY.replace("q2,0", "q2,1").replace("100", "140"))):
        (tmp_path / f"{name}.csv").write_text("\n".join([*text.splitlines()[: lines + 1], ""]))
    scored = run("score", "--scores", "a.csv", "b.csv", "--format", "json")
    compared = run("compare", "--scores", "a.csv", "b.csv", "--format", "json")
    ends = {
        (row["system"], row["measure"]): (row.get("low"), row.get("high"))
        for row in json.loads(scored.stdout)["tables"]["means"]
    }

    for row in json.loads(compared.stdout)["tables"]["means"]:
        assert (row["low"], row["high"]) == ends[row["system"], row["measure"]]


def test_a_mean_without_an_interval_is_named(tmp_path: Path) -> None:
    """With the reason, as in a comparison."""
    (tmp_path / "a.csv").write_text("query,f,g\nq1,0.5,1.5\nq2,0.5,2\n")
    done = run("score", "--scores", "a.csv")

    assert "no interval of f for any system: no spread" in done.stderr


@pytest.mark.parametrize("command", ["score", "compare", "gate"])
def test_attempts_without_a_value_are_named(command: str, tmp_path: Path) -> None:
    """One of q2, whose cell is empty, and one of q3, which has no row for it."""
    (tmp_path / "a.csv").write_text(REPEATED)
    (tmp_path / "b.csv").write_text(REPEATED.replace("0.7", "0.8"))
    files = {
        "score": ("a.csv", "b.csv"),
        "compare": ("a.csv", "b.csv"),
        "gate": ("a.csv", "--baseline", "b.csv", "--higher", "f", "--min-delta", "-0.5"),
    }
    done = run(command, "--scores", *files[command])

    assert "Warning: 2 attempts without a value of f (q2, q3): left out" in done.stderr


def test_attempts_that_are_missing_count_as_0_if_asked(tmp_path: Path) -> None:
    """(0.6 + 0.2 + 0.45 + 0.25) / 4; seeds drawn anew for each query lack nothing: (0.6 + 0.4) / 2."""
    (tmp_path / "a.csv").write_text(REPEATED)
    (tmp_path / "own.csv").write_text("query,seed,f\nq1,11,0.5\nq1,12,0.7\nq2,21,0.3\nq2,22,0.5\n")
    zero = run("score", "--scores", "a.csv", "--missing", "zero", "--format", "csv")
    own = run("score", "--scores", "own.csv", "--missing", "zero", "--format", "csv")

    assert float(zero.stdout.splitlines()[1].split(",")[1]) == pytest.approx(0.375)
    assert "2 attempts without a value of f (q2, q3): counted as 0" in zero.stderr
    assert float(own.stdout.splitlines()[1].split(",")[1]) == pytest.approx(0.5)
    assert "without a value" not in own.stderr


def test_a_gate_without_a_margin_needs_a_scale(tmp_path: Path) -> None:
    """A hundredth of a share is derived and said; of milliseconds nothing can be derived."""
    (tmp_path / "ms.csv").write_text(BINARY)
    rows = [{"id": f"q{at}", "passed": at < 7} for at in range(8)]
    (tmp_path / "flags.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused = run("gate", "--scores", "ms.csv", "--baseline", "ms.csv", "--lower", "ms", "-m", "ms")
    given = run(
        "gate", "--scores", "ms.csv", "--baseline", "ms.csv", "--lower", "ms", "-m", "ms", "--min-delta", "-5"
    )
    derived = run("gate", "--scores", "flags.jsonl", "--baseline", "flags.jsonl", "--higher", "passed")

    assert refused.exit_code == 2
    assert "`min_delta` is not given, and ms has no known scale" in refused.stderr
    assert given.exit_code == 0
    assert "no `min_delta` was given: -0.01, a hundredth of the scale" in derived.stderr


@pytest.mark.parametrize("baseline", ["old.csv", "./old.csv", "base=old.csv"])
def test_a_baseline_may_be_a_file_that_is_not_listed(baseline: str) -> None:
    """It is added, and is what the other is compared with."""
    done = run("compare", "--scores", "new.csv", "--baseline", baseline, "-m", ODD, "--format", "json")

    assert json.loads(done.stdout)["systems"] == ["new", "base" if "=" in baseline else "old"]
    assert json.loads(done.stdout)["baselines"] == ["base" if "=" in baseline else "old"]


def test_columns_are_mapped(tmp_path: Path) -> None:
    """The query and the system, in every command that reads scores."""
    rows = [f"q{at},{name},{value}" for name in ("a", "b") for at, value in enumerate(NEW)]
    (tmp_path / "all.csv").write_text("\n".join(["frage,modell,wert", *rows, ""]))
    named = ("--map", "query=frage,system=modell")
    scored = run("score", "--scores", "all.csv", *named, "--format", "csv")
    compared = run("compare", "--scores", "all.csv", *named, "--format", "json")
    gate = run("gate", "--scores", "all.csv", "--baseline", "a", *named, "--higher", "wert", "--min-delta=-1")
    power = run("power", "--scores", "all.csv", *named, "-m", "wert", "--difference", "0.1")
    without = run("score", "--scores", "all.csv")

    assert [line.split(",")[0] for line in scored.stdout.splitlines()] == ["system", "a", "b"]
    assert json.loads(compared.stdout)["systems"] == ["a", "b"]
    assert (gate.exit_code, power.exit_code) == (0, 0), gate.output + power.output
    assert "Verdict: pass (b against a" in gate.stdout
    assert "none names the query" in without.stderr
    assert "`--map query=COLUMN`" in without.stderr


def test_a_column_that_was_named_and_is_not_of_numbers_is_shown(tmp_path: Path) -> None:
    """With its first cells, in place of the names of other columns."""
    (tmp_path / "a.csv").write_text("query,f,g\nq1,80 %,1.5\nq2,-,2\n")

    for command in (("score",), ("compare", "--baseline", "new.csv")):
        done = run(command[0], "--scores", "a.csv", *command[1:], "-m", "f")
        assert done.exit_code == 2
        assert "`f` is not a measure of" in done.stderr
        assert "it holds `80 %`, `-`, expected numbers" in done.stderr


def test_scores_given_as_judgments_are_pointed_out(tmp_path: Path) -> None:
    """Of a known tool by name; of a table without documents in general."""
    cases = [{"input": f"q{at}", "metricsData": [{"name": "m", "score": 0.5}]} for at in range(3)]
    (tmp_path / "d.json").write_text(json.dumps({"testCases": cases}))

    for files in (("compare", "d.json", "d.json"), ("score", "d.json"), ("gate", "d.json", "d.json")):
        more = ("--baseline", "d.json") if files[0] == "gate" else ()
        assert "`--scores` reads d.json, which holds a test run of deepeval" in run(*files, *more).stderr
    assert "are read with `--scores`" in run("compare", "old.csv", "new.csv").stderr
    assert "`--scores` reads values of measures by query" in run("score", "old.csv").stderr


def test_a_file_of_several_systems_is_a_gate_each(tmp_path: Path) -> None:
    """Of each but the baseline, which is one of them, as with runs."""
    rows = [
        f"q{at},{name},{value + shift}"
        for name, shift in (("a", 0), ("b", 1), ("c", -1))
        for at, value in enumerate(NEW)
    ]
    (tmp_path / "all.csv").write_text("\n".join(["query,system,f", *rows, ""]))
    gates = ("gate", "--scores", "all.csv", "--higher", "f", "--min-delta", "-0.1")
    done = run(*gates, "--baseline", "a", "--format", "json")
    unknown = run(*gates, "--baseline", "d")

    assert done.exit_code == 1
    assert [(gate["run"], gate["verdict"]) for gate in json.loads(done.stdout)["gates"]] == [
        ("b", "pass"),
        ("c", "fail"),
    ]
    assert "no file or system for the baseline is called `d`" in unknown.stderr


def test_files_of_means_are_not_scores() -> None:
    """Those that judged wrote itself, which are answered with what to write instead."""
    run("score", "--scores", "old.csv", "new.csv", "-o", "means.csv")
    done = run("compare", "--scores", "means.csv", "old.csv")

    assert "holds a row for each system, as means have, expected the scores of every query" in done.stderr
    assert "--per-query" in done.stderr


def test_the_answer_counts_clusters() -> None:
    """Where these are the independent draws."""
    done = run("compare", "--scores", "old.csv", "new.csv", "--cluster", "page", "-m", ODD, "--lower", ODD)

    assert "hese 8 queries in 4 clusters" in done.stdout.replace("\n", " ")
    assert "too few clusters" in done.stdout
