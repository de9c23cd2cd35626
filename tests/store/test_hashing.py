"""Hashes of bytes, text, values and files are those that other tools compute."""

from __future__ import annotations

import hashlib
from pathlib import Path

from judged.store.hashing import hash_file, hash_folder, hash_parts, hash_text, hash_value


def test_hashes_are_sha256_of_what_they_say(tmp_path: Path) -> None:
    """So that other tools compute the same."""
    (tmp_path / "file").write_bytes(b"content")

    assert hash_parts([b"con", memoryview(b"tent")]) == hashlib.sha256(b"content").digest()
    assert hash_text("content") == hash_file(tmp_path / "file") == hashlib.sha256(b"content").hexdigest()
    assert hash_value({"b": 1, "a": "ü"}) == hashlib.sha256(b'{"a": "\\u00fc", "b": 1}').hexdigest()
    assert hash_text("\ud800") != hash_text("\ud801")


def test_a_folder_is_hashed_by_names_and_contents(tmp_path: Path) -> None:
    """A moved or changed file is another folder; an empty one has no hash."""
    assert hash_folder(tmp_path) == ""
    (tmp_path / "a").write_text("content")
    first = hash_folder(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    second = hash_folder(tmp_path)
    (tmp_path / "b").write_text("contents")

    assert len({first, second, hash_folder(tmp_path)}) == 3
