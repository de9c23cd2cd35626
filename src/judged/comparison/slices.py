"""Slices: groups of queries with the same attribute, and whether a difference depends on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats
from judged.comparison.contrasts import Contrast
from judged.comparison.settings import Settings
from judged.comparison.shared import Shared
from judged.errors import Unusable
from judged.io.table import read_table
from judged.problem import Problem
from judged.stats.corrections import holm
from judged.stats.outcome import Outcome, Undefined
from judged.stats.paired import differences
from judged.stats.randomisation import interaction_test
from judged.tables.inputs import ArrowStream, FileLike, Rows
from judged.tables.schema import ATTRIBUTES

__all__ = ["Attributes", "Interaction", "interactions_of", "read_attributes"]

Attributes: TypeAlias = Mapping[str, Mapping[str, str]]
"""For each attribute, the value of each query that has one."""

Parts: TypeAlias = tuple[tuple[str, int, float], ...]
"""Each slice with its number of queries and its mean difference."""

MOST = 20
"""How many values an attribute may have to be one that queries are grouped by."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """Whether the difference between two systems is the same in all slices of an attribute."""

    attribute: str
    measure: str
    system: str
    baseline: str
    differences: Parts
    outcome: Outcome | Undefined
    corrected: float | None
    """The p-value by Holm's rule over all attributes and pairs of the measure."""

    @property
    def written(self) -> str:
        """Each slice with its mean difference, as people read it."""
        return ", ".join(f"{name} {value:+.4f}" for name, _, value in self.differences)

    @property
    def p(self) -> float | None:
        """The p-value of this contrast and attribute alone; None where there is none."""
        return self.outcome.p if isinstance(self.outcome, Outcome) else None

    def verdict(self, alpha: float) -> str:
        """What is to be made of it, in words."""
        if isinstance(self.outcome, Undefined) or self.corrected is None:
            return str(self.outcome)
        return (
            f"depends on {self.attribute}"
            if self.corrected < alpha
            else f"no evidence that it depends on {self.attribute}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Every number by name."""
        return {
            "attribute": self.attribute,
            "measure": self.measure,
            "system": self.system,
            "baseline": self.baseline,
            "slices": {
                name: {"queries": count, "difference": value} for name, count, value in self.differences
            },
            "p": self.p,
            "p_corrected": self.corrected,
            "undefined": self.outcome.reason if isinstance(self.outcome, Undefined) else None,
        }


def read_attributes(source: FileLike | ArrowStream | Rows | Mapping[str, Mapping[str, Any]]) -> Attributes:
    """Return the attributes of queries: from a table with a column of queries, or a dict of dicts by query."""
    table = read_table(source, ATTRIBUTES)
    queries, problems = table.columns["query"].to_pylist(), table.problems
    seen: dict[str, int] = {}
    for row, query in enumerate(queries):
        if seen.setdefault(query, row) != row:
            problems.add("repeated-query", row, f"query `{query}` has a row already, expected one")
    problems.raise_if_any(error=Unusable)
    found = {
        name: {
            query: _said(value)
            for query, value in zip(queries, values, strict=True)
            if value is not None and value != ""
        }
        for name, values in table.others.items()
    }
    for name, values in found.items():
        count = len(set(values.values()))
        if count > MOST:
            message = f"has {count:,} different values, expected at most {MOST}"
            hint = "put them into classes first (short, long), or leave the column out"
            raise Unusable(problems.subject, [Problem.error("many-values", f"`{name}`", message)], hint=hint)
    if not found:
        problem = Problem.error("missing-column", "columns", "none but the query, expected an attribute")
        raise Unusable(problems.subject, [problem])
    return found


def _said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def interactions_of(
    shared: Shared, attributes: Attributes, contrasts: Sequence[Contrast], settings: Settings
) -> list[Interaction]:
    """For each attribute and contrast of one measure, whether the difference depends on the attribute."""
    found = [
        (name, contrast, parts, outcome)
        for name in attributes
        for contrast, (parts, outcome) in zip(
            contrasts, _between(shared, attributes[name], contrasts, settings), strict=True
        )
    ]
    corrected = holm([outcome.p if isinstance(outcome, Outcome) else None for *_, outcome in found])
    return [
        Interaction(name, each.measure, each.system, each.baseline, parts, outcome, p)
        for (name, each, parts, outcome), p in zip(found, corrected, strict=True)
    ]


def _between(
    shared: Shared, values: Mapping[str, str], contrasts: Sequence[Contrast], settings: Settings
) -> list[tuple[Parts, Outcome | Undefined]]:
    """For each contrast the mean difference of each slice, and the test that they are the same."""
    kept = shared.of(query for query in shared.queries if query in values)
    names = sorted({values[query] for query in kept.queries})
    if not names:
        return [((), Undefined("no query has the attribute"))] * len(contrasts)
    columns = [[kept.systems.index(name) for name in (each.system, each.baseline)] for each in contrasts]
    d = np.column_stack([differences(kept.values[:, i], kept.values[:, j]) for i, j in columns])
    group = np.array([names.index(values[query]) for query in kept.queries])
    tested = interaction_test(d, group, resamples=settings.resamples, seed=settings.seed)
    return [(_parts(names, group, column), outcome) for column, outcome in zip(d.T, tested, strict=True)]


def _parts(names: list[str], group: NDArray[np.int64], difference: Floats) -> Parts:
    return tuple(
        (name, int((group == at).sum()), float(difference[group == at].mean()))
        for at, name in enumerate(names)
    )
