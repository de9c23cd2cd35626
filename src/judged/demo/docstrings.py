"""The documented objects of the standard library: what each is called, summarised and told at length."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from judged.demo.modules import MODULES

__all__ = ["Entry", "entries"]

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """One object with a docstring, under all of its names."""

    names: tuple[str, ...]
    """Every dotted name, the one it was defined under first: a re-export adds a name, not an entry."""
    summary: str
    """The first paragraph of its docstring, on one line."""
    text: str
    """What follows the first paragraph."""
    owner: str | None = None
    """The class it belongs to, by its first name."""
    relatives: frozenset[str] = frozenset()
    """The methods it overrides, by their first names."""

    @property
    def name(self) -> str:
        """The name it was defined under."""
        return self.names[0]


@dataclass(slots=True)
class _Sighting:
    """An object and where it was seen, while the walk goes on."""

    thing: Any
    names: list[str]
    owner: int | None = None
    attribute: str = ""
    qualified: str = ""


def entries(modules: Iterable[str] = MODULES) -> list[Entry]:
    """Every documented function, class, method and property of these modules, sorted by name."""
    seen: dict[int, _Sighting] = {}
    for module in _importable(modules):
        for name, thing in _public(module):
            _note(seen, thing, f"{module.__name__}.{name}")
    for sighting in [each for each in seen.values() if inspect.isclass(each.thing)]:
        for name, thing in _members(sighting.thing):
            _note(seen, thing, f"{_first(sighting)}.{name}", owner=id(sighting.thing), attribute=name)
    made = [entry for sighting in seen.values() if (entry := _entry(sighting, seen)) is not None]
    return sorted(made, key=lambda entry: entry.name)


def _importable(modules: Iterable[str]) -> Iterator[ModuleType]:
    for name in modules:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield import_module(name)
        except ImportError:  # a Python may be built without it
            continue


def _public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The functions and classes that a module offers, by name."""
    for name in sorted(getattr(module, "__all__", None) or vars(module)):
        thing = getattr(module, name, None)
        if name.startswith("_") or not (inspect.isclass(thing) or inspect.isroutine(thing)):
            continue
        if hasattr(module, "__all__") or _defined_in(module.__name__, thing):
            yield name, thing


def _defined_in(module: str, thing: Any) -> bool:
    """Whether it is the module's own; one without a list of exports also shows what it imports."""
    home = (getattr(thing, "__module__", None) or "").lstrip("_")
    return home == module or home.startswith(f"{module}.")


def _members(owner: type) -> Iterator[tuple[str, Any]]:
    """The methods and properties that a class itself defines, by name."""
    for name, member in sorted(vars(owner).items()):
        thing = getattr(member, "__func__", member)
        if not name.startswith("_") and (inspect.isroutine(thing) or isinstance(thing, property)):
            yield name, thing


def _note(
    seen: dict[int, _Sighting], thing: Any, name: str, *, owner: int | None = None, attribute: str = ""
) -> None:
    sighting = seen.setdefault(id(thing), _Sighting(thing, [], owner, attribute, _qualified(thing)))
    if name not in sighting.names:
        sighting.names.append(name)


def _qualified(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"


def _first(sighting: _Sighting) -> str:
    """The name of the definition, if it was seen there; else the shortest."""
    return min(sighting.names, key=lambda name: (name != sighting.qualified, len(name), name))


def _entry(sighting: _Sighting, seen: dict[int, _Sighting]) -> Entry | None:
    documentation = getattr(sighting.thing, "__doc__", None)
    if not isinstance(documentation, str) or _ADDRESS.search(documentation):
        return None
    summary, _, text = inspect.cleandoc(documentation).partition("\n\n")
    first = _first(sighting)
    return Entry(
        names=(first, *sorted(name for name in sighting.names if name != first)),
        summary=" ".join(summary.split()),
        text=text.strip(),
        owner=None if sighting.owner is None else _first(seen[sighting.owner]),
        relatives=frozenset(_overridden(sighting, seen)),
    )


def _overridden(sighting: _Sighting, seen: dict[int, _Sighting]) -> Iterator[str]:
    """The first names of the methods that this one overrides."""
    if sighting.owner is None:
        return
    for base in seen[sighting.owner].thing.__mro__[1:]:
        member = vars(base).get(sighting.attribute)
        other = seen.get(id(getattr(member, "__func__", member)))
        if other is not None and other is not sighting:
            yield _first(other)
