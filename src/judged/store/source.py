"""Hashes of the code of users, so that its results are forgotten when it changes, or a module that it imports."""

from __future__ import annotations

import ast
import sys
import sysconfig
import warnings
from collections.abc import Collection, Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from judged.store.hashing import hash_file, hash_parts


def hash_source(target: object) -> str:
    """Return the hash of the module that defines a class, a function or an object; see `hash_module`."""
    return hash_module(getattr(target, "__module__", None) or type(target).__module__)


def hash_module(name: str) -> str:
    """Return the hash of a module and of the modules of the same project that it imports, directly or not.

    Nothing is imported for it. The project is the folder that the module is imported from, and the current one, without
    what is installed there. Other files, and modules whose names are computed, are not seen. Empty if the module has no
    file.
    """
    origin = _find_file(name)
    if origin is None:
        return ""
    # the `__init__.py` of a package is one folder deeper than a module of the same name
    root = origin.resolve().parents[name.count(".") + (origin.name == "__init__.py")]
    files = {name: origin}
    _add_imports(name, (root, Path.cwd()), files)
    return hash_parts(f"{module}\0{hash_file(path)}".encode() for module, path in sorted(files.items())).hex()


def _add_imports(module: str, roots: Collection[Path], files: dict[str, Path]) -> None:
    """Add the files of what a module imports of a project, and of the packages around that, by module."""
    for imported in _list_imports(module, files[module]):
        parts = imported.split(".")
        for name in (".".join(parts[:end]) for end in range(1, len(parts) + 1)):
            path = files.get(name) or _find_file(name)
            if path is not None and not _is_in_project(path.resolve(), roots):
                break  # nor is anything within it
            if path is not None and name not in files:
                files[name] = path
                _add_imports(name, roots, files)


def _is_in_project(path: Path, roots: Collection[Path]) -> bool:
    """Return whether a file is below one of the roots, and neither of an installed package nor of this one."""
    installed = not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
    others = (Path(sysconfig.get_path("stdlib")).resolve(), Path(__file__).resolve().parents[1])
    return (
        not installed and any(map(path.is_relative_to, roots)) and not any(map(path.is_relative_to, others))
    )


def _find_file(name: str) -> Path | None:
    """Return the file of a module, without importing it or the packages that it is in; None if it has none."""
    loaded = getattr(sys.modules.get(name), "__file__", None)
    spec = _find_spec(name) if loaded is None else None
    path = Path(loaded or (spec and spec.origin) or "")
    return path if path.is_file() else None


def _find_spec(name: str) -> ModuleSpec | None:
    """Return where a module would be imported from.

    `importlib.util.find_spec` imports the packages that a module is in, and so runs code that may be slow or broken.
    """
    package, _, own = name.rpartition(".")
    try:
        if not package:
            finders = (finder for finder in sys.meta_path if hasattr(finder, "find_spec"))
            return next(filter(None, (finder.find_spec(name, None) for finder in finders)), None)
        above = _find_spec(package)
        if above is None or above.submodule_search_locations is None:
            return None
        # by its own name alone: that of its package would be looked up among the modules that are imported
        return PathFinder.find_spec(own, list(above.submodule_search_locations))
    except (ImportError, ValueError):
        return None


def _list_imports(module: str, path: Path) -> Iterator[str]:
    """Yield the package of a module, and what it imports anywhere in its file: modules, or names within one."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    yield package
    try:
        with warnings.catch_warnings(
            action="ignore"
        ):  # about the code of users, which they see when it is run
            nodes = list(ast.walk(ast.parse(path.read_bytes())))
    except (SyntaxError, ValueError, RecursionError):  # compiled, or not Python
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[:1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
