"""`explain_published`: which stated conventions give a number that someone published."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from judged.blocks import Table, Value, format_value
from judged.engine.evaluate import evaluate
from judged.errors import BadMeasure
from judged.explanation import explained
from judged.explanation.listing import judgments_for
from judged.explanation.stance import Conventions, Stance, stance_of
from judged.explanation.variants import Variant, axes_of, profiles_of, variants_of
from judged.io.read import read_run
from judged.measures.measure import Measure
from judged.protocol import Protocol
from judged.tables.judgments import Judgments
from judged.tables.run import Run

__all__ = ["Printed", "Published", "explain_published"]

CHANGES = 3
"""At most so many conventions are changed at once."""
NEAREST = 5
"""So many of the nearest values are told where none matches."""
AROUND = 100
"""So many numbers on either side of the published one are looked at, to say how easily one is met by chance."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as it was printed: its value, and how far the printed digits leave it open."""

    text: str
    value: float
    unit: float
    """One of the last printed digit."""
    percent: bool = False

    @classmethod
    def of(cls, published: str | float, measure: Measure) -> Printed:
        """The number, or an error if the measure cannot have it; above 1 it may be a percentage."""
        text = str(published).strip()
        number = re.fullmatch(r"(-?\d*\.?\d+)\s*(%?)", text)
        if number is None:
            msg = f"`{text}` is no number as people publish them, expected one such as 0.7559"
            raise BadMeasure(msg)
        value, low, high = float(number[1]), *measure.bounds
        unit = 10.0 ** -len(number[1].partition(".")[2])
        if number[2] or (value > high == 1.0 and value <= 100):
            return cls(text, value / 100, unit / 100, percent=True)
        if not low - unit / 2 <= value <= high + unit / 2:
            msg = f"{text} was published, and {measure} lies between {low:g} and {high:g}"
            raise BadMeasure(msg, hint="a percentage may be format_value as such: `75.6%`")
        return cls(text, value, unit)

    def __contains__(self, value: float) -> bool:
        return abs(value - self.value) <= self.unit / 2 * (1 + 1e-9)

    def place(self, value: float) -> int:
        """How many of the last digit another value lies away."""
        return math.floor((value - self.value) / self.unit + 0.5)


@dataclass(frozen=True, eq=False)
class Published:
    """Which conventions give a published number: those with the fewest changes, or else the nearest.

    >>> import judged
    >>> run = {"q1": {"a": 1.0, "b": 1.0}}
    >>> judged.explain_published({"q1": {"a": 1}}, run, "RR", "1.0000").matches.rows[0][1]
    'ties=document-ascending'
    """

    run: str
    stance: Stance
    value: float
    """What the run scores under the conventions that were asked about."""
    printed: Printed
    matches: Table
    """A row for each way to get the number: how many changes, which, the measure, and the value in full."""
    nearest: Table
    """The nearest values of all that were tried, with their distance."""
    tried: int
    """How many combinations of conventions were tried."""
    reached: int
    """How many of the other numbers around the published one some combination gives."""
    orders: tuple[float, float] | None = None
    """The lowest and highest value over all orders of tied results, where known and of interest."""
    tables: Mapping[str, Table] = field(init=False)
    """Every table by name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", {"matches": self.matches, "nearest": self.nearest})

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The matches, each as a dict from column to value."""
        return explained.plain(self.matches)

    @property
    def chance(self) -> float:
        """The share of the other numbers around the published one that some combination gives."""
        return self.reached / (2 * AROUND)

    def headline(self, *, digits: int = 4) -> str:
        """The published number beside ours."""
        return (
            f"{self.stance.measure} of {self.run}: {self.printed.text} was published, "
            f"{format_value(self.value, digits=digits)} under {self.stance.name}"
        )

    def shown(self, *, digits: int = 4) -> list[Table]:  # noqa: ARG002 - every explanation is asked so
        """The matches, or else the nearest."""
        matched, title = bool(self.matches.rows), "Conventions that give it, the fewest changes first"
        table = self.matches if matched else self.nearest
        return [Table(table.columns, table.rows[:20], title=title if matched else "The nearest")]

    def sentences(self, *, digits: int = 4) -> list[str]:
        """How much the result is worth."""
        told = []
        if len(self.matches.rows) > 20:
            told.append(f"{len(self.matches.rows) - 20:,} more combinations give it")
        if self.printed.percent:
            told.append(f"{self.printed.text} was taken as a percentage")
        if not self.matches.rows:
            told.append("no combination that was tried gives the published number")
        if self.orders is not None:
            low, high = (format_value(each, digits=digits) for each in self.orders)
            inside = (
                self.orders[0] - self.printed.unit / 2
                <= self.printed.value
                <= self.orders[1] + self.printed.unit / 2
            )
            fate = "some order may give it" if inside else "so ties alone do not explain it"
            told.append(f"the orders of tied results give values from {low} to {high}: {fate}")
        if self.matches.rows and self.matches.rows[0][0] == 0:
            return [*told, "these very conventions give it"]
        told.append(
            f"{self.tried:,} combinations were tried; they also give {self.reached} of the {2 * AROUND} numbers "
            f"around {self.printed.text} ({self.chance:.1%}): a match is no proof"
        )
        return told

    def to_dict(self) -> dict[str, Any]:
        """The explanation as it is format_value in JSON."""
        protocol = self.stance.protocol
        return {
            "run": self.run,
            "measure": str(self.stance.measure),
            "protocol": {"name": self.stance.name, "fingerprint": protocol.fingerprint, **protocol.to_dict()},
            "value": self.value,
            "published": {"text": self.printed.text, "value": self.printed.value, "unit": self.printed.unit},
            "tried": self.tried,
            "chance": self.chance,
            "tie_orders": None if self.orders is None else list(self.orders),
            **{name: explained.records(table) for name, table in self.tables.items()},
        }

    def to_arrow(self, table: Literal["matches", "nearest"] = "matches") -> Any:
        """One of the tables as an Arrow table."""
        return explained.to_arrow(self.tables[table])

    def to_polars(self, table: Literal["matches", "nearest"] = "matches") -> Any:
        """One of the tables as a Polars data frame."""
        return explained.to_polars(self.tables[table])

    def to_pandas(self, table: Literal["matches", "nearest"] = "matches") -> Any:
        """One of the tables as a pandas data frame."""
        return explained.to_pandas(self.tables[table])

    def __str__(self) -> str:
        return explained.as_text(self)

    __repr__ = __str__


