"""The append-only log: cut at any byte, it is read as far as it is whole, and goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from judged.store.log import Log


class Record(msgspec.Struct, frozen=True):
    """What the logs of these tests hold."""

    name: str
    values: tuple[float, ...] = ()
    inner: dict[str, Any] = {}


RECORDS = (
    Record("plain", (1.0, -2.5e-7)),
    Record('ümlaut, 🦜 \u2028 \\ " \n }', (), {"a": {"b": [None, True]}}),
    Record(""),
)


def open_log(path: Path, *, durable: bool = False) -> Log[Record]:
    """Return a log of records."""
    return Log(path, msgspec.json.Decoder(Record).decode, durable=durable)


def cut_and_go_on(path: Path, records: tuple[Record, ...]) -> None:
    """Cut a log at every byte; what was whole is read, before and after another record is added."""
    path.write_bytes(b"")
    ends = [0]
    for record in records:
        open_log(path).append(record)
        ends.append(path.stat().st_size)
    whole, last = path.read_bytes(), Record("last")
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        # a record is complete at its closing brace, before the end of its line
        expected = [record for record, end in zip(records, ends[1:], strict=True) if length >= end - 1]

        assert list(open_log(path).read()) == expected, length
        open_log(path).append(last)
        open_log(path).append(last)
        assert list(open_log(path).read()) == [*expected, last, last], length


def test_a_log_cut_at_any_byte_resumes(tmp_path: Path) -> None:
    """Also within a character of several bytes, and between a record and the end of its line."""
    cut_and_go_on(tmp_path / "log.jsonl", RECORDS)


@settings(max_examples=25)
@given(st.lists(st.builds(Record, st.text(max_size=5), st.just(()), st.just({})), max_size=3).map(tuple))
def test_any_log_cut_at_any_byte_resumes(
    tmp_path_factory: pytest.TempPathFactory, records: tuple[Record, ...]
) -> None:
    """Whatever texts the records hold."""
    cut_and_go_on(tmp_path_factory.getbasetemp() / "any.jsonl", records)


@pytest.mark.parametrize(
    "line", [b"", b"null", b"[]", b"{}", b'{"name": 5}', b"\0" * 40, b"\xff\xfe", b'{"name": "a"', b"text"]
)
def test_a_damaged_line_is_passed_over_and_reported(line: bytes, tmp_path: Path) -> None:
    """With its number and its content; the lines around it are read."""
    log, damaged = open_log(tmp_path / "log"), []
    log.append(RECORDS[0])
    with log.path.open("ab") as file:
        file.write(line + b"\n")
    log.append(RECORDS[1])
    found = list(log.read(on_damage=lambda number, content, _: damaged.append((number, content))))

    assert found == list(RECORDS[:2])
    assert damaged == [(2, line + b"\n")]


def test_a_log_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    """Its file is made with its first record, and not before; records are there as soon as they are added."""
    log = open_log(tmp_path / "log", durable=True)
    assert list(log.read()) == []
    assert not log.path.exists()
    with log.open() as add:
        add(RECORDS[0])
        assert list(log.read()) == [RECORDS[0]]
        add(RECORDS[1])

    assert list(log.read()) == list(RECORDS[:2])


WRITE = """
import sys
from pathlib import Path
from judged.store.log import Log

log = Log(Path(sys.argv[1]), bytes, durable=False)
with log.open() as add:
    for number in range(1_000_000):
        add({"writer": sys.argv[2], "number": number, "text": "x" * 3000})
        if number == 200:
            print("begun", flush=True)
"""


def test_writers_that_are_killed_leave_whole_lines_of_each_other(tmp_path: Path) -> None:
    """Two at a time, three times: no line is mixed, and each writer's are from its first, none left out."""
    path = tmp_path / "log"
    for attempt in range(3):
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITE, path, f"{attempt} {name}"], stdout=subprocess.PIPE)
            for name in ("one", "two")
        ]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.communicate()
    numbers: dict[str, list[int]] = {}
    for record in Log(path, json.loads).read():
        numbers.setdefault(record["writer"], []).append(record["number"])

    assert len(numbers) == 6
    for found in numbers.values():
        assert found == list(range(len(found)))
        assert len(found) > 200
