"""`--map` in every command that reads tables, and `judged score` of a file that holds both."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click
import pytest
from click.testing import CliRunner, Result

from judged.cli.inputs import InputPath
from judged.cli.main import COMMANDS, judged
from judged.plugins import resolve

GERMAN = "frage,stelle,note,wert\nq1,d1,2,0.5\nq1,d2,0,0.25\nq2,d3,1,1.5\n"
NAMED = "judgments:query=frage,document=stelle,grade=note,run:query=frage,document=stelle,score=wert"
SAMPLES = Path(__file__).parents[1] / "golden" / "questions" / "ragas_samples.jsonl"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with one file whose columns are not known."""
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(GERMAN)
    Path("b.csv").write_text(GERMAN.replace("0.25", "0.75"))


def run(*arguments: str) -> Result:
    """Call the command line."""
    return CliRunner().invoke(judged, arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "a.csv", "b.csv", "-m", "RR"),
        ("compare", "a.csv", "x=a.csv", "b.csv", "-m", "RR"),
        ("explain", "a.csv", "b.csv", "-m", "RR", "--query", "q1"),
        ("gate", "a.csv", "b.csv", "--baseline", "a.csv", "-m", "RR", "--min-delta", "-0.9"),
        ("lint", "a.csv", "b.csv"),
        ("convert", "a.csv", "-", "--kind", "judgments"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_command_applies_a_mapping(arguments: tuple[str, ...]) -> None:
    """With it the files are read; without it they are refused."""
    with_map, without = run(*arguments, "--map", NAMED), run(*arguments)

    assert with_map.exit_code in {0, 3}, with_map.output  # 3: the gate cannot decide on two queries
    assert "Traceback" not in with_map.output
    assert without.exit_code == 2


def test_every_command_that_reads_tables_has_the_option() -> None:
    """It is declared once, for every input that is a table."""
    for name in COMMANDS:
        command = cast("click.Command", resolve(COMMANDS[name].home))
        reads = any(isinstance(param.type, InputPath) and param.type.table for param in command.params)

        assert any("--map" in param.opts for param in command.params) == reads, name


def test_a_mapping_that_nothing_was_read_with_is_noted() -> None:
    """Rather than ignored in silence."""
    done = run("convert", "a.csv", "-", "--kind", "judgments", "--map", f"{NAMED},timings:seconds=dauer")

    assert "timings:seconds=dauer" in done.output
    assert "had no effect" in done.output


def test_a_file_that_holds_both_is_scored_alone() -> None:
    """Judgments and results come from one argument."""
    done = run("score", str(SAMPLES), "-m", "RR", "-q")

    assert done.exit_code == 0
    assert done.output.split() == ["system", "RR", "─" * 21, "ragas_samples", "0.7500"]


def test_a_missing_run_is_asked_for() -> None:
    """A file of judgments alone needs a run."""
    Path("a.qrels").write_text("q 0 d 1\n")
    done = run("score", "a.qrels")

    assert done.exit_code == 2
    assert "QRELS alone does if it also lists what was retrieved" in done.output
