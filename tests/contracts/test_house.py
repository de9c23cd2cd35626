"""The project stays within the size and shape that was agreed."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.house import CEILINGS, find_entered, measure_house

pytest.importorskip("grimp")


def test_no_ceiling_is_exceeded() -> None:
    """`python tests/contracts/house.py` prints the numbers; all stay below their ceilings."""
    house = measure_house()

    assert house.keys() >= CEILINGS.keys()
    assert {name: house[name] for name, ceiling in CEILINGS.items() if house[name] > ceiling} == {}


def test_files_are_counted_that_a_command_enters(tmp_path: Path) -> None:
    """Functions called while modules are imported do not count; those of the command do."""
    assert [Path(path).name for path in find_entered(["--version"], tmp_path)] == ["main.py"]
    assert "cards.py" in {Path(path).name for path in find_entered(["measures", "nDCG"], tmp_path)}
