"""What tests of index benchmarks share: a cache of their own, and small clustered vectors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep exact neighbours out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGED_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


@pytest.fixture(scope="session")
def vectors() -> NDArray[np.float32]:
    """Return 1,200 vectors in 40 clusters."""
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((40, 16)) * 2
    found: NDArray[np.float32] = (
        centres[rng.integers(0, 40, 1200)] + rng.standard_normal((1200, 16))
    ).astype(np.float32)
    return found


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a folder for results."""
    return tmp_path / "results"
