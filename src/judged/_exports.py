"""Public names that are imported on first use, listed once: in the stub beside the package's `__init__.py`."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

__all__ = ["export_lazily"]

_IMPORT = re.compile(r"^from (\S+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)
_NAME = re.compile(r"(\w+) as \1\b")
"""A name that a stub exports, as type checkers demand: `nDCG as nDCG`."""


def export_lazily(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__`, `__dir__` and `__all__` of a package, as its `__init__.pyi` lists them."""
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    homes = {
        name: module
        for module, several, one in _IMPORT.findall(stub)
        for name in _NAME.findall(several or one)
    }

    def get_attribute(name: str) -> object:
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        if homes[name] == package:  # a module of the package itself
            return import_module(f"{package}.{name}")
        return getattr(import_module(homes[name]), name)

    public = sorted(name for name, module in homes.items() if module != package and name[0] != "_")
    return get_attribute, lambda: public, public
