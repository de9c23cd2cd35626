"""Wrong arguments of public functions, in words: a raw Python error becomes one that names the argument."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar

from judged.errors import JudgedError, WrongKind

P = ParamSpec("P")
T = TypeVar("T")


def _is_number(value: object) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_texts(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, bytes | str) and all(map(_is_text, value))


def _are_measures(value: object) -> bool:
    def is_one(item: object) -> bool:
        return isinstance(item, str) or type(item).__name__ == "Measure"

    return is_one(value) or (
        isinstance(value, Iterable) and not isinstance(value, bytes) and all(map(is_one, value))
    )


_KINDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "int": (_is_whole, "a whole number"),
    "float": (_is_number, "a number"),
    "bool": (lambda value: isinstance(value, bool), "True or False"),
    "str": (_is_text, "text"),
    "None": (lambda value: value is None, "None"),
    "Path": (lambda value: hasattr(value, "__fspath__"), "a path"),
    "Mapping": (lambda value: isinstance(value, Mapping), "a mapping from names"),
    "Sequence[str]": (_are_texts, "a list of text"),
    "Iterable[str]": (_are_texts, "a list of text"),
    "Measures": (_are_measures, 'measures, such as `"nDCG@10"` or a list of them'),
    "Runs": (
        lambda value: isinstance(value, Iterable) and not isinstance(value, bytes),
        "runs by name, a list of files, or a pattern",
    ),
}
"""What an annotation allows, and the words for it; of other annotations only plain values are held to be wrong."""
_PLAIN = (int, float, complex, bool, bytes, list, tuple, set, type(None))
_RAW = (TypeError, AttributeError, KeyError, ValueError, IndexError, AssertionError)


def to_list(values: str | Iterable[T]) -> list[str | T]:
    """Return the values as a list; a text is one value, not its letters.

    >>> to_list("exact"), to_list(("exact", "annoy"))
    (['exact'], ['exact', 'annoy'])
    """
    return [values] if isinstance(values, str) else list(values)


def worded(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function with a `WrongKind` that names the argument where a raw error comes of a wrong kind of one.

    Arguments are looked at only after an error, so calls cost nothing; an error that no argument explains stays.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except JudgedError:
            raise
        except _RAW as error:
            wrong = _find_wrong(function, args, kwargs)
            if wrong is None:
                raise
            raise wrong from error

    return call


def _find_wrong(
    function: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> WrongKind | None:
    """Return the error for the first argument that is of another kind than its annotation says."""
    signature = inspect.signature(function)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return None  # too many arguments, or a name that is none: Python's own words name it
    vague = None
    for name, value in given.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            continue  # its annotation is a class of arguments, not of a value
        kinds = _split(str(signature.parameters[name].annotation))
        known = [_KINDS[kind] for kind in kinds if kind in _KINDS]
        if any(allows(value) for allows, _ in known):
            continue
        others = [kind for kind in kinds if kind not in _KINDS and kind != "None"]
        expected = [words for _, words in known] + [_write(kind) for kind in others]
        shown = repr(value) if len(repr(value)) <= 40 else repr(value)[:39] + "…"
        msg = f"`{name}` of `{function.__name__}` is {shown} ({type(value).__name__}), expected {' or '.join(expected)}"
        if not others:
            return WrongKind(msg)
        if vague is None and _cannot_be(value, others):
            vague = WrongKind(msg)
    return vague


def _cannot_be(value: object, kinds: list[str]) -> bool:
    """Return whether a plain value is none of these kinds; dicts and text may be inputs, but no settings."""
    if inspect.isroutine(value):
        return not any("Callable" in kind for kind in kinds)
    if isinstance(value, _PLAIN) or type(value) is object:
        return True
    inputs = any(kind == "Any" or "Like" in kind for kind in kinds)
    return not inputs and isinstance(value, dict | str)


def _split(annotation: str) -> list[str]:
    """Return the alternatives of an annotation, without looking into brackets."""
    parts = (part.strip() for part in re.split(r"\|(?![^\[]*\])", annotation))
    return ["Mapping" if part.startswith("Mapping[") else part for part in parts]


def _write(kind: str) -> str:
    return f"`{kind}`"
