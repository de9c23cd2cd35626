"""Scores of systems on the same queries: checked, summarised, and paired by query.

Every test starts here. `Paired` holds the scores of several systems, a row for each query; `differences` those of two
systems, free of the rounding errors of float64; `Sample` the size, mean and spread of one column.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TypeAlias, cast

import numpy as np

from judged.arrays import Floats
from judged.errors import BadSample, check_kind
from judged.tables.scores import Scores

Values: TypeAlias = Sequence[float] | Floats
SystemValues: TypeAlias = Values | Mapping[str, float] | Scores
"""The scores of one system: in the order of the queries, by query, or as `Scores`."""

MOST_RESAMPLES = 10_000_000
"""More would change no digit that is shown."""
DIGITS = 12
"""Significant digits of the largest score; differences below them are rounding errors of float64."""
ROUNDING = 10.0**-DIGITS
"""The same as a share of the largest score."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The number of values, their mean, and their standard deviation (0 if all are equal)."""

    size: int
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class WinsTiesLosses:
    """The number of queries on which the first system is better, equal and worse."""

    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class Paired:
    """The scores of two or more systems on the same queries: all finite, a row for each query, a column for each system."""

    values: Floats
    systems: tuple[str, ...]

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.values)

    @property
    def means(self) -> Floats:
        """The mean score of each system."""
        mean: Floats = self.values.mean(axis=0)
        return mean

    @property
    def rounding(self) -> float:
        """The size up to which a difference of these scores counts as 0."""
        return ROUNDING * float(np.abs(self.values).max())

    @property
    def residuals(self) -> Floats:
        """The part of each score that neither its query nor its system explains; rounding errors are 0."""
        centred = self.values - self.values.mean()
        left = centred - centred.mean(axis=1, keepdims=True) - centred.mean(axis=0)
        kept: Floats = np.where(np.abs(left) <= self.rounding, 0.0, left)
        return kept


def check_level(level: float) -> None:
    """Raise BadSample unless the confidence level lies between 0 and 1."""
    check_kind("level", level, Real, "a number")
    if not 0 < level < 1:
        msg = f"the confidence level is {level}, expected a number between 0 and 1"
        raise BadSample(msg, hint="95 % is written 0.95")


def check_resamples(resamples: int) -> None:
    """Raise BadSample for fewer than one resample, and for more than ever change a digit."""
    check_kind("resamples", resamples, Integral, "a whole number")
    if not 1 <= resamples <= MOST_RESAMPLES:
        msg = f"`resamples` is {resamples}, expected 1 to {MOST_RESAMPLES:,}"
        raise BadSample(msg)


def check_values(values: Iterable[float] | Floats, *, name: str = "scores") -> Floats:
    """Return the values as an array; raise BadSample if there are none, or if one is not finite."""
    array = np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=np.float64)
    if array.ndim != 1 or len(array) == 0:
        msg = f"`{name}` holds no values, expected at least one"
        raise BadSample(msg)
    if not np.isfinite(array).all():
        msg = f"`{name}` holds {array[~np.isfinite(array)][0]}, expected finite numbers"
        raise BadSample(msg)
    return array


def summarise(values: Iterable[float] | Floats, *, name: str = "scores") -> Sample:
    """Return the size, mean and standard deviation of `values`.

    Equal values have no spread at all, even where their mean is rounded:

    >>> summarise([0.1, 0.1, 0.1])
    Sample(size=3, mean=0.1, deviation=0.0)
    """
    array = check_values(values, name=name)
    if (array == array[0]).all():
        return Sample(len(array), float(array[0]), 0.0)
    return Sample(len(array), float(array.mean()), float(array.std(ddof=1)))


