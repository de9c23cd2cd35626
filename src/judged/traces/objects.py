"""Looking into JSON values whose fields may be missing, or of another kind than expected, and showing them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["inner", "named", "sent", "shown", "word"]


def inner(value: Any, name: str) -> dict[str, Any]:
    """The object that another holds under a name, or an empty one."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def sent(value: Any, name: str) -> dict[str, Any]:
    """The request or the response that an object holds under a name, or its body where it was recorded with one."""
    found = inner(value, name)
    return inner(found, "body") or found


def word(value: Any, name: str) -> str:
    """The text that an object holds under a name, or an empty one."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def named(value: Any, names: Iterable[str]) -> str | None:
    """The first of the names under which an object holds a text that is not empty, or a whole number, as text."""
    for name in names if isinstance(value, dict) else ():
        found = value.get(name)
        if (isinstance(found, str) and found) or type(found) is int:
            return str(found)
    return None


def shown(value: Any, *, size: int = 60) -> str:
    """A value as messages show it: on one line, between backticks, cut short.

    >>> shown({"gain": 7}), shown("a long text", size=8)
    ("`{'gain': 7}`", "`'a long…`")
    """
    try:
        text = repr(value)
    except RecursionError:
        text = f"a {type(value).__name__} nested too deeply"
    return f"`{text if len(text) <= size else text[: size - 1] + '…'}`"
