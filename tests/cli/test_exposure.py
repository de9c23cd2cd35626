"""`--groups` and `--target` of `judged score` and `judged compare`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from judged.cli.main import judged

FILES = {
    "qrels.txt": "q 0 a 1\nq 0 c 1\n",
    "one.run": "q Q0 a 1 4 r\nq Q0 b 2 3 r\nq Q0 c 3 2 r\nq Q0 d 4 1 r\n",
    "two.run": "q Q0 a 1 4 r\nq Q0 c 2 3 r\nq Q0 b 3 2 r\nq Q0 d 4 1 r\n",
    "groups.csv": "document,group\na,A\nb,A\nc,B\nd,B\n",
    "target.csv": "group,share\nA,0.9\nB,0.1\n",
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)


def run(*arguments: str) -> tuple[int, str]:
    """Return the exit code and everything that was printed."""
    result = CliRunner().invoke(judged, arguments)
    return result.exit_code, result.output


def test_score() -> None:
    """The published example, and another target, which is noted."""
    code, text = run("score", "qrels.txt", "one.run", "-m", "AWRF EEL", "--groups", "groups.csv")
    assert (code, "0.9862" in text) == (0, True)
    code, text = run(
        "score", "qrels.txt", "one.run", "-m", "AWRF", "--groups", "groups.csv", "--target", "target.csv"
    )
    assert code == 0
    assert "0.9862" not in text
    assert "given: A 90.0 %, B 10.0 %" in text


def test_compare() -> None:
    """Measures of exposure are compared like any other."""
    code, text = run(
        "compare",
        "qrels.txt",
        "one.run",
        "two.run",
        "-m",
        "AWRF",
        "--groups",
        "groups.csv",
        "--target",
        "corpus",
    )
    assert code == 0, text
    assert "Difference of two from one" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-m", "AWRF"], "AWRF needs the groups of documents"),
        (
            ["-m", "nDCG", "--groups", "groups.csv"],
            "`--groups` is for measures of exposure, and nDCG is none",
        ),
        (["-m", "AWRF", "--target", "corpus"], "`--target` has no effect without `--groups FILE`"),
        (["-m", "AWRF", "--groups", "groups.csv", "--target", "fair"], "fair does not exist"),
        (["-m", "AWRF", "--groups", "qrels.txt"], "qrels.txt"),
        (["-", "-m", "AWRF", "--groups", "-"], "standard input"),
    ],
)
def test_wrong_options(options: list[str], message: str) -> None:
    """Each is refused, and says why."""
    code, text = run("score", "qrels.txt", "one.run", *options)
    assert code == 2, text
    assert message in text
