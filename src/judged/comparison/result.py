"""The result of a comparison: means, differences and tests, as values and as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from judged.arrays import Floats
from judged.blocks import Block, Display, Figure, Value
from judged.comparison.answer import Conclusion
from judged.comparison.blocks import make_blocks, means_figure, pareto_optimal, rank_figure, trade_off_figure
from judged.comparison.contrasts import Contrast, Mean, PairedScores
from judged.comparison.extra_tests import ROPE, run_extra_test
from judged.comparison.missing import MissingBounds, bound_missing
from judged.comparison.repeats import RepeatedError, find_repeated_errors
from judged.comparison.settings import Settings
from judged.comparison.slices import Interaction
from judged.errors import UnknownName
from judged.measures.written import find_label
from judged.problem import Note
from judged.result import LazyTables, Provenance, Result, name_rows, tabulate
from judged.scoring.evaluation import Evaluation
from judged.scoring.family import FAMILIES
from judged.stats.effects import queries_needed
from judged.stats.outcome import Cell, Undefined
from judged.stats.randomisation import EXACT_UP_TO
from judged.wording import join_words

if TYPE_CHECKING:
    import pyarrow as pa

    from judged.stats.margin import Equivalence

WILSON = "wilson"
"""Code of the note that the interval of a mean is Wilson's."""


class Change(NamedTuple):
    """The gain or loss of one query."""

    query: str
    difference: float


