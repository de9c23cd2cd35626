"""What several tests need: the larger collections that extra tests use, and both implementations of `align`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from judged.kernels.scan.compiled import load_compiled
from judged.measures.families import FAMILIES, unregister

HERE = Path(__file__).parent
FEW_EXAMPLES = 5
"""How often `--fast` runs a property."""
SETTINGS = "_hypothesis_internal_use_settings"
"""Where Hypothesis keeps the settings of a test."""
THOROUGH: frozenset[str] = frozenset()
"""Files that `--fast` leaves out: they take long, and others run the same code."""

# On a build server a change must not fail for what chance finds elsewhere; at a desk new examples are welcome.
# A shared machine may be slow at any moment, so no test has a deadline.
settings.register_profile("desk", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("server", settings.get_profile("desk"), derandomize=True)
settings.register_profile("fast", settings.get_profile("server"), max_examples=FEW_EXAMPLES)
settings.load_profile("server" if os.environ.get("CI") else "desk")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--fast`."""
    parser.addoption(
        "--fast", action="store_true", help="Run a selection that covers every package within a minute."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Run properties on few examples with `--fast`."""
    if config.getoption("fast"):
        settings.load_profile("fast")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave thorough files out with `--fast`."""
    if config.getoption("fast") and collection_path.is_relative_to(HERE):
        return collection_path.relative_to(HERE).as_posix() in THOROUGH or None
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Lower the number of examples that a property asks for itself, with `--fast`."""
    if config.getoption("fast"):
        for function in {getattr(item, "function", None) for item in items}:
            wanted = getattr(function, SETTINGS, None)
            if wanted is not None and wanted.max_examples > FEW_EXAMPLES:
                setattr(function, SETTINGS, settings(wanted, max_examples=FEW_EXAMPLES))


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
