"""Saved values: dataclasses as plain data and back, with every value checked against its declared type.

The annotations of a dataclass declare what is saved: an object with its fields, without the name of any class. A field
with the metadata `{"saved": False}` is left out and takes its default. A class that is saved in another form than its
fields has `to_saved`, which returns that form, and `from_saved`, whose annotation declares it. In a union, the first
type that fits the data is taken, so dataclasses of one union must differ in their fields.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

Data: TypeAlias = Any
"""Plain data, as JSON has it."""
Declared: TypeAlias = Any
"""A type, as an annotation has it."""
Reader: TypeAlias = Callable[[Data], object]
"""Returns the value that plain data stands for; raises `Damaged` if it is not of the declared type."""

NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""Floats that JSON has no number for."""


class Damaged(ValueError):
    """Saved data that does not have its declared type."""

    def __init__(self, problem: str, place: tuple[object, ...] = ()) -> None:
        self.problem, self.place = problem, place
        super().__init__(": ".join(filter(None, (".".join(map(str, place)), problem))))


def to_builtins(value: object) -> Data:  # noqa: PLR0911 - one line for each kind of value
    """Return a value as plain data: dicts with text keys, lists, text, numbers, True, False and None.

    >>> to_builtins((1, float("nan"), {"a": [0.5]}))
    [1, 'NaN', {'a': [0.5]}]
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _name_float(value)
    # before dataclasses, since the class and the form may both be one; a class that is its own form says None
    if to_saved := getattr(value, "to_saved", None):
        value = to_saved()
    if is_dataclass(value):
        return {item.name: to_builtins(getattr(value, item.name)) for item in _list_fields(value.__class__)}
    if hasattr(value, "__struct_fields__"):
        return {name: to_builtins(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        return _dump_mapping(value)
    if isinstance(value, tuple | list | frozenset | set):
        return [to_builtins(item) for item in value]
    if hasattr(value, "to_pylist"):  # an Arrow array
        return value.to_pylist()
    if hasattr(value, "tolist"):  # a NumPy array or scalar
        return to_builtins(value.tolist())
    msg = f"{type(value).__name__} cannot be saved"
    raise TypeError(msg)


def from_builtins(data: Data, declared: Declared) -> Any:
    """Return the value of the declared type that `to_builtins` made `data` of; raise `Damaged` if it has another type."""
    return _find_reader(declared)(data)


def describe_fields(declared: Declared) -> dict[str, dict[str, str]]:
    """Return the fields of every dataclass that a declared type is saved with: their types, `?` for those with a default."""
    found: dict[str, dict[str, str]] = {}
    waiting = [declared]
    while waiting:
        kind = waiting.pop()
        waiting += get_args(kind)
        if getattr(kind, "from_saved", None):
            waiting.append(_declared_form(kind))
        elif isinstance(kind, type) and is_dataclass(kind) and kind.__name__ not in found:
            hints = _hints(kind)
            found[kind.__name__] = {
                item.name: f"{item.type}{'' if _is_required(item) else ' ?'}" for item in _list_fields(kind)
            }
            waiting += [hints[item.name] for item in _list_fields(kind)]
    return dict(sorted(found.items()))


def _name_float(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _dump_mapping(value: Mapping[object, object]) -> Data:
    """Return an object, or a list of pairs if some keys are not text."""
    if all(isinstance(key, str) for key in value):
        return {key: to_builtins(item) for key, item in value.items()}
    return [[to_builtins(key), to_builtins(item)] for key, item in value.items()]


@cache
def _hints(kind: type) -> Mapping[str, Declared]:
    return get_type_hints(kind)


@cache
def _list_fields(kind: type) -> tuple[Field[object], ...]:
    """Return the fields that are saved."""
    return tuple(item for item in fields(kind) if item.init and item.metadata.get("saved", True))


def _is_required(item: Field[object]) -> bool:
    return item.default is item.default_factory is MISSING


def _declared_form(kind: Declared) -> Declared:
    hints = get_type_hints(kind.from_saved)
    return next(hint for name, hint in hints.items() if name != "return")


@cache
def _find_reader(declared: Declared) -> Reader:  # noqa: C901, PLR0911 - one line for each kind of type
    origin: Declared = get_origin(declared)
    arguments = get_args(declared)
    if declared in _PLAIN:
        return _PLAIN[declared]
    if origin in {Union, UnionType}:
        return _read_union(arguments)
    if origin is Literal:
        return _read_literal(arguments)
    if getattr(declared, "from_saved", None):
        return _read_form(declared)
    if isinstance(declared, type) and is_dataclass(declared):
        return _read_dataclass(declared)
    if hasattr(declared, "__struct_fields__"):
        return _read_struct(declared)
    if isinstance(declared, type) and issubclass(declared, tuple):
        hints = tuple(_hints(declared).values())
        return lambda data: declared(*_read_items(data, hints))
    if origin is tuple and arguments[1:] != (...,):
        return lambda data: tuple(_read_items(data, arguments))
    if origin in {tuple, list, frozenset}:
        return _read_sequence(origin, arguments[0])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _read_mapping(*arguments)
    return _read_array(declared)


def _describe(data: Data) -> str:
    names = {dict: "an object", list: "a list", NoneType: "null"}
    return names.get(type(data)) or f"`{data!r:.40}`"


def _expect(kinds: type | tuple[type, ...], words: str) -> Callable[[Data], Data]:
    def read(data: Data) -> Data:
        # JSON has no numbers True and False, Python has
        if not isinstance(data, kinds) or (isinstance(data, bool) and kinds is not bool):
            msg = f"{_describe(data)} found, expected {words}"
            raise Damaged(msg)
        return data

    return read


def _read_float(data: Data) -> float:
    if isinstance(data, str) and data in NOT_FINITE:
        return NOT_FINITE[data]
    return float(_expect((int, float), "a number")(data))


_PLAIN: Mapping[Declared, Reader] = {
    str: _expect(str, "text"),
    int: _expect(int, "a whole number"),
    bool: _expect(bool, "true or false"),
    float: _read_float,
    NoneType: _expect(NoneType, "null"),
    Any: lambda data: data,
    object: lambda data: data,
}


def _read_union(members: tuple[Declared, ...]) -> Reader:
    # whole numbers and text before `float`, which accepts some of both
    ordered = sorted(members, key=lambda member: member is float)

    def read(data: Data) -> object:
        problems: dict[str, None] = {}
        for member in ordered:
            try:
                return from_builtins(data, member)
            except Damaged as error:
                problems[str(error)] = None
        raise Damaged("; ".join(problems))

    return read


def _read_literal(values: tuple[Declared, ...]) -> Reader:
    def read(data: Data) -> object:
        if not any(data == value and type(data) is type(value) for value in values):
            msg = f"{_describe(data)} found, expected one of {', '.join(map(str, values))}"
            raise Damaged(msg)
        return data

    return read


def _read_form(kind: Declared) -> Reader:
    declared = _declared_form(kind)
    return lambda data: kind.from_saved(from_builtins(data, declared))


def _read_dataclass(kind: type) -> Reader:
    known, hints = _list_fields(kind), _hints(kind)
    required = {item.name for item in known if _is_required(item)}
    names = {item.name for item in known}

    def read(data: Data) -> object:
        given = _expect(dict, "an object")(data)
        # `$` had the name of the class before types were declared
        unknown = set(given) - names - {"$"}
        if missing := required - set(given):
            msg = f"`{min(missing)}` is missing"
            raise Damaged(msg)
        if unknown:
            msg = f"`{min(unknown)}` is not a field"
            raise Damaged(msg)
        return kind(**{name: _read_at(name, given[name], hints[name]) for name in given if name != "$"})

    return read


def _read_struct(kind: Declared) -> Reader:
    import msgspec

    def read(data: Data) -> object:
        try:
            return msgspec.convert(data, kind)
        except msgspec.ValidationError as error:
            raise Damaged(str(error)) from None

    return read


def _read_at(place: object, data: Data, declared: Declared) -> object:
    """Return the value at a place inside another; an error names the place."""
    try:
        return from_builtins(data, declared)
    except Damaged as error:
        raise Damaged(error.problem, (place, *error.place)) from None


def _read_items(data: Data, declared: Iterable[Declared]) -> list[Data]:
    kinds = tuple(declared)
    if len(_expect(list, "a list")(data)) != len(kinds):
        msg = f"a list of {len(data)} found, expected {len(kinds)}"
        raise Damaged(msg)
    return [_read_at(at, item, kind) for at, (item, kind) in enumerate(zip(data, kinds, strict=True))]


def _read_sequence(kind: Declared, declared: Declared) -> Reader:
    read_list = _expect(list, "a list")
    return lambda data: kind(_read_at(at, item, declared) for at, item in enumerate(read_list(data)))


def _read_mapping(key: Declared, value: Declared) -> Reader:
    def read(data: Data) -> object:
        if isinstance(data, list):
            return dict(_read_items(pair, (key, value)) for pair in data)
        given = _expect(dict, "an object")(data)
        return {from_builtins(name, key): _read_at(name, item, value) for name, item in given.items()}

    return read


def _read_array(declared: Declared) -> Reader:
    """Return the reader of a NumPy array of the annotated type, or of an Arrow array of text."""
    if getattr(declared, "__module__", "").startswith("pyarrow"):
        return _read_strings
    number = next((kind for part in get_args(declared) for kind in get_args(part) if _is_dtype(kind)), None)
    return lambda data: _to_array(_expect(list, "a list")(data), number)


def _read_strings(data: Data) -> object:
    import pyarrow as pa

    read_text = _PLAIN[str]
    return pa.array([read_text(item) for item in _expect(list, "a list")(data)], type=pa.large_string())


def _to_array(data: list[Data], number: Declared) -> object:
    """Return an array of the declared numbers; if any are allowed, of floats, or of text if there is some."""
    import numpy as np

    rows = data if data and all(isinstance(row, list) for row in data) else [data]
    kinds = {type(item) for row in rows for item in row}
    texts = {item for row in rows for item in row if isinstance(item, str)} - NOT_FINITE.keys()
    if number is None and kinds <= {str, NoneType} and (texts or NoneType in kinds):
        return np.array(data, dtype=object)
    allowed = {bool} if number is np.bool_ else {int} if _is_whole(number) else {int, float, str}
    if texts or not kinds <= allowed:
        msg = "the numbers of a list are of several types"
        raise Damaged(msg)
    try:
        return np.array(data, dtype=number or (np.int64 if kinds == {int} else np.float64))
    except (ValueError, OverflowError) as error:  # rows of different lengths, numbers out of range
        raise Damaged(str(error)) from None


def _is_whole(number: Declared) -> bool:
    import numpy as np

    return number is not None and issubclass(number, np.integer)


def _is_dtype(kind: object) -> bool:
    """Return whether an argument of `NDArray` names one type of numbers."""
    import numpy as np

    return isinstance(kind, type) and issubclass(kind, np.number | np.bool_) and kind is not np.number
