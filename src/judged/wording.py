"""Words that sentences for people are made of."""

from __future__ import annotations

__all__ = ["counted", "plural"]


def plural(thing: str) -> str:
    """Return the plural of a noun.

    >>> plural("query"), plural("task"), plural("search")
    ('queries', 'tasks', 'searches')
    """
    if thing.endswith("y"):
        return f"{thing[:-1]}ies"
    return f"{thing}es" if thing.endswith(("ch", "sh", "s", "x")) else f"{thing}s"


def counted(count: int, thing: str) -> str:
    """Return a count with its noun, in the plural unless it is one.

    >>> counted(1, "query"), counted(1200, "query")
    ('1 query', '1,200 queries')
    """
    return f"{count:,} {thing if count == 1 else plural(thing)}"
