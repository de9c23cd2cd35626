"""The scores of several systems on the queries that all of them have a value for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judged.arrays import Floats
from judged.engine.system_scores import SystemScores
from judged.errors import BadMeasure, BadSample
from judged.measures.measure import Measure

__all__ = ["Shared", "shared_scores"]


@dataclass(frozen=True, eq=False)
class Shared:
    """The values of one measure: a row for each query, a column for each system."""

    measure: Measure
    systems: tuple[str, ...]
    queries: tuple[str, ...]
    values: Floats
    left_out: tuple[str, ...] = ()
    """Queries that some system has a value for and another has not."""

    @property
    def sign(self) -> int:
        """1 where more is better, −1 where less is."""
        return -1 if self.measure.higher_is_better is False else 1

    @property
    def binary(self) -> bool:
        """Whether the measure can have no value but 0 and 1: Hit and Success at any cutoff, and P and RR at 1."""
        return self.measure.binary

    def of(self, queries: Iterable[str]) -> Shared:
        """The same of some queries only."""
        wanted = set(queries)
        at = [place for place, query in enumerate(self.queries) if query in wanted]
        return replace(self, queries=tuple(self.queries[place] for place in at), values=self.values[at])


_AGGREGATES = {"sum": "a sum", "geometric": "a geometric mean", "pooled": "a pooled value"}


def shared_scores(evaluations: Sequence[SystemScores]) -> tuple[Shared, ...]:
    """For each measure, the values of all systems on the queries they share."""
    return tuple(_shared(evaluations, measure) for measure in evaluations[0].measures)


def _shared(evaluations: Sequence[SystemScores], measure: Measure) -> Shared:
    if measure.text or measure.aggregate != "mean":
        what = "text" if measure.text else _AGGREGATES[measure.aggregate]
        msg = f"{measure} has {what} for a whole run, and systems are compared by means over queries"
        other = measure.compare_by
        raise BadMeasure(msg, hint=f"compare by {other} in place of {measure.name}" if other else None)
    by_system = [_finite(evaluation, measure) for evaluation in evaluations]
    common = [query for query in by_system[0] if all(query in each for each in by_system)]
    every = dict.fromkeys(query for each in by_system for query in each)
    kept = set(common)
    systems = tuple(evaluation.run for evaluation in evaluations)
    if not common:
        unit = evaluations[0].scores.unit
        hint = 'a protocol with `missing="zero"` scores every judged query' if unit == "query" else None
        msg = f"{', '.join(systems[:3])} have no {unit} in common that {measure} has a value for"
        raise BadSample(msg, hint=hint)
    values = np.array([[each[query] for each in by_system] for query in common], dtype=np.float64)
    left_out = tuple(query for query in every if query not in kept)
    return Shared(measure, systems, tuple(common), values, left_out)


def _finite(evaluation: SystemScores, measure: Measure) -> dict[str, float]:
    """The value of each query that has one."""
    values = evaluation.scores.by_query(measure)
    return {query: value for query, value in values.items() if np.isfinite(value)}
