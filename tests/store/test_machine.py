"""The machine, and where it keeps caches."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from judged.store.files import cache_folder
from judged.store.machine import describe_machine, list_versions, name_machine


def test_caches_are_where_the_system_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment names another folder; on Linux XDG's variable counts."""
    monkeypatch.delenv("JUDGED_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert cache_folder() == tmp_path / "judged"
    monkeypatch.setenv("JUDGED_CACHE", str(tmp_path / "own"))

    assert cache_folder() == tmp_path / "own"


def test_the_machine_is_described_in_one_way() -> None:
    """Short in every result, long where times are measured; versions of what is installed."""
    found = describe_machine()

    assert name_machine() == f"{found['system']}, Python {found['python']}"
    assert list(found) == ["processor", "processors", "system", "python", "numpy"]
    assert list_versions("numpy", "no-such-package") == {"numpy": np.__version__}
