"""Attributes of spans in the ways they are written down: OTLP's typed values, flattened lists, JSON inside JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

__all__ = ["decode", "first_value", "flatten", "get_list", "parse_otlp", "to_object"]

Attributes = Mapping[str, Any]

NAMESPACES = frozenset(
    (
        "gen_ai",
        "input",
        "llm",
        "mlflow",
        "openinference",
        "output",
        "retrieval",
        "session",
        "tool",
        "traceloop",
    )
)
"""Where attributes that were written as `a.b.c` may be found as objects within objects."""


def parse_otlp(pairs: Any) -> dict[str, Any]:
    """Attributes out of OTLP's list of keys and typed values; what is already an object stays one."""
    if isinstance(pairs, dict):
        return dict(pairs)
    found = (each for each in pairs if isinstance(each, dict)) if isinstance(pairs, list) else ()
    return {str(each.get("key")): _value(each.get("value")) for each in found}


def _value(typed: Any) -> Any:
    """The value in one of OTLP's wrappers; None where the wrapper is empty or unknown."""
    if not isinstance(typed, dict):
        return typed
    for name, value in typed.items():
        read = _TYPES.get(name.replace("_", "").lower())
        if read is not None:
            return read(value)
    return None


def _whole(value: Any) -> Any:
    """Whole numbers are written as text, since JavaScript has no large ones."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return value


def _values(value: Any) -> list[Any]:
    held = value.get("values") if isinstance(value, dict) else value
    return [_value(each) for each in held] if isinstance(held, list) else []


def _pairs(value: Any) -> dict[str, Any]:
    return parse_otlp(value.get("values") if isinstance(value, dict) else value)


_TYPES: dict[str, Callable[[Any], Any]] = {
    "stringvalue": lambda value: value,
    "boolvalue": lambda value: value,
    "intvalue": _whole,
    "doublevalue": lambda value: value,
    "bytesvalue": lambda value: value,
    "arrayvalue": _values,
    "kvlistvalue": _pairs,
}


def flatten(attributes: Attributes) -> dict[str, Any]:
    """The same attributes with dotted names, where a namespace was written as objects within objects.

    >>> flattened({"openinference": {"span": {"kind": "TOOL"}}, "session.id": "s1"})
    {'openinference.span.kind': 'TOOL', 'session.id': 's1'}
    """
    nested = {key for key, value in attributes.items() if key in NAMESPACES and isinstance(value, dict)}
    if not nested:
        return dict(attributes)
    flat: dict[str, Any] = {}
    for key, value in attributes.items():
        flat.update(_leaves(key, value) if key in nested else {key: value})
    return flat


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(f"{path}.{key}", each)
    else:
        yield path, value


def first_value(attributes: Attributes, names: Iterable[str]) -> Any:
    """The value of the first of these attributes that holds something."""
    for name in names:
        value = attributes.get(name)
        if value is not None and value not in ("", [], {}):
            return value
    return None


def get_list(attributes: Attributes, name: str) -> list[Any]:
    """A list that may be one value, JSON text of one, or flattened: `name.0.a.b`, `name.1.a.b`.

    >>> listed({"docs.1.id": "b", "docs.0.id": "a", "docs.0.at.page": 3}, "docs")
    [{'id': 'a', 'at': {'page': 3}}, {'id': 'b'}]
    """
    value = decode(attributes.get(name))
    if isinstance(value, list):
        return value
    held: dict[str, Any] = {}
    prefix = f"{name}."
    for key, each in attributes.items():
        if key.startswith(prefix):
            _place(held, key[len(prefix) :].split("."), each)
    grown = _grown(held)
    return grown if isinstance(grown, list) else []


def _place(tree: dict[str, Any], path: list[str], value: Any) -> None:
    """Put a value into a tree of objects; what is a value and a branch at once stays the branch."""
    for key in path[:-1]:
        inner = tree.get(key)
        if not isinstance(inner, dict):
            inner = tree[key] = {}
        tree = inner
    if not isinstance(tree.get(path[-1]), dict):
        tree[path[-1]] = value


def _grown(tree: Any) -> Any:
    """Objects whose keys are all numbers as lists, in the order of the numbers."""
    if not isinstance(tree, dict):
        return tree
    if tree and all(key.isdecimal() for key in tree):
        return [_grown(tree[key]) for key in sorted(tree, key=int)]
    return {key: _grown(value) for key, value in tree.items()}


def to_object(value: Any) -> Mapping[str, Any]:
    """The object that a value is, or is the JSON text of; an empty one for anything else."""
    value = decode(value)
    return value if isinstance(value, dict) else {}


def decode(value: Any) -> Any:
    r"""What a JSON text says, also if it was written as a JSON text once more; anything else as it is.

    >>> decoded('"[{\\"id\\": 1}]"'), decoded("{'no': json"), decoded("plain")
    ([{'id': 1}], "{'no': json", 'plain')
    """
    while isinstance(value, str) and value[:1] in {"{", "[", '"'}:
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return value
    return value
