"""The values of several systems on the same queries, paired by query, from whatever holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample
from judged.stats.sample import sample
from judged.tables.scores import Scores

__all__ = ["same_queries"]

Floats: TypeAlias = NDArray[np.float64]


def same_queries(systems: Mapping[str, Any], measure: object = None) -> dict[str, Floats]:
    """The values of every system on the same queries, in one order; what cannot be paired is refused."""
    queries = {name: _by_query(name, values, measure) for name, values in systems.items()}
    first, expected = next(iter(queries.items()))
    for name, values in queries.items():
        strange = set(expected) ^ set(values)
        if strange:
            shown = ", ".join(sorted(map(str, strange))[:3])
            msg = f"`{first}` and `{name}` have scores of different queries, expected the same: {shown} in one only"
            raise BadSample(msg, hint='a protocol with `missing="zero"` scores every judged query')
    made = {name: np.array([values[query] for query in expected]) for name, values in queries.items()}
    for name, array in made.items():
        sample(array, name=name)  # refuses what is empty or not finite
    return made


def _by_query(name: str, values: Any, measure: object) -> dict[Any, float]:
    """The values of one system by query; those of an array by their number."""
    if isinstance(values, Scores):
        return values.by_query(_one_measure(name, values) if measure is None else measure)
    try:
        if isinstance(values, Mapping):
            return {query: float(value) for query, value in values.items()}
        return dict(enumerate(np.asarray(values, dtype=np.float64).reshape(-1).tolist()))
    except (TypeError, ValueError):
        msg = f"`{name}` holds what is no number, expected the scores of its queries"
        raise BadSample(msg) from None


def _one_measure(name: str, scores: Scores) -> str:
    names = list(scores.values)
    if len(names) != 1:
        msg = f"the scores of `{name}` hold {len(names)} measures: {', '.join(names[:5])}"
        raise BadSample(msg, hint=f"say which with `measure={names[0]!r}`" if names else None)
    return names[0]
