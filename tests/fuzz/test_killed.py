"""Sweeps and studies survive SIGKILL at any moment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fuzz.killed import kill_study, kill_sweep

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs process groups")


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_a_killed_sweep_loses_and_repeats_nothing(tmp_path: Path, kills: int) -> None:
    """Every point that was finished keeps its values, and every point is measured once."""
    pytest.importorskip("faiss")

    assert kill_sweep(tmp_path, kills).defects == []


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_a_killed_study_loses_and_repeats_nothing(tmp_path: Path, kills: int) -> None:
    """Every answer keeps its documents and times, and every question is asked once, but for the one under way."""
    assert kill_study(tmp_path, kills).defects == []
