"""Slices: groups of queries with the same attribute, and whether a difference depends on it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats
from judged.comparison.contrasts import Contrast
from judged.comparison.settings import Settings
from judged.comparison.shared import Shared
from judged.errors import Unusable
from judged.io.rows import read_rows
from judged.problem import Problem
from judged.stats.corrections import holm
from judged.stats.outcome import Outcome, Undefined
from judged.stats.paired import differences
from judged.stats.randomisation import interaction_test

__all__ = ["Attributes", "Interaction", "interactions_of", "read_attributes"]

Attributes: TypeAlias = Mapping[str, Mapping[str, str]]
"""For each attribute, the value of each query that has one."""

Parts: TypeAlias = tuple[tuple[str, int, float], ...]
"""Each slice with its number of queries and its mean difference."""

QUERY = ("query_id", "query-id", "qid", "q_id", "query", "topic")
"""What a column of queries may be called; `topic` beside another is an attribute."""
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


def read_attributes(source: Any) -> Attributes:
    """The attributes of queries: from a CSV, TSV or JSONL file with a column of queries, or a dict of dicts by query."""
    if isinstance(source, Mapping):
        rows = [{"query": str(query), **dict(values)} for query, values in source.items()]
        return _attributes(rows, "query", "attributes")
    table = read_rows(Path(os.fspath(source)))
    query = table.column("query", QUERY)
    seen: dict[str, int] = {}
    for row, values in enumerate(table.rows):
        first = seen.setdefault(str(values.get(query)), row)
        if first != row:
            table.faults.add(
                "repeated-query", row, f"query `{values.get(query)}` has a row already, expected one"
            )
    table.faults.raise_if_any(error=Unusable)
    return _attributes(table.rows, query, str(source))


def _attributes(rows: Sequence[Mapping[str, Any]], query: str, subject: str) -> Attributes:
    names = dict.fromkeys(name for row in rows for name in row if name != query)
    found = {
        name: {str(row[query]): _said(row[name]) for row in rows if row.get(name) not in {None, ""}}
        for name in names
    }
    for name, values in found.items():
        if len(set(values.values())) > MOST:
            told = f"has {len(set(values.values())):,} different values, expected at most {MOST}"
            hint = "put them into classes first (short, long), or leave the column out"
            raise Unusable(subject, [Problem.error("many-values", f"`{name}`", told)], hint=hint)
    if not found:
        raise Unusable(
            subject, [Problem.error("missing-column", "columns", "none but the query, expected an attribute")]
        )
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
