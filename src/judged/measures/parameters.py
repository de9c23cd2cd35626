"""The parameters that measures take: what each name means, everywhere, and which values make sense."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from judged.errors import BadMeasure

__all__ = ["PARAMETERS", "Parameter", "Value", "checked", "written"]

Value: TypeAlias = None | bool | int | float | str | tuple[tuple[float, float], ...]
"""What a parameter may hold; a mapping is kept as a sorted tuple of pairs, so that measures hash."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a parameter means, what it must be, and how a value is brought into its one form."""

    meaning: str
    expected: str
    normalise: Callable[[object], Value]


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value) or value < 1:
        raise ValueError
    return int(value)


def _number(low: float, high: float, *, open_ends: bool = False) -> Callable[[object], float]:
    def normalise(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError  # noqa: TRY004 - one kind of refusal, worded by `checked`
        inside = low < value < high if open_ends else low <= value <= high
        if not inside or not math.isfinite(value):
            raise ValueError
        return int(value) if value == int(value) else float(value)

    return normalise


def _choice(*options: str) -> Callable[[object], str]:
    def normalise(value: object) -> str:
        if value not in options:
            raise ValueError
        return str(value)

    return normalise


def _gains(value: object) -> tuple[tuple[float, float], ...]:
    pairs = value.items() if isinstance(value, Mapping) else value
    if not isinstance(pairs, (tuple, list)) and not isinstance(value, Mapping):
        raise ValueError  # noqa: TRY004
    table = {float(grade): float(gain) for grade, gain in pairs}  # type: ignore[union-attr]
    if not table or not all(math.isfinite(number) for pair in table.items() for number in pair):
        raise ValueError
    return tuple(sorted(table.items()))


PARAMETERS: dict[str, Parameter] = {
    "cutoff": Parameter("how many results from the top are looked at", "a whole number from 1", _whole),
    "rel": Parameter(
        "the grade from which a document is relevant", "a number from 0", _number(0, math.inf)
    ),
}
"""Every parameter by name; each means the same in every measure that has it."""


def checked(measure: str, name: str, value: object) -> Value:
    """`value` in its one form, or `BadMeasure` saying what the parameter must be."""
    parameter = PARAMETERS[name]
    try:
        return parameter.normalise(value)
    except (ValueError, TypeError, OverflowError):
        msg = f"`{name}` of {measure} must be {parameter.expected}, not {value!r}"
        raise BadMeasure(msg) from None


def written(value: Value) -> str:
    """A parameter's value as it is written in a measure's name."""
    if isinstance(value, tuple):
        pairs = ", ".join(f"{written(_plain(grade))}: {written(_plain(gain))}" for grade, gain in value)
        return f"{{{pairs}}}"
    if isinstance(value, str):
        return f'"{value}"'
    return repr(value)


def _plain(number: float) -> Value:
    return int(number) if number == int(number) else number
