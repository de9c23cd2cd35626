"""The choice of the scanner: the compiled one if it was built and is wanted, or else the one in NumPy."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType


def load_compiled(name: str) -> ModuleType | None:
    """Return the compiled module; None if it was not built, or if JUDGED_COMPILED=0."""
    if os.environ.get("JUDGED_COMPILED") == "0":
        return None
    try:
        return import_module(f"judged.kernels.scan.{name}")
    except ImportError:
        return None


def load_scanner() -> ModuleType:
    """Return the module whose `index_from`, `scan_text` and `scan_columns` are used."""
    return load_compiled("_scan") or import_module("judged.kernels.scan.scanner")
