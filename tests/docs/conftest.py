"""Modules of the documentation's examples: those that a page writes, and libraries that it uses, or their likenesses."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

STAND_INS = Path(__file__).parents[1] / "support" / "stand_ins"
"""Likenesses of libraries that the documentation uses and these tests do not install; `make test-rag` has the libraries."""


@pytest.fixture(autouse=True)
def _own_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let examples import the modules that their page writes, and forget them afterwards."""
    stood_in = [] if _is_installed("langchain-core") else [str(STAND_INS)]
    inherited = [path for path in [os.environ.get("PYTHONPATH")] if path]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path, *stood_in])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*map(os.path.abspath, inherited), *stood_in]))
    yield
    likenesses = {path.name for path in STAND_INS.iterdir()} if stood_in else set()
    for name, module in list(sys.modules.items()):
        own = (getattr(module, "__file__", None) or "").startswith(str(tmp_path))
        if own or name.partition(".")[0] in likenesses:
            del sys.modules[name]


def _is_installed(name: str) -> bool:
    """Whether a distribution is installed; a module of its name that another test left behind does not count."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
