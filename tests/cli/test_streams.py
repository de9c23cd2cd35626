"""Streams that are closed or full: the exit code stays that of the work, and what can be written is written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from judged.cli.main import COMMANDS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix redirects the streams")

WORK = {
    "score": "qrels.txt bm25.run dense.run -o scores.json",
    "compare": "qrels.txt bm25.run dense.run",
    "gate": "qrels.txt bm25.run --baseline dense.run -m AP",
    "sessions": "-",
    "run": "missing.yaml",
    "fuse": "bm25.run dense.run -o fused.run",
    "routing": "-",
    "explain": "qrels.txt bm25.run --query q1 -m AP",
    "power": "qrels.txt bm25.run --difference 0.1 -m AP",
    "label": "pool qrels.txt",
    "questions": "missing.jsonl",
    "answers": "-",
    "clicks": "-",
    "interleave": "bm25.run dense.run",
    "index": "list",
    "agreement": "qrels.txt qrels.txt",
    "lint": "qrels.txt bm25.run",
    "report": "qrels.txt -o report.html",
    "view": "missing.json",
    "trec_eval": "qrels.txt bm25.run",
    "measures": "nDCG",
    "convert": "bm25.run - --to csv",
    "demo": "--help",
    "completion": "bash",
}
"""An invocation of every command: most succeed, some read standard input, some have something to refuse."""


def _execute(arguments: str, redirections: str, folder: Path) -> tuple[int, str, str]:
    command = f'"$0" -m judged {arguments} {redirections}'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


def test_every_command_has_an_invocation() -> None:
    """None is forgotten."""
    assert set(WORK) == set(COMMANDS)


@pytest.mark.parametrize("command", WORK)
def test_closed_streams_leave_the_exit_code_as_it_is(collection: Path, command: str) -> None:
    """With all three closed; a file that is written has its own descriptor, and no message goes into it."""
    arguments = f"{command} {WORK[command]}"
    expected, _, _ = _execute(arguments, "", collection)
    for draft in ("scores.json", "fused.run", "report.html"):
        (collection / draft).unlink(missing_ok=True)
    code, out, err = _execute(arguments, "<&- >&- 2>&-", collection)

    assert (code, out, err) == (expected, "", "")
    assert code in {0, 2, 3}
    if command == "score":
        assert (collection / "scores.json").read_text().startswith('{\n  "schema"')


@pytest.mark.parametrize("redirections", ["2>&-", "2>/dev/full", "<&- 2>&-"])
@pytest.mark.parametrize("command", ["score", "gate", "convert"])
def test_results_are_printed_though_no_message_can_be(
    collection: Path, command: str, redirections: str
) -> None:
    """Standard output and the exit code are as they are with messages."""
    expected = _execute(f"{command} {WORK[command]}", "2>/dev/null", collection)

    assert _execute(f"{command} {WORK[command]}", redirections, collection) == expected
    assert expected[1]


@pytest.mark.parametrize("arguments", ["--help", "score --help", "measures", "score qrels.txt bm25.run"])
def test_a_full_disk_is_an_error_in_words(collection: Path, arguments: str) -> None:
    """Also while the help is printed, before any command runs."""
    assert _execute(arguments, ">/dev/full", collection)[::2] == (2, "Error: No space left on device\n")


@pytest.mark.parametrize(
    "arguments",
    [
        "score qrels.txt -",
        "lint - bm25.run",
        "fuse bm25.run - -o fused.run",
        "routing -",
        "sessions -",
        "convert - out.csv",
    ],
)
def test_standard_input_that_is_closed_is_named(collection: Path, arguments: str) -> None:
    """Not taken for an empty file."""
    code, out, err = _execute(arguments, "<&-", collection)

    assert (code, out) == (2, "")
    assert err.startswith("Error: standard input is closed\n\nhint: pipe a file into it")
