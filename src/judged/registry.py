"""Names that users write, and the objects they stand for, each imported when it is looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar, cast

from judged.errors import UnknownName
from judged.plugins import list_announced, load_announced, resolve
from judged.subject import Subject, list_announced_subjects, list_subjects

T = TypeVar("T")


class Registry(Generic[T]):
    """A table of named objects of one kind; looking one up imports it, listing them does not.

    What the core knows is added at once. What subjects add is read from their manifests when a name is missing or the
    table is listed; what installed packages announce is looked up only when a name is missing.
    """

    def __init__(
        self,
        kind: str,
        *,
        of_subject: Callable[[Subject], Mapping[str, T | str]] | None = None,
        group: str = "",
        check: Callable[[str, object], T] | None = None,
    ) -> None:
        self.kind = kind
        self.group = group
        """The entry points under which packages announce single objects of this kind."""
        self._of_subject = of_subject
        self._check = check
        self._things: dict[str, T | str] = {}
        self._read: set[str] = set()

    def add(self, name: str, thing: T | str) -> None:
        """Register an object, or the "module:attribute" where it is defined, under a name."""
        if name in self._things:
            msg = f"two {self.kind}s are called `{name}`"
            raise ValueError(msg)
        self._things[name] = thing

    def add_missing(self, things: Mapping[str, T | str]) -> None:
        """Register those whose names are not taken; unlike a lookup, this asks no subject."""
        for name, thing in things.items():
            self._things.setdefault(name, thing)

    def remove(self, name: str) -> None:
        """Remove a name."""
        del self._things[name]

    def __getitem__(self, name: str) -> T:
        if name not in self:
            announced = list_announced(self.group) if self.group else []
            raise UnknownName(self.kind, name, [*self, *announced])
        thing = self._things[name]
        if isinstance(thing, str):
            thing = self._things[name] = cast("T", resolve(thing))
        return thing

    def __contains__(self, name: object) -> bool:
        return name in self._things or (isinstance(name, str) and self._find(name))

    def __iter__(self) -> Iterator[str]:
        self.read_subjects()
        return iter(self._things)

    def __len__(self) -> int:
        self.read_subjects()
        return len(self._things)

    def read_subjects(self) -> None:
        """Add what the built-in subjects declare, if that was not done yet."""
        self._complete(list_subjects)

    def _find(self, name: str) -> bool:
        """Look for a name among the subjects, then among what packages announce."""
        # announced subjects last: reading them imports other packages
        for subjects in (list_subjects, list_announced_subjects):
            self._complete(subjects)
            if name in self._things:
                return True
        announced = load_announced(self.group, name, self.kind) if self.group else None
        if announced is not None:
            self._things[name] = cast("T", announced) if self._check is None else self._check(name, announced)
        return announced is not None

    def _complete(self, subjects: Callable[[], tuple[Subject, ...]]) -> None:
        """Add what the subjects declare, each subject once."""
        if self._of_subject is None:
            return
        for subject in subjects():
            if subject.name not in self._read:
                self._read.add(subject.name)
                for name, thing in self._of_subject(subject).items():
                    self.add(name, thing)
