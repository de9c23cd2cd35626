"""Public names that are imported on first use, listed once: in the stub beside the package's `__init__.py`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

__all__ = ["export_lazily"]


def export_lazily(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__`, `__dir__` and `__all__` of a package, as its `__init__.pyi` lists them."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
    }

    def get_attribute(name: str) -> object:
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        module, attribute = homes[name]
        if module == package:  # a module of the package itself
            return import_module(f"{package}.{attribute}")
        return getattr(import_module(module), attribute)

    public = sorted(name for name, (module, _) in homes.items() if module != package and name[0] != "_")
    return get_attribute, lambda: public, public
