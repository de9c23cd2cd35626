"""Attributes of spans as they are serialised: OTLP's typed values, flattened lists, JSON inside JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from judged.agents.traces.json_values import Json, JsonObject

Attributes = Mapping[str, Json]

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
"""Namespaces whose attributes `a.b.c` may also be nested objects."""


def parse_otlp(pairs: Json) -> JsonObject:
    """Convert OTLP's list of keys and typed values to a dict; an object stays one."""
    if isinstance(pairs, dict):
        return dict(pairs)
    valid = (pair for pair in pairs if isinstance(pair, dict)) if isinstance(pairs, list) else ()
    return {str(item.get("key")): _value(item.get("value")) for item in valid}


def _value(typed: Json) -> Json:
    """Return the value in one of OTLP's wrappers; None if the wrapper is empty or unknown."""
    if not isinstance(typed, dict):
        return typed
    for name, value in typed.items():
        read = _TYPES.get(name.replace("_", "").lower())
        if read is not None:
            return read(value)
    return None


def _to_int(value: Json) -> Json:
    """Parse an integer, which OTLP writes as text because of JavaScript."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return value


def _values(value: Json) -> list[Json]:
    held = value.get("values") if isinstance(value, dict) else value
    return [_value(item) for item in held] if isinstance(held, list) else []


def _pairs(value: Json) -> JsonObject:
    return parse_otlp(value.get("values") if isinstance(value, dict) else value)


_TYPES: dict[str, Callable[[Json], Json]] = {
    "stringvalue": lambda value: value,
    "boolvalue": lambda value: value,
    "intvalue": _to_int,
    "doublevalue": lambda value: value,
    "bytesvalue": lambda value: value,
    "arrayvalue": _values,
    "kvlistvalue": _pairs,
}


def flatten(attributes: Attributes) -> JsonObject:
    """Return attributes with dotted names, flattening namespaces that are nested objects.

    >>> flatten({"openinference": {"span": {"kind": "TOOL"}}, "session.id": "s1"})
    {'openinference.span.kind': 'TOOL', 'session.id': 's1'}
    """
    nested = {key for key, value in attributes.items() if key in NAMESPACES and isinstance(value, dict)}
    if not nested:
        return dict(attributes)
    flat: JsonObject = {}
    for key, value in attributes.items():
        flat.update(_leaves(key, value) if key in nested else {key: value})
    return flat


def _leaves(path: str, value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(f"{path}.{key}", item)
    else:
        yield path, value


def first_value(attributes: Attributes, names: Iterable[str]) -> Json:
    """Return the first non-empty value of these attributes."""
    for name in names:
        value = attributes.get(name)
        if value is not None and value not in ("", [], {}):
            return value
    return None


def get_list(attributes: Attributes, name: str) -> list[Json]:
    """Return a list that may be one value, JSON text of one, or flattened: `name.0.a.b`, `name.1.a.b`.

    >>> get_list({"docs.1.id": "b", "docs.0.id": "a", "docs.0.at.page": 3}, "docs")
    [{'id': 'a', 'at': {'page': 3}}, {'id': 'b'}]
    """
    value = decode(attributes.get(name))
    if isinstance(value, list):
        return value
    held: JsonObject = {}
    prefix = f"{name}."
    for key, item in attributes.items():
        if key.startswith(prefix):
            _insert(held, key[len(prefix) :].split("."), item)
    grown = _to_lists(held)
    return grown if isinstance(grown, list) else []


def _insert(tree: JsonObject, path: list[str], value: Json) -> None:
    """Put a value into a tree of objects; a branch takes precedence over a value."""
    for key in path[:-1]:
        inner = tree.get(key)
        if not isinstance(inner, dict):
            inner = tree[key] = {}
        tree = inner
    if not isinstance(tree.get(path[-1]), dict):
        tree[path[-1]] = value


def _to_lists(tree: Json) -> Json:
    """Convert objects whose keys are all numbers to lists, in numeric order."""
    if not isinstance(tree, dict):
        return tree
    if tree and all(key.isdecimal() and len(key) < 10 for key in tree):
        return [_to_lists(tree[key]) for key in sorted(tree, key=int)]
    return {key: _to_lists(value) for key, value in tree.items()}


def to_object(value: Json) -> Mapping[str, Json]:
    """Return a value, or its JSON text, as an object; an empty one for anything else."""
    value = decode(value)
    return value if isinstance(value, dict) else {}


def list_records(value: Json) -> list[Mapping[str, Json]]:
    """Return the records of an answer of an API, which lists them under `data`, or the value as the only record."""
    held = to_object(value).get("data")
    return [to_object(item) for item in (held if isinstance(held, list) else [value])]


def decode(value: Json) -> Json:
    r"""Decode JSON text, even if encoded twice; return anything else unchanged.

    >>> decode('"[{\\"id\\": 1}]"'), decode("{'no': json"), decode("plain")
    ([{'id': 1}], "{'no': json", 'plain')
    """
    while isinstance(value, str) and value[:1] in {"{", "[", '"'}:
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return value
    return value
