"""Names that users write, and the objects they stand for, each imported when it is looked up."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Generic, TypeVar, cast

from judged.errors import UnknownName

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(Generic[T]):
    """A table of named objects of one kind; looking one up imports it, listing them does not."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._things: dict[str, T | str] = {}

    def add(self, name: str, thing: T | str) -> None:
        """Register an object, or the "module:attribute" where it is defined, under a name."""
        if name in self._things:
            msg = f"two {self.kind}s are called `{name}`"
            raise ValueError(msg)
        self._things[name] = thing

    def remove(self, name: str) -> None:
        """Remove a name."""
        del self._things[name]

    def __getitem__(self, name: str) -> T:
        if name not in self._things:
            raise UnknownName(self.kind, name, self._things)
        thing = self._things[name]
        if isinstance(thing, str):
            module, _, attribute = thing.partition(":")
            thing = self._things[name] = cast("T", getattr(import_module(module), attribute))
        return thing

    def __contains__(self, name: object) -> bool:
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)
