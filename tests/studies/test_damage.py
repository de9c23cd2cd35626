"""Damaged logs of answers and caches of vectors: what can be used is used, the rest is done again or refused in words."""

from __future__ import annotations

import json
import random
from pathlib import Path

import msgspec
import pytest

from judged.errors import JudgedError
from judged.studies.running.run import open_study, run_study
from support.studies import own

SYSTEMS = [
    {"name": "asked", "retriever": {"type": "object", "object": "parts:retrieve"}},
    {"name": "own", "encoder": own(), "search": "exact"},
]
STUDY = {"collection": "pets", "systems": SYSTEMS, "measures": ["nDCG@5", "RR"], "repeats": 2, "warmup": 0}


@pytest.fixture(autouse=True)
def _at_the_desk(desk: Path) -> None:
    """Every test has a folder of its own."""


def means() -> dict[str, object]:
    """Run the study in its folder, and return the mean of every measure by system."""
    found = run_study(STUDY, output="out")

    assert not found.failures
    return {name: found[name].mean() for name in ("asked", "own")}


@pytest.mark.parametrize("seed", range(6))
def test_damaged_answers_are_asked_again(desk: Path, seed: int) -> None:
    """Bytes are changed, lines cut or lost: the study has the same scores, and every question an answer."""
    expected, rng = means(), random.Random(seed)  # noqa: S311 - no secret
    for path in (desk / "out" / "answers").glob("*.jsonl"):
        data = bytearray(path.read_bytes())
        for _ in range(4):
            at = rng.randrange(len(data))
            data[at] = rng.choice(b'\0\xff"{}\n,x')
        del data[rng.randrange(len(data)) :]
        path.write_bytes(data)

    try:
        assert means() == expected
    except (
        JudgedError
    ) as error:  # damage that is still an answer, such as another id, cannot be distinguished from one
        assert str(error)


@pytest.mark.parametrize(
    "line",
    [
        b"null\n",
        b"[]\n",
        b"{}\n",
        b'{"query": "q1", "sample": 0, "documents": ["d1"], "scores": [], "nanoseconds": {}}\n',
        b'{"query": "q1", "sample": 0, "documents": ["d1", "d1"], "scores": [1, 2], "nanoseconds": {"total": 5}}\n',
        b'{"query": "elsewhere", "sample": 0, "documents": [], "scores": [], "nanoseconds": {"total": 5}}\n',
        b'{"query": "q1", "sample": 99, "documents": [], "scores": [], "nanoseconds": {"total": 5}}\n',
        b'{"query": "q1", "sample": -3, "documents": [], "scores": [], "nanoseconds": {"total": -5}}\n',
        b'{"query": "q1", "sample": 0, "documents": ["d1"], "scores": [NaN], "nanoseconds": {"total": 5}}\n',
        b"[" * 50_000 + b"\n",
        b"\xff\xfe\n",
    ],
    ids=range(11),
)
def test_a_planted_line_is_passed_over(desk: Path, line: bytes) -> None:
    """What is no answer to a question of this study counts for nothing."""
    expected = means()
    for path in (desk / "out" / "answers").glob("*.jsonl"):
        path.write_bytes(line + path.read_bytes())

    assert means() == expected


def test_no_answer_at_all_is_a_study_from_the_beginning(desk: Path) -> None:
    """A folder in place of a log is refused in words."""
    expected = means()
    for path in (desk / "out" / "answers").glob("*.jsonl"):
        path.unlink()

    assert means() == expected
    log = open_study(STUDY, "out").plan[0].log.path
    log.unlink()
    log.mkdir()
    with pytest.raises((JudgedError, OSError)):
        means()


@pytest.mark.parametrize("damage", ["cut", "bytes", "text", "other vectors"])
def test_a_damaged_cache_of_vectors_is_refused_or_passed_over(desk: Path, damage: str) -> None:
    """The message names the file; a row that is no vector is encoded again."""
    expected = means()
    cache = next((desk / "cache").glob("*.sqlite"))
    for path in (desk / "out" / "answers").glob("*.jsonl"):
        path.unlink()
    if damage == "other vectors":
        import sqlite3

        with sqlite3.connect(cache) as database:
            database.execute(
                "UPDATE entries SET value = ? WHERE length(key) = 16",
                [msgspec.msgpack.encode((b"\0\0\xc0\x7f" * 3, []))],
            )
        database.close()
        assert means() == expected
        return
    data = bytearray(cache.read_bytes())
    if damage == "cut":
        del data[len(data) // 2 :]
    elif damage == "text":
        data = bytearray(b"this is no database " * 500)
    else:
        rng = random.Random(1)  # noqa: S311 - no secret
        for _ in range(2_000):
            data[rng.randrange(100, len(data))] = rng.randrange(256)
    cache.write_bytes(data)
    for beside in cache.parent.glob(f"{cache.name}-*"):
        beside.unlink()

    try:
        assert means() == expected
    except JudgedError as error:
        assert str(cache) in str(error)
        assert "cannot be used" in str(error)


def test_the_log_is_json_of_its_schema(desk: Path) -> None:
    """So that the planted lines above are read as lines at all."""
    means()
    lines = [
        line for path in (desk / "out" / "answers").glob("*.jsonl") for line in path.read_bytes().splitlines()
    ]

    assert {"query", "sample", "documents", "scores", "nanoseconds"} <= set(json.loads(lines[0]))
