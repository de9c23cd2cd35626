"""The project stays within the size and shape that was agreed."""

from __future__ import annotations

from pathlib import Path

import pytest

import judged
from contracts.house import CEILINGS, NOT_YET, PACKAGE, find_entered, measure_house

pytest.importorskip("grimp")


def test_no_ceiling_is_exceeded() -> None:
    """`python tests/contracts/house.py` prints the numbers; those that are enforced stay below their ceilings."""
    if not Path(judged.__file__).is_relative_to(PACKAGE):
        pytest.skip("the sources are counted, and another copy of judged is installed")
    house = measure_house()

    assert house.keys() >= CEILINGS.keys()
    assert {
        name: house[name]
        for name, ceiling in CEILINGS.items()
        if name not in NOT_YET and house[name] > ceiling
    } == {}


def test_files_are_counted_that_a_command_enters(tmp_path: Path) -> None:
    """Functions called while modules are imported do not count; those of the command do."""
    assert [Path(path).name for path in find_entered(["--version"], tmp_path)] == ["main.py"]
    assert "cards.py" in {Path(path).name for path in find_entered(["measures", "nDCG"], tmp_path)}
