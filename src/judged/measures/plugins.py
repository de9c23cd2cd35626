"""Measures that other installed packages bring: found by name, only when no other measure has that name.

A package announces its measures as entry points of the group `judged.measures`, each a name and the
"module:attribute" where the measure is.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING

from judged.errors import BadMeasure
from judged.measures.catalogue import MEASURES, register
from judged.measures.measure import Measure

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUP", "load_plugin", "plugin_names"]

GROUP = "judged.measures"
"""The group of entry points that are measures."""


def plugin_names() -> list[str]:
    """The names of all measures that installed packages announce; nothing is imported for that."""
    return sorted({each.name for each in _announced(tuple(sys.path))}, key=str.lower)


def load_plugin(name: str) -> Measure | None:
    """The announced measure of that name, in any case, now among all others; None if there is none."""
    found = {each.value: each for each in _announced(tuple(sys.path)) if each.name.lower() == name.lower()}
    if not found:
        return None
    if len(found) > 1:
        msg = f"several packages bring a measure called `{name}`: {', '.join(map(_told, found.values()))}"
        raise BadMeasure(msg, hint="uninstall all but one of them")
    return _loaded(*found.values())


def _loaded(entry: EntryPoint) -> Measure:
    """The measure that an entry point names, or an error that says whose fault it is."""
    try:
        thing = entry.load()
    except Exception as error:
        msg = (
            f"the measure `{entry.name}` of {_told(entry)} cannot be loaded: {type(error).__name__}: {error}"
        )
        raise BadMeasure(msg) from error
    if not isinstance(thing, Measure) or thing.name.lower() != entry.name.lower():
        got = f"the measure {thing.name}" if isinstance(thing, Measure) else f"a {type(thing).__name__}"
        msg = f"`{entry.value}` of {_told(entry)} is {got}, expected a measure called `{entry.name}`"
        raise BadMeasure(msg, hint=f'make it with `judged.define("{entry.name}", function)`')
    if thing.name not in MEASURES:
        register(thing)
    return thing


def _told(entry: EntryPoint) -> str:
    """The package that an entry point belongs to."""
    return f"the package `{entry.dist.name}`" if entry.dist is not None else f"`{entry.value}`"


@lru_cache(maxsize=8)
def _announced(_path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """All entry points of the group; read once for each path, because that takes a look at every package."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=GROUP))
