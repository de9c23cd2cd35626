"""Spares: things that serve one query at a time, such as connections, as many as there are queries at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class Spares(Generic[T]):
    """Things of one kind, made when none is idle; several threads may borrow."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._idle: list[T] = []
        self.all: list[T] = []
        """Every one that was made, to be closed at the end, and asked for notes."""

    @contextmanager
    def borrow(self) -> Iterator[T]:
        """Yield one that nobody else has until the block is left."""
        try:
            one = self._idle.pop()  # atomic, so that no lock is needed
        except IndexError:
            one = self._make()
            self.all.append(one)
        try:
            yield one
        finally:
            self._idle.append(one)
