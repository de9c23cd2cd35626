"""The folder of a study has one writer at a time, and its answers are of the code that is there now."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from judged.errors import JudgedError
from judged.store.lock import lock_folder
from judged.studies.outcome.folder import prepare_folder, write_study
from judged.studies.running.run import open_study, run_study
from support.studies import own

ASKED = {"name": "asked", "retriever": {"type": "object", "object": "parts:retrieve"}}
OWN = {"name": "own", "encoder": own(), "search": "exact"}
STUDY = {"collection": "pets", "systems": [ASKED, OWN], "measures": ["RR"], "warmup": 0}
RUN = f"""
import sys
from judged.studies.running.run import run_study

def wait(done, total, what):
    if done == 3:
        print("running", flush=True)
        sys.stdin.read()

run_study({STUDY!r}, output="out", progress=wait)
"""


@pytest.fixture(autouse=True)
def _at_the_desk(desk: Path) -> None:
    """Every test has a folder of its own."""


def test_a_second_writer_is_refused_until_the_first_is_killed(desk: Path) -> None:
    """Neither asks nor writes while the first is at work; then it goes on after the three answers of the first."""
    with subprocess.Popen(
        [sys.executable, "-c", RUN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"running\n"
        before = {path: path.read_bytes() for path in desk.rglob("*.jsonl")}
        with pytest.raises(JudgedError) as caught:
            run_study(STUDY, output="out")
        assert {path: path.read_bytes() for path in desk.rglob("*.jsonl")} == before
        first.send_signal(signal.SIGKILL)
    words = rf"`out` is being written by process {first.pid} on \S+, since [\d-]+ [\d:]+ UTC"

    assert re.fullmatch(words, caught.value.message)
    assert caught.value.hint == "wait until it ends, or name another folder with `-o`"
    assert open_study(STUDY, "out").done == 3
    study = run_study(STUDY, output="out")
    assert not study.failures
    assert (desk / "calls").read_text().split().count("retrieve") == 6


def test_results_are_written_by_one_process_and_list_no_lock(desk: Path) -> None:
    """Writing waits for nobody: it is refused as running is; the manifest has results alone."""
    inputs = open_study(STUDY, "out")
    study = run_study(inputs, output="out")
    with (
        lock_folder(Path("out")),
        pytest.raises(JudgedError, match="`out` is being written by process"),
    ):
        write_study(study, inputs)
    files = write_study(study, inputs)

    assert desk / "out" / "study.json" in [path.resolve() for path in files]
    assert not [path for path in files if path.name.startswith(".")]
    assert ".judged-lock" not in (desk / "out" / "manifest.json").read_text()


def test_a_lock_that_is_left_alone_in_a_folder_does_not_make_it_foreign() -> None:
    """As a process leaves it that is killed before its first answer."""
    Path("new").mkdir()
    Path("new/.judged-lock").write_text("{}")
    prepare_folder(Path("new"))

    assert not run_study(STUDY, output="new").failures
    assert not Path("new/.judged-lock").exists()


def test_answers_of_a_changed_helper_are_not_kept(desk: Path) -> None:
    """The module that the study names imports one that imports another: a change there counts, and only there."""
    (desk / "parts.py").write_text(f"import helper\n{(desk / 'parts.py').read_text()}")
    (desk / "helper.py").write_text("from deeper import NUMBER\n")
    (desk / "deeper.py").write_text("NUMBER = 1\n")
    (desk / "other.py").write_text("NUMBER = 1\n")
    run_study(STUDY, output="out")
    (desk / "other.py").write_text("NUMBER = 2\n")
    assert [planned.finished for planned in open_study(STUDY, "out", reuse=True).plan] == [True, True]
    (desk / "deeper.py").write_text("NUMBER = 2\n")

    assert [planned.done for planned in open_study(STUDY, "out", reuse=True).plan] == [0, 0]
    (desk / "deeper.py").write_text("NUMBER = 1\n")
    assert [planned.finished for planned in open_study(STUDY, "out", reuse=True).plan] == [True, True]
