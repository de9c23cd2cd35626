"""Progress: silent, lines or a bar."""

from __future__ import annotations

import io
from functools import partial

import pytest

from cli.conftest import Invoke
from judged.cli.progress import Progress


def test_without_a_terminal_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Unless lines are wanted."""
    with Progress("Scoring") as progress:
        progress(1, 2)

    assert capsys.readouterr().err == ""


def test_lines_come_at_intervals(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Share, detail and time left; a job that takes less than half a minute prints none."""
    with Progress("Labelling", lines=True) as progress:
        progress(1, 4, "cost 1")
        monkeypatch.setattr("judged.cli.progress.LINE_INTERVAL", 0.0)
        progress(4, 4, "cost 2")

    assert capsys.readouterr().err == "Labelling: 4 of 4 (100 %), cost 2, 0:00 left\n"


def test_an_announcement_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    """However often it is repeated while a job waits."""
    with Progress("Labelling", lines=True) as progress:
        progress.announce("waiting for another job")
        progress.announce("waiting for another job")

    assert capsys.readouterr().err == "Labelling: waiting for another job\n"


def test_a_bar_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """The title is shortened; the counts, the cost and the time left are not."""
    console = pytest.importorskip("rich.console", reason="rich is not installed")
    screen = io.StringIO()
    wide = partial(console.Console, file=screen, force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(console, "Console", lambda **_: wide())
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Progress("Labelling with a model of a rather long name", delay=0) as progress:
        progress(300, 1100, "12 failed, cost 0.0123")
        progress._timer.join()

    assert "300/1,100  12 failed, cost 0.0123, 0:00 left" in screen.getvalue()


@pytest.mark.parametrize(
    ("command", "title"),
    [
        (["lint", "qrels.txt", "bm25.run"], "Checking"),
        (["explain", "qrels.txt", "bm25.run", "--published", "0.5"], "Explaining"),
        (["agreement", "qrels.txt", "qrels.txt"], "Comparing labels"),
        (["convert", "bm25.run", "bm25.parquet"], "Converting"),
        (["score", "qrels.txt", "bm25.run"], "Scoring bm25"),
        (["score", "qrels.txt", "bm25.run", "--bounds"], "Bounds"),
        (["compare", "qrels.txt", "bm25.run", "dense.run"], "Scoring bm25"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_commands_that_may_take_long_say_what_they_do(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, command: list[str], title: str
) -> None:
    """Each shows progress, through the one class for it."""
    begun: list[str] = []
    enter = Progress.__enter__
    monkeypatch.setattr(
        Progress, "__enter__", lambda progress: (begun.append(progress._title), enter(progress))[1]
    )
    result = invoke(*command)

    assert title in begun, result.output


def test_bounds_are_counted_query_by_query(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every system and measure, and each is computed once, although the table asks for it again."""
    seen: list[tuple[int, int | None, str]] = []
    monkeypatch.setattr(
        Progress, "__call__", lambda _, done, total=None, detail="": seen.append((done, total, detail))
    )
    invoke("score", "qrels.txt", "bm25.run", "dense.run", "-m", "AP", "--bounds")
    bounds = [one for one in seen if one[2]]

    assert {what for _, _, what in bounds} == {"bm25, AP", "dense, AP"}
    assert len(bounds) == len(set(bounds)) == sum(total or 0 for done, total, _ in bounds if done == 0)
