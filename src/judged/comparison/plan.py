"""`plan_queries`: how many queries a paired comparison needs to show a difference, from a pilot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, ClassVar

from judged.blocks import Block, Display, Notes, Sentence, Table, Value
from judged.comparison.api import choose_pairs, list_names, note_left_out, open_systems
from judged.comparison.clusters import ClusterChoice, add_clusters, choose_clusters, note_clusters
from judged.comparison.contrasts import PairedScores, pair_systems
from judged.comparison.sources import ScoreReading
from judged.comparison.systems import ScoresLike
from judged.errors import BadSample, check_kind
from judged.problem import NO_DIRECTION, Note, merge_notes, split_doubts
from judged.profiles.profile import Profile
from judged.protocol import Protocol
from judged.result import Provenance, Result, tabulate
from judged.scoring.evaluate import Runs
from judged.scoring.family import Measures
from judged.stats.clusters import SampleMean, estimate_error
from judged.stats.effects import Sides, least_shift, least_size, power_of_shift
from judged.stats.outcome import Undefined, as_cell
from judged.stats.repeats import Components, find_components
from judged.wording import counted, plural

if TYPE_CHECKING:
    import pyarrow as pa

    from judged.tables.inputs import TruthLike

ATTEMPTS = (1, 2, 3, 5, 10)
"""The numbers of attempts that are traded against queries."""
CONFIDENCE = 0.95
"""Confidence that the spread of all queries lies between the bounds that the pilot gives."""
MANY = Undefined("more than ten million")


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """Target of a planned comparison."""

    difference: float
    """Mean difference to show."""
    power: float = 0.8
    """The chance that it is shown."""
    alpha: float = 0.05
    sides: Sides = 2
    correlation: float = 0.5
    """The correlation of two systems over queries that is assumed of a single one."""

    def describe(self) -> str:
        """Return the test and its errors in words."""
        sides = "two-sided" if self.sides == 2 else "one-sided"
        return f"{sides} paired t-test, alpha {self.alpha:g}, power {self.power:g}"


@dataclass(frozen=True, slots=True)
class Trade:
    """A number of attempts at each query, and the queries that are then needed."""

    attempts: int
    draws: int | Undefined
    """Queries, or clusters."""
    answers: int | Undefined
    """Answers of each system: queries times attempts."""


@dataclass(frozen=True, slots=True)
class Need:
    """The queries that one comparison needs in one measure."""

    measure: str
    system: str
    baseline: str | None
    """None: the pilot has one system, and the spread of differences is assumed."""
    queries: int
    """The number of queries of the pilot."""
    draws: int
    """The number of independent draws of the pilot: of its clusters, or of its queries."""
    deviation: float | Undefined
    """The standard deviation of the paired differences; of clusters, that of as many independent draws."""
    needed: int | Undefined
    low: int | Undefined
    """The number for the least spread that agrees with the pilot, at a confidence of 0.95."""
    high: int | Undefined
    """That for the greatest."""
    power: float | Undefined
    """The chance that the pilot's own number of queries shows the difference."""
    detectable: float | Undefined
    """The least difference that the pilot's own number of queries shows with the power asked for."""
    unit: str
    """The independent draws, in one word."""
    trades: tuple[Trade, ...] = ()
    """Attempts against queries, if the pilot has repeated values."""

    @property
    def name(self) -> str:
        """The two systems, or the one."""
        return self.system if self.baseline is None else f"{self.system} against {self.baseline}"

    def describe(self, settings: PlanSettings) -> str:
        """Return the answer in two sentences."""
        aim = f"a difference of {settings.difference:g} in {self.measure} ({self.name})"
        if isinstance(self.needed, Undefined):
            return f"How many {plural(self.unit)} show {aim} is {self.needed} ({settings.describe()})."
        ends = [f"{end:,}" if isinstance(end, int) else end.reason for end in (self.low, self.high)]
        text = (
            f"{counted(self.needed, self.unit)} show {aim}: {settings.describe()}. The pilot of "
            f"{counted(self.draws, self.unit)} leaves that between {ends[0]} and {ends[1]}"
        )
        if isinstance(self.power, float):
            chance = f"{100 * self.power:.0f} %" if self.power < 0.995 else "over 99 %"
            text += f", and would itself show the difference {chance} of the time"
        return f"{text}."

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name."""
        return {
            "measure": self.measure,
            "system": self.system,
            "baseline": self.baseline,
            "queries": self.queries,
            "unit": self.unit,
            "draws": self.draws,
            **{
                name: None if isinstance(value, Undefined) else value
                for name, value in (
                    ("deviation", self.deviation),
                    ("needed", self.needed),
                    ("needed_low", self.low),
                    ("needed_high", self.high),
                    ("power_of_pilot", self.power),
                    ("detectable_by_pilot", self.detectable),
                )
            },
            "undefined": self.needed.reason if isinstance(self.needed, Undefined) else None,
        }


@dataclass(frozen=True, eq=False, repr=False)
class QueryPlan(Result):
    """Number of queries that a paired comparison needs, by measure and pair of systems."""

    kind: ClassVar[str] = "plan"

    settings: PlanSettings
    needs: tuple[Need, ...]
    provenance: Provenance = field(default_factory=Provenance)
    notes: tuple[Note, ...] = ()

    @property
    def needed(self) -> int | Undefined:
        """The queries (or clusters) that the first measure and pair need."""
        return self.needs[0].needed

    def tables(self) -> dict[str, pa.Table]:
        """Return a row for each measure and pair, then attempts against queries where values are repeated."""
        trades = [
            {
                "measure": need.measure,
                "system": need.system,
                "baseline": need.baseline,
                "attempts": trade.attempts,
                "unit": need.unit,
                "needed": None if isinstance(trade.draws, Undefined) else trade.draws,
                "answers": None if isinstance(trade.answers, Undefined) else trade.answers,
            }
            for need in self.needs
            for trade in need.trades
        ]
        return {
            "needs": tabulate([need.to_dict() for need in self.needs]),
            **({"trades": tabulate(trades)} if trades else {}),
        }

    def summary(self) -> dict[str, object]:
        """Return the settings."""
        return {name: getattr(self.settings, name) for name in self.settings.__slots__}

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the answer, a row for each measure and pair, attempts against queries, and the notes."""
        doubts, others = split_doubts(self.notes)
        if display.notes and doubts:
            yield Notes(doubts)
        yield Sentence(self.needs[0].describe(self.settings))
        yield _need_table(self.needs)
        for need in self.needs:
            if need.trades:
                yield _trade_table(need)
        if display.notes and others:
            yield Notes(others)


