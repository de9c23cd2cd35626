"""The pool: the results that are to be labelled, each once, with all that a model is shown of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["Item", "Pool", "Source"]

Source: TypeAlias = Literal["run", "trace"]


@dataclass(frozen=True, slots=True)
class Item:
    """One result for one task."""

    query: str
    """What the person wants: the question of the session, or the text of the query."""
    title: str
    text: str
    row: Mapping[str, Any]
    """What its label says beside the gain: the task, and all keys of the result."""


@dataclass(frozen=True)
class Pool:
    """Everything to be labelled, and what was left out of it."""

    kind: Source
    items: tuple[Item, ...]
    results: int
    """How many results there were before repeated ones were put together."""
    judged: int = 0
    """How many of the different ones have a gain already."""
    notes: tuple[str, ...] = ()
