"""A folder with a small collection and parts of one's own, from which modules are imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.studies import PARTS, write_collection


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder: a collection `pets`, a module `parts`, and a cache of vectors of its own."""
    write_collection(tmp_path)
    (tmp_path / "parts.py").write_text(PARTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("JUDGED_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("parts", None)
    yield tmp_path
    sys.modules.pop("parts", None)
