"""User-defined measures: a function and a name make a measure that is parsed, described and reported like any other."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from numbers import Real
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.errors import BadMeasure, JudgedError
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.ranked.terms import TermsFunction
from judged.measures.groups import GROUPS, register, unregister
from judged.measures.laws import Law, parse_laws
from judged.measures.measure import Aggregate, Measure
from judged.measures.parameters import PARAMETERS, Parameter, normalise_value
from judged.measures.parse import explain_taken_name, is_valid_name

SLACK = 1e-9
"""Rounding tolerance of a value at its bounds."""
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_COLLECTING = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def define(
    name: str,
    function: Callable[..., object],
    *,
    at_parameter: str | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    aggregate: Aggregate = "mean",
    higher_is_better: bool | None = True,
    zero_if_missing: bool = True,
    laws: Iterable[Law | str] = (),
    terms: TermsFunction | None = None,
    parameters: Mapping[str, Parameter] | None = None,
    replace: bool = False,
) -> Measure:
    """Define a new measure, known from now on wherever measures are named, and return it.

    `function` takes a `Ranking`, the view of all queries at once, and returns an array with a number for each;
    its parameters follow a `*`. `at_parameter` is the one that `@` sets. Parameters that judged's own measures have
    (`cutoff`, `rel`, `p`, …) mean the same here; others may be described in `parameters`. The function's
    docstring becomes the card. `laws` are those of `judged.measures.laws.Law` that it obeys, which makes ranges over
    ties and unjudged results faster to find. `terms` returns the terms of one query that `judged.explain` shows, as the
    functions of `judged.kernels.ranked.terms` do. With `replace`, the same name can be defined again, as in a notebook.

    >>> from judged.kernels.examples import make_ranking
    >>> def missed(ranking, *, rel: float | None = None):
    ...     "Return how many relevant documents were not retrieved."
    ...     return ranking.relevant(rel) - ranking.hits_within(None, rel)
    >>> Missed = define("Missed", missed, bounds=(0, float("inf")), higher_is_better=False)
    >>> Missed(rel=2), Missed.per_query(make_ranking([1, 0], missed=[[2, 1]]))
    (Missed(rel=2), array([2.]))
    >>> undefine("Missed")
    """
    _check_function(name, function, ("ranking",))
    return _register(
        Measure(
            name,
            _guard(name, function, bounds),
            at_parameter=at_parameter,
            bounds=bounds,
            aggregate=aggregate,
            higher_is_better=higher_is_better,
            group="custom",
            zero_if_missing=zero_if_missing,
            laws=parse_laws(laws),
            terms=terms,
            extra_parameters=dict(parameters or {}),
        ),
        replace=replace,
    )


def define_per_query(name: str, function: Callable[..., float], **settings: Any) -> Measure:
    """Define a measure by a function of one query that returns one number; slower, and easier to write.

    It is called with four arguments and its own parameters: the ranks of the judged results (ascending, from
    1), their grades, the number of results retrieved, and all judged grades of the query, highest first.
    `settings` are those of `define`.

    >>> from judged.kernels.examples import make_ranking
    >>> first = define_per_query("FirstJudged", lambda ranks, grades, retrieved, judged: 1 / ranks[0])
    >>> first.per_query(make_ranking([None, 1], [0]))
    array([0.5, 1. ])
    >>> undefine("FirstJudged")
    """
    _check_function(name, function, ("ranks", "grades", "retrieved", "judged"))

    @wraps(function)
    def every_query(ranking: Ranking, **parameters: object) -> list[float]:
        return [function(*query, **parameters) for query in _split_queries(ranking)]

    every_query.__signature__ = _replace_arguments(function)  # type: ignore[attr-defined]
    return define(name, every_query, **settings)


def undefine(name: str) -> None:
    """Forget a user-defined measure."""
    if name not in GROUPS.get("custom", ()):
        msg = f"`{name}` was not defined, so it cannot be forgotten"
        raise BadMeasure(msg)
    unregister(name)


def _register(measure: Measure, *, replace: bool) -> Measure:
    """Check everything that can be wrong with the measure, then register it."""
    own = replace and measure.name in GROUPS.get("custom", ())
    if not own:
        _check_name(measure.name)
    complete = dataclasses.replace(measure, extra_parameters=_describe_parameters(measure))
    _check_settings(complete)
    # only now: a definition that is refused leaves the earlier one in place
    if own:
        unregister(measure.name)
    register(complete)
    return complete


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not is_valid_name(name):
        msg = f"{name!r} cannot be the name of a measure"
        raise BadMeasure(
            msg, hint="letters, digits and `_`, a letter first and no `_` with a number at the end"
        )
    if name in GROUPS.get("custom", ()):
        msg = f"a measure called `{name}` was defined already"
        raise BadMeasure(msg, hint="take another name, or say `replace=True`")
    taken = explain_taken_name(name)
    if taken is not None:
        msg = f"`{name}` is taken: it means {taken}"
        raise BadMeasure(msg, hint="names are compared without regard to case; take another one")


def _check_function(name: str, function: Callable[..., object], takes: tuple[str, ...]) -> None:
    """Raise `BadMeasure` unless the function takes these arguments first, and all others by keyword only."""
    try:
        signature = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        msg = f"`{name}` must be made from a function, not {function!r}"
        raise BadMeasure(msg) from None
    first = [parameter.name for parameter in signature if parameter.kind in _POSITIONAL]
    collecting = [parameter.name for parameter in signature if parameter.kind in _COLLECTING]
    if len(first) == len(takes) and not collecting:
        return
    got = ", ".join([*first, *(f"*{name}" for name in collecting)]) or "nothing"
    msg = f"the function of `{name}` takes {got}, expected {', '.join(takes)} and its parameters after a `*`"
    raise BadMeasure(msg, hint=f"for example `def measure({', '.join(takes)}, *, cutoff=10)`")


def _describe_parameters(measure: Measure) -> dict[str, Parameter]:
    """Describe each parameter that judged's own measures do not have, as given or by its default."""
    given = measure.extra_parameters
    surplus = [name for name in given if name not in measure.defaults]
    if surplus:
        msg = f"the function of `{measure.name}` has no parameter `{surplus[0]}`"
        raise BadMeasure(msg, hint=f"its parameters: {', '.join(measure.defaults) or 'none'}")
    unknown = [name for name in measure.defaults if name not in given and name not in PARAMETERS]
    return dict(given) | {name: _infer_parameter(measure, name) for name in unknown}


