"""Extensions by other packages and users: objects that entry points announce, or that are written "module:attribute"."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, cast

from judged.errors import BadPlugin, UnknownName

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def resolve(place: str) -> object:
    """Return the object at a "module:attribute" of this package or of a manifest."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def defer(place: str) -> Callable[..., Any]:
    """Return a function that calls the one at a "module:attribute", which is imported when it is first called."""

    def call(*arguments: object, **named: object) -> object:
        return cast("Callable[..., object]", resolve(place))(*arguments, **named)

    call.__name__ = place
    return call


def list_announced(group: str) -> list[str]:
    """Return the names that installed packages announce under a group of entry points, without importing any."""
    return sorted({entry.name for entry in _read_entry_points(group, tuple(sys.path))}, key=str.lower)


def load_announced(group: str, name: str, kind: str) -> object | None:
    """Return the object that a package announces under a name, ignoring case; None if there is none."""
    entry = _find_entry(group, name, kind)
    if entry is None:
        return None
    try:
        announced: object = entry.load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        msg = f"the {kind} `{entry.name}` of {_name_package(entry)} cannot be loaded: {reason}"
        raise BadPlugin(msg) from error
    return announced


def refuse_announced(
    group: str, name: str, kind: str, *, got: str, expected: str, hint: str = ""
) -> NoReturn:
    """Raise the error about an announced object that is not what it should be, and say whose it is."""
    entry = _find_entry(group, name, kind)
    whose = "" if entry is None else f"`{entry.value}` of {_name_package(entry)}"
    msg = f"{whose} is {got}, expected {expected}"
    raise BadPlugin(msg, hint=hint or None)


def import_object(place: str, *, kind: str, group: str = "", known: Collection[str] = ()) -> object:
    """Return the object that a user wrote as "module:attribute", or by a name that a package announces.

    The current folder is searched first, as `python -m` does. `known` are further names, for the error.
    """
    announced = load_announced(group, place, kind) if group else None
    if announced is not None:
        return announced
    module, _, attribute = place.partition(":")
    if not attribute:
        names = [*known, *(list_announced(group) if group else ())]
        hint = (
            None
            if names
            else "write `module:attribute`"
            + (f", or a name announced under the entry points `{group}`" if group else "")
        )
        raise UnknownName(kind, place, names, hint=hint)
    search_current_folder()
    try:
        imported: object = import_module(module)
    except ImportError as error:
        msg = f"the {kind} `{place}` cannot be imported: {error}"
        raise BadPlugin(msg, hint="the module must be installed, or be in the current folder") from error
    return _walk(imported, attribute.split("."))


def search_current_folder() -> None:
    """Let modules of the current folder be imported, as `python -m` does."""
    if "" not in sys.path and os.getcwd() not in sys.path:  # noqa: PTH109 - as in `sys.path`
        sys.path.insert(0, os.getcwd())  # noqa: PTH109


def _walk(module: object, names: Sequence[str]) -> object:
    holder = module
    for name in names:
        if not hasattr(holder, name):
            kind = f"attribute of `{getattr(module, '__name__', module)}`"
            raise UnknownName(kind, ".".join(names), dir(holder))
        holder = getattr(holder, name)
    return holder


def _find_entry(group: str, name: str, kind: str) -> EntryPoint | None:
    # by value: a package that is on the path twice announces the same object twice
    entries = {
        entry.value: entry
        for entry in _read_entry_points(group, tuple(sys.path))
        if entry.name.lower() == name.lower()
    }
    if len(entries) > 1:
        packages = ", ".join(map(_name_package, entries.values()))
        msg = f"several packages provide a {kind} called `{name}`: {packages}"
        raise BadPlugin(msg, hint="uninstall all but one of them")
    return next(iter(entries.values()), None)


def _name_package(entry: EntryPoint) -> str:
    return f"the package `{entry.dist.name}`" if entry.dist is not None else f"`{entry.value}`"


@lru_cache(maxsize=32)
def _read_entry_points(group: str, _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return all entry points of a group; cached for each path, because it reads every package's metadata."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))
