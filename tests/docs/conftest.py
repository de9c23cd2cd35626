"""Modules of the documentation's examples: those that a page writes, and libraries that it uses, or their likenesses."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

STAND_INS = Path(__file__).parents[1] / "support" / "stand_ins"
"""Likenesses of libraries that the documentation uses and these tests do not install; `make test-rag` has the libraries."""


@pytest.fixture(autouse=True)
def _own_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let examples import the modules that their page writes, and forget them afterwards."""
    stood_in = [str(STAND_INS)] if find_spec("langchain_core") is None else []
    inherited = [path for path in [os.environ.get("PYTHONPATH")] if path]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path, *stood_in])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*map(os.path.abspath, inherited), *stood_in]))
    yield
    likenesses = {path.name for path in STAND_INS.iterdir()} if stood_in else set()
    for name, module in list(sys.modules.items()):
        own = (getattr(module, "__file__", None) or "").startswith(str(tmp_path))
        if own or name.partition(".")[0] in likenesses:
            del sys.modules[name]
