"""What several tests need: the larger collections that extra tests use, and both implementations of `align`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from judged.kernels.scan.compiled import load_compiled
from judged.measures.families import FAMILIES, unregister

# On a build server a change must not fail for what chance finds elsewhere; at a desk new examples are welcome.
settings.register_profile("server", derandomize=True, deadline=None)
settings.register_profile("desk", deadline=None)
settings.load_profile("server" if os.environ.get("CI") else "desk")


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Finds a collection that is no part of the project, or skips the test and says what is missing."""

    def folder(name: str) -> Path:
        beside = Path(__file__).resolve().parents[2] / "shared" / "data"
        place = Path(os.environ.get("JUDGED_SHARED_DATA", beside)) / name
        if not place.exists():
            pytest.skip(
                f"the collection `{name}` is not here; JUDGED_SHARED_DATA names the folder that has it"
            )
        return place

    return folder


@pytest.fixture(params=["compiled", "numpy"])
def implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The scanner under test; the compiled one is skipped where it was not built."""
    if request.param == "numpy":
        monkeypatch.setenv("JUDGED_COMPILED", "0")
    elif load_compiled("_scan") is None or load_compiled("_dicts") is None:
        pytest.skip("the compiled scanners were not built here")
    return str(request.param)


@pytest.fixture(autouse=True)
def _no_measure_outlives_its_test() -> Iterator[None]:
    """What a test or a page of documentation defines is forgotten after it."""
    yield
    for name in FAMILIES.get("custom", ()):
        unregister(name)
