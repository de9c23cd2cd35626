"""`explain_difference`: why a measure has one value under some conventions and another under others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import factorial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.blocks import Block, Display, Sentence, Table, Value, format_value
from judged.explanation.evidence import Evidence
from judged.explanation.lists import read_graded_judgments
from judged.explanation.result import list_facts, observe_inputs
from judged.explanation.scoring_rule import (
    Conventions,
    NamedRule,
    RuleDifference,
    blend,
    diff,
    parse_rule,
)
from judged.explanation.variants import Trials, Variant
from judged.io.read import read_run
from judged.measures.measure import Measure
from judged.measures.parameters import PARAMETERS
from judged.measures.written import find_written
from judged.problem import Note
from judged.protocol import BaseProtocol, Protocol
from judged.result import Provenance, Result, table_to_arrow

if TYPE_CHECKING:
    import pyarrow as pa

    from judged.tables.inputs import JudgmentsLike, RunLike

MAX_QUERIES = 10
"""The number of queries shown, the most affected first; only these have evidence."""
LONG_NAME = 30
"""Names of conventions that are longer do not head columns."""
ROUNDING = 1e-12
"""Smaller differences are rounding."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two scoring rules, and the value of the run under it."""

    name: str
    measure: str
    value: float
    queries: int
    """The number of queries that are scored."""
    digits: int | None = None
    """The number of decimals that the tool prints; None for all."""
    not_imitated: tuple[str, ...] = ()
    """Behaviour of the tool that is not reproduced."""
    written: str = ""
    """The name of the measure as the user wrote it; empty: the canonical one."""


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Result):
    """The two values of one measure of one run, explained: the share of every convention, the largest first.

    >>> import judged
    >>> run = {"q1": {"a": 1.0, "b": 1.0}}
    >>> difference = judged.explain_difference({"q1": {"a": 1}}, run, "RR", against="ties=input-order")
    >>> difference.difference, difference.rows()[0]["cause"], difference.rows()[0]["share"]
    (0.5, 'ties', 0.5)
    """

    kind: ClassVar[str] = "difference"
    detail: ClassVar[str] = ""

    run: str
    first: Side
    second: Side
    causes: Table
    """A row for every convention that differs: its two values, its share, and how many queries it affects."""
    queries: Table
    """A row for every query with two values, the most affected first, with the largest cause and evidence."""
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def values(self) -> tuple[float, float]:
        """The value of the run under both rules."""
        return self.first.value, self.second.value

    @property
    def difference(self) -> float:
        """The second value minus the first."""
        return self.second.value - self.first.value

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the causes and the queries."""
        return {"causes": table_to_arrow(self.causes), "queries": table_to_arrow(self.queries)}

    def summary(self) -> Mapping[str, object]:
        """Return the run, both sides and the difference."""
        sides = {
            name: {key: getattr(side, key) for key in Side.__dataclass_fields__}
            for name, side in (("first", self.first), ("second", self.second))
        }
        return {"run": self.run, **sides, "difference": self.difference}

    def blocks(self, display: Display) -> Iterator[Block]:
        """Return both values, the causes, the queries most affected, and the evidence."""
        first, second = (format_value(value, digits=display.digits) for value in self.values)
        names = dict.fromkeys((self.first.measure, self.second.measure))
        # two measures under one spelling are distinguished by their own names
        measures = " and ".join(names) if len(names) > 1 else self.first.written or self.first.measure
        yield Sentence(
            f"{measures} of {self.run}: {first} under {self.first.name}, {second} under {self.second.name}; "
            f"a difference of {self.difference:+.{display.digits}f}"
        )
        short = max(len(self.first.name), len(self.second.name)) <= LONG_NAME
        headings = {"first": self.first.name, "second": self.second.name} if short else {}
        for table, title in ((self.causes, "Causes"), (self.queries, "Queries, the most affected first")):
            if table.rows:
                columns = tuple(headings.get(name, name) for name in table.columns if name != "evidence")
                rows = tuple(
                    _format_row(table.columns, row, display.digits)[: len(columns)]
                    for row in table.rows[:MAX_QUERIES]
                )
                yield _add_texts(Table(columns, rows, title=title), display.texts)
        yield from list_facts(self._facts(display))

    def _facts(self, display: Display) -> Iterator[str]:
        """Return what the tables do not show."""
        if not self.causes.rows:
            yield "both have the same conventions for this measure"
        elif not self.queries.rows:
            yield "the conventions differ, but no query of this run is affected"
        yield from (text for row in self.causes.rows if row[-1] and (text := _describe_cause(*row[:3])))
        yield from (f"{row[0]}: {row[-1]}" for row in self.queries.rows[:MAX_QUERIES])
        if len(self.queries.rows) > MAX_QUERIES:
            yield f"{len(self.queries.rows) - MAX_QUERIES:,} more queries are affected"
        one, other = self.first, self.second
        names = dict.fromkeys((side.written, side.measure) for side in (one, other) if side.written)
        if len(names) == 1:
            yield from (f"{written} is {name}" for written, name in names)
        if one.queries != other.queries:
            yield f"{one.name} is over {one.queries:,} queries, {other.name} over {other.queries:,}"
        for side in (one, other):
            if side.digits is not None and side.digits < display.digits:
                yield f"{side.name} prints {side.digits} decimals: {side.value:.{side.digits}f}"


def _describe_cause(name: Value, first: Value, second: Value) -> str:
    """Return what a convention or a parameter decides, and the effects of its values where it has words for them."""
    declared = Protocol.conventions().get(str(name))
    if declared is None:
        known = PARAMETERS.get(str(name))
        return f"{name}: {known.meaning}" if known else ""
    about = declared.help[0].lower() + declared.help[1:].removesuffix(".")
    effects = [declared.outcomes[str(value)] for value in (first, second) if str(value) in declared.outcomes]
    return "; ".join((f"{name}: {about}", *([", or ".join(effects)] if effects else [])))


def _add_texts(table: Table, texts: Mapping[str, str]) -> Table:
    """Return the table with the text of each query next to its id, where texts are known."""
    if not texts or table.columns[0] != "query":
        return table
    rows = tuple((row[0], texts.get(str(row[0])), *row[1:]) for row in table.rows)
    return replace(table, columns=("query", "text", *table.columns[1:]), rows=rows)


def explain_difference(
    qrels: JudgmentsLike,
    run: RunLike,
    measure: Measure | str,
    *,
    against: Conventions,
    protocol: Conventions = "trec_eval-9",
    name: str | None = None,
    join: bool = False,
) -> Difference:
    """Explain why `measure` has one value under `protocol` and another under `against`.

    Both may be a protocol, the name of a profile, or that of one with changes (`"ranx,missing=skip"`); `against`
    may be changes alone (`"ties=input-order"`, `"gain=exp"`). The causes are the conventions in which the two
    differ. The share of a convention is its Shapley value: what it changes, averaged over all orders in which the
    conventions could be exchanged one by one. Shares sum to the difference.
    """
    first = parse_rule(protocol, measure)
    second = parse_rule(against, measure, base=protocol)
    inputs = observe_inputs(qrels, run)
    judgments = read_graded_judgments(qrels, first.measure)
    ranked = read_run(run, name=name, join=join)
    causes, evidence = diff(first, second), Evidence(judgments, ranked, first, second)
    values = _blend_run(evidence, causes)
    moved = shapley(values.by_query)
    return Difference(
        ranked.name,
        values.side(0, first),
        values.side(-1, second),
        tabulate_causes(values, causes, moved),
        tabulate_queries(values, causes, moved, evidence.describe),
        provenance=Provenance(protocols=(first.record, second.record), inputs=inputs),
    )


def shapley(values: Floats) -> Floats:
    """Return the share of every cause in what all of them change together; the shares sum to that.

    `values[s]` is the value with the causes whose bits are set in `s`, so that there are 2ⁿ values for n causes. What
    a cause changes is averaged over all orders of the causes. Further axes are kept.

    >>> shapley(np.array([0.0, 1.0, 2.0, 6.0])).tolist()
    [2.5, 3.5]
    """
    causes = len(values).bit_length() - 1
    subsets = np.arange(len(values))
    size = np.array([subset.bit_count() for subset in range(len(values))])
    weights = [factorial(k) * factorial(causes - k - 1) / factorial(causes) for k in range(causes)]
    shares = np.zeros((causes, *values.shape[1:]))
    for cause in range(causes):
        without = subsets[(subsets >> cause) & 1 == 0]
        weight = np.array(weights)[size[without]]
        shares[cause] = np.tensordot(weight, values[without | (1 << cause)] - values[without], axes=1)
    return shares


def list_subsets(causes: Sequence[RuleDifference]) -> Iterator[list[RuleDifference]]:
    """Yield every set of causes: the one whose bits are set in its number."""
    for subset in range(1 << len(causes)):
        yield [cause for bit, cause in enumerate(causes) if subset >> bit & 1]


def _blend_run(evidence: Evidence, causes: tuple[RuleDifference, ...]) -> BlendedValues:
    """Return the values of a run under every blend of two rules."""
    trials = Trials(evidence.judgments, evidence.run)
    trials.add(Variant((), *blend(evidence.first, taken)) for taken in list_subsets(causes))
    judged = evidence.judgments.queries.to_pylist()
    ids = list(dict.fromkeys([*judged, *trials.list_queries()]))
    return BlendedValues(ids, np.array(trials.values), trials.tabulate(ids))


@dataclass(frozen=True, eq=False)
class BlendedValues:
    """The value of a system and of every query under every blend of two rules; NaN where a query is not scored."""

    ids: list[str]
    whole: Floats
    by_query: Floats

    def side(self, end: int, rule: NamedRule[BaseProtocol]) -> Side:
        """Return the first or the last blend, which is one of the two rules."""
        scored = int((~np.isnan(self.by_query[end])).sum())
        value = float(self.whole[end])
        name, written = str(rule.measure), find_written(rule.measure)
        return Side(rule.name, name, value, scored, rule.digits, rule.caveats, written)

    def changes_coverage(self, cause: int) -> Flags:
        """Flag the queries that a cause makes scored or left out, under any of the other causes."""
        absent, bit = np.isnan(self.by_query), 1 << cause
        without = [subset for subset in range(len(absent)) if not subset & bit]
        changed: Flags = (absent[without] != absent[[subset | bit for subset in without]]).any(axis=0)
        return changed

    def sort_affected(self, moved: Floats) -> Ints:
        """Return the affected queries, most affected first.

        Leaving a query out moves a mean as much as giving it the value of the mean.
        """
        first, second = self.by_query[0], self.by_query[-1]
        alone = np.where(np.isnan(first), self.whole[0] - second, self.whole[-1] - first)
        one_sided = np.isnan(first) != np.isnan(second)
        change = np.nan_to_num(np.abs(np.where(one_sided, alone, second - first)))
        affected = np.flatnonzero((change > ROUNDING) | (moved > ROUNDING))
        return affected[np.lexsort((affected, -moved[affected], -change[affected]))]


def tabulate_causes(values: BlendedValues, causes: tuple[RuleDifference, ...], moved: Floats) -> Table:
    """Return the conventions that differ, the largest share first."""
    whole, shares = float(values.whole[-1] - values.whole[0]), shapley(values.whole)
    rows: list[tuple[Value, ...]] = []
    for i in np.argsort(-np.abs(shares), kind="stable").tolist():
        affected = (np.abs(moved[i]) > ROUNDING) | values.changes_coverage(i)
        share = float(shares[i]) if abs(shares[i]) > ROUNDING else 0.0
        percent = None if abs(whole) <= ROUNDING else 100 * share / whole + 0.0  # adding 0 makes −0 positive
        rows.append((causes[i].name, *causes[i].words, share, percent, int(affected.sum())))
    return Table(("cause", "first", "second", "share", "percent", "queries"), tuple(rows))


def tabulate_queries(
    values: BlendedValues,
    causes: tuple[RuleDifference, ...],
    moved: Floats,
    describe: Callable[[str, RuleDifference], str | None],
) -> Table:
    """Return the queries with two values, or with only one, the most affected first."""
    size = np.nan_to_num(np.abs(moved))
    for i in range(len(causes)):
        size[i, values.changes_coverage(i)] += 1.0  # more than any share of a value
    rows: list[tuple[Value, ...]] = []
    for place, i in enumerate(values.sort_affected(size.sum(axis=0)).tolist()):
        cause = causes[int(np.argmax(size[:, i]))]
        why = describe(values.ids[i], cause) if place < MAX_QUERIES else None
        first, second = (None if np.isnan(row[i]) else float(row[i]) for row in values.by_query[[0, -1]])
        change = None if first is None or second is None else second - first
        rows.append((values.ids[i], first, second, change, cause.name, why))
    return Table(("query", "first", "second", "difference", "cause", "evidence"), tuple(rows))


def _format_row(columns: tuple[str, ...], row: tuple[Value, ...], digits: int) -> tuple[Value, ...]:
    """Return the row with signed shares and differences, and percentages with one decimal."""
    formats = {"share": f"+.{digits}f", "difference": f"+.{digits}f", "percent": ".1f"}
    return tuple(
        format(value, formats[name]) if name in formats and value is not None else value
        for name, value in zip(columns, row, strict=True)
    )
