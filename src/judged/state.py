"""Values as plain data and back: how results are saved, whatever dataclasses they are made of.

A dataclass becomes an object with its fields, and the name of its class under `$`; reading it back, the class is
found among those that the annotation allows, so that a file can name no other. A field with the metadata
`{"saved": False}` is left out and takes its default. A msgspec struct becomes an object with its fields. A class that is more than its fields says itself how it is
saved: `to_state()` returns plain data and the class method `from_state()` takes it back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

TAG = "$"


def to_state(value: Any) -> Any:  # noqa: PLR0911 - one line for each kind of value
    """Return a value as plain data: dicts with text keys, lists, text, numbers, True, False and None.

    >>> to_state((1, float("nan"), {"a": [0.5]}))
    [1, 'NaN', {'a': [0.5]}]
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _write_infinite(value)
    if hasattr(value, "to_state"):
        return value.to_state()
    if is_dataclass(value):
        saved = {item.name: to_state(getattr(value, item.name)) for item in fields(value) if _is_saved(item)}
        return {TAG: type(value).__name__, **saved}
    if hasattr(value, "__struct_fields__"):
        return import_module("msgspec").to_builtins(value)
    if isinstance(value, Mapping):
        return _mapping_to_state(value)
    if isinstance(value, tuple | list | frozenset | set):
        return [to_state(item) for item in value]
    if hasattr(value, "to_pylist"):
        return value.to_pylist()
    if hasattr(value, "tolist"):  # a NumPy array or scalar
        return to_state(value.tolist())
    msg = f"{type(value).__name__} cannot be saved"
    raise TypeError(msg)


def from_state(data: Any, hint: Any) -> Any:  # noqa: PLR0911 - one line for each kind of annotation
    """Return the value of the annotated type that `to_state` made `data` of."""
    if isinstance(hint, type) and hasattr(hint, "from_state"):
        return hint.from_state(data)
    if isinstance(hint, type) and is_dataclass(hint):
        return _to_dataclass(data, hint)
    if hasattr(hint, "__struct_fields__"):
        return import_module("msgspec").convert(data, hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return _to_member(data, arguments)
    if origin is Literal or hint is Any or (origin is None and hint in {str, int, bool, object, NoneType}):
        return data
    if hint is float:
        return float(data)
    if origin in {tuple, list, frozenset} or (isinstance(hint, type) and issubclass(hint, tuple)):
        return _to_sequence(data, hint, origin, arguments)
    if origin is not None and issubclass(origin, Mapping):
        return _to_mapping(data, arguments)
    return _to_array(data, hint)


def _write_infinite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _mapping_to_state(value: Mapping[Any, Any]) -> Any:
    """Keys that are not text need a list of pairs."""
    if all(isinstance(key, str) for key in value):
        return {key: to_state(item) for key, item in value.items()}
    return [[to_state(key), to_state(item)] for key, item in value.items()]


def _is_saved(item: Any) -> bool:
    return bool(item.init and item.metadata.get("saved", True))


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _to_dataclass(data: Mapping[str, Any], kind: type) -> Any:
    if not isinstance(data, Mapping) or data.get(TAG) != kind.__name__:
        msg = f"{_name(data)} found, expected {kind.__name__}"
        raise ValueError(msg)
    hints = _hints(kind)
    values = {
        item.name: from_state(data[item.name], hints[item.name])
        for item in fields(kind)
        if _is_saved(item) and (item.name in data or item.default is item.default_factory is MISSING)
    }
    return kind(**values)


def _name(data: Any) -> str:
    return str(data.get(TAG, "an object")) if isinstance(data, Mapping) else f"`{data!r:.40}`"


def _to_member(data: Any, members: tuple[Any, ...]) -> Any:
    """Return the value of the first type in a union that takes it; a dataclass is chosen by its name."""
    if data is None and NoneType in members:
        return None
    named = [
        kind
        for kind in members
        if isinstance(data, Mapping) and getattr(kind, "__name__", "") == data.get(TAG)
    ]
    if named:
        return from_state(data, named[0])
    if isinstance(data, bool | int | float) and type(data) in members:
        return data
    for kind in members:
        if (
            is_dataclass(kind)
            or kind is NoneType
            or ((kind is str) != isinstance(data, str) and float not in members)
        ):
            continue
        try:
            return from_state(data, kind)
        except (ValueError, TypeError, KeyError):
            continue
    msg = f"{_name(data)} found, expected one of {', '.join(map(str, members))}"
    raise ValueError(msg)


def _to_sequence(data: list[Any], hint: Any, origin: Any, arguments: tuple[Any, ...]) -> Any:
    if origin is None:  # a named tuple
        hints = list(_hints(hint).values()) or [Any] * len(data)
        return hint(*(from_state(item, kind) for item, kind in zip(data, hints, strict=True)))
    if origin is tuple and arguments[1:] != (...,):
        return tuple(from_state(item, kind) for item, kind in zip(data, arguments, strict=True))
    return origin(from_state(item, arguments[0]) for item in data)


def _to_mapping(data: Any, arguments: tuple[Any, ...]) -> dict[Any, Any]:
    key, value = arguments
    pairs = data.items() if isinstance(data, Mapping) else data
    return {from_state(name, key): from_state(item, value) for name, item in pairs}


def _to_array(data: list[Any], hint: Any) -> Any:
    """Return a NumPy array of the annotated type, or an Arrow array of strings."""
    import numpy as np

    if getattr(hint, "__module__", "").startswith("pyarrow"):
        import pyarrow as pa

        return pa.array(data, type=pa.large_string())
    text = any(isinstance(item, str) and item not in {"NaN", "Infinity", "-Infinity"} for item in data)
    if text or None in data:
        return np.array(data, dtype=object)
    kind = next((found for part in get_args(hint) for found in get_args(part) if _is_dtype(found)), None)
    if kind is not None:
        return np.array(data, dtype=kind)
    array = np.array(data, dtype=np.float64 if any(isinstance(item, str | float) for item in data) else None)
    return array.astype(np.float64) if not data else array


def _is_dtype(kind: object) -> bool:
    """Return whether an argument of `NDArray` names one type of numbers."""
    import numpy as np

    return isinstance(kind, type) and issubclass(kind, np.number | np.bool_) and kind is not np.number
