"""A measure is a value: written, printed, parsed, compared, hashed, and applied to a view."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from judged.errors import BadMeasure, UnknownName
from judged.measures.fold import Fold
from judged.measures.laws import Laws
from judged.measures.parameters import Parameter, Value, find_parameter, format_value, normalise_value

if TYPE_CHECKING:
    from judged.arrays import Floats
    from judged.kernels.ranked.terms import Terms

Aggregate: TypeAlias = Literal["mean", "sum", "geometric", "percentile", "pooled"]
"""Aggregation of the values of queries: their mean, their sum (counts), their geometric mean, their percentile `p`, or
pooled: the sum of their numerators over the sum of their denominators."""

Values: TypeAlias = Literal["number", "binary", "binary at 1", "text"]
"""Kind of the values: a number, either 0 or 1 (always, or at a cutoff of 1), or a string, which is never averaged."""

Needs: TypeAlias = Literal["", "intents", "preferences", "judges", "reference", "groups"]
"""Inputs of a measure in addition to the grades of one judge, or gains: the intents of queries, preferences in place of
judgments, the grades of several judges, a reference of what a session could have found, or the
groups of documents."""


@dataclass(frozen=True, eq=False)
class Measure:
    """A named function from a view to one value for each query, with its parameters.

    The function's keyword-only parameters are the measure's parameters; one without a default must be
    given. `measure(rel=2)` and `measure @ 10` return new measures; a measure never changes.
    """

    name: str
    function: Callable[..., object]
    title: str = ""
    """The name in words, where several measures share a function; else its docstring says it (`Title:`)."""
    family: str = "ranked"
    """The family of evaluation that computes its view."""
    group: str = ""
    """The chapter of the list of measures that it is in; by default that of its family."""
    at_parameter: str | None = None
    """The parameter that `@` sets, if any."""
    bounds: tuple[float, float] = (0.0, 1.0)
    """The lowest and highest value a query can have, unless `gains` or prices are set otherwise."""
    unbounded_with: tuple[str, Value] | None = None
    """The parameter value for which the measure has no upper bound."""
    unit: str = ""
    """Unit of the values, e.g. `%`; empty if dimensionless."""
    values: Values = "number"
    aggregate: Aggregate = "mean"
    higher_is_better: bool | None = True
    """None: the value describes and does not praise, as counts do."""
    zero_if_missing: bool = True
    """Whether a query missing from the run scores 0, even if the formula gives an empty list another value."""
    laws: Laws = frozenset()
    """Laws it obeys: the tests check them, and scoring relies on some."""
    needs: Needs = ""
    conventions: tuple[str, ...] = ()
    """Fields of the protocol that this measure reads and most others do not."""
    companions: tuple[str, ...] = ()
    """Measures that it must be shown with, because it says too little alone."""
    compare_by: str = ""
    """The measure with the same values and a mean, for tests, where this one has no mean."""
    averaged: Callable[[Any], Any] | None = None
    """Returns which units of a view count in the mean and in comparisons; None: all that have a value."""
    parts: Callable[..., tuple[Any, Any]] | None = None
    """Of a pooled measure: the numerator and the denominator of each query."""
    terms: Callable[..., Terms] | None = None
    """The function that returns the terms of one query, which `judged.explain` shows."""
    in_order: Callable[..., tuple[Floats, Floats]] | None = None
    """Of a measure with the law `in-order` or `discounted-ratio`: the function that estimates its values with the first n
    and the last n unjudged results relevant, for every n at once; without it they are computed one by one."""
    fold: Fold | None = None
    """The measure as one pass over the judged results of a query, which compiled code makes; None: it is more than that."""
    percentile: str = ""
    """The parameter that, once it is set, makes the value over all units that percentile, not the mean."""
    dot_parameter: str = ""
    """The parameter that decimals after the name set: `RBP.95` is `RBP(p=0.95)`."""
    wraps: str = ""
    """The parameter that takes another measure; `nDCG_IA@10` is `IA(of="nDCG@10")`."""
    fixed: Mapping[str, Value] = field(default_factory=dict)
    """Parameters of the function that the measure's name implies, and that cannot be set."""
    note: str = ""
    """Text of its card in addition to the function's docstring, where several measures share one function."""
    extra_parameters: Mapping[str, Parameter] = field(default_factory=dict)
    """Parameters that no other measure has, or that mean something else here."""
    set_parameters: tuple[tuple[str, Value], ...] = field(default=())
    """The parameters that were set, in the order of the function's signature."""
    written: tuple[str, ...] = ()
    """The spellings that it was asked for by, the first of which is shown; empty: its name. They say nothing of its
    values, and measures that differ in them alone are equal."""

    def __post_init__(self) -> None:
        if not self.group:
            object.__setattr__(self, "group", self.family)

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """Every parameter with its default; `inspect.Parameter.empty` where one must be given."""
        signature = inspect.signature(self.function).parameters.values()
        return {
            parameter.name: parameter.default
            for parameter in signature
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in self.fixed
        }

    @cached_property
    def words(self) -> Mapping[str, tuple[str, ...]]:
        """For each parameter, the words its annotation allows; empty for one that takes no words."""
        hints = _read_hints(self.function)
        return {name: tuple(_find_words(hints.get(name))) for name in self.defaults}

    @cached_property
    def parameters(self) -> dict[str, Value]:
        """Every parameter with the value it has here; those still to be given are left out."""
        filled = {
            name: value for name, value in self.defaults.items() if value is not inspect.Parameter.empty
        }
        return filled | dict(self.set_parameters)

    def parameter(self, name: str) -> Parameter:
        """Return what a parameter of this measure means, and the values that it takes."""
        if name in self.extra_parameters:
            return self.extra_parameters[name]
        return find_parameter(name, self.group)

    @property
    def label(self) -> str:
        """The name to show: as the user spelt it, else its own."""
        return self.written[0] if self.written else str(self)

    @property
    def text(self) -> bool:
        """Whether values are strings, shown for each query and never averaged."""
        return self.values == "text"

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and highest value that a query can have with the parameters that are set."""
        if self.unbounded_with in self.set_parameters:
            return self.bounds[0], float("inf")
        return self.bounds

    @property
    def scale(self) -> tuple[float, float] | None:
        """The lowest and highest value that a query can have, if both are known and finite."""
        low, high = self.limits
        return (low, high) if math.isfinite(low) and math.isfinite(high) else None

    @property
    def binary(self) -> bool:
        """Whether every value is 0 or 1, at the cutoff that is set."""
        return self.values == "binary" or (
            self.values == "binary at 1" and self.parameters.get("cutoff") == 1
        )

    @property
    def needs_reference(self) -> bool:
        """Whether it reads what there was to find in a session."""
        return self.needs == "reference" or self.parameters.get("reference") == "given"

    @property
    def has_gain_table(self) -> bool:
        """Whether a table sets what grades are worth, so that a higher one need not be worth more."""
        return not {"gains", "stops"}.isdisjoint(dict(self.set_parameters))

    def __call__(self, **parameters: object) -> Measure:
        """Return this measure with other parameters; None unsets a parameter whose default is None."""
        if not parameters:
            return self
        unknown = [name for name in parameters if name not in self.defaults]
        if unknown:
            kind, known = f"parameter of {self.name}", list(self.defaults)
            raise UnknownName(kind, unknown[0], known, hint=None if known else f"{self.name} takes none")
        merged = dict(self.set_parameters)
        for name, value in parameters.items():
            if value is None and self.defaults[name] is None:
                merged.pop(name, None)
            else:
                merged[name] = normalise_value(
                    self.name, name, value, words=self.words[name], parameter=self.parameter(name)
                )
        ordered = tuple((name, merged[name]) for name in self.defaults if name in merged)
        if not self.percentile:
            return replace(self, set_parameters=ordered, written=())
        aggregate: Aggregate = "percentile" if self.percentile in merged else "mean"
        return replace(self, set_parameters=ordered, aggregate=aggregate, written=())

    def __matmul__(self, value: float | str) -> Measure:
        """Return this measure at a cutoff, or with the parameter that its `@` sets."""
        if self.at_parameter is None:
            hint = f"its parameters: {', '.join(self.defaults)}" if self.defaults else None
            msg = f"{self.name} takes no `@`"
            raise BadMeasure(msg, hint=hint)
        return self(**{self.at_parameter: value})

    def per_query(self, view: object) -> Any:
        """Return one value for each query of the view."""
        missing = [name for name in self.defaults if name not in self.parameters]
        if missing:
            at = missing[0] == self.at_parameter
            example = f"{self.name}@10" if at else f"{self.name}({missing[0]}=…)"
            msg = f"{self.name} needs `{missing[0]}`"
            raise BadMeasure(msg, hint=f"write it as `{example}`")
        return self.function(view, **self.parameters, **self.fixed)

    def describe(self) -> dict[str, object]:
        """Return names, family, aggregate, direction and bounds, for JSON; a bound that is infinite is None."""
        return {
            "name": str(self),
            **({"written": self.label} if self.label != str(self) else {}),
            "family": self.family,
            "aggregate": None if self.text else self.aggregate,
            "higher_is_better": self.higher_is_better,
            "bounds": [bound if abs(bound) < float("inf") else None for bound in self.limits],
        }

    def __str__(self) -> str:
        return self._written

    @cached_property
    def _written(self) -> str:
        given = dict(self.set_parameters)
        inside = ", ".join(
            f"{name}={format_value(value)}" for name, value in given.items() if name != self.at_parameter
        )
        head = f"{self.name}({inside})" if inside else self.name
        at = self.parameters.get(self.at_parameter) if self.at_parameter else None
        # A word, such as `last`, is written even where it is the default: `CG@last` says what `CG` leaves open.
        return f"{head}@{at}" if isinstance(at, str) or self.at_parameter in given else head

    __repr__ = __str__

    @cached_property
    def _identity(self) -> tuple[str, str, tuple[tuple[str, Value], ...]]:
        return self.group, self.name, tuple(sorted(self.parameters.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)


def pooled_value(measure: Measure, view: object) -> float:
    """Return the value of all sessions taken together; NaN where there is nothing to divide by."""
    numerator, denominator = (float(part.sum()) for part in pooled_parts(measure, view))
    return numerator / denominator if denominator else math.nan


def pooled_parts(measure: Measure, view: object) -> tuple[Floats, Floats]:
    """Return the numerator and the denominator of each session."""
    if measure.parts is None:
        msg = f"{measure} is not pooled over sessions: each has its own value, and they have a mean"
        raise BadMeasure(msg, hint="`SRE_micro` and `SRR_micro` are")
    numerators, denominators = measure.parts(view, **measure.parameters)
    return numerators.astype(float), denominators.astype(float)


def _read_hints(function: Callable[..., object]) -> dict[str, object]:
    """Return the annotations of a function; empty if one cannot be resolved, as in a notebook."""
    try:
        return get_type_hints(function)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return {}


def _find_words(hint: object) -> list[str]:
    """Return the words in an annotation such as `Literal["linear", "exp"] | None`."""
    if get_origin(hint) is Literal:
        return [str(word) for word in get_args(hint)]
    return [word for part in get_args(hint) for word in _find_words(part)]
