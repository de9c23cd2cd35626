"""`explain_published`: which conventions give a number that someone published."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TYPE_CHECKING, ClassVar

from judged.blocks import Block, Display, Sentence, Table, Value, format_value
from judged.engine.evaluate import evaluate
from judged.errors import BadMeasure, JudgedError
from judged.explanation.ranked_list import read_graded_judgments
from judged.explanation.result import list_facts, make_provenance, to_records
from judged.explanation.scoring_rule import Conventions, ScoringRule, diff, parse_rule
from judged.io.read import read_run
from judged.measures.measure import Measure
from judged.problem import Note
from judged.profiles.profile import PROFILES
from judged.protocol import Protocol
from judged.result import Provenance, Result, table_to_arrow
from judged.tables.inputs import JudgmentsLike, RunLike
from judged.tables.judgments import Judgments
from judged.tables.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PrintedNumber", "Published", "explain_published"]

MAX_CHANGES = 3
"""The number of conventions changed at once, by default."""
MAX_MATCHES, MAX_NEAREST = 20, 5
"""The number of matches shown, and of nearest values kept."""
NEIGHBOURS = 100
"""The number of neighbours on both sides of the published number that tell how likely a chance match is."""
NUMBERS: dict[str, tuple[float, ...]] = {
    "cutoff": (1, 3, 5, 10, 20, 30, 50, 100, 1000),
    "rel": (1, 2, 3),
    "max_grade": (1, 2, 3, 4),
    "p": (0.5, 0.8, 0.9, 0.95),
}
"""Values of numeric parameters that people publish; the neighbours of a cutoff are tried as well."""
SPECIAL = frozenset({"recall_points"})
"""Conventions that matter only to measures that list them in `conventions`."""


@dataclass(frozen=True, slots=True)
class Change:
    """A convention with another value."""

    name: str
    value: object

    def __str__(self) -> str:
        shown = f"{self.value:g}" if isinstance(self.value, float) else self.value
        return f"{self.name}={'none' if self.value is None else shown}"


@dataclass(frozen=True, slots=True)
class Variant:
    """A measure under a protocol, and the changes that lead to it."""

    changes: tuple[Change, ...]
    measure: Measure
    protocol: Protocol
    detail: str = ""
    """What a profile changes, in words."""

    def __str__(self) -> str:
        changed = ", ".join(map(str, self.changes)) or "nothing"
        return f"{changed} ({self.detail})" if self.detail else changed


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A number as it was printed: its value, and the unit of its last digit."""

    text: str
    value: float
    unit: float
    percent: bool = False

    @classmethod
    def parse(cls, published: str | float, measure: Measure) -> PrintedNumber:
        """Parse the number; raise `BadMeasure` if the measure cannot have it. Above 1 it may be a percentage."""
        text = str(published).strip()
        number = re.fullmatch(r"(-?\d*\.?\d+)\s*(%?)", text)
        if number is None:
            msg = f"`{text}` is not a number, expected one such as 0.7559"
            raise BadMeasure(msg)
        value, low, high = float(number[1]), *measure.bounds
        unit = 10.0 ** -len(number[1].partition(".")[2])
        if number[2] or (value > high == 1.0 and value <= 100):
            return cls(text, value / 100, unit / 100, percent=True)
        if not low - unit / 2 <= value <= high + unit / 2:
            msg = f"{text} was published, but {measure} lies between {low:g} and {high:g}"
            raise BadMeasure(msg, hint="write a percentage with its sign: `75.6%`")
        return cls(text, value, unit)

    def __contains__(self, value: float) -> bool:
        return abs(value - self.value) <= self.unit / 2 * (1 + 1e-9)

    def distance(self, value: float) -> int:
        """Return how many units of the last digit a value is away."""
        return math.floor((value - self.value) / self.unit + 0.5)


