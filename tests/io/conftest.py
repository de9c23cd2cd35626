"""Fixtures for tests of files."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, so that messages name files as a user would."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
