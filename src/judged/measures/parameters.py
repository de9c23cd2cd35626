"""The parameters of measures: what each name means, and which values make sense."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TypeAlias

from judged.errors import BadMeasure

Value: TypeAlias = bool | int | float | str | tuple[float, ...] | tuple[tuple[float, float], ...] | None
"""Types of parameter values; a mapping is kept as a sorted tuple of pairs, so that measures hash."""


MOST_RANKS, MOST = 10**9, 10**15
"""The largest rank, and the largest number of any kind: up to here every whole number is exact in floating point."""
MOST_STEPS = 10**6
"""Maximum number of ranks for a reader model or a bound: each takes memory, however few were retrieved."""
LEAST_AIM = 1e-6
"""The least gain that a reader is after: the squares of much less vanish, and readers look at nothing."""


def _refuse(_value: object) -> Value:
    raise ValueError


@dataclass(frozen=True, slots=True)
class Parameter:
    """Meaning of a parameter, and the values other than words that it accepts.

    The words it takes are those of the measure's own signature (`Literal["linear", "exp"]`), so that
    `over` may be `retrieved` in one measure and `cutoff` in another.
    """

    meaning: str
    expected: str = ""
    """Requirement on a value that is not a word; empty if only words are accepted."""
    normalise: Callable[[object], Value] = _refuse
    """Function that normalises a value that is not a word, or raises ValueError."""

    @classmethod
    def number(cls, meaning: str, low: float = -math.inf, high: float = math.inf) -> Parameter:
        """Return a parameter that takes numbers from `low` to `high`."""
        return cls(meaning, _range("a number", low, high), _within(low, high))

    @classmethod
    def whole(cls, meaning: str, low: int = 1, high: int | None = None) -> Parameter:
        """Return a parameter that takes whole numbers from `low` on, or up to `high`."""

        def normalise(value: object) -> int:
            number = _number(value, low, math.inf if high is None else high)
            if not isinstance(number, int):
                raise ValueError  # noqa: TRY004 - one kind of refusal, worded by `normalise_value`
            return number

        upto = "" if high is None else f" to {high:,}"
        return cls(meaning, f"a whole number from {low}{upto}", normalise)

    @classmethod
    def flag(cls, meaning: str) -> Parameter:
        """Return a parameter that is either True or False."""

        def normalise(value: object) -> bool:
            if not isinstance(value, bool):
                raise ValueError  # noqa: TRY004 - one kind of refusal, worded by `normalise_value`
            return value

        return cls(meaning, "True or False", normalise)


def _number(
    value: object, low: float = -math.inf, high: float = math.inf, *, open_ends: bool = False
) -> float:
    """Return the number if it is within its limits, as an integer if it is whole, so that equal values look equal."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError  # noqa: TRY004 - one kind of refusal, worded by `normalise_value`
    number = float(value)  # raises OverflowError itself for an integer that no float can hold
    if MOST < abs(number) < math.inf:
        raise OverflowError
    inside = low < number < high if open_ends else low <= number <= high
    if not inside or not math.isfinite(number):
        raise ValueError
    return int(number) if number.is_integer() else number


def _range(kind: str, low: float, high: float) -> str:
    """Say which numbers are within limits."""
    if math.isinf(high):
        return kind if math.isinf(low) else f"{kind} from {low:g}"
    return f"{kind} up to {high:g}" if math.isinf(low) else f"{kind} from {low:g} to {high:g}"


def _within(low: float, high: float, *, open_ends: bool = False) -> Callable[[object], Value]:
    return lambda value: _number(value, low, high, open_ends=open_ends)


def _gains(value: object) -> tuple[tuple[float, float], ...]:
    """Return a table from grades to gains, in one order; pairs are what a normalised table looks like."""
    pairs = value.items() if isinstance(value, Mapping) else value
    if not pairs or isinstance(pairs, str) or not hasattr(pairs, "__iter__"):
        raise ValueError
    table = {_number(grade, 0): _number(gain) for grade, gain in pairs}
    return tuple(sorted(table.items()))