def differences(first: Values, second: Values) -> Floats:
    """Return the difference of each query, first minus second.

    >>> differences([0.5, 0.1 + 0.2], [0.25, 0.3]).tolist()
    [0.25, 0.0]
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        msg = f"a paired comparison was given {a.size:,} and {b.size:,} scores, expected the same queries in both"
        raise BadSample(msg, hint="use an independent test, such as Welch's, for samples that are not paired")
    check_values(a, name="the first scores")
    check_values(b, name="the second scores")
    return steady(a - b, scale=float(max(np.abs(a).max(), np.abs(b).max())))


def steady(values: Floats, *, scale: float) -> Floats:
    """Make values equal whose sizes differ by rounding alone, such as 0.3 − 0.1 and 0.7 − 0.5.

    A value without such a neighbour keeps every bit; one that is 0 but for rounding becomes 0.
    """
    if scale == 0:
        return values
    # more than 300 decimals overflow inside `np.round`
    rounded = np.round(values, int(min(DIGITS - np.ceil(np.log10(scale)), 300))).ravel()
    sizes, first, place = np.unique(np.abs(rounded), return_index=True, return_inverse=True)
    kept = np.where(sizes == 0, 0.0, np.abs(values.ravel())[first])
    # + 0.0 turns −0 into 0
    equal: Floats = (np.sign(rounded) * kept[place.ravel()] + 0.0).reshape(values.shape)
    return equal


def wins_ties_losses(difference: Floats) -> WinsTiesLosses:
    """Count the differences above 0, at 0 and below it.

    >>> wins_ties_losses(differences([0.3, 0.5, 0.1], [0.1, 0.5, 0.2]))
    WinsTiesLosses(wins=1, ties=1, losses=1)
    """
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    return WinsTiesLosses(wins, len(difference) - wins - losses, losses)


def pair_by_query(
    systems: Sequence[Mapping[str, float]],
) -> tuple[list[str], Floats, list[list[str]], list[str]]:
    """Pair the finite values of several systems by query.

    Returns the queries that all systems have a value for, in the first system's order; their values, a column for each
    system; for each system the queries that some other system has no value for; and the queries that none has a value for.

    >>> pair_by_query([{"q1": 0.5, "q2": 1.0, "q4": np.nan}, {"q2": 0.25, "q3": 0.0}])
    (['q2'], array([[1.  , 0.25]]), [['q1'], ['q3']], ['q4'])
    """
    finite = [{query: value for query, value in values.items() if np.isfinite(value)} for values in systems]
    shared = [query for query in finite[0] if all(query in values for values in finite)]
    kept = set(shared)
    rows = [[values[query] for values in finite] for query in shared]
    table = np.array(rows, dtype=np.float64).reshape(len(shared), len(finite))
    known = dict.fromkeys(query for values in systems for query in values)
    undefined = [query for query in known if not any(query in values for values in finite)]
    return shared, table, [[query for query in values if query not in kept] for values in finite], undefined


def pair_scores(
    scores: Mapping[str, SystemValues] | Sequence[Sequence[float]] | Floats,
    *,
    systems: Sequence[str] | None = None,
    measure: object = None,
    least: int = 2,
) -> Paired:
    """Check the scores of several systems, and pair them by query.

    `scores` is an array with a row for each query and a column for each system, whose names are `systems` (without
    them, their numbers from 1); or a mapping from names to scores: sequences in the same order of queries, dicts from
    query to score, or `Scores`, of which `measure` names the one to take. All systems must have the same queries, and
    there must be `least` systems.

    >>> pair_scores({"a": {"q1": 0.5, "q2": 1}, "b": {"q2": 0, "q1": 0.25}}).values.tolist()
    [[0.5, 0.25], [1.0, 0.0]]
    """
    if isinstance(scores, Mapping):
        _check_several(len(scores), least)
        return _pair_mapping(scores, measure)
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        msg = "scores must be a 2-D array: one row per query, one column per system"
        raise BadSample(msg) from None
    if values.ndim != 2:
        msg = f"the scores have {values.ndim} dimensions, expected 2: a row for each query, a column for each system"
        raise BadSample(msg)
    if len(values) == 0:
        msg = "there are no scores, expected those of at least one query"
        raise BadSample(msg)
    _check_several(values.shape[1], least)
    for query, system in np.argwhere(~np.isfinite(values))[:1]:
        msg = (
            f"the score of query {query + 1}, system {system + 1} is {values[query, system]}, expected a finite "
            f"number ({int((~np.isfinite(values)).sum()):,} such in all)"
        )
        hint = "leave out the queries that not every system has a score for, or score them 0"
        raise BadSample(msg, hint=hint)
    return Paired(values, _system_names(systems, values.shape[1]))


def _pair_mapping(scores: Mapping[str, SystemValues], measure: object) -> Paired:
    by_query = {name: _by_query(name, values, measure) for name, values in scores.items()}
    first, expected = next(iter(by_query.items()))
    for name, values in by_query.items():
        strange = set(expected) ^ set(values)
        if strange:
            shown = ", ".join(sorted(map(str, strange))[:3])
            msg = f"`{first}` and `{name}` have scores of different queries, expected the same: {shown} in one only"
            raise BadSample(msg, hint='a protocol with `missing="zero"` scores every judged query')
    columns = [check_values((values[q] for q in expected), name=name) for name, values in by_query.items()]
    return Paired(np.stack(columns, axis=1), tuple(map(str, scores)))


def _by_query(name: str, values: SystemValues, measure: object) -> Mapping[Hashable, float]:
    """Return the values of one system by query; those of an array by their place."""
    if isinstance(values, Scores):
        chosen = _only_measure(name, values) if measure is None else measure
        return cast("dict[Hashable, float]", values.by_query(chosen, averaged=True))
    try:
        return {query: float(value) for query, value in _items(values)}
    except (TypeError, ValueError):
        msg = f"`{name}` holds a value that is not a number, expected the scores of its queries"
        raise BadSample(msg) from None


def _items(values: Sequence[float] | Floats | Mapping[str, float]) -> Iterator[tuple[Hashable, float]]:
    if isinstance(values, Mapping):
        return iter(values.items())
    return enumerate(np.asarray(values, dtype=np.float64).reshape(-1).tolist())


def _only_measure(name: str, scores: Scores) -> str:
    names = list(scores.values)
    if len(names) != 1:
        msg = f"the scores of `{name}` hold {len(names)} measures: {', '.join(names[:5])}"
        raise BadSample(msg, hint=f"choose one with `measure={names[0]!r}`" if names else None)
    return names[0]


def _check_several(count: int, least: int) -> None:
    if count < least:
        msg = f"there are scores of {count} system, expected two or more to compare"
        raise BadSample(msg, hint="a row holds one query's scores, a column those of one system")


def _system_names(systems: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if systems is None:
        return tuple(str(number) for number in range(1, count + 1))
    names = tuple(map(str, systems))
    if len(names) != count:
        msg = f"{len(names)} names were given for {count} systems"
        raise BadSample(msg, hint="a row holds one query's scores, a column those of one system")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        msg = f"two systems are called `{twice[0]}`"
        raise BadSample(msg)
    return names
