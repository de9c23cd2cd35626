"""Words that sentences for people are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_BY_OPTIONS = ContextVar("judged.by_options", default=False)
_NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""Compiled where it is used, which takes longer than the rest of this module."""

LONGEST_WORD = 300
"""Characters of a word, such as an id of a file from elsewhere, that a message shows."""


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


def name_some(names: Sequence[str], most: int) -> str:
    """Return names as a sentence lists them; of more than `most` and one, the first and how many more there are.

    >>> name_some(["a", "b", "c"], 2), name_some(["a", "b", "c", "d"], 2)
    ('a, b and c', 'a, b and 2 more')
    """
    if len(names) <= most + 1:
        return join_words(names)
    return join_words([*names[:most], f"{len(names) - most:,} more"])


def say_when(seconds: float) -> str:
    """Return a moment, in seconds since 1970, as people read it.

    >>> say_when(1_763_456_789)
    '2025-11-18 09:06 UTC'
    """
    from datetime import UTC, datetime  # few commands say when

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


@contextmanager
def worded_for_commands() -> Iterator[None]:
    """Word messages for the command line while this is open; otherwise they are for Python."""
    token = _BY_OPTIONS.set(True)
    try:
        yield
    finally:
        _BY_OPTIONS.reset(token)


def name_setting(option: str, argument: str) -> str:
    """Return how the caller sets something: by an option of commands, or by an argument in Python.

    >>> name_setting("--join", "join=True")
    '`join=True`'
    """
    return f"`{option if _BY_OPTIONS.get() else argument}`"


def escape(text: str) -> str:
    r"""Return a text with control characters, which a terminal would obey, written as escapes.

    >>> print(escape("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text
    )


def to_xml_text(text: str) -> str:
    r"""Return a text without what XML cannot hold even escaped: most control characters, lone surrogates.

    >>> to_xml_text("a\x1bb")
    'a\ufffdb'
    """
    return re.sub(_NOT_XML, "\N{REPLACEMENT CHARACTER}", text)


def to_message(text: str) -> str:
    r"""Return a text as people may see it: control characters escaped, line by line, and overlong words cut.

    >>> print(to_message("one\ntwo\x07 " + "x" * 1000).replace("x" * 300, "xx"))
    one
    two\x07 xx… (1,000 characters)
    """
    lines = (" ".join(map(_cut, escape(line.expandtabs()).split(" "))) for line in text.split("\n"))
    return "\n".join(lines)


def _cut(word: str) -> str:
    return word if len(word) <= LONGEST_WORD else f"{word[:LONGEST_WORD]}… ({len(word):,} characters)"
