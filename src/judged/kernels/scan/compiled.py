"""Which scanner is in use: the compiled one where it was built and is wanted, else the one in NumPy."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

__all__ = ["load_compiled", "load_scanner"]


def load_compiled(name: str) -> ModuleType | None:
    """The compiled module of that name; None where it was not built, or JUDGED_COMPILED=0 says to do without."""
    if os.environ.get("JUDGED_COMPILED") == "0":
        return None
    try:
        return import_module(f"judged.kernels.scan.{name}")
    except ImportError:
        return None


def load_scanner() -> ModuleType:
    """The module whose `index_from`, `scan_text` and `scan_columns` are to be used."""
    return load_compiled("_scan") or import_module("judged.kernels.scan.scanner")