@dataclass(frozen=True, eq=False, repr=False)
class Published(Result):
    """The conventions that give a published number: those with the fewest changes, or else the nearest.

    >>> import judged
    >>> run = {"q1": {"a": 1.0, "b": 1.0}}
    >>> judged.explain_published({"q1": {"a": 1}}, run, "RR", "1.0000").matches.rows[0][1]
    'ties=document-ascending'
    """

    kind: ClassVar[str] = "published"
    detail: ClassVar[str] = ""

    run: str
    measure: str
    conventions: str
    """The name of the conventions that were asked about."""
    value: float
    """The value of the run under these conventions."""
    printed: PrintedNumber
    matches: Table
    """A row for every way to get the number: how many changes, which, the measure, and the value in full."""
    nearest: Table
    """The nearest of all values that were tried, with their distance."""
    tried: int
    """The number of combinations of conventions that were tried."""
    reached: int
    """How many of the neighbours of the published number some combination gives."""
    orders: tuple[float, float] | None = None
    """The lowest and highest value over all orders of tied results, if nothing matches and it is known."""
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def rows(self) -> list[dict[str, object]]:
        """The matches as dicts from column to value."""
        return to_records(self.matches)

    @property
    def chance(self) -> float:
        """The share of the neighbours of the published number that some combination gives."""
        return self.reached / (2 * NEIGHBOURS)

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the matches and the nearest values."""
        return {"matches": table_to_arrow(self.matches), "nearest": table_to_arrow(self.nearest)}

    def summary(self) -> Mapping[str, object]:
        """Return the published number, the value, and what the search tried."""
        printed = self.printed
        return {
            "run": self.run,
            "measure": self.measure,
            "conventions": self.conventions,
            "value": self.value,
            "published": {"text": printed.text, "value": printed.value, "unit": printed.unit},
            "tried": self.tried,
            "chance": self.chance,
            "tie_orders": None if self.orders is None else list(self.orders),
        }

    def blocks(self, display: Display) -> Iterator[Block]:
        """Return both numbers, the matches or else the nearest values, and how much a match says."""
        value = format_value(self.value, digits=display.digits)
        yield Sentence(
            f"{self.measure} of {self.run}: {self.printed.text} was published, {value} under {self.conventions}"
        )
        if self.matches.rows:
            title = "Conventions that give it, the fewest changes first"
            yield Table(self.matches.columns, self.matches.rows[:MAX_MATCHES], title=title)
        else:
            yield Table(self.nearest.columns, self.nearest.rows, title="The nearest values")
        yield from list_facts(self._facts(display))

    def _facts(self, display: Display) -> Iterator[str]:
        printed = self.printed
        if len(self.matches.rows) > MAX_MATCHES:
            yield f"{len(self.matches.rows) - MAX_MATCHES:,} more combinations give it"
        if printed.percent:
            yield f"{printed.text} was taken as a percentage"
        if not self.matches.rows:
            yield "no combination that was tried gives the published number"
        if self.orders is not None:
            low, high = (format_value(end, digits=display.digits) for end in self.orders)
            inside = self.orders[0] - printed.unit / 2 <= printed.value <= self.orders[1] + printed.unit / 2
            verdict = "some order may give it" if inside else "so ties alone do not explain it"
            yield f"the orders of tied results give values from {low} to {high}: {verdict}"
        if self.matches.rows and self.matches.rows[0][0] == 0:
            yield "the conventions as given match"
        else:
            chance = f"about {100 * self.chance:.1f} % of all numbers near {printed.text} match one of them by chance"
            none = f"no other number near {printed.text} matches one of them"
            yield f"{self.tried:,} combinations were tried; {chance if self.reached else none}; a match is not proof"


def explain_published(
    qrels: JudgmentsLike,
    run: RunLike,
    measure: Measure | str,
    published: str | float,
    *,
    protocol: Conventions = "trec_eval-9",
    changes: int = MAX_CHANGES,
    name: str | None = None,
) -> Published:
    """Find the conventions that give the number published for a run: profiles, then one change, two, three.

    The digits of `published` say how exactly it is known, so text is better than a float: `"0.7500"`. The search ends
    with the number of changes at which a match is found.
    """
    rule = parse_rule(protocol, measure)
    printed = PrintedNumber.parse(published, rule.measure)
    ranked = read_run(run) if name is None else read_run(run, name=name)
    trials = _Trials(read_graded_judgments(qrels, rule.measure), ranked)
    _search(trials, rule, measure, printed, changes)
    matches = [i for i, value in enumerate(trials.values) if value in printed]
    return Published(
        ranked.name,
        str(rule.measure),
        rule.name,
        trials.values[0],
        printed,
        Table(("changes", "changed", "measure", "value"), tuple(trials.row(i) for i in matches)),
        _find_nearest(trials, printed),
        len(trials.values),
        len({unit for value in trials.values if 0 < abs(unit := printed.distance(value)) <= NEIGHBOURS}),
        None if matches else trials.range_over_ties(rule),
        provenance=make_provenance(qrels, run, [rule.record], changes=changes),
    )


def _search(
    trials: _Trials, rule: ScoringRule, measure: Measure | str, printed: PrintedNumber, changes: int
) -> None:
    """Try variants with more and more changes, until one matches.

    From three changes on, only those are combined that change the number on their own.
    """
    axes = _list_changes(rule)
    for count in range(changes + 1):
        if count == 3:
            effective = {
                variant.changes[0]
                for variant, value in trials
                if len(variant.changes) == 1 and value != trials.values[0]
            }
            axes = [kept for axis in axes if (kept := [change for change in axis if change in effective])]
        profiles = _list_profiles(rule, measure) if count == 1 else ()
        trials.add([*_list_variants(rule, axes, count), *profiles])
        if any(value in printed for value in trials.values):
            return


class _Trials:
    """Variants, and the value of the run under each."""

    def __init__(self, judgments: Judgments, run: Run) -> None:
        self.judgments, self.run = judgments, run
        self.variants: list[Variant] = []
        self.values: list[float] = []

    def add(self, variants: Iterable[Variant]) -> None:
        """Evaluate variants, all measures of one protocol at once."""
        new = list(variants)
        values: dict[int, float] = {}
        by_protocol: dict[Protocol, list[int]] = {}
        for i, variant in enumerate(new):
            by_protocol.setdefault(variant.protocol, []).append(i)
        for protocol, own in by_protocol.items():
            measures = [new[i].measure for i in own]
            evaluation = evaluate(self.judgments, self.run, measures, protocol=protocol)
            values |= {i: evaluation[new[i].measure] for i in own}
        self.variants += new
        self.values += [values[i] for i in range(len(new))]

    def __iter__(self) -> Iterator[tuple[Variant, float]]:
        return zip(self.variants, self.values, strict=True)

    def row(self, i: int) -> tuple[Value, ...]:
        """Return a variant as a row of a table: how many changes, which, the measure, the value."""
        variant = self.variants[i]
        return len(variant.changes), str(variant), str(variant.measure), self.values[i]

    def range_over_ties(self, rule: ScoringRule) -> tuple[float, float] | None:
        """Return the lowest and highest value over all orders of tied results; None without ties, or if unknown."""
        evaluation = evaluate(self.judgments, self.run, [rule.measure], protocol=rule.protocol)
        try:
            return evaluation.tie_range(rule.measure) if evaluation.counts.tied_documents else None
        except BadMeasure:
            return None


def _find_nearest(trials: _Trials, printed: PrintedNumber) -> Table:
    """Return the nearest distinct values; of equal values the one with the fewest changes."""
    order = sorted(range(len(trials.values)), key=lambda i: abs(trials.values[i] - printed.value))
    first: dict[float, int] = {}
    for i in order:
        first.setdefault(round(trials.values[i], 12), i)
        if len(first) == MAX_NEAREST:
            break
    rows = [(*trials.row(i), trials.values[i] - printed.value) for i in first.values()]
    return Table(("changes", "changed", "measure", "value", "distance"), tuple(rows))


def _list_changes(base: ScoringRule) -> list[list[Change]]:
    """Return the possible changes of every convention that can be changed."""
    parameters, defaults = base.measure.parameters, base.measure.defaults
    protocol = {name: list(item.alternatives) for name, item in Protocol.conventions().items()}
    if "rel" not in defaults or parameters["rel"] is not None:
        del protocol["rel"]
    for name in SPECIAL - set(base.measure.conventions):
        del protocol[name]
    axes = [
        [Change(name, value) for value in options if value != getattr(base.protocol, name)]
        for name, options in protocol.items()
    ]
    axes += [
        [Change(name, value) for value in _options(base.measure, name) if value != parameters.get(name)]
        for name in defaults
    ]
    return [axis for axis in axes if axis]


def _list_profiles(base: ScoringRule, measure: Measure | str) -> Iterator[Variant]:
    """Return the measure as every profile that has it means it, and how that differs."""
    for name in PROFILES:
        try:
            rule = parse_rule(name, measure)
        except JudgedError:
            continue
        detail = ", ".join(f"{change.name}={change.words[1]}" for change in diff(base, rule))
        yield Variant((Change("profile", name),), rule.measure, rule.protocol, detail)


def _list_variants(base: ScoringRule, axes: Sequence[Sequence[Change]], count: int) -> Iterator[Variant]:
    """Return every consistent variant with `count` changes, each of another convention."""
    for chosen in combinations(axes, count):
        for changes in product(*chosen):
            variant = _apply(base, changes)
            if variant is not None:
                yield variant


def _apply(base: ScoringRule, changes: tuple[Change, ...]) -> Variant | None:
    """Return the variant, or None if the changes contradict each other."""
    given = {change.name: change.value for change in changes}
    own = {name: value for name, value in given.items() if name in base.measure.defaults and name != "rel"}
    rest = {name: value for name, value in given.items() if name not in own}
    if base.measure.parameters.get("rel") is not None and "rel" in rest:
        own["rel"] = rest.pop("rel")
    try:
        return Variant(changes, base.measure(**own), base.protocol.replace(**rest))
    except JudgedError:
        return None


def _options(measure: Measure, name: str) -> list[object]:
    """Return the values that a parameter may have had: its words, or numbers that people publish."""
    own = measure.parameters.get(name)
    if name == "rel" and own is None:
        return []  # the protocol's threshold is changed instead
    numbers = list(NUMBERS.get(name, ()))
    if name == "cutoff" and isinstance(own, int):
        numbers += [cutoff for cutoff in (own - 1, own + 1) if cutoff > 0]
    optional = [None] if numbers and measure.defaults[name] is None else []
    return list(dict.fromkeys([*measure.words[name], *optional, *sorted(numbers)]))
