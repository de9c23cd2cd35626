"""The answer of a comparison: which system is best, by how much, and what the queries cannot tell apart.

Every claim of the answer is read from the contrasts that the tables show: over all pairs of systems or, where there are
baselines, over the comparisons with them alone. So no sentence is about another family of tests than the table below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from judged.blocks import Value, format_value, state_p
from judged.comparison.contrasts import Contrast, Mean, PairedScores
from judged.comparison.settings import TESTS, Settings
from judged.stats.intervals import Interval
from judged.stats.outcome import Undefined
from judged.wording import counted, name_some

NAMED = 3
"""Maximum number of systems a sentence names before it counts the rest."""
EQUAL = 1e-12
"""Means that differ by no more than this, relative to the largest, are equal."""


@dataclass(frozen=True, slots=True)
class Rival:
    """A system other than the best, and whether the queries separate the two."""

    system: str
    mean: float
    behind: float
    """Distance of its mean from the best, never negative."""
    tested: bool
    """Whether it was compared with the best; with baselines, only these were."""
    p: float | None
    """The corrected p-value of the difference; None if it is undefined or was not tested."""
    separated: bool
    """Whether the best system is significantly better."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The systems against one baseline, each list in the order of the leaderboard."""

    baseline: str
    better: tuple[str, ...]
    """Significantly better than the baseline."""
    worse: tuple[str, ...]
    """Significantly worse."""
    open: tuple[str, ...]
    """Not separated from it by these queries."""
    undefined: tuple[str, ...]
    """The test has no p-value for these."""

    def describe(self, criterion: str) -> str:
        """Return the standing in a sentence; `criterion` says what is significant."""
        parts = [
            f"{_name(systems)} {_be(systems)} {what}"
            for systems, what in (
                (self.better, "significantly better"),
                (self.worse, "significantly worse"),
                (self.open, "not separated from it"),
            )
            if systems
        ]
        parts += [f"the test is undefined for {_name(self.undefined)}"] if self.undefined else []
        return f"Against {self.baseline} ({criterion}): {'; '.join(parts)}."


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The conclusion for one measure: the best system, and the systems that are separated from it."""

    measure: str
    queries: int
    higher_is_better: bool
    best: tuple[str, ...]
    """The best system; several if their means are equal."""
    mean: float
    interval: Interval | Undefined
    """The confidence interval of the best system's mean."""
    rivals: tuple[Rival, ...]
    """The other systems, best first."""
    standings: tuple[Standing, ...]
    """The systems against each baseline; empty if all pairs were compared."""
    detectable: float | None
    """The smallest difference between the best and the next system not separated from it that would show with a power of
    0.8, by the criterion of the comparison; None if all are separated or it is unknown."""
    test: str
    correction: str
    criterion: str
    """Definition of significance, as text: level, correction and family."""

    @property
    def separated(self) -> tuple[str, ...]:
        """The systems that the best one is significantly better than."""
        return tuple(rival.system for rival in self.rivals if rival.separated)

    @property
    def not_separated(self) -> tuple[str, ...]:
        """The systems that were compared with the best one, and that these queries cannot tell apart from it."""
        return tuple(rival.system for rival in self.rivals if rival.tested and not rival.separated)

    @property
    def lead(self) -> float | None:
        """Lead over the next system; None if all are equal."""
        return self.rivals[0].behind if self.rivals else None

    @property
    def p(self) -> float | None:
        """The corrected p-value of the lead."""
        return self.rivals[0].p if self.rivals else None

    def rows(self) -> Iterator[dict[str, Value]]:
        """Yield a row for each system, the best first; numbers of the best stay empty where it is compared with itself."""
        low, high = (
            (None, None) if isinstance(self.interval, Undefined) else (self.interval.low, self.interval.high)
        )
        about: dict[str, Value] = {
            "queries": self.queries,
            "detectable": self.detectable,
            "test": self.test,
            "criterion": self.criterion,
        }
        for system in self.best:
            own: dict[str, Value] = {"mean": self.mean, "low": low, "high": high}
            yield {"measure": self.measure, "system": system, "best": True, **own, **about}
        for rival in self.rivals:
            yield {
                "measure": self.measure,
                "system": rival.system,
                "best": False,
                "mean": rival.mean,
                "behind": rival.behind,
                "p_corrected": rival.p,
                "separated": rival.separated if rival.tested else None,
                **about,
            }

    def describe(self, *, digits: int = 4, unit: str = "query", clusters: int = 0) -> str:
        """Return the answer in a few sentences that can be quoted; of `clusters`, if these are the independent draws."""
        draws = f"these {counted(self.queries, unit)}"
        if clusters:
            draws += f" in {counted(clusters, 'cluster')}"
        one = f"One {unit}" if self.queries == 1 else "One cluster" if clusters == 1 else ""
        return " ".join(filter(None, (self._say_best(digits), self._say_certainty(digits, draws, one))))

    def _say_best(self, digits: int) -> str:
        extreme = "highest" if self.higher_is_better else "lowest"
        value = format_value(self.mean, digits=digits)
        if not self.rivals:
            every = "Both" if len(self.best) == 2 else f"All {len(self.best)}"
            return f"{every} systems have the same {self.measure}, {value}."
        if isinstance(self.interval, Interval):
            low, high = (format_value(end, digits=digits) for end in (self.interval.low, self.interval.high))
            value += f" [{low}, {high}]"
        verb = "has" if len(self.best) == 1 else "share"
        return f"{_name(self.best)} {verb} the {extreme} {self.measure}, {value}{self._say_lead(digits)}."

    def _say_lead(self, digits: int) -> str:
        next_one = self.rivals[0]
        gap = format_value(next_one.behind, digits=digits)
        if float(gap) == 0:
            gap = f"less than {format_value(10.0**-digits, digits=digits)}"
        return f", {gap} {'above' if self.higher_is_better else 'below'} {next_one.system}"

    def _say_certainty(self, digits: int, units: str, one: str) -> str:
        if not self.rivals:
            return ""
        if one:
            return f"{one} cannot show that a system is better."
        if len(self.rivals) == 1 and len(self.best) == 1:
            return self._say_two(units, digits)
        if self.standings:
            return " ".join(standing.describe(self.criterion) for standing in self.standings)
        if all(rival.p is None for rival in self.rivals):
            return f"The {TESTS[self.test]} is undefined here, so no difference is shown."
        return self._say_several(units, digits)

    def _say_several(self, units: str, digits: int) -> str:
        beaten, unseparated = self.separated, self.not_separated
        it, them = ("It is", "it") if len(self.best) == 1 else ("They are", "them")
        if not unseparated:
            return f"{it} significantly better than {self._say_all()} ({self.criterion})."
        whom = "any other system" if len(unseparated) == len(self.rivals) > 1 else _name(unseparated)
        doubt = f"do not separate {them} from {whom}"
        if not beaten:
            return f"{units.capitalize()} {doubt} (at {self.criterion}){self._say_reach(digits)}."
        return (
            f"{it} significantly better than {_name(beaten)} ({self.criterion}); "
            f"{units} {doubt}{self._say_reach(digits)}."
        )

    def _say_two(self, units: str, digits: int) -> str:
        rival = self.rivals[0]
        if rival.p is None:
            return f"The {TESTS[self.test]} is undefined here, so no difference is shown."
        p = f"{state_p(rival.p, digits=digits)}, {TESTS[self.test]}"
        if rival.separated:
            return f"The difference is significant ({p})."
        return f"{units.capitalize()} do not show a difference ({p}){self._say_reach(digits)}."

    def _say_all(self) -> str:
        if len(self.rivals) == 1:
            return self.rivals[0].system
        return "both others" if len(self.rivals) == 2 else f"all {len(self.rivals)} others"

    def _say_reach(self, digits: int) -> str:
        if self.detectable is None:
            return ""
        pair = f"{self.best[0]} and {self.not_separated[0]}"
        least = format_value(self.detectable, digits=digits)
        return f"; a difference of {least} or more between {pair} would show at least 80 % of the time"


