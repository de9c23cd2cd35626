"""Slices: groups of queries with the same attribute, and whether a difference depends on it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from judged.arrays import Floats, Ints
from judged.blocks import Value
from judged.comparison.contrasts import Contrast, PairedScores
from judged.comparison.settings import Settings
from judged.errors import BadSample, Unusable
from judged.io.table import read_table
from judged.problem import Problem
from judged.stats.corrections import holm
from judged.stats.outcome import Outcome, Undefined
from judged.stats.randomisation import interaction_test
from judged.tables.schema import ATTRIBUTES
from judged.wording import name_some

if TYPE_CHECKING:
    from judged.tables.inputs import ArrowStream, FileLike, Rows

Parts: TypeAlias = tuple[tuple[str, int, float], ...]
"""Each slice with its number of queries and its mean difference."""

MOST = 20
"""Maximum number of values of an attribute that queries are grouped by."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of queries: for each attribute, the value of each query that has one."""

    values: Mapping[str, Mapping[str, str]]


AttributesLike: TypeAlias = "Attributes | FileLike | ArrowStream | Rows | Mapping[str, Mapping[str, object]]"
"""A table with a column of queries, or a dict of dicts: by query, or by attribute."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """Test of whether the difference between two systems is the same in all slices of an attribute."""

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


def read_attributes(source: AttributesLike, *, clusters: str | None = None) -> Attributes:
    """Return the attributes of queries, from a table with a column of queries, or a dict of dicts by query.

    The attribute that names `clusters` may have any number of values; others group queries, and have few.
    """
    if isinstance(source, Attributes):
        _check_values(source.values, "the attributes", clusters)
        return source
    table = read_table(source, ATTRIBUTES)
    queries, problems = table.columns["query"].to_pylist(), table.problems
    seen: dict[str, int] = {}
    for row, query in enumerate(queries):
        if seen.setdefault(query, row) != row:
            problems.add("repeated-query", row, f"query `{query}` has a row already, expected one")
    problems.raise_if_any(error=Unusable)
    attributes = {
        name: {
            query: _to_text(value)
            for query, value in zip(queries, values, strict=True)
            if value is not None and value != ""
        }
        for name, values in table.others.items()
    }
    _check_values(attributes, problems.subject, clusters)
    if not attributes:
        message = "none but the query, expected an attribute"
        raise Unusable(problems.subject, [Problem.error("missing-column", "columns", message)])
    return Attributes(attributes)


def match_queries(
    attributes: Attributes, queries: Collection[str], *, clusters: str | None = None
) -> Attributes:
    """Return the attributes of the queries that are compared.

    A dict may have attributes in place of queries and queries in place of attributes: `{"kind": {"q1": "name"}}`. Which
    it has, the ids of the queries tell; raises `BadSample` if they fit both ways, or neither.
    """
    known = set(queries)
    by_query = any(query in known for values in attributes.values.values() for query in values)
    by_attribute = [name for name in attributes.values if name in known]
    if by_query and len(by_attribute) == len(attributes.values):
        msg = f"the slices can be read in two ways: `{by_attribute[0]}` is an attribute or a query"
        raise BadSample(
            msg, hint="use a table with a column `query`, and attributes that are not named like queries"
        )
    if by_query:
        return attributes
    if not by_attribute:
        first = next((query for values in attributes.values.values() for query in values), "none")
        msg = f"the slices have none of the queries that are compared: `{first}` is not among {name_some(list(queries), 3)}"
        raise BadSample(
            msg, hint="slices are `{query: {attribute: value}}`, or a table with a column `query`"
        )
    turned: dict[str, dict[str, str]] = {}
    for query, values in attributes.values.items():
        for name, value in values.items():
            turned.setdefault(name, {})[query] = value
    _check_values(turned, "the slices", clusters)
    return Attributes(turned)


def _check_values(attributes: Mapping[str, Mapping[str, str]], subject: str, clusters: str | None) -> None:
    """Raise `Unusable` for an attribute with too many values to group queries by; there may be many `clusters`."""
    for name, by_query in attributes.items():
        count = len(set(by_query.values()))
        if count > MOST and name != clusters:
            message = f"has {count:,} different values, expected at most {MOST}"
            hint = "group them first (short, long), or leave the column out"
            raise Unusable(subject, [Problem.error("many-values", f"`{name}`", message)], hint=hint)


def _to_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def find_interactions(
    scores: PairedScores, attributes: Attributes, contrasts: Sequence[Contrast], settings: Settings
) -> list[Interaction]:
    """Test, for each attribute and contrast of one measure, whether the difference depends on the attribute."""
    tests = [
        (name, contrast, parts, outcome)
        for name, values in attributes.values.items()
        for contrast, (parts, outcome) in zip(
            contrasts, _test_attribute(scores, values, contrasts, settings), strict=True
        )
    ]
    corrected = holm([outcome.p if isinstance(outcome, Outcome) else None for *_, outcome in tests])
    return [
        Interaction(name, contrast.measure, contrast.system, contrast.baseline, parts, outcome, p)
        for (name, contrast, parts, outcome), p in zip(tests, corrected, strict=True)
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
    tested = interaction_test(
        d, group, clusters=kept.grouping, resamples=settings.resamples, seed=settings.seed
    )
    return [
        (_slice_means(names, group, column), outcome) for column, outcome in zip(d.T, tested, strict=True)
    ]


def _slice_means(names: Sequence[str], group: Ints, difference: Floats) -> Parts:
    return tuple(
        (name, int((group == at).sum()), float(difference[group == at].mean()))
        for at, name in enumerate(names)
    )
