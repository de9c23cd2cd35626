"""The example scripts run as they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """What an example prints and how it exits."""
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8")


def test_comparing_runs_prints_means_and_differences() -> None:
    """RR of bm25 is (1/2 + 1 + 1)/3 from grade 1, of dense (1 + 1/2 + 1)/3."""
    done = run("compare_runs.py")

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("RR 0.8333") == 2
    assert len(done.stdout.splitlines()) == 5


def test_columns_of_integers_are_scored() -> None:
    """Query 7 finds one of two targets and query 8 its only one: DR@3 is 0.75, R@3 is (2/3 + 1)/2."""
    done = run("from_columns.py")

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2].split() == ["run", "0.7500", "0.8333", "0.5000"]
    assert "decimal text" in done.stdout


@pytest.mark.parametrize(("rank", "code"), [(1, 0), (2, 1)])
def test_the_gate_lets_pass_what_is_no_worse(tmp_path: Path, rank: int, code: int) -> None:
    """The same run passes; one that puts the relevant document second does not."""
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "old").write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\n")
    (tmp_path / "new").write_text(f"q Q0 a {rank} {3 - rank} t\nq Q0 b {3 - rank} {rank} t\n")

    assert run("gate.py", *(tmp_path / name for name in ("qrels", "old", "new"))).returncode == code


def test_the_gate_says_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    """A malformed run is an error of its own, without a traceback."""
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 a\n")
    done = run("gate.py", *(tmp_path / name for name in ("qrels", "run", "run")))

    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_measures_are_defined_and_scored() -> None:
    """Of q1 one result in three is wasted, of q2 one in two; between q1's relevant results there is one."""
    done = run("custom_measure.py")

    assert done.returncode == 0, done.stderr
    assert "Wasted@3   0.4167" in done.stdout
    assert "Gap        0.5000" in done.stdout
    assert "The share of the first `cutoff` results that bring nothing relevant." in done.stdout


def test_sessions_of_two_agents_are_compared() -> None:
    """Gains of eager are (4 + 3) and (2 + 4), of frugal (4 + 3) and 4: means 6.5 and 5.5."""
    done = run("sessions.py")

    assert done.returncode == 0, done.stderr
    assert "'CG@last': 6.5" in done.stdout
    assert "good results: 3 in common, 1 only eager, 0 only frugal" in done.stdout
    assert "frugal − eager: -1.00 CG" in done.stdout


def test_no_example_is_forgotten() -> None:
    """Every script in the directory is run above."""
    here = Path(__file__).read_text(encoding="utf-8")

    assert [path.name for path in EXAMPLES.glob("*.py") if f'"{path.name}"' not in here] == []


def test_the_gate_without_arguments_says_how_it_is_used() -> None:
    """A usage line and the exit code of a wrong command line, not a traceback."""
    done = run("gate.py")

    assert done.returncode == 2
    assert "Usage: gate.py QRELS BASELINE CANDIDATE" in done.stderr
    assert "Traceback" not in done.stderr
