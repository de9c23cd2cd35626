"""Slices: groups of queries with the same attribute, and whether a difference depends on it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from judged.arrays import Floats, Ints
from judged.blocks import Value
from judged.comparison.contrasts import Contrast, PairedScores
from judged.comparison.settings import Settings
from judged.errors import Unusable
from judged.io.rows import read_rows
from judged.problem import Problem
from judged.stats.corrections import holm
from judged.stats.outcome import Outcome, Undefined
from judged.stats.randomisation import interaction_test

__all__ = ["Attributes", "Interaction", "find_interactions", "read_attributes"]

Parts: TypeAlias = tuple[tuple[str, int, float], ...]
"""Each slice with its number of queries and its mean difference."""

QUERY = ("query_id", "query-id", "qid", "q_id", "query", "topic")
"""What a column of queries may be called; `topic` beside another is an attribute."""
MOST = 20
"""How many values an attribute may have for queries to be grouped by it."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of queries: for each attribute, the value of each query that has one."""

    values: Mapping[str, Mapping[str, str]]


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
    def slices(self) -> str:
        """The slices with their mean differences, as people read them."""
        return ", ".join(f"{name} {value:+.4f}" for name, _, value in self.differences)

    @property
    def p(self) -> float | None:
        """The p-value of this contrast and attribute alone; None if there is none."""
        return self.outcome.p if isinstance(self.outcome, Outcome) else None

    def verdict(self, alpha: float) -> str:
        """Return the conclusion in words."""
        if isinstance(self.outcome, Undefined) or self.corrected is None:
            return str(self.outcome)
        if self.corrected < alpha:
            return f"depends on {self.attribute}"
        return f"no evidence that it depends on {self.attribute}"

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name."""
        return {
            "attribute": self.attribute,
            "measure": self.measure,
            "system": self.system,
            "baseline": self.baseline,
            "slices": self.slices,
            "p": self.p,
            "p_corrected": self.corrected,
            "undefined": self.outcome.reason if isinstance(self.outcome, Undefined) else None,
        }


def read_attributes(
    source: Attributes | Mapping[str, Mapping[str, Any]] | str | os.PathLike[str],
) -> Attributes:
    """Return the attributes of queries, from a CSV, TSV or JSONL file with a column of queries, or a dict of dicts."""
    if isinstance(source, Attributes):
        return source
    if isinstance(source, Mapping):
        rows = [{"query": str(query), **dict(values)} for query, values in source.items()]
        return _group(rows, "query", "attributes")
    table = read_rows(Path(os.fspath(source)))
    query = table.column("query", QUERY)
    seen: dict[str, int] = {}
    for number, row in enumerate(table.rows):
        if seen.setdefault(str(row.get(query)), number) != number:
            message = f"query `{row.get(query)}` has a row already, expected one"
            table.faults.add("repeated-query", number, message)
    table.faults.raise_if_any(error=Unusable)
    return _group(table.rows, query, str(source))


def _group(rows: Sequence[Mapping[str, Any]], query: str, subject: str) -> Attributes:
    names = dict.fromkeys(name for row in rows for name in row if name != query)
    found = {
        name: {str(row[query]): _to_text(row[name]) for row in rows if row.get(name) not in {None, ""}}
        for name in names
    }
    for name, values in found.items():
        count = len(set(values.values()))
        if count > MOST:
            message = f"has {count:,} different values, expected at most {MOST}"
            hint = "group them first (short, long), or leave the column out"
            raise Unusable(subject, [Problem.error("many-values", f"`{name}`", message)], hint=hint)
    if not found:
        message = "none but the query, expected an attribute"
        raise Unusable(subject, [Problem.error("missing-column", "columns", message)])
    return Attributes(found)


def _to_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def find_interactions(
    scores: PairedScores, attributes: Attributes, contrasts: Sequence[Contrast], settings: Settings
) -> list[Interaction]:
    """Test, for each attribute and contrast of one measure, whether the difference depends on the attribute."""
    found = [
        (name, contrast, parts, outcome)
        for name, values in attributes.values.items()
        for contrast, (parts, outcome) in zip(
            contrasts, _test_attribute(scores, values, contrasts, settings), strict=True
        )
    ]
    corrected = holm([outcome.p if isinstance(outcome, Outcome) else None for *_, outcome in found])
    return [
        Interaction(name, contrast.measure, contrast.system, contrast.baseline, parts, outcome, p)
        for (name, contrast, parts, outcome), p in zip(found, corrected, strict=True)
    ]


def _test_attribute(
    scores: PairedScores, values: Mapping[str, str], contrasts: Sequence[Contrast], settings: Settings
) -> list[tuple[Parts, Outcome | Undefined]]:
    """Return, for each contrast, the mean difference of each slice, and the test that they are the same."""
    kept = scores.select(query for query in scores.queries if query in values)
    names = sorted({values[query] for query in kept.queries})
    if not names:
        return [((), Undefined("no query has the attribute"))] * len(contrasts)
    d = np.column_stack([kept.differences(contrast.system, contrast.baseline) for contrast in contrasts])
    group = np.array([names.index(values[query]) for query in kept.queries])
    tested = interaction_test(d, group, resamples=settings.resamples, seed=settings.seed)
    return [
        (_slice_means(names, group, column), outcome) for column, outcome in zip(d.T, tested, strict=True)
    ]


def _slice_means(names: Sequence[str], group: Ints, difference: Floats) -> Parts:
    return tuple(
        (name, int((group == at).sum()), float(difference[group == at].mean()))
        for at, name in enumerate(names)
    )