def _infer_parameter(measure: Measure, name: str) -> Parameter:
    default, meaning = measure.defaults[name], "a parameter of this measure alone"
    if isinstance(default, bool):
        return Parameter.flag(meaning)
    if isinstance(default, Real):
        return Parameter.number(meaning)
    if measure.words[name]:
        return Parameter(meaning)
    msg = f"the values that `{name}` of `{measure.name}` accepts are not declared"
    raise BadMeasure(
        msg, hint=f'say `parameters={{"{name}": judged.measures.Parameter.number("what it means", low=0)}}`'
    )


def _check_settings(measure: Measure) -> None:
    """Raise `BadMeasure` if `@` sets nothing, the bounds are wrong, or a default is not allowed."""
    at = measure.at_parameter
    if at is not None and at not in measure.defaults:
        msg = f"`at_parameter` of `{measure.name}` must be one of its parameters, not {at!r}"
        raise BadMeasure(msg, hint=f"its parameters: {', '.join(measure.defaults) or 'none'}")
    low, high = measure.bounds
    if not low <= high:
        msg = f"the bounds of `{measure.name}` must be a lower and a higher number, not {measure.bounds}"
        raise BadMeasure(msg)
    if measure.aggregate == "pooled":
        msg = f"`{measure.name}` cannot be pooled over queries: a measure that is defined gives values, not their parts"
        raise BadMeasure(msg, hint="say `aggregate` as `mean`, `sum` or `geometric`")
    for name, default in measure.defaults.items():
        if default is not None and default is not inspect.Parameter.empty:
            words, parameter = measure.words[name], measure.parameter(name)
            normalise_value(measure.name, name, default, words=words, parameter=parameter)


def _guard(name: str, function: Callable[..., object], bounds: tuple[float, float]) -> Callable[..., Floats]:
    """Wrap the function so that its values are checked: a number for each query, within the bounds."""

    @wraps(function)
    def values(ranking: Ranking, **parameters: object) -> Floats:
        try:
            returned = function(ranking, **parameters)
        except JudgedError:
            raise
        except Exception as error:
            msg = f"{name} failed: {type(error).__name__}: {error}"
            raise BadMeasure(msg, hint="the function that defines it raised this error") from error
        return _check_values(name, returned, len(ranking), bounds)

    return values


def _check_values(name: str, returned: object, queries: int, bounds: tuple[float, float]) -> Floats:
    try:
        numbers = np.asarray(returned, dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"{name} returned {returned!r:.80}, expected an array of numbers"
        raise BadMeasure(msg) from None
    if numbers.shape != (queries,):
        got = f"{len(numbers):,} values" if numbers.ndim == 1 else f"an array of shape {numbers.shape}"
        msg = f"{name} returned {got}, expected one for each of {queries:,} queries"
        raise BadMeasure(msg)
    wrong = ~((numbers >= bounds[0] - SLACK) & (numbers <= bounds[1] + SLACK) & np.isfinite(numbers))
    if wrong.any():
        value, low, high = numbers[wrong][0], *bounds
        msg = f"{name} returned {value:g} for {int(wrong.sum()):,} of {queries:,} queries, expected {low:g} to {high:g}"
        raise BadMeasure(
            msg, hint="mind queries with nothing judged or retrieved; `bounds` says what is allowed"
        )
    return numbers


def _split_queries(ranking: Ranking) -> Iterator[tuple[object, object, int, object]]:
    """Yield the part of the view that belongs to each query, read-only."""
    for number, retrieved in enumerate(ranking.retrieved.tolist()):
        own = slice(int(ranking.offset[number]), int(ranking.offset[number + 1]))
        best = slice(int(ranking.best_offset[number]), int(ranking.best_offset[number + 1]))
        parts = ranking.rank[own], ranking.grade[own], ranking.best[best]
        for part in parts:  # of the view that all measures share
            part.flags.writeable = False
        yield parts[0], parts[1], retrieved, parts[2]


def _replace_arguments(function: Callable[..., object]) -> inspect.Signature:
    """Return the signature of a function of one query with its four arguments replaced by the view of all queries."""
    view = inspect.Parameter("ranking", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.signature(function).parameters.values()
    own = [parameter for parameter in signature if parameter.kind not in _POSITIONAL]
    return inspect.Signature([view, *own])
