"""Words that sentences for people are made of."""

from __future__ import annotations

__all__ = ["counted", "plural"]


def plural(thing: str) -> str:
    """The word for several of a thing.

    >>> plural("query"), plural("task")
    ('queries', 'tasks')
    """
    return f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}s"


def counted(count: int, thing: str) -> str:
    """The count and the thing, in the plural where there is not one.

    >>> counted(1, "query"), counted(1200, "query")
    ('1 query', '1,200 queries')
    """
    return f"{count:,} {thing if count == 1 else plural(thing)}"