def _recalls(value: object) -> tuple[float, ...]:
    """Return points of recall, ascending; raise ValueError if one occurs twice."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise ValueError
    points = sorted({_number(point, 0, 1) for point in value})
    if len(points) != len(value):
        raise ValueError
    return tuple(points)


def _weights(value: object) -> tuple[tuple[float, float], ...]:
    """Return a table from grades to weights; raise ValueError if one is below 0."""
    table = _gains(value)
    if any(weight < 0 for _, weight in table):
        raise ValueError
    return table


_A_NUMBER = ("a number", _within(-math.inf, math.inf))

PARAMETERS: dict[str, Parameter] = {
    "cutoff": Parameter.whole("how many results from the top are looked at", high=MOST_RANKS),
    "rel": Parameter("the grade from which a document is relevant", "a number from 0", _within(0, math.inf)),
    "over": Parameter("what the count is divided by"),
    "gain": Parameter("what a grade is worth: itself (`linear`), or 2^grade − 1 (`exp`)"),
    "gains": Parameter(
        "grades whose gain is not their own value, each with its gain",
        "a table from grades (from 0) to gains, such as `{1: 3, 2: 9}`",
        _gains,
    ),
    "discount": Parameter(
        "what a gain is divided by: the logarithm of the rank plus one (`log2`), or the rank (`position`)"
    ),
    "ideal": Parameter(
        "how long the best order is: every judged document (`judged`), or as many as were retrieved (`retrieved`)"
    ),
    "interpolation": Parameter(
        "precision of each relevant result: that at its rank (`none`), or the mean of that and the one above (`trapezoid`)"
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
    "collection": Parameter.whole("how many documents the collection has", low=0),
    "tail": Parameter("when what lies beyond the retrieved results counts as unknown"),
    "stop": Parameter("at which of the relevant documents readers stop"),
    "stops": Parameter(
        "grades whose weight among readers who stop is not their gain, each with its weight",
        "a table from grades (from 0) to weights (from 0), such as `{1: 1, 2: 4}`",
        _weights,
    ),
    "gamma": Parameter(
        "how many readers stop at a relevant document, for each that stops at the one before",
        "a number above 0, up to 1",
        lambda value: (
            1 if value == 1 and not isinstance(value, bool) else _number(value, 0, 1, open_ends=True)
        ),
    ),
    "base": Parameter(
        "the base of the logarithm, and the rank from which gains are discounted",
        "a number above 1",
        _within(1, math.inf, open_ends=True),
    ),
    "T": Parameter.number(
        "the gain that the reader is after, 1 being a document of the highest grade", LEAST_AIM
    ),
    "depth": Parameter.whole(
        "how many results the reader could go through; beyond those retrieved there is nothing to gain",
        high=MOST_STEPS,
    ),
    "hb": Parameter(
        "how far a result better than `gain_med` raises the gain that the reader is after", *_A_NUMBER
    ),
    "hc": Parameter("how far a result better than `gain_med` raises the reader's patience", *_A_NUMBER),
    "gain_med": Parameter(
        "the gain that leaves the reader's aims as they are", "a number from 0 to 1", _within(0, 1)
    ),
    "model": Parameter("the measure whose reader goes through the results"),
    "alpha": Parameter(
        "how much of its worth to an intent a document loses for each before it that answered the same",
        "a number from 0 to 1",
        _within(0, 1),
    ),
    "of": Parameter("the measure that is averaged over intents"),
    "a": Parameter("the worth of each relevant document retrieved", *_A_NUMBER),
    "b": Parameter("the worth of each other document retrieved", *_A_NUMBER),
    "c": Parameter("the worth of each relevant document missed", *_A_NUMBER),
    "d": Parameter("the worth of each other document left out", *_A_NUMBER),
}
"""Every parameter by name; each means the same in every measure that has it, unless that says otherwise."""

BLEND = Parameter(
    "weight of gain in the blended ratio, relative to the number of relevant documents",
    "a number from 0",
    _within(0, math.inf),
)
"""Meaning of `beta` in the measures of NTCIR."""

PATIENCE = Parameter(
    "patience: the chance that a reader goes on to the next result", "a number from 0 to 1", _within(0, 1)
)
"""Meaning of `beta` in novelty- and rank-biased precision."""

SATISFIED = Parameter(
    "the chance that a result relevant to a reader's intent satisfies", "a number from 0 to 1", _within(0, 1)
)
"""Meaning of `alpha` in expected reciprocal rank."""


HIGHEST_GAIN = 4
"""The highest gain of a session's result."""