def _need_table(needs: Sequence[Need]) -> Table:
    unit = plural(needs[0].unit)
    columns = (
        "measure",
        "system",
        "baseline",
        unit,
        "sd",
        "needed",
        "from",
        "to",
        "power now",
        "detectable now",
    )
    rows = tuple(
        (
            *(need.measure, need.system, need.baseline or "assumed", need.draws),
            *map(as_cell, (need.deviation, need.needed, need.low, need.high, need.power, need.detectable)),
        )
        for need in needs
    )
    return Table(columns, rows, title=f"{unit.capitalize()} of the pilot, and those that are needed", keys=3)


def _trade_table(need: Need) -> Table:
    rows = tuple((trade.attempts, as_cell(trade.draws), as_cell(trade.answers)) for trade in need.trades)
    columns = ("attempts", f"{plural(need.unit)} needed", "answers of each system")
    return Table(columns, rows, title=f"{need.measure}, {need.name}: attempts against {plural(need.unit)}")


def plan_queries(
    qrels: TruthLike | ScoresLike | Sequence[ScoresLike] | Mapping[str, ScoresLike],
    runs: Runs | None = None,
    measures: Measures | None = None,
    *,
    difference: float,
    power: float = 0.8,
    alpha: float = 0.05,
    sides: Sides = 2,
    correlation: float = 0.5,
    baseline: str | Sequence[str] | None = None,
    clusters: ClusterChoice = None,
    protocol: Protocol | Profile | str = "trec_eval-9",
    threads: int | None = None,
) -> QueryPlan:
    """Return how many queries a paired comparison needs to show a mean `difference`, from those of a pilot.

    Inputs are those of `judged.compare`: judgments and runs, or scores. Of two systems, the spread of their paired
    differences decides; of several, every pair is planned, or those with a `baseline`. Of a single system, two like it are
    assumed that correlate over queries by `correlation`: the more, the fewer queries are needed.

    The test is the paired t-test with `sides` at `alpha`, and `power` is the chance that it shows the difference. Queries
    that are needed have a range, as the pilot knows the spread only roughly. With `clusters`, clusters like those of the
    pilot are counted. Where the pilot has repeated values, so is what several attempts at each query would save.
    """
    numbers = {"difference": difference, "power": power, "alpha": alpha, "correlation": correlation}
    for name, value in numbers.items():
        check_kind(name, value, Real, "a number")
    check_kind("sides", sides, Integral, "1 or 2")
    settings = PlanSettings(float(difference), float(power), float(alpha), sides, float(correlation))
    _check(settings)
    reading = ScoreReading(cluster=clusters if isinstance(clusters, str) else "")
    systems, pairing = open_systems(
        qrels, runs, measures, protocol=protocol, threads=threads, reading=reading
    )
    unit = systems[0].unit if systems else "query"
    chosen = choose_clusters(clusters, None, systems)
    names = tuple(system.name for system in systems)
    pairs: list[tuple[str, str | None]] = (
        [(names[0], None)]
        if len(names) == 1
        else [(names[i], names[j]) for i, j in choose_pairs(names, list_names("baseline", baseline or ()))]
    )
    scores = add_clusters(pair_systems(systems), *chosen, unit)
    for paired in scores:
        _check_reach(paired, settings.difference)
    known = merge_notes({system.name: system.notes for system in systems})
    notes = [*(note for note in known if note.code != NO_DIRECTION), *pairing]  # a plan names no winner
    notes += [note for paired in scores for note in note_left_out(paired, unit)]
    if chosen[1]:
        notes += note_clusters(scores[0].clusters, chosen[0], "t", unit)
    if len(names) == 1:
        message = (
            f"one system: another one is assumed to correlate with it by {correlation:g} over {plural(unit)}"
        )
        notes.append(Note("assumed-correlation", "warning", message, subject=names[0]))
    return QueryPlan(
        settings,
        tuple(_plan(paired, system, other, settings, unit) for paired in scores for system, other in pairs),
        Provenance(
            protocols=systems[0].provenance.protocols,
            inputs=tuple(dict.fromkeys(file for system in systems for file in system.provenance.inputs)),
            settings={name: getattr(settings, name) for name in settings.__slots__},
        ),
        tuple(notes),
    )