def explain_published(
    qrels: Any,
    run: Any,
    measure: Measure | str,
    published: str | float,
    *,
    protocol: Conventions = "trec_eval-9",
    changes: int = CHANGES,
    name: str | None = None,
) -> Published:
    """Which conventions give the number that was published for a run: profiles, then one change, two, three.

    The digits of `published` say how exactly it is known, so it had better be text: `"0.7500"`. The search ends
    with the number of changes at which a match is found.
    """
    stance = stance_of(protocol, measure)
    printed = Printed.of(published, stance.measure)
    tries = _Tries(
        judgments_for(stance.measure, qrels), read_run(run) if name is None else read_run(run, name=name)
    )
    _search(tries, stance, measure, printed, changes)
    matches = [i for i, value in enumerate(tries.values) if value in printed]
    return Published(
        tries.run.name,
        stance,
        tries.values[0],
        printed,
        _table([tries.row(i) for i in matches]),
        _nearest(tries, printed),
        len(tries.values),
        len({place for value in tries.values if 0 < abs(place := printed.place(value)) <= AROUND}),
        None if matches else _over_tie_orders(tries, stance),
    )


def _over_tie_orders(tries: _Tries, stance: Stance) -> tuple[float, float] | None:
    """The lowest and highest value over all orders of tied results; None where nothing is tied, or too much."""
    seen = evaluate(tries.judgments, tries.run, [stance.measure], protocol=stance.protocol)
    try:
        return seen.tie_range(stance.measure) if seen.counts.tied_documents else None
    except BadMeasure:
        return None


def _search(tries: _Tries, stance: Stance, measure: Measure | str, printed: Printed, changes: int) -> None:
    """Try variants with more and more changes, until a match is found.

    From three changes on, only those are combined that change the number on their own.
    """
    axes = axes_of(stance)
    for count in range(changes + 1):
        if count == 3:
            live = {
                each.changes[0]
                for each, value in tries
                if len(each.changes) == 1 and value != tries.values[0]
            }
            axes = [kept for axis in axes if (kept := [change for change in axis if change in live])]
        tries.add([*variants_of(stance, axes, count), *(profiles_of(stance, measure) if count == 1 else ())])
        if any(value in printed for value in tries.values):
            return


class _Tries:
    """Variants, and the value that the run has under each."""

    def __init__(self, judgments: Judgments, run: Run) -> None:
        self.judgments, self.run = judgments, run
        self.variants: list[Variant] = []
        self.values: list[float] = []

    def add(self, variants: Iterable[Variant]) -> None:
        """Evaluate variants; all measures wanted under one protocol at once."""
        some = list(variants)
        values: dict[int, float] = {}
        by_protocol: dict[Protocol, list[int]] = {}
        for i, variant in enumerate(some):
            by_protocol.setdefault(variant.protocol, []).append(i)
        for protocol, own in by_protocol.items():
            measures = [some[i].measure for i in own]
            scored = evaluate(self.judgments, self.run, measures, protocol=protocol)
            values |= {i: scored[some[i].measure] for i in own}
        self.variants += some
        self.values += [values[i] for i in range(len(some))]

    def __iter__(self) -> Iterator[tuple[Variant, float]]:
        return zip(self.variants, self.values, strict=True)

    def row(self, i: int) -> tuple[Value, ...]:
        """A variant as a row of the table: how many changes, which, the measure, the value."""
        variant = self.variants[i]
        return len(variant.changes), str(variant), str(variant.measure), self.values[i]


def _table(rows: list[tuple[Value, ...]]) -> Table:
    return Table(("changes", "changed", "measure", "value"), tuple(rows))


def _nearest(tries: _Tries, printed: Printed) -> Table:
    """The nearest of different values, those with the fewest changes first among equals."""
    order = sorted(range(len(tries.values)), key=lambda i: abs(tries.values[i] - printed.value))
    first: dict[float, int] = {}
    for i in order:
        first.setdefault(round(tries.values[i], 12), i)
        if len(first) == NEAREST:
            break
    rows = [(*tries.row(i), tries.values[i] - printed.value) for i in first.values()]
    return Table(("changes", "changed", "measure", "value", "distance"), tuple(rows))