SESSION_PARAMETERS: dict[str, Parameter] = {
    "iteration": Parameter.whole("the iteration up to which a session counts", high=1_000_000),
    "good": Parameter.whole("the gain from which a result is good", high=HIGHEST_GAIN),
    "gain": Parameter("what a good result is worth: its gain (`graded`), or 1 (`binary`)"),
    "discount": replace(
        PARAMETERS["p"],
        meaning="how the weight of iterations falls: as 1 / log₂(i + 1) (`log2`), as 1 / i (`zipf`), not at all "
        "(`none`), or each to that share of the one before (a number)",
    ),
    "beyond": Parameter(
        "what a session has after its last iteration: its value there (`hold`), or further iterations that found "
        "nothing (`pad`)"
    ),
    "reference": Parameter(
        "what there was to find: what the session found itself (`own`), or what is known of its task (`given`)"
    ),
}
"""Every parameter of session measures by name."""

LOOKED_AT = {"iteration": Parameter.whole("the iteration that is looked at", high=1_000_000)}
"""Meaning of `iteration` in measures of a single iteration."""

_STEPS = {**PARAMETERS, "cutoff": Parameter.whole(PARAMETERS["cutoff"].meaning, high=MOST_STEPS)}
"""Meaning of parameters in groups whose measures take memory for each rank up to the cutoff."""

_BY_GROUP = {"session": SESSION_PARAMETERS, "browsing": _STEPS, "diversity": _STEPS}
"""Groups whose measures give names of parameters a meaning of their own."""


def find_parameter(name: str, group: str) -> Parameter:
    """Return what a parameter means in the measures of a group."""
    return _BY_GROUP.get(group, PARAMETERS)[name]


def normalise_value(
    measure: str, name: str, value: object, *, words: tuple[str, ...] = (), parameter: Parameter
) -> Value:
    """Return `value` in its one form; raise `BadMeasure`, saying what the parameter must be, if it has none."""
    try:
        spelled = {word.lower(): word for word in words}
        if isinstance(value, str) and value.lower() in spelled:
            return spelled[value.lower()]
        return parameter.normalise(value)
    except OverflowError:
        msg = f"`{name}` of {measure} is {value!r}, and no number beyond {MOST:,} is exact"
        raise BadMeasure(msg) from None
    except (ValueError, TypeError):
        msg = f"`{name}` of {measure} must be {describe_values(parameter, words)}, not {value!r}"
        raise BadMeasure(msg) from None


def describe_values(parameter: Parameter, words: tuple[str, ...] = ()) -> str:
    """Say what a value of the parameter must be: one of the measure's `words`, or what it takes else."""
    options = [f"`{word}`" for word in words]
    return " or ".join([*options, parameter.expected] if parameter.expected else options)


def format_value(value: Value) -> str:
    """Return a parameter's value as it is written in a measure's name.

    >>> format_value(((1.0, 3.5), (2.0, 9.0)))
    '{1: 3.5, 2: 9}'
    """
    if isinstance(value, tuple):
        pairs = [pair for pair in value if isinstance(pair, tuple)]
        if pairs:
            return (
                "{"
                + ", ".join(f"{_format_number(grade)}: {_format_number(gain)}" for grade, gain in pairs)
                + "}"
            )
        return (
            "[" + ", ".join(_format_number(number) for number in value if not isinstance(number, tuple)) + "]"
        )
    if isinstance(value, str):
        return f"'{value}'" if '"' in value else f'"{value}"'
    return repr(value)


def _format_number(number: float) -> str:
    return repr(int(number)) if number == int(number) else repr(number)
