"""Public names that are imported on first use, listed once: in the stub next to the package's `__init__.py`."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` and everything else is imported on first use as well
if TYPE_CHECKING:
    from collections.abc import Callable

IMPORT = r"^from (\S+) import (?:\(([^)]*)\)|(.*))$"
NAME = r"(\w+) as \1\b"
"""A name that a stub exports, as type checkers demand: `nDCG as nDCG`."""


def export_lazily(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package, as its `__init__.pyi` lists them.

    `__getattr__` knows `__all__` too.
    """
    known: dict[str, str] = {}

    def homes() -> dict[str, str]:
        if not known:
            known.update(_read_stub(f"{file.removesuffix('.py')}.pyi"))
        return known

    def list_public() -> list[str]:
        return sorted(name for name, module in homes().items() if module != package and name[0] != "_")

    def get_attribute(name: str) -> object:
        from importlib import import_module

        if name == "__all__":
            return list_public()
        if name not in homes():
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        if homes()[name] == package:  # a module of the package itself
            return import_module(f"{package}.{name}")
        return getattr(import_module(homes()[name]), name)

    return get_attribute, list_public


def _read_stub(path: str) -> dict[str, str]:
    """Return the module of every name that a stub exports."""
    import re
    from pathlib import Path

    stub = Path(path).read_text(encoding="utf-8")
    return {
        name: module
        for module, several, one in re.findall(IMPORT, stub, re.MULTILINE)
        for name in re.findall(NAME, several or one)
    }
