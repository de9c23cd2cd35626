"""`explain_published`: which conventions give a number that someone published."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from judged.blocks import Block, Display, Sentence, Table, format_value
from judged.errors import BadMeasure
from judged.explanation.lists import read_graded_judgments
from judged.explanation.result import list_facts, name_measure, observe_inputs
from judged.explanation.scoring_rule import Conventions, parse_rule
from judged.explanation.variants import Trials
from judged.io.read import read_run
from judged.measures.measure import Measure
from judged.measures.written import find_written, note_spellings
from judged.problem import Note
from judged.progress import Progress
from judged.result import Provenance, Result, table_to_arrow

if TYPE_CHECKING:
    import pyarrow as pa

    from judged.tables.inputs import JudgmentsLike, RunLike

MAX_CHANGES = 3
"""The number of conventions changed at once, by default."""
MAX_MATCHES, MAX_NEAREST = 20, 5
"""The number of matches shown, and of nearest values kept."""
NEIGHBOURS = 100
"""The number of neighbours on both sides of the published number that tell how likely a chance match is."""


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
    """Number of neighbours of the published number that some combination gives."""
    orders: tuple[float, float] | None = None
    """The lowest and highest value over all orders of tied results, if nothing matches and it is known."""
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    written: str = ""
    """The name of the measure as the user wrote it; empty: the canonical one."""

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
            **name_measure(self.measure, self.written),
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
            f"{self.written or self.measure} of {self.run}: {self.printed.text} was published, {value} under {self.conventions}"
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
    join: bool = False,
    progress: Progress | None = None,
) -> Published:
    """Find the conventions that give the number published for a run: profiles, then one change, two, three.

    The digits of `published` say how exactly it is known, so text is better than a float: `"0.7500"`. The search ends
    with the number of changes at which a match is found. `progress` is called with the number of combinations that
    were tried, and of those to try.
    """
    rule = parse_rule(protocol, measure)
    printed = PrintedNumber.parse(published, rule.measure)
    inputs = observe_inputs(qrels, run)
    ranked = read_run(run, name=name, join=join)
    trials = Trials(read_graded_judgments(qrels, rule.measure), ranked, progress)
    trials.search(
        rule,
        measure,
        changes=changes,
        combined_from=3,
        reached=lambda: any(value in printed for value in trials.values),
        matters=lambda trial: trials.values[trial] != trials.values[0],
    )
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
        notes=tuple(note_spellings([rule.measure])),
        provenance=Provenance(protocols=(rule.record,), inputs=inputs, settings={"changes": changes}),
        written=find_written(rule.measure),
    )


def _find_nearest(trials: Trials, printed: PrintedNumber) -> Table:
    """Return the nearest distinct values; of equal values the one with the fewest changes."""
    order = sorted(range(len(trials.values)), key=lambda i: abs(trials.values[i] - printed.value))
    first: dict[float, int] = {}
    for i in order:
        first.setdefault(round(trials.values[i], 12), i)
        if len(first) == MAX_NEAREST:
            break
    rows = [(*trials.row(i), trials.values[i] - printed.value) for i in first.values()]
    return Table(("changes", "changed", "measure", "value", "distance"), tuple(rows))
