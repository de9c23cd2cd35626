"""The parameters that measures take: what each name means, everywhere, and which values make sense."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TypeAlias

from judged.errors import BadMeasure

__all__ = ["PARAMETERS", "Parameter", "Value", "checked", "expectation", "written"]

Value: TypeAlias = bool | int | float | str | tuple[float, ...] | tuple[tuple[float, float], ...] | None
"""What a parameter may hold; a mapping is kept as a sorted tuple of pairs, so that measures hash."""


def _refused(_value: object) -> Value:
    raise ValueError


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a parameter means, and the values other than words that it takes.

    The words it takes are those of the measure's own signature (`Literal["linear", "exp"]`), so that
    `over` may be `retrieved` in one measure and `cutoff` in another.
    """

    meaning: str
    expected: str = ""
    """What a value that is no word must be; empty if only words will do."""
    normalise: Callable[[object], Value] = _refused
    """Brings a value that is no word into its one form, or raises ValueError."""


def _number(
    value: object, low: float = -math.inf, high: float = math.inf, *, open_ends: bool = False
) -> float:
    """The number within its limits, as an integer where it is whole, so that equal values look equal."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError  # noqa: TRY004 - one kind of refusal, worded by `checked`
    number = float(value)
    inside = low < number < high if open_ends else low <= number <= high
    if not inside or not math.isfinite(number):
        raise ValueError
    return int(number) if number.is_integer() else number


def _within(low: float, high: float, *, open_ends: bool = False) -> Callable[[object], Value]:
    return lambda value: _number(value, low, high, open_ends=open_ends)


def _whole(value: object) -> int:
    number = _number(value, 1)
    if not isinstance(number, int):
        raise ValueError  # noqa: TRY004 - one kind of refusal, worded by `checked`
    return number


def _whole_from_0(value: object) -> int:
    return 0 if value == 0 and not isinstance(value, bool) else _whole(value)


def _gains(value: object) -> tuple[tuple[float, float], ...]:
    """A table from grades to gains, in one order; pairs are what a normalised table looks like."""
    pairs = value.items() if isinstance(value, Mapping) else value
    if not pairs or isinstance(pairs, str) or not hasattr(pairs, "__iter__"):
        raise ValueError
    table = {_number(grade, 0): _number(gain) for grade, gain in pairs}
    return tuple(sorted(table.items()))


def _recalls(value: object) -> tuple[float, ...]:
    """Points of recall, ascending, none twice."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise ValueError
    points = sorted({_number(point, 0, 1) for point in value})
    if len(points) != len(value):
        raise ValueError
    return tuple(points)


_A_NUMBER = ("a number", _within(-math.inf, math.inf))

PARAMETERS: dict[str, Parameter] = {
    "cutoff": Parameter("how many results from the top are looked at", "a whole number from 1", _whole),
    "rel": Parameter("the grade from which a document is relevant", "a number from 0", _within(0, math.inf)),
    "over": Parameter("what the count is divided by"),
    "gain": Parameter("what a grade is worth: itself (`linear`), or 2^grade − 1 (`exp`)"),
    "gains": Parameter(
        "grades whose gain is not their own value, each with its gain",
        "a table from grades (from 0) to gains, such as `{1: 3, 2: 9}`",
        _gains,
    ),
    "max_grade": Parameter(
        "the highest grade of the scale", "a number above 0", _within(0, math.inf, open_ends=True)
    ),
    "p": Parameter(
        "persistence: the chance that a reader goes on to the next result",
        "a number between 0 and 1",
        _within(0, 1, open_ends=True),
    ),
    "beta": Parameter(
        "how many times more recall matters than precision", "a number from 0", _within(0, math.inf)
    ),
    "weight": Parameter(
        "the square of `beta`, in its place, as trec_eval writes it", "a number from 0", _within(0, math.inf)
    ),
    "multiple": Parameter(
        "how many times as many results as there are relevant documents are looked at",
        "a number above 0",
        _within(0, math.inf, open_ends=True),
    ),
    "recall": Parameter("the share of the relevant documents", "a number from 0 to 1", _within(0, 1)),
    "points": Parameter(
        "the points of recall that are averaged",
        "different numbers from 0 to 1, such as `[0.2, 0.5]`",
        _recalls,
    ),
    "collection": Parameter("how many documents the collection has", "a whole number from 0", _whole_from_0),
    "tail": Parameter("when what lies beyond the retrieved results counts as unknown"),
    "a": Parameter("the worth of each relevant document retrieved", *_A_NUMBER),
    "b": Parameter("the worth of each other document retrieved", *_A_NUMBER),
    "c": Parameter("the worth of each relevant document missed", *_A_NUMBER),
    "d": Parameter("the worth of each other document left out", *_A_NUMBER),
}
"""Every parameter by name; each means the same in every measure that has it."""


def checked(measure: str, name: str, value: object, *, words: tuple[str, ...] = ()) -> Value:
    """`value` in its one form, or `BadMeasure` saying what the parameter must be."""
    try:
        if isinstance(value, str) and value.lower() in words:
            return value.lower()
        return PARAMETERS[name].normalise(value)
    except (ValueError, TypeError, OverflowError):
        msg = f"`{name}` of {measure} must be {expectation(name, words)}, not {value!r}"
        raise BadMeasure(msg) from None


def expectation(name: str, words: tuple[str, ...] = ()) -> str:
    """What a value of the parameter must be, in words: the measure's own `words`, or what the name takes."""
    options = [f"`{word}`" for word in words]
    expected = PARAMETERS[name].expected
    return " or ".join([*options, expected] if expected else options)


def written(value: Value) -> str:
    """A parameter's value as it is written in a measure's name.

    >>> written(((1.0, 3.5), (2.0, 9.0)))
    '{1: 3.5, 2: 9}'
    """
    if isinstance(value, tuple):
        pairs = [pair for pair in value if isinstance(pair, tuple)]
        if pairs:
            return "{" + ", ".join(f"{_plain(grade)}: {_plain(gain)}" for grade, gain in pairs) + "}"
        return "[" + ", ".join(_plain(number) for number in value if not isinstance(number, tuple)) + "]"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _plain(number: float) -> str:
    return repr(int(number)) if number == int(number) else repr(number)
