"""JSON values whose fields may be missing, or of another type than expected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard

Json: TypeAlias = Any
"""A decoded JSON value of unknown shape: formats look for what they know, and ignore the rest."""
JsonObject: TypeAlias = dict[str, Json]

USAGE = (("total_tokens",), ("input_tokens", "output_tokens"), ("prompt_tokens", "completion_tokens"))
"""The names under which a record of usage counts tokens."""
_MOST = 10**15
"""Upper limit of a token count; larger numbers are something else."""


def get_object(value: Json, name: str) -> JsonObject:
    """Return the object under a name, or an empty one."""
    item = value.get(name) if isinstance(value, dict) else None
    return item if isinstance(item, dict) else {}


def get_body(value: Json, name: str) -> JsonObject:
    """Return the request or the response under a name, or its body if it has one."""
    item = get_object(value, name)
    return get_object(item, "body") or item


def get_list(value: Json, name: str) -> list[Json]:
    """Return the list under a name, or an empty one."""
    item = value.get(name) if isinstance(value, dict) else None
    return item if isinstance(item, list) else []


def list_objects(value: Json) -> list[JsonObject]:
    """Return the objects in a list; none of any other value."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def get_str(value: Json, name: str) -> str:
    """Return the text under a name, or an empty one."""
    item = value.get(name) if isinstance(value, dict) else None
    return item if isinstance(item, str) else ""


def get_number(value: Json, name: str) -> float:
    """Return the number under a name, or 0."""
    item = value.get(name) if isinstance(value, dict) else None
    return item if isinstance(item, (int, float)) and item == item else 0  # noqa: PLR0124 - not a number


def first_text(value: Json, names: Iterable[str]) -> str | None:
    """Return the first non-empty text, or integer as text, that an object has under one of the names."""
    for name in names if isinstance(value, dict) else ():
        item = value.get(name)
        if (isinstance(item, str) and item) or type(item) is int:
            return str(item)
    return None


def add_counts(counts: Mapping[str, Json], names: Iterable[tuple[str, ...]] = USAGE) -> float | None:
    """Return the sum of the first of these groups with any count present; None if all are missing.

    >>> add_counts({"input_tokens": 20, "output_tokens": 3})
    23.0
    """
    for group in names:
        numbers = [count for name in group if _is_count(count := counts.get(name))]
        if numbers:
            return float(sum(numbers))
    return None


def _is_count(value: Json) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _MOST


def preview(value: Json, *, size: int = 60) -> str:
    """Format a value for a message: on one line, in backticks, truncated.

    >>> preview({"gain": 7}), preview("a long text", size=8)
    ("`{'gain': 7}`", "`'a long…`")
    """
    try:
        text = repr(value)
    except RecursionError:
        text = f"a {type(value).__name__} nested too deeply"
    return f"`{text if len(text) <= size else text[: size - 1] + '…'}`"