def _check(settings: PlanSettings) -> None:
    if not math.isfinite(settings.difference) or settings.difference == 0:
        msg = f"`difference` is {settings.difference}, expected a number that is not 0"
        raise BadSample(msg)
    for name, value in (("power", settings.power), ("alpha", settings.alpha)):
        if not 0 < value < 1:
            msg = f"`{name}` is {value}, expected a number between 0 and 1"
            raise BadSample(msg, hint="80 % is written 0.8")
    if settings.power <= settings.alpha:
        msg = f"`power` is {settings.power} and `alpha` {settings.alpha}, expected a power above alpha"
        raise BadSample(msg)
    if settings.sides not in {1, 2}:
        msg = f"`sides` is {settings.sides}, expected 1 or 2"
        raise BadSample(msg)
    if not -1 <= settings.correlation < 1:
        msg = f"`correlation` is {settings.correlation}, expected a number from -1 and below 1"
        raise BadSample(msg)


def _check_reach(scores: PairedScores, difference: float) -> None:
    """Raise `BadSample` for a difference that the measure cannot have: 2 where 2 % was meant."""
    if scores.limits is not None and abs(difference) >= scores.limits[1] - scores.limits[0]:
        low, high = scores.limits
        msg = f"`difference` is {difference:g}, and {scores.measure} lies between {low:g} and {high:g}"
        raise BadSample(msg, hint=f"{difference:g} hundredths are written {difference / 100:g}")