@dataclass(frozen=True, slots=True)
class Latency:
    """The latency of one system, in milliseconds."""

    system: str
    samples: int
    mean: float
    p50: float
    p95: float
    p99: float

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name, with its unit."""
        times = {"mean_ms": self.mean, "p50_ms": self.p50, "p95_ms": self.p95, "p99_ms": self.p99}
        return {"system": self.system, "samples": self.samples, **times}


def _name_groups(state: Any) -> Any:
    """Return the state of version 1 as that of version 2: until then, groups of ranked measures were called families."""
    for scores in state["scores"]:
        scores["group"] = scores.get("family", "ranked")
        if scores["group"] in {"diversity", "browsing", "custom"}:
            scores["family"] = "ranked"
    for _, part in state.get("slices", ()):
        _name_groups(part)
    return state


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Several systems on the same queries: means, differences, and how certain both are."""

    kind: ClassVar[str] = "comparison"
    version: ClassVar[int] = 2
    upgrades: ClassVar[Mapping[int, Callable[[Any], Any]]] = {1: _name_groups}
    detail_by_query: ClassVar[bool] = True
    pages: ClassVar[tuple[str, ...]] = Evaluation.pages

    systems: tuple[str, ...]
    baselines: tuple[str, ...]
    """The systems that the others are compared with; empty: every system is compared with every other."""
    settings: Settings
    scores: tuple[PairedScores, ...]
    """For each measure, the values of every system on the queries they share."""
    means: tuple[Mean, ...]
    contrasts: tuple[Contrast, ...]
    provenance: Provenance = field(default_factory=Provenance)
    notes: tuple[Note, ...] = ()
    unit: str = "query"
    """Plural noun of the units that systems are compared on: queries, or tasks."""
    slices: Mapping[tuple[str, str], Comparison] = field(default_factory=dict)
    """The same by attribute and value."""
    interactions: tuple[Interaction, ...] = ()
    latencies: tuple[Latency, ...] = ()
    extra: Mapping[str, Mapping[str, list[dict[str, Cell]]]] = field(default_factory=dict)
    """The rows of the extra tests, by test and measure."""
    answers: tuple[Conclusion, ...] = ()
    """For each measure with a direction, the best system and what these queries cannot tell apart."""
    order: tuple[str, ...] = ()
    """The systems as tables list them; empty: the best in the first measure first."""
    cluster: str = ""
    """The name of the clusters of queries; empty if queries are independent."""
    scored: tuple[Evaluation, ...] = field(default=(), metadata={"saved": False})
    """The evaluations that were compared; none in a comparison that was loaded, or made of other scores."""

    @property
    def comparison(self) -> Comparison:
        """Itself."""
        return self

    def evaluations(self) -> Sequence[Evaluation]:
        """Return the evaluations that were compared, if they are known."""
        return self.scored

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, as the user wrote them."""
        return tuple(scores.measure for scores in self.scores)

    @property
    def names(self) -> dict[str, str]:
        """The canonical name of each measure, by the name that is shown."""
        return {scores.measure: scores.canonical or scores.measure for scores in self.scores}

    @property
    def method(self) -> str:
        """A description of the method of the comparison."""
        draws = max(len(scores.grouping or scores.queries) for scores in self.scores)
        words = self.settings.describe(exact=draws <= EXACT_UP_TO)
        return f"{words}, by cluster ({self.cluster})" if self.cluster else words

    @cached_property
    def repeated_errors(self) -> tuple[RepeatedError, ...]:
        """Components of the intervals of repeated values: of each mean, and of each difference."""
        return tuple(
            error
            for scores in self.scores
            for error in find_repeated_errors(
                scores, self._pairs(scores.measure), level=self.settings.level, unit=self.unit
            )
        )

    @cached_property
    def missing_bounds(self) -> tuple[MissingBounds, ...]:
        """The bounds of each difference whose systems lack different values."""
        return tuple(
            bound for scores in self.scores for bound in bound_missing(scores, self._pairs(scores.measure))
        )

    def _pairs(self, measure: str) -> list[tuple[str, str]]:
        return [(each.system, each.baseline) for each in self.contrasts if each.measure == measure]

    def answer(self, measure: object = None) -> Conclusion | None:
        """Return the answer of a measure, by default of the first with a direction; None if there is none."""
        name = None if measure is None else self._find_measure(measure)
        return next((answer for answer in self.answers if name in {None, answer.measure}), None)

    def describe_answer(self, measure: object = None, *, digits: int = 4) -> str:
        """Return the answer in a few sentences: the best system, how certain that is, and against each baseline."""
        answer = self.answer(measure)
        if answer is None:
            names = join_words(self.measures if measure is None else [self._find_measure(measure)])
            return f"{FAMILIES[self.scores[0].family].undirected.format(names)}, so no system is best."
        scores = next(scores for scores in self.scores if scores.measure == answer.measure)
        return answer.describe(digits=digits, unit=self.unit, clusters=len(set(scores.clusters)))

    def shown_notes(self, display: Display) -> tuple[Note, ...]:
        """Return the notes without those on intervals of means that the display leaves out."""
        answer = self.answer()
        named = set() if answer is None or not answer.rivals else {answer.measure}
        return tuple(
            note for note in self.notes if note.code != WILSON or display.intervals or note.subject in named
        )

    def mean(self, system: str, measure: object = None) -> Mean:
        """Return the mean of one system, with its interval."""
        self._check_system(system)
        name = self._find_measure(measure)
        return next(mean for mean in self.means if (mean.system, mean.measure) == (system, name))

    def contrast(self, system: str, baseline: str | None = None, measure: object = None) -> Contrast:
        """Return the contrast of one system with another; `baseline` may be omitted if there is only one."""
        name, other = self._find_measure(measure), baseline or self._only_baseline()
        known = [contrast for contrast in self.contrasts if contrast.measure == name]
        for contrast in known:
            if (contrast.system, contrast.baseline) == (system, other):
                return contrast
        names = [f"{contrast.system} against {contrast.baseline}" for contrast in known]
        raise UnknownName("contrast", f"{system} against {other}", names)

    def differences(
        self, system: str, baseline: str | None = None, measure: object = None
    ) -> dict[str, float]:
        """Return the difference of every query, system minus baseline."""
        scores, d = self._differences(system, baseline, measure)
        return dict(zip(scores.queries, d.tolist(), strict=True))

    def most_helped(
        self, system: str, baseline: str | None = None, measure: object = None, *, count: int = 5
    ) -> list[Change]:
        """Return the queries that gained most, the greatest gain first; none if neither direction is better."""
        return self._find_extremes(system, baseline, measure, count, 1)

    def most_hurt(
        self, system: str, baseline: str | None = None, measure: object = None, *, count: int = 5
    ) -> list[Change]:
        """Return the queries that lost most, the greatest loss first; none if neither direction is better."""
        return self._find_extremes(system, baseline, measure, count, -1)

    def equivalence(
        self, system: str, baseline: str | None = None, measure: object = None, *, margin: float
    ) -> Equivalence | Undefined:
        """Test by two one-sided tests whether the difference lies within the margin; a small p is evidence for it.

        `p_not_worse` is that of "no worse than the baseline", whichever direction of the measure is better.
        """
        from judged.stats.margin import equivalence_test

        other = baseline or self._only_baseline()
        self._check_system(system)
        self._check_system(other)
        scores = self._find_scores(measure).oriented
        return equivalence_test(scores.differences(system, other), margin=margin, clusters=scores.grouping)

    def queries_needed(
        self,
        wanted: float,
        system: str,
        baseline: str | None = None,
        measure: object = None,
        *,
        power: float = 0.8,
    ) -> int | Undefined:
        """Return how many queries (or clusters) like these would show a mean difference of `wanted` with the given power."""
        scores, d = self._differences(system, baseline, measure)
        return queries_needed(d, wanted, power=power, alpha=self.settings.alpha, clusters=scores.grouping)

    @property
    def comparisons(self) -> int:
        """The number of comparisons of each measure: the family that p-values are corrected for."""
        return len(self.contrasts) // max(len(self.scores), 1)

    @cached_property
    def letters(self) -> dict[str, str]:
        """The letters that marks consist of, by system, in the order of the leaderboard.

        All systems have one if all pairs were compared; if there are several baselines, these have. Against a single
        baseline, and among more than 26 systems, marks are arrows.
        """
        names = [name for name in self.ranked() if not self.baselines or name in self.baselines]
        if len(self.baselines) == 1 or len(names) > len(ascii_lowercase):
            return {}
        return dict(zip(names, ascii_lowercase, strict=False))

    def ranked(self) -> list[str]:
        """Return the systems in the order of tables, in slices as in the whole.

        The best in the first measure that has a better direction comes first; without any, the order is that given.
        """
        if self.order:
            return list(self.order)
        first = next((scores for scores in self.scores if scores.has_direction), None)
        if first is None:
            return list(self.systems)
        means = dict(zip(first.systems, first.oriented.values.mean(axis=0).tolist(), strict=True))
        return sorted(self.systems, key=lambda system: -means[system])

    def beaten(self, system: str, measure: str) -> list[str]:
        """Return the systems that this one is significantly better than, by the corrected p-values."""
        beaten = self._beaten.get((self._find_measure(measure), system), set())
        return [other for other in self.ranked() if other in beaten] if beaten else []

    @cached_property
    def _beaten(self) -> dict[tuple[str, str], set[str]]:
        """The systems that each is significantly better than, by measure and system."""
        higher = {scores.measure: scores.higher_is_better for scores in self.scores}
        found: dict[tuple[str, str], set[str]] = {}
        for contrast in self.contrasts:
            if contrast.significant and higher[contrast.measure] is not None:
                pair = (contrast.system, contrast.baseline)
                better, worse = pair if (contrast.difference > 0) == higher[contrast.measure] else pair[::-1]
                found.setdefault((contrast.measure, better), set()).add(worse)
        return found

    @property
    def pareto_optimal(self) -> list[str]:
        """The systems with timings for which no other is at least as good on everything and better on something."""
        return pareto_optimal(self)

    def draw_trade_off(self) -> Figure:
        """Draw accuracy against latency, with diversity as size; the comparison must have timings."""
        return trade_off_figure(self)

    def draw_ranks(self, measure: object = None) -> Figure:
        """Draw the critical-difference diagram of a measure, by default of the first (Friedman, Nemenyi)."""
        return rank_figure(self, self._find_scores(measure))

    def charts(self) -> list[Figure]:
        """Return the means with their intervals and, with timings, accuracy against latency."""
        timed = self.latencies and any(scores.has_direction for scores in self.scores)
        return [means_figure(self), *([self.draw_trade_off()] if timed else [])]

    def with_extra_tests(self, *names: str, rope: float = ROPE) -> Comparison:
        """Return the same with extra tests of all systems; `rope` is the least difference that matters."""
        made = {name: run_extra_test(self, name, rope=rope) for name in names}
        return replace(self, extra={**self.extra, **made})

    def tables(self) -> Mapping[str, pa.Table]:
        """Return differences, means, queries and answers, then what else there is, from interactions to extra tests.

        They have the canonical names of the measures, and in a column `written` the names shown where these differ.
        """
        builders = {name: partial(self._build_with_slices, name) for name in ("differences", "means")}
        builders["queries"] = partial(self._build_queries)
        if self.answers:
            builders["answers"] = partial(tabulate, [row for answer in self.answers for row in answer.rows()])
        if self.interactions:
            builders["interactions"] = partial(
                tabulate, [interaction.to_dict() for interaction in self.interactions]
            )
        if self.repeated_errors:
            builders["repeats"] = partial(tabulate, [error.to_dict() for error in self.repeated_errors])
        if self.missing_bounds:
            builders["missing"] = partial(tabulate, [bound.to_dict() for bound in self.missing_bounds])
        if self.latencies:
            builders["latency"] = partial(self._build_latency)
        builders |= {name: partial(self._build_extra, name) for name in self.extra}
        return LazyTables({name: partial(self._build_named, build) for name, build in builders.items()})

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the leaderboard, differences, queries that changed most, trade-off, slices and extra tests."""
        return make_blocks(self, display)

    def summary(self) -> dict[str, object]:
        """Return systems, baselines and measures."""
        return {
            "systems": list(self.systems),
            "baselines": list(self.baselines),
            "measures": [
                {
                    "name": scores.canonical or scores.measure,
                    **({"written": scores.measure} if scores.canonical else {}),
                    "higher_is_better": scores.higher_is_better,
                    "queries": len(scores.queries),
                }
                for scores in self.scores
            ],
            "method": self.method,
        }

    def list_rows(self, table: str) -> list[dict[str, Value]]:
        """Return the rows of the means or of the differences, without those of slices."""
        if table == "means":
            return [mean.to_dict() for mean in self.means]
        method: dict[str, Value] = {"test": self.settings.test, "correction": self.settings.correction}
        return [{**contrast.to_dict(), **method} for contrast in self.contrasts]

    def _build_named(self, build: Callable[[], pa.Table]) -> pa.Table:
        return name_rows(build(), self.names)

    def _build_with_slices(self, table: str) -> pa.Table:
        rows = self.list_rows(table)
        for (attribute, value), part in self.slices.items():
            rows += [{**row, "attribute": attribute, "slice": value} for row in part.list_rows(table)]
        return tabulate(rows)

    def _build_latency(self) -> pa.Table:
        optimal = self.pareto_optimal
        return tabulate(
            [{**latency.to_dict(), "pareto_optimal": latency.system in optimal} for latency in self.latencies]
        )

    def _build_extra(self, name: str) -> pa.Table:
        return tabulate(
            [
                _name_undefined({"measure": measure, **row})
                for measure, rows in self.extra[name].items()
                for row in rows
            ]
        )

    def _build_queries(self) -> pa.Table:
        """Return the values of both systems and their difference, for every contrast and query."""
        import pyarrow as pa

        text: dict[str, list[str]] = {name: [] for name in ("measure", "query", "system", "baseline")}
        numbers: dict[str, list[Floats]] = {
            name: [np.zeros(0)] for name in ("value", "baseline_value", "difference")
        }
        for contrast in self.contrasts:
            scores, d = self._differences(contrast.system, contrast.baseline, contrast.measure)
            repeated = (contrast.measure, contrast.system, contrast.baseline)
            for name, value in zip(("measure", "system", "baseline"), repeated, strict=True):
                text[name] += [value] * len(d)
            text["query"] += scores.queries
            columns = (scores.column(contrast.system), scores.column(contrast.baseline), d)
            for name, column in zip(numbers, columns, strict=True):
                numbers[name].append(column)
        return pa.table(
            {name: pa.array(values, pa.string()) for name, values in text.items()}
            | {name: np.concatenate(columns) for name, columns in numbers.items()}
        )

    def _find_extremes(
        self, system: str, baseline: str | None, measure: object, count: int, sign: int
    ) -> list[Change]:
        """Return the queries that changed most in one direction; unchanged ones are left out."""
        scores, d = self._differences(system, baseline, measure)
        if not scores.has_direction:
            return []
        better = sign * scores.oriented.differences(system, baseline or self._only_baseline())
        order = np.argsort(-better, kind="stable")[:count].tolist()
        return [Change(scores.queries[at], float(d[at])) for at in order if better[at] > 0]

    def _differences(self, system: str, baseline: str | None, measure: object) -> tuple[PairedScores, Floats]:
        other = baseline or self._only_baseline()
        self._check_system(system)
        self._check_system(other)
        scores = self._find_scores(measure)
        return scores, scores.differences(system, other)

    def _check_system(self, system: str) -> None:
        if system not in self.systems:
            raise UnknownName("system", system, self.systems)

    def _only_baseline(self) -> str:
        if len(self.baselines) != 1:
            hint = "choose one with `baseline=…`"
            raise UnknownName("single baseline", ", ".join(self.baselines) or "none", self.systems, hint=hint)
        return self.baselines[0]

    def _find_scores(self, measure: object) -> PairedScores:
        name = self._find_measure(measure)
        return next(scores for scores in self.scores if scores.measure == name)

    def _find_measure(self, measure: object) -> str:
        if measure is None:
            return self.measures[0]
        return find_label(measure, self.names, self.scores[0].family, kind="measure of this comparison")


def _name_undefined(row: dict[str, Cell]) -> dict[str, Value]:
    """Move the reasons of undefined numbers to a separate column, so that the other columns hold numbers only."""
    prefix = "undefined: "
    reasons = {
        name: cell.removeprefix(prefix)
        for name, cell in row.items()
        if isinstance(cell, str) and cell.startswith(prefix)
    }
    numbers: dict[str, Value] = {name: None if name in reasons else cell for name, cell in row.items()}
    return {**numbers, "undefined": "; ".join(dict.fromkeys(reasons.values()))} if reasons else numbers
