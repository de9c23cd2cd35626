"""A measure is a value: written, printed, parsed, compared, hashed, and applied to a view."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from judged.errors import BadMeasure, UnknownName
from judged.measures.parameters import PARAMETERS, Parameter, Value, checked, written

__all__ = ["Aggregate", "Measure"]

Aggregate: TypeAlias = Literal["mean", "sum", "geometric", "percentile", "pooled"]
"""How values of queries become one: their mean, their sum (counts), their geometric mean, their percentile `p`, or
pooled: the sum of their numerators over the sum of their denominators."""


@dataclass(frozen=True, eq=False)
class Measure:
    """A named function from a view to one value for each query, with its parameters.

    The function's keyword-only parameters are the measure's parameters; one without a default must be
    given. `measure(rel=2)` and `measure @ 10` return new measures; nothing is ever changed.
    """

    name: str
    function: Callable[..., Any]
    at: str | None = None
    """The parameter that `@` sets, if any."""
    bounds: tuple[float, float] = (0.0, 1.0)
    """The lowest and highest value a query can have, unless `gains` or prices are set otherwise."""
    aggregate: Aggregate = "mean"
    higher_is_better: bool | None = True
    """None: the value describes and does not praise, as counts do."""
    family: str = "ranked"
    properties: frozenset[str] = frozenset()
    """Laws it obeys, of `judged.measures.laws`: the tests hold it to them, and the engine relies on some."""
    of_run: bool = True
    """A query missing from the run scores 0, whatever the formula says of an empty list."""
    text: bool = False
    """Its values are strings, shown for each query and never averaged."""
    intents: bool = False
    """It looks at intents, which the judgments must give."""
    parts: Callable[..., tuple[Any, Any]] | None = None
    """Of a measure that is pooled: the numerator and the denominator of each query."""
    own: Mapping[str, Parameter] = field(default_factory=dict)
    """Parameters that no other measure has, or that mean something else here."""
    given: tuple[tuple[str, Value], ...] = field(default=())
    """The parameters that were set, in the order of the function's signature."""

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """Every parameter with its default; `inspect.Parameter.empty` where one must be given."""
        signature = inspect.signature(self.function).parameters.values()
        return {each.name: each.default for each in signature if each.kind is each.KEYWORD_ONLY}

    @cached_property
    def words(self) -> Mapping[str, tuple[str, ...]]:
        """For each parameter, the words its annotation allows; none for one that takes no words."""
        hints = _hints(self.function)
        return {name: tuple(_words(hints.get(name))) for name in self.defaults}

    @cached_property
    def parameters(self) -> dict[str, Value]:
        """Every parameter with the value it has here; missing ones left out."""
        filled = {
            name: value for name, value in self.defaults.items() if value is not inspect.Parameter.empty
        }
        return filled | dict(self.given)

    def parameter(self, name: str) -> Parameter:
        """What a parameter of this measure means, and the values that it takes."""
        return self.own[name] if name in self.own else PARAMETERS[name]

    @property
    def tabled(self) -> bool:
        """Whether a table says what grades are worth, so that a higher one need not be worth more."""
        return not {"gains", "stops"}.isdisjoint(dict(self.given))

    def __call__(self, **parameters: object) -> Measure:
        """This measure with other parameters; None takes a parameter back where that is its default."""
        unknown = [name for name in parameters if name not in self.defaults]
        if unknown:
            kind, known = f"parameter of {self.name}", list(self.defaults)
            raise UnknownName(kind, unknown[0], known, hint=None if known else f"{self.name} takes none")
        merged = dict(self.given)
        for name, value in parameters.items():
            if value is None and self.defaults[name] is None:
                merged.pop(name, None)
            else:
                words, meant = self.words[name], self.parameter(name)
                merged[name] = checked(self.name, name, value, words=words, parameter=meant)
        return replace(self, given=tuple((name, merged[name]) for name in self.defaults if name in merged))

    def __matmul__(self, value: float | str) -> Measure:
        """This measure at a cutoff (or at whatever its `@` stands for)."""
        if self.at is None:
            own = f"its parameters: {', '.join(self.defaults)}" if self.defaults else None
            msg = f"{self.name} takes no `@`"
            raise BadMeasure(msg, hint=own)
        return self(**{self.at: value})

    def per_query(self, view: Any) -> Any:
        """One value for each query of the view."""
        missing = [name for name in self.defaults if name not in self.parameters]
        if missing:
            example = f"{self.name}@10" if missing[0] == self.at else f"{self.name}({missing[0]}=…)"
            msg = f"{self.name} needs `{missing[0]}`"
            raise BadMeasure(msg, hint=f"write it as `{example}`")
        return self.function(view, **self.parameters)

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={written(value)}" for name, value in self.given if name != self.at)
        head = f"{self.name}({inside})" if inside else self.name
        at = self.parameters.get(self.at) if self.at else None
        # A word, such as `last`, is written even where it is the default: `CG@last` says what `CG` leaves open.
        return f"{head}@{at}" if isinstance(at, str) or self.at in dict(self.given) else head

    __repr__ = __str__

    @property
    def _identity(self) -> tuple[str, str, tuple[tuple[str, Value], ...]]:
        return self.family, self.name, tuple(sorted(self.parameters.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function; none where they name what cannot be found, as in a notebook."""
    try:
        return get_type_hints(function)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return {}


def _words(hint: object) -> list[str]:
    """The words in an annotation such as `Literal["linear", "exp"] | None`."""
    if get_origin(hint) is Literal:
        return [str(word) for word in get_args(hint)]
    return [word for part in get_args(hint) for word in _words(part)]
