"""Labels: how good results are for tasks, as somebody said it outside the trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import Struct

__all__ = ["Label", "Labels"]


class Label(Struct, kw_only=True, omit_defaults=True, gc=False):
    """The gain of one result for one task; the result is known by any of its keys."""

    gain: int
    task: str | None = None
    """None: for whatever task the result is found."""
    id: str | None = None
    tool: str | None = None
    """What the id is scoped to; None: the id is that of any tool."""
    domain: str | None = None
    domain_id: str | None = None
    url: str | None = None
    title: str | None = None
    snippet: str | None = None
    labeller: str | None = None
    """Who said it: a person, a model with its prompt, a similarity."""


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of one file, in its order."""

    rows: tuple[Label, ...]
    name: str = "labels"
    notes: tuple[str, ...] = ()
    """What was noticed on reading that a user should know."""

    def __iter__(self) -> Iterator[Label]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)
