"""What `judged score` shows on a terminal, and what it keeps from one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

Execute = Callable[..., "subprocess.CompletedProcess[str]"]


def test_no_colour_without_a_terminal(execute: Execute) -> None:
    """Piped output has no escape codes, whatever the environment wishes."""
    result = execute("score", "qrels.txt", "bm25.run", "dense.run", "-m", "AP", env={"FORCE_COLOR": "1"})

    assert "\x1b" not in result.stdout + result.stderr


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("environment", "bold"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
@pytest.mark.usefixtures("collection")
def test_a_terminal_shows_the_best_in_bold_unless_switched_off(
    environment: dict[str, str],
    bold: bool,
) -> None:
    """Bold on a terminal; nothing of the kind with NO_COLOR or on a dumb terminal."""
    shown = _on_a_terminal(["score", "-q", "qrels.txt", "bm25.run", "dense.run", "-m", "AP"], environment)

    assert ("\x1b[1m0.5278\x1b[0m" in shown) is bold
    assert ("\x1b" in shown) is bold


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
@pytest.mark.usefixtures("collection")
def test_parquet_is_not_thrown_at_a_terminal() -> None:
    """Bytes belong in a file; the error says how to get one."""
    shown = _on_a_terminal(["score", "-q", "qrels.txt", "bm25.run", "-m", "AP", "--format", "parquet"], {})

    assert "PAR1" not in shown


def _on_a_terminal(arguments: list[str], environment: dict[str, str]) -> str:
    """What `judged` prints on a pseudo-terminal."""
    main, other = os.openpty()
    base = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "TERM"}}
    process = subprocess.Popen(
        [sys.executable, "-m", "judged", *arguments],
        stdout=other,
        stderr=subprocess.DEVNULL,
        env={**base, "TERM": "xterm", **environment},
    )
    process.wait(timeout=60)
    os.close(other)
    shown = os.read(main, 65536).decode() if process.returncode == 0 else ""
    os.close(main)
    return shown