def _plan(scores: PairedScores, system: str, baseline: str | None, settings: PlanSettings, unit: str) -> Need:
    """Return what one comparison needs in one measure."""
    values = scores.column(system) if baseline is None else scores.differences(system, baseline)
    attempts = [rows for name, rows in scores.repeats.items() if name in {system, baseline}]
    of = estimate_error(values, scores.grouping)
    unit = "cluster" if of.clustered else unit
    known = (scores.measure, system, baseline, len(values), of.draws)
    if of.undefined is not None:
        why = of.undefined
        return Need(*known, why, why, why, why, why, why, unit)
    found = find_components(values, attempts, clusters=scores.grouping) if attempts else None
    parts = found if isinstance(found, Components) else None
    deviation = _deviate(of, parts, settings, single=baseline is None)
    spread = [math.sqrt(of.freedom / quantile) for quantile in _spread_quantiles(of.freedom)]
    low, needed, high = (
        _find_size(deviation * factor, of, settings) for factor in (spread[0], 1.0, spread[1])
    )
    error = deviation / math.sqrt(of.draws)
    return Need(
        *known,
        deviation,
        needed,
        low,
        high,
        power_of_shift(abs(settings.difference) / error, of.freedom, settings.alpha, settings.sides),
        error * least_shift(of.freedom, settings.power, settings.alpha, settings.sides),
        unit,
        tuple(_trade(of, parts, settings, single=baseline is None)) if parts else (),
    )


def _deviate(
    of: SampleMean,
    parts: Components | None,
    settings: PlanSettings,
    *,
    single: bool,
    attempts: float | None = None,
) -> float:
    r"""Return the standard deviation of the paired differences of independent draws.

    Of a single system it is assumed: $\sqrt{2 (1 - \rho)}$ times its own; attempts at a query do not correlate. `attempts`
    are those at each query, by default as in the pilot.
    """
    pair = 2 * (1 - settings.correlation) if single else 1.0
    if parts is None:
        return of.deviation * math.sqrt(pair)
    within = parts.attempt_variance / (attempts or parts.attempts)
    whole = pair * parts.query_variance + (2 if single else 1) * within
    # the variance of a query's mean, as that of a draw
    return math.sqrt(whole * of.draws / parts.queries)


def _spread_quantiles(freedom: float) -> tuple[float, float]:
    """Return the quantiles of χ² that bound a variance, for its lower and its upper bound."""
    from scipy.special import chdtri

    outside = (1 - CONFIDENCE) / 2
    return float(chdtri(freedom, outside)), float(chdtri(freedom, 1 - outside))


def _find_size(deviation: float, of: SampleMean, settings: PlanSettings) -> int | Undefined:
    """Return how many draws with this deviation show the difference."""
    if deviation == 0:
        return Undefined("no spread")
    effect = abs(settings.difference) / deviation
    size = least_size(effect, settings.power, settings.alpha, settings.sides, balance=of.balance)
    return MANY if size is None else size


def _trade(of: SampleMean, parts: Components, settings: PlanSettings, *, single: bool) -> Iterator[Trade]:
    """Yield the queries that each number of attempts needs."""
    each = parts.queries / of.draws
    for attempts in ATTEMPTS:
        deviation = _deviate(of, parts, settings, single=single, attempts=attempts)
        draws = _find_size(deviation, of, settings)
        answers = draws if isinstance(draws, Undefined) else math.ceil(draws * each) * attempts
        yield Trade(attempts, draws, answers)
