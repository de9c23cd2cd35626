"""What traces are read from: files packed or not, folders, bytes, standard input, objects; and what is not a source."""

from __future__ import annotations

import gzip
import io
import json
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from judged.agents.tables import Sessions
from judged.agents.traces.context import TraceProblems
from judged.agents.traces.read import read_sessions, stream_sessions
from judged.errors import BadInput, JudgedError, UnknownName, Unreadable, WrongKind

LINE = {"conversation": "c1", "turns": [{"iterations": [{"searches": [{"results": [{"id": "d1"}]}]}]}]}
OTHER = {**LINE, "conversation": "c2"}
CONTENT = b"\n".join(json.dumps(item).encode() for item in (LINE, OTHER)) + b"\n"


def names(source: Any, **how: Any) -> list[str]:
    """The conversations of a source."""
    return [session.conversation for session in stream_sessions(source, **how)]


def packed(kind: str) -> bytes:
    """The content, packed."""
    return gzip.compress(CONTENT) if kind == "gzip" else pa.compress(CONTENT, codec=kind, asbytes=True)


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_packed_files_are_unpacked_as_they_are_read(tmp_path: Path, kind: str) -> None:
    """By their first bytes, whatever they are called."""
    file = tmp_path / "agent.jsonl"
    file.write_bytes(packed("gzip") if kind == "gzip" else _zstd())

    assert names(file) == ["c1", "c2"]


def _zstd() -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(CONTENT)
    return bytes(sink.getvalue())


def test_a_truncated_compressed_file_is_reported(tmp_path: Path) -> None:
    """After what could be read of it."""
    file = tmp_path / "agent.jsonl.gz"
    file.write_bytes(gzip.compress(CONTENT)[:-12])

    with pytest.raises(Unreadable, match=r"agent.jsonl.gz is compressed with gzip and cannot be unpacked"):
        names(file)


def test_the_file_names_the_system(tmp_path: Path) -> None:
    """Without folder and extensions; `name` says otherwise."""
    file = tmp_path / "agent-b.jsonl.gz"
    file.write_bytes(gzip.compress(CONTENT))

    assert {session.system for session in stream_sessions(file)} == {"agent-b"}
    assert {session.system for session in stream_sessions(file, name="b")} == {"b"}


def test_the_files_of_a_folder_are_read_one_after_the_other(tmp_path: Path) -> None:
    """In the order of their names, as one system called after the folder; one file without a search is no fault."""
    run = tmp_path / "agent-c"
    run.mkdir()
    for name, searches in (("b.json", [{"results": [{"id": "d1"}]}]), ("a.json", []), (".hidden", None)):
        (run / name).write_text(json.dumps({"conversation": name, "iterations": [{"searches": searches}]}))
    sessions = list(stream_sessions(run))

    assert [(session.conversation, session.system, len(session.iterations)) for session in sessions] == [
        ("a.json", "agent-c", 0),
        ("b.json", "agent-c", 1),
    ]


def test_conversations_of_a_folder_that_have_no_names_are_called_after_their_files(tmp_path: Path) -> None:
    """The file alone, or the file and the line; a file that holds no trace is left out leniently, and counted."""
    bare = {name: value for name, value in LINE.items() if name != "conversation"}
    (tmp_path / "a.json").write_text(json.dumps(bare, indent=1))
    (tmp_path / "b.jsonl").write_text(f"{json.dumps(bare)}\n{json.dumps(bare)}")
    (tmp_path / "notes.txt").write_text("Dear diary")
    problems = TraceProblems()

    assert names(tmp_path, strict=False, problems=problems) == ["a", "b:1", "b:2"]
    assert problems.counts == {"unknown-format": 1}
    with pytest.raises(BadInput, match="it begins with `Dear diary`"):
        names(tmp_path, strict=True)


def test_bytes_open_files_objects_and_tables_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever holds them."""
    table = read_sessions(CONTENT)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(CONTENT)))

    sources = [
        CONTENT,
        io.BytesIO(CONTENT),
        io.StringIO(CONTENT.decode()),
        [LINE, OTHER],
        iter([LINE, OTHER]),
        table,
        "-",
    ]

    assert [names(item) for item in sources] == [["c1", "c2"]] * 7
    assert names(list(table)) == ["c1", "c2"]
    assert isinstance(table, Sessions)
    assert read_sessions(table) is table
    assert read_sessions(table, name="again").name == "again"


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([LINE, OTHER]).encode(),
        json.dumps([LINE, OTHER], indent=2).encode(),
        b"\xef\xbb\xbf" + CONTENT,
        CONTENT.replace(b"\n", b"\r\n"),
        b"\n\n" + CONTENT.replace(b"\n", b"\n\n"),
        b"\n".join(json.dumps(item, indent=2).encode() for item in (LINE, OTHER)),
    ],
)
def test_json_is_read_however_it_is_laid_out(content: bytes) -> None:
    """Lines, an array, a mark at the start, ends of lines from elsewhere, blank lines, objects over many lines."""
    assert names(content) == ["c1", "c2"]


def test_places_count_blank_lines() -> None:
    """So that an editor finds them."""
    assert [session.place for session in stream_sessions(b"\n\n" + CONTENT.replace(b"\n", b"\n\n"))] == [
        "bytes:3",
        "bytes:5",
    ]


@pytest.mark.parametrize(
    ("source", "error", "expected"),
    [
        ("nowhere.jsonl", Unreadable, "nowhere.jsonl does not exist"),
        (b"\xff\xfea\0b\0", Unreadable, "bytes is UTF-16 text, expected UTF-8"),
        (b'{"a": 1}', BadInput, "has no known trace format: its first object has `a`"),
        (b"[12:00] Dear diary", BadInput, "it begins with `[12:00] Dear diary`"),
        (b"Dear diary", BadInput, "has no known trace format: it begins with `Dear diary`"),
        (b'{"turns": [', BadInput, "bytes:1: is truncated after 11 bytes"),
        (b'[{"turns": []},\n{"turns": [}]', BadInput, "bytes:2: is not JSON"),
        (7, WrongKind, "traces cannot be read from an object of type `int`"),
        ({"turns": []}, WrongKind, "hint: put it into a list"),
        ([{"turns": {1, 2j}}], WrongKind, "object 1 cannot be read as a session"),
    ],
)
def test_what_holds_no_trace_is_refused_in_words(
    source: Any, error: type[JudgedError], expected: str
) -> None:
    """Each with what was got."""
    with pytest.raises(error) as caught:
        names(source)

    assert expected in str(caught.value)


def test_an_unknown_format_is_reported_with_the_nearest() -> None:
    """As any name is."""
    with pytest.raises(UnknownName, match="did you mean `openai-chat`"):
        names(CONTENT, format="openai-chats")


def test_memory_holds_a_session_and_not_the_file(tmp_path: Path) -> None:
    """Six megabytes of lines, packed as well, are read within three."""
    results = [{"id": f"d{number}", "snippet": "word " * 100} for number in range(40)]
    line = (
        json.dumps({"conversation": "c", "iterations": [{"searches": [{"results": results}]}]}).encode()
        + b"\n"
    )
    plain, zipped = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"
    plain.write_bytes(line * 300)
    zipped.write_bytes(gzip.compress(line * 300, compresslevel=1))
    names(plain)  # what is imported on the way does not count
    for file in (plain, zipped):
        tracemalloc.start()
        count = sum(1 for _ in stream_sessions(file))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

        assert (count, peak < 3 << 20) == (300, True)