def find_answer(
    scores: PairedScores,
    means: Sequence[Mean],
    contrasts: Sequence[Contrast],
    settings: Settings,
    baselines: Sequence[str] = (),
) -> Conclusion | None:
    """Return the answer of one measure; None if neither direction is better.

    `means` and `contrasts` are those of the measure: of all pairs, or of every system with the `baselines`.
    """
    if not scores.has_direction:
        return None
    oriented = dict(zip(scores.systems, scores.oriented.values.mean(axis=0).tolist(), strict=True))
    order = sorted(scores.systems, key=lambda system: -oriented[system])
    top = oriented[order[0]]
    near = EQUAL * max(1.0, abs(top))
    best = tuple(system for system in order if top - oriented[system] <= near)
    tested = {frozenset({contrast.system, contrast.baseline}): contrast for contrast in contrasts}
    known = {mean.system: mean for mean in means}
    rivals = tuple(
        _make_rival(system, known[system].mean, top - oriented[system], best, tested)
        for system in order[len(best) :]
    )
    return Conclusion(
        scores.measure,
        len(scores.queries),
        bool(scores.higher_is_better),
        best,
        known[best[0]].mean,
        known[best[0]].interval,
        rivals,
        tuple(_find_standing(baseline, order, oriented, tested) for baseline in baselines),
        _find_detectable(best, rivals, tested, settings),
        settings.test,
        settings.correction,
        settings.describe_marks(len(contrasts), every_pair=not baselines),
    )


