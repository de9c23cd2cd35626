"""Words that sentences for people are made of."""

from __future__ import annotations

__all__ = ["counted", "plural"]


def plural(thing: str) -> str:
    """The word for several of a thing.

    >>> plural("query"), plural("task"), plural("search")
    ('queries', 'tasks', 'searches')
    """
    if thing.endswith("y"):
        return f"{thing[:-1]}ies"
    return f"{thing}es" if thing.endswith(("ch", "sh", "s", "x")) else f"{thing}s"


def counted(count: int, thing: str) -> str:
    """The count and the thing, in the plural where there is not one.

    >>> counted(1, "query"), counted(1200, "query")
    ('1 query', '1,200 queries')
    """
    return f"{count:,} {thing if count == 1 else plural(thing)}"
