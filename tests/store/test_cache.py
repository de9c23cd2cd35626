"""The content-addressed cache: what is added is found, by several processes, whatever dies in between."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from judged.errors import Unreadable
from judged.store.cache import Cache, remove_cache


def open_cache(path: Path | None = None) -> Cache:
    """Return a cache of things."""
    return Cache(path, holds="things", hint="name another file")


@pytest.mark.parametrize("name", [None, "cache", "folder/that/is/new/cache"])
def test_what_is_added_is_found(name: str | None, tmp_path: Path) -> None:
    """In memory and on disk; more keys than are looked up at a time, and those that are not there."""
    keys = [number.to_bytes(16, "big") for number in range(1201)]
    with open_cache(None if name is None else tmp_path / name) as cache:
        cache.add((key, key * 2) for key in keys[:-1])

        assert dict(cache.find(keys)) == {key: key * 2 for key in keys[:-1]}
        assert list(cache.read()) == [key * 2 for key in keys[:-1]]


def test_values_of_a_key_come_in_their_order_or_replace_each_other() -> None:
    """Paid answers add up; vectors take the place of earlier ones."""
    with open_cache() as cache:
        cache.add([(b"k", b"1"), (b"other", b"x")])
        cache.add([(b"k", b"2")])
        assert list(cache.find([b"k"])) == [(b"k", b"1"), (b"k", b"2")]
        cache.add([(b"k", b"3")], replace=True)

        assert list(cache.find([b"k", b"other"])) == [(b"k", b"3"), (b"other", b"x")]


def test_a_write_that_fails_leaves_the_cache_usable(tmp_path: Path) -> None:
    """All or nothing: the rows of a failed write are not there, and the next one succeeds."""
    with open_cache(tmp_path / "cache") as cache:
        with pytest.raises(Unreadable, match="cannot be used any longer"):
            cache.add([(b"good", b"1"), (b"bad", object())])  # type: ignore[list-item]
        assert list(cache.find([b"good"])) == []
        cache.add([(b"good", b"1")])

        assert list(cache.find([b"good"])) == [(b"good", b"1")]


@pytest.mark.parametrize("kind", ["text", "database", "folder"])
def test_a_file_of_something_else_is_refused_and_stays(kind: str, tmp_path: Path) -> None:
    """The error names the file and what to do."""
    path = tmp_path / "cache"
    if kind == "text":
        path.write_bytes(b"something else entirely, and long enough " * 100)
    elif kind == "folder":
        path.mkdir()
    else:
        with sqlite3.connect(path) as base:
            base.execute("CREATE TABLE precious (x)")
        base.close()
    before = None if kind == "folder" else path.read_bytes()

    with pytest.raises(Unreadable, match=f"{path} cannot be used as a cache of things") as caught:
        open_cache(path)
    assert caught.value.hint == "name another file"
    assert before is None or path.read_bytes() == before


WRITE = """
import sys
from judged.store.cache import Cache

cache = Cache(sys.argv[1], holds="things", hint="")
for number in range(int(sys.argv[3]), 1_000_000):
    name = f"{sys.argv[2]} {number}".encode()
    cache.add([(name, name * 100), (name + b"!", name * 100)])
    print(number, flush=True)
"""


def test_killed_writers_lose_nothing_and_damage_nothing(tmp_path: Path) -> None:
    """Two processes write at once and are killed, five times: what they reported is there, in pairs."""
    path = tmp_path / "cache"
    reached = {"one": 0, "two": 0}
    for _ in range(5):
        writers = {
            name: subprocess.Popen(
                [sys.executable, "-c", WRITE, path, name, str(start)], stdout=subprocess.PIPE, text=True
            )
            for name, start in reached.items()
        }
        for name, writer in writers.items():
            assert writer.stdout is not None
            for _ in range(20):
                reached[name] = int(writer.stdout.readline()) + 1
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            writer.stdout.close()
    names = [f"{name} {number}".encode() for name, end in reached.items() for number in range(end)]
    with open_cache(path) as cache:
        found = dict(cache.find([*names, *(name + b"!" for name in names)]))
        pairs = dict(cache.find(key for name in reached for key in _list_all(name)))

    assert found == {name + end: name * 100 for name in names for end in (b"", b"!")}
    assert {key.rstrip(b"!") for key in pairs} == {key for key in pairs if not key.endswith(b"!")}
    assert len(pairs) % 2 == 0


def _list_all(name: str) -> list[bytes]:
    return [f"{name} {number}{end}".encode() for number in range(5000) for end in ("", "!")]


def test_a_removed_cache_leaves_no_journal_behind(tmp_path: Path) -> None:
    """What a journal holds must not come back in the next file of that name."""
    path = tmp_path / "cache"
    writer = subprocess.Popen([sys.executable, "-c", WRITE, path, "one", "0"], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    writer.stdout.readline()
    writer.kill()
    writer.communicate()
    assert len(list(tmp_path.iterdir())) > 1
    remove_cache(path)

    assert list(tmp_path.iterdir()) == []