def _make_rival(
    system: str,
    mean: float,
    behind: float,
    best: Sequence[str],
    tested: Mapping[frozenset[str], Contrast],
) -> Rival:
    """Return a system against the best; against several equal ones, the largest p-value counts."""
    pairs = [frozenset({winner, system}) for winner in best]
    contrasts = [tested[pair] for pair in pairs if pair in tested]
    complete = len(contrasts) == len(pairs)
    ps = [contrast.corrected for contrast in contrasts if contrast.corrected is not None]
    return Rival(
        system,
        mean,
        behind,
        complete,
        max(ps) if len(ps) == len(pairs) else None,
        complete and all(contrast.significant for contrast in contrasts),
    )


def _find_standing(
    baseline: str,
    order: Sequence[str],
    oriented: Mapping[str, float],
    tested: Mapping[frozenset[str], Contrast],
) -> Standing:
    groups: dict[str, list[str]] = {"better": [], "worse": [], "open": [], "undefined": []}
    for system in order:
        if system == baseline:
            continue
        contrast = tested[frozenset({system, baseline})]
        if contrast.significant:
            groups["better" if oriented[system] > oriented[baseline] else "worse"].append(system)
        else:
            groups["undefined" if contrast.corrected is None else "open"].append(system)
    return Standing(baseline, **{name: tuple(systems) for name, systems in groups.items()})


def _find_detectable(
    best: Sequence[str],
    rivals: Sequence[Rival],
    tested: Mapping[frozenset[str], Contrast],
    settings: Settings,
) -> float | None:
    """Return the detectable difference of the best and the next that is not separated from it.

    It is that of a criterion on Student's t: with other tests, an observed difference above it may be missed.
    """
    unseparated = next((rival for rival in rivals if rival.tested and not rival.separated), None)
    if unseparated is None or len(best) > 1 or not (settings.simultaneous or settings.test == "t"):
        return None
    detectable = tested[frozenset({best[0], unseparated.system})].detectable
    return None if isinstance(detectable, Undefined) else detectable


def _name(systems: Sequence[str]) -> str:
    """Return names in a sentence; of many, the first few and how many more."""
    return name_some(systems, NAMED)


def _be(systems: Sequence[str]) -> str:
    return "is" if len(systems) == 1 else "are"
