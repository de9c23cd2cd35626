"""`judged routing`: a table of decisions in, measures, confusion matrix and comparison out."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from judged.cli.main import judged as program

CHOICES = "query,chosen,optimal\nq1,a,a\nq2,a,b\nq3,b,b\nq4,b,b\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "choices.csv").write_text(CHOICES)
    (tmp_path / "skips.csv").write_text("query,retrieved,needed\nq1,no,no\nq2,yes,yes\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d 1\nq2 0 d 1\nq3 0 d 1\nq4 0 d 1\n")
    for name, first, second in (("a", "d", "e"), ("b", "e", "d")):
        rows = [f"q{at} Q0 {first} 1 2 x\nq{at} Q0 {second} 2 1 x\n" for at in range(1, 5)]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    monkeypatch.chdir(tmp_path)


def call(*arguments: str, text: str | None = None) -> Result:
    """Run the command."""
    return CliRunner().invoke(program, ["routing", *arguments], input=text)


def test_the_answer_comes_first() -> None:
    """With its interval, then the measures and the confusion matrix; also from standard input."""
    done = call("choices.csv", "-m", "Accuracy")

    assert done.stdout.splitlines()[0].startswith("Accuracy on 4 queries: choices 0.7500 [0.3006, 0.9544]")
    assert "share chosen  50.0 %  50.0 %" in done.stdout
    assert "0.7500" in call("-", text=CHOICES).stdout


def test_files_and_the_picture_are_written(tmp_path: Path) -> None:
    """The confusion matrix as SVG, the numbers as JSON and CSV."""
    done = call(
        "choices.csv", "-o", "confusion.svg", "-o", "report.json", "-o", "report.html", "--format", "csv"
    )

    assert done.exit_code == 0
    assert "<svg" in (tmp_path / "confusion.svg").read_text(encoding="utf-8")
    assert '"confusion"' in (tmp_path / "report.json").read_text(encoding="utf-8")


def test_experts_are_scored_by_their_runs() -> None:
    """`a` is the better on every query: half of the choices are right, and half a rank is lost on the others."""
    options = ("--qrels", "qrels.txt", "--expert", "a=a.run", "--expert", "b=b.run", "--quality", "RR")
    done = call("choices.csv", *options, "-m", "Accuracy Regret", "--format", "csv")

    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[1].startswith("choices,0.5,")
    assert ",0.25," in done.stdout


def test_several_routers_are_compared() -> None:
    """With the baseline that was named."""
    rows = [
        f"{name},q{at},{'a' if at < many else 'b'},a\n"
        for name, many in (("old", 5), ("new", 9))
        for at in range(10)
    ]
    done = call(
        "-", "--baseline", "old", "-m", "Accuracy", text="system,query,chosen,optimal\n" + "".join(rows)
    )

    assert done.exit_code == 0, done.output
    assert "new" in done.stdout.splitlines()[0]
    assert "0.4000" in done.stdout


def test_a_skip_policy_is_shown_with_its_companions() -> None:
    """Whatever was asked for."""
    text = call("skips.csv", "-m", "SkipEfficiency").stdout

    assert all(name in text for name in ("SkipPrecision", "SkipRecall", "WrongSkips", "QualityLost"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("choices.csv", "--qrels", "qrels.txt"), "go together"),
        (("choices.csv", "-m", "Acuracy"), "did you mean `Accuracy`"),
        (("qrels.txt",), "Error"),
        (("none.csv",), "none.csv"),
        (("choices.csv", "-o", "x.xyz"), "no format of `x.xyz`"),
    ],
)
def test_mistakes_are_named(arguments: tuple[str, ...], message: str) -> None:
    """With exit code 2."""
    done = call(*arguments)

    assert done.exit_code == 2
    assert message in done.output
