"""`explain_difference`: why a measure has one value under some conventions and another under others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from judged.blocks import Table, Value, format_value
from judged.engine.evaluate import evaluate
from judged.explanation import explained
from judged.explanation.evidence import Scene, evidence
from judged.explanation.listing import judgments_for
from judged.explanation.shapley import shapley
from judged.explanation.stance import Convention, Conventions, Stance, differing, mixed, stance_of
from judged.io.read import read_run
from judged.kernels.segments import Flags, Floats, Ints
from judged.measures.measure import Measure
from judged.protocol import Protocol
from judged.tables.run import Run

__all__ = ["Difference", "explain_difference"]

SHOWN = 10
"""So many queries are shown, the most affected first; evidence is looked for in these alone."""
LONG = 30
"""Names of conventions that are longer do not head columns."""
NOTHING = 1e-12
"""What is smaller is rounding."""


@dataclass(frozen=True, eq=False)
class Difference:
    """Why one measure of one run has two values: the share of each convention, the largest first.

    >>> import judged
    >>> run = {"q1": {"a": 1.0, "b": 1.0}}
    >>> told = judged.explain_difference({"q1": {"a": 1}}, run, "RR", against="ties=input-order")
    >>> told.difference, told.rows[0]["cause"], told.rows[0]["share"]
    (0.5, 'ties', 0.5)
    """

    run: str
    first: Stance
    second: Stance
    values: tuple[float, float]
    """The value of the run under either."""
    causes: Table
    """A row for each convention in which they differ: its two values, its share, and how many queries it moves."""
    queries: Table
    """A row for each query that has two values, the most affected first, with the largest cause and evidence."""
    scored: tuple[int, int] = (0, 0)
    """How many queries either scores."""
    tables: Mapping[str, Table] = field(init=False)
    """Every table by name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", {"causes": self.causes, "queries": self.queries})

    @property
    def difference(self) -> float:
        """The second value less the first."""
        return self.values[1] - self.values[0]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The causes, each as a dict from column to value."""
        return explained.plain(self.causes)

    def headline(self, *, digits: int = 4) -> str:
        """Both values, and by how much they differ."""
        first, second = (format_value(value, digits=digits) for value in self.values)
        measures = dict.fromkeys((str(self.first.measure), str(self.second.measure)))
        return (
            f"{' and '.join(measures)} of {self.run}: {first} under {self.first.name}, {second} under "
            f"{self.second.name}; a difference of {self.difference:+.{digits}f}"
        )

    def shown(self, *, digits: int = 4) -> list[Table]:
        """The causes, and the queries most affected, under the names of both sides; evidence stands below."""
        short = max(len(self.first.name), len(self.second.name)) <= LONG
        names = {"first": self.first.name, "second": self.second.name} if short else {}
        tables = []
        for table, title in ((self.causes, "Causes"), (self.queries, "Queries, the most affected first")):
            if table.rows:
                columns = tuple(names.get(name, name) for name in table.columns if name != "evidence")
                rows = tuple(
                    _signed(table.columns, row, digits)[: len(columns)] for row in table.rows[:SHOWN]
                )
                tables.append(Table(columns, rows, title=title))
        return tables

    def sentences(self, *, digits: int = 4) -> list[str]:
        """What the tables do not say."""
        told = []
        if not self.causes.rows:
            told.append("both have the same conventions for this measure")
        elif not self.queries.rows:
            told.append("they differ in conventions, and no query of this run is affected")
        told += [f"{row[0]}: {row[-1]}" for row in self.queries.rows[:SHOWN]]
        if len(self.queries.rows) > SHOWN:
            told.append(f"{len(self.queries.rows) - SHOWN:,} more queries are affected")
        if self.scored[0] != self.scored[1]:
            one, other = self.scored
            told.append(f"{self.first.name} is over {one:,} queries, {self.second.name} over {other:,}")
        for side, value in zip((self.first, self.second), self.values, strict=True):
            if side.digits is not None and side.digits < digits:
                told.append(f"{side.name} prints {side.digits} decimals: {value:.{side.digits}f}")
        return told

    def to_dict(self) -> dict[str, Any]:
        """The explanation as it is format_value in JSON."""
        sides = zip((self.first, self.second), self.values, self.scored, strict=True)
        return {
            "run": self.run,
            **{name: _side(*side) for name, side in zip(("first", "second"), sides, strict=True)},
            "difference": self.difference,
            **{name: explained.records(table) for name, table in self.tables.items()},
        }

    def to_arrow(self, table: Literal["causes", "queries"] = "causes") -> Any:
        """One of the tables as an Arrow table."""
        return explained.to_arrow(self.tables[table])

    def to_polars(self, table: Literal["causes", "queries"] = "causes") -> Any:
        """One of the tables as a Polars data frame."""
        return explained.to_polars(self.tables[table])

    def to_pandas(self, table: Literal["causes", "queries"] = "causes") -> Any:
        """One of the tables as a pandas data frame."""
        return explained.to_pandas(self.tables[table])

    def __str__(self) -> str:
        return explained.as_text(self)

    __repr__ = __str__


def explain_difference(
    qrels: Any,
    run: Any,
    measure: Measure | str,
    *,
    against: Conventions,
    protocol: Conventions = "trec_eval-9",
    name: str | None = None,
) -> Difference:
    """Why `measure` has one value under `protocol` and another under `against`: causes, the largest first.

    Both may be a protocol, the name of a profile, or that of one with changes (`"ranx,missing=skip"`); `against`
    may be changes alone (`"ties=input-order"`, `"gain=exp"`). The causes are the conventions in which the two
    differ. The share of each is its Shapley value: what it changes, averaged over all orders in which the
    conventions could be exchanged one by one. Shares sum up to the difference.
    """
    first = stance_of(protocol, measure)
    second = stance_of(against, measure, base=protocol)
    scene = Scene(judgments_for(first.measure, qrels), _named(run, name), first, second)
    causes = differing(first, second)
    values = _Values(scene, causes)
    shares, moved = shapley(values.whole), shapley(values.each)
    return Difference(
        scene.run.name,
        first,
        second,
        (float(values.whole[0]), float(values.whole[-1])),
        _causes(values, causes, shares, moved),
        _queries(scene, values, causes, moved),
        values.scored,
    )


def _named(run: Any, name: str | None) -> Run:
    return read_run(run) if name is None else read_run(run, name=name)


class _Values:
    """The value of the run, and of each query, under every mixture of two stances; NaN: not scored."""

    def __init__(self, scene: Scene, causes: tuple[Convention, ...]) -> None:
        mixtures = [
            mixed(scene.first, [cause for bit, cause in enumerate(causes) if subset >> bit & 1])
            for subset in range(1 << len(causes))
        ]
        by_protocol: dict[Protocol, list[int]] = {}
        for i, (_, protocol) in enumerate(mixtures):
            by_protocol.setdefault(protocol, []).append(i)
        made = [
            (
                wanted,
                evaluate(scene.judgments, scene.run, [mixtures[i][0] for i in wanted], protocol=protocol),
            )
            for protocol, wanted in by_protocol.items()
        ]
        every = (query for _, scored in made for query in scored.scores.queries.to_pylist())
        self.ids: list[str] = list(dict.fromkeys([*scene.judgments.queries.to_pylist(), *every]))
        self.whole = np.zeros(len(mixtures))
        self.each = np.full((len(mixtures), len(self.ids)), np.nan)
        place = {query: i for i, query in enumerate(self.ids)}
        for wanted, scored in made:
            at = [place[query] for query in scored.scores.queries.to_pylist()]
            for i in wanted:
                self.whole[i] = scored[mixtures[i][0]]
                self.each[i, at] = scored.scores[mixtures[i][0]]

    @property
    def scored(self) -> tuple[int, int]:
        """How many queries have a value at either end."""
        first, last = (int((~np.isnan(self.each[i])).sum()) for i in (0, -1))
        return first, last

    def left_out(self, cause: int) -> Flags:
        """Which queries a cause has scored or left out, whatever the other causes are."""
        absent, bit = np.isnan(self.each), 1 << cause
        without = [subset for subset in range(len(absent)) if not subset & bit]
        changed: Flags = (absent[without] != absent[[subset | bit for subset in without]]).any(axis=0)
        return changed


def _causes(values: _Values, causes: tuple[Convention, ...], shares: Floats, moved: Floats) -> Table:
    """The conventions in which the two differ, the largest share first."""
    whole = float(values.whole[-1] - values.whole[0])
    rows: list[tuple[Value, ...]] = []
    for i in np.argsort(-np.abs(shares), kind="stable").tolist():
        affected = (np.abs(moved[i]) > NOTHING) | values.left_out(i)
        share = float(shares[i]) if abs(shares[i]) > NOTHING else 0.0
        part = None if abs(whole) <= NOTHING else 100 * share / whole + 0.0  # adding 0 makes −0 positive
        rows.append((causes[i].name, *causes[i].words, share, part, int(affected.sum())))
    return Table(("cause", "first", "second", "share", "percent", "queries"), tuple(rows))


def _queries(scene: Scene, values: _Values, causes: tuple[Convention, ...], moved: Floats) -> Table:
    """The queries that have two values, or one only, the most affected first."""
    first, second = values.each[0], values.each[-1]
    inside = np.nan_to_num(np.abs(moved))
    for i in range(len(causes)):
        inside[i, values.left_out(i)] += 1.0  # more than a share of a value ever is
    rows: list[tuple[Value, ...]] = []
    for place, i in enumerate(_order(values, inside.sum(axis=0)).tolist()):
        cause = causes[int(np.argmax(inside[:, i]))]
        why = evidence(scene, values.ids[i], cause) if place < SHOWN else None
        ends = [None if np.isnan(each) else float(each) for each in (first[i], second[i])]
        change = None if ends[0] is None or ends[1] is None else ends[1] - ends[0]
        rows.append((values.ids[i], *ends, change, cause.name, why))
    return Table(("query", "first", "second", "difference", "cause", "evidence"), tuple(rows))


def _order(values: _Values, inside: Floats) -> Ints:
    """The affected queries; leaving one out moves a mean as much as giving it the mean's own value."""
    first, second = values.each[0], values.each[-1]
    alone = np.where(np.isnan(first), values.whole[0] - second, values.whole[-1] - first)
    one_sided = np.isnan(first) != np.isnan(second)
    change = np.nan_to_num(np.abs(np.where(one_sided, alone, second - first)))
    affected = np.flatnonzero((change > NOTHING) | (inside > NOTHING))
    return affected[np.lexsort((affected, -inside[affected], -change[affected]))]


def _signed(columns: tuple[str, ...], row: tuple[Value, ...], digits: int) -> tuple[Value, ...]:
    """The row with signs before its shares and differences, and percentages with one decimal."""
    formats = {"share": f"+.{digits}f", "difference": f"+.{digits}f", "percent": ".1f"}
    return tuple(
        format(value, formats[name]) if name in formats and value is not None else value
        for name, value in zip(columns, row, strict=True)
    )


def _side(stance: Stance, value: float, scored: int) -> dict[str, Any]:
    return {
        "name": stance.name,
        "measure": str(stance.measure),
        "protocol": {"fingerprint": stance.protocol.fingerprint, **stance.protocol.to_dict()},
        "value": value,
        "queries": scored,
        "digits": stance.digits,
        "not_imitated": list(stance.left_out),
    }
