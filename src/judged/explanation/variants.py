"""Variants of a scoring rule: every convention changed, alone and together, and the scores of a run under each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from judged.arrays import Floats
from judged.blocks import Value
from judged.errors import BadMeasure, JudgedError
from judged.explanation.scoring_rule import ScoringRule, diff, parse_rule
from judged.measures.measure import Measure
from judged.profiles.profile import PROFILES
from judged.progress import Progress
from judged.protocol import Protocol
from judged.scoring.evaluate import evaluate
from judged.tables.judgments import Judgments
from judged.tables.run import Run
from judged.tables.scores import Scores

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
    """Description of what a profile changes."""

    def __str__(self) -> str:
        changed = ", ".join(map(str, self.changes)) or "nothing"
        return f"{changed} ({self.detail})" if self.detail else changed


class Trials:
    """Variants, and the value of the run under each."""

    def __init__(self, judgments: Judgments, run: Run, progress: Progress | None = None) -> None:
        self.judgments, self.run = judgments, run
        self.variants: list[Variant] = []
        self.values: list[float] = []
        self.scores: list[Scores] = []
        """For each variant the scores of the queries, those of other measures included."""
        self._progress = progress

    def add(self, variants: Iterable[Variant]) -> None:
        """Evaluate variants, all measures of one protocol at once."""
        new, done = list(variants), len(self.variants)
        total = done + len(new)
        by_protocol: dict[Protocol, list[Measure]] = {}
        for variant in new:
            by_protocol.setdefault(variant.protocol, []).append(variant.measure)
        # the evaluations are not kept: their alignments would hold the judged rows of every protocol
        outcomes: dict[tuple[Protocol, Measure], tuple[float, Scores]] = {}
        for protocol, measures in by_protocol.items():
            evaluation = evaluate(self.judgments, self.run, measures, protocol=protocol)
            outcomes |= {(protocol, own): (evaluation[own], evaluation.scores) for own in measures}
            done += len(measures)
            if self._progress is not None:
                self._progress(done, total)
        for variant in new:
            value, scores = outcomes[variant.protocol, variant.measure]
            self.variants.append(variant)
            self.values.append(value)
            self.scores.append(scores)

    def search(
        self,
        rule: ScoringRule,
        measure: Measure | str,
        *,
        changes: int,
        combined_from: int,
        reached: Callable[[], bool],
        matters: Callable[[int], bool],
    ) -> None:
        """Try variants with more and more changes, and every profile, until the goal is `reached`.

        From `combined_from` changes on, only those are combined for which the trial of the change alone `matters`.
        """
        axes = list_changes(rule)
        for count in range(changes + 1):
            if count == combined_from:
                alone = (i for i, variant in enumerate(self.variants) if len(variant.changes) == 1)
                useful = {self.variants[i].changes[0] for i in alone if matters(i)}
                axes = [kept for axis in axes if (kept := [change for change in axis if change in useful])]
            # a profile changes several conventions, and is one guess nevertheless
            profiles = list_profiles(rule, measure) if count == 1 else ()
            self.add([*list_variants(rule, axes, count), *profiles])
            if reached():
                return

    def list_queries(self) -> list[str]:
        """Return every query that is scored under some variant."""
        return list(dict.fromkeys(query for scores in self.scores for query in scores.queries.to_pylist()))

    def tabulate(self, queries: Sequence[str]) -> Floats:
        """Return a row for each variant with the value of each query; NaN where it is not scored."""
        column = {query: at for at, query in enumerate(queries)}
        values = np.full((len(self.variants), len(queries)), np.nan)
        for row, variant, scores in zip(values, self.variants, self.scores, strict=True):
            row[[column[query] for query in scores.queries.to_pylist()]] = scores[variant.measure]
        return values

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


def list_changes(base: ScoringRule) -> list[list[Change]]:
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


def list_profiles(base: ScoringRule, measure: Measure | str) -> Iterator[Variant]:
    """Return the measure as every profile that has it means it, and how that differs."""
    for name in PROFILES:
        try:
            rule = parse_rule(name, measure)
        except JudgedError:
            continue
        detail = ", ".join(f"{change.name}={change.words[1]}" for change in diff(base, rule))
        yield Variant((Change("profile", name),), rule.measure, rule.protocol, detail)


def list_variants(base: ScoringRule, axes: Sequence[Sequence[Change]], count: int) -> Iterator[Variant]:
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
