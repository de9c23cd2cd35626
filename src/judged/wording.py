"""Words that sentences for people are made of."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["counted", "join_words", "plural"]


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


def join_words(words: Sequence[str]) -> str:
    """Return words as a sentence lists them.

    >>> join_words(["a"]), join_words(["a", "b"]), join_words(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
