"""JSON values whose fields may be missing, or of another type than expected."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["first_text", "get_body", "get_object", "get_str", "preview"]


def get_object(value: Any, name: str) -> dict[str, Any]:
    """The object that another holds under a name, or an empty one."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def get_body(value: Any, name: str) -> dict[str, Any]:
    """The request or the response that an object holds under a name, or its body where it was recorded with one."""
    found = get_object(value, name)
    return get_object(found, "body") or found


def get_str(value: Any, name: str) -> str:
    """The text that an object holds under a name, or an empty one."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def first_text(value: Any, names: Iterable[str]) -> str | None:
    """The first of the names under which an object holds a text that is not empty, or a whole number, as text."""
    for name in names if isinstance(value, dict) else ():
        found = value.get(name)
        if (isinstance(found, str) and found) or type(found) is int:
            return str(found)
    return None


def preview(value: Any, *, size: int = 60) -> str:
    """A value as messages show it: on one line, between backticks, cut short.

    >>> shown({"gain": 7}), shown("a long text", size=8)
    ("`{'gain': 7}`", "`'a long…`")
    """
    try:
        text = repr(value)
    except RecursionError:
        text = f"a {type(value).__name__} nested too deeply"
    return f"`{text if len(text) <= size else text[: size - 1] + '…'}`"
