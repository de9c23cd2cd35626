"""The lock of what long work writes: a second process learns who has it; a killed one blocks nobody."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import pytest

from judged.errors import JudgedError, Unreadable
from judged.store.lock import LOCK, lock_file, lock_folder

HOLD = """
import sys
from pathlib import Path
from judged.store.lock import lock_folder

with lock_folder(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


@contextmanager
def hold(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Let another process hold the lock of a folder until it is killed, or its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"locked\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_second_process_is_refused_in_words(tmp_path: Path) -> None:
    """Which process, on which machine, since when, and what to do."""
    with (
        hold(tmp_path / "out") as process,
        pytest.raises(JudgedError) as caught,
        lock_folder(tmp_path / "out"),
    ):
        pass
    words = (
        rf"`{re.escape(str(tmp_path))}/out` is being written by process {process.pid} on "
        rf"{re.escape(platform.node())}, since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d UTC"
    )

    assert re.fullmatch(words, caught.value.message)
    assert caught.value.hint == "wait until it ends, or name another folder with `-o`"


def test_a_second_writer_of_the_same_process_is_refused(tmp_path: Path) -> None:
    """Threads, and calls within calls, write over each other as processes do."""
    with (
        lock_folder(tmp_path),
        pytest.raises(JudgedError, match=f"being written by process {os.getpid()} on"),
        lock_folder(tmp_path),
    ):
        pass
    with lock_folder(tmp_path):
        pass


def test_a_killed_process_blocks_nobody(tmp_path: Path) -> None:
    """Its file stays, and the next process takes it over, ten times; in the end nothing is left."""
    for _ in range(10):
        with hold(tmp_path) as process:
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert (tmp_path / LOCK).exists()
            with lock_folder(tmp_path):
                assert json.loads((tmp_path / LOCK).read_bytes())["pid"] == os.getpid()

    assert list(tmp_path.iterdir()) == []


def test_a_process_that_ends_removes_its_lock(tmp_path: Path) -> None:
    """Also if it ends by an error."""
    with hold(tmp_path) as process:
        process.communicate()

    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ZeroDivisionError), lock_folder(tmp_path):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"{", b"\xff" * 50, b'{"pid": "x"}'])
def test_a_lock_that_nobody_signed_names_nobody(content: bytes, tmp_path: Path) -> None:
    """As between locking and signing; unlocked, it is taken over whatever it holds."""
    with hold(tmp_path):
        (tmp_path / LOCK).write_bytes(content)
        with pytest.raises(JudgedError) as caught, lock_folder(tmp_path):
            pass

    assert caught.value.message == f"`{tmp_path}` is being written by another process"
    (tmp_path / LOCK).write_bytes(content)
    with lock_folder(tmp_path):
        pass


def test_one_that_waits_goes_on_when_the_other_is_killed(tmp_path: Path) -> None:
    """It learns who the other is each time that it tries."""
    waited: list[str] = []
    with hold(tmp_path) as process:

        def end(holder: str) -> None:
            waited.append(holder)
            process.kill()

        with lock_file(tmp_path / LOCK, what="it", hint="wait", on_wait=end):
            pass

    assert waited[0].startswith(f"process {process.pid} on ")


def _count(folder: Path, rounds: int) -> None:
    for _ in range(rounds):
        with lock_file(folder / LOCK, what="it", hint="", on_wait=lambda _: None):
            number = int((folder / "number").read_text())
            time.sleep(0.001)
            (folder / "number").write_text(str(number + 1))


def test_one_at_a_time_holds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four processes count in a file, each reading and writing under the lock: none takes another's number."""
    monkeypatch.setattr("judged.store.lock.INTERVAL", 0.0005)
    (tmp_path / "number").write_text("0")
    processes = [get_context("fork").Process(target=_count, args=(tmp_path, 50)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)

    assert [process.exitcode for process in processes] == [0] * 4
    assert (tmp_path / "number").read_text() == "200"
    assert [path.name for path in tmp_path.iterdir()] == ["number"]


def test_what_cannot_be_locked_is_an_error_in_words(tmp_path: Path) -> None:
    """A folder where the file of the lock should be; a link, which would lead writing elsewhere."""
    (tmp_path / "a" / LOCK).mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "precious").write_text("content")
    (tmp_path / "b" / LOCK).symlink_to(tmp_path / "precious")

    for name in ("a", "b"):
        with (
            pytest.raises(Unreadable, match="cannot be locked against other processes"),
            lock_folder(tmp_path / name),
        ):
            pass
    assert (tmp_path / "precious").read_text() == "content"
