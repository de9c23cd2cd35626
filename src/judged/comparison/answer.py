"""The answer of a comparison: which system is best, by how much, and what the queries cannot tell apart.

The best system is chosen after looking at the means, so the claim that it is better than others is tested over all
pairs of systems with a family-wise correction (step-down maxT with randomisation, Holm with other tests), also where
the tables are limited to a baseline or use another correction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from judged.blocks import Value, format_p, format_value
from judged.comparison.contrasts import Contrast, Mean, PairedScores, test_pairs
from judged.comparison.settings import SHORT, TESTS, Settings
from judged.stats.effects import detectable_difference
from judged.stats.intervals import Interval
from judged.stats.outcome import Undefined
from judged.stats.randomisation import all_pairs
from judged.wording import counted, join_words

__all__ = ["Answer", "describe_baselines", "find_answer"]

NAMED = 3
"""How many systems a sentence names before it counts the rest."""
EQUAL = 1e-12
"""Means that differ by no more than this, relative to the largest, are equal."""


@dataclass(frozen=True, slots=True)
class Rival:
    """A system beside the best one, and whether the queries separate the two."""

    system: str
    mean: float
    behind: float
    """How far its mean is from the best, never negative."""
    p: float | None
    """The p-value of the difference, corrected over all pairs of systems; None: the test is undefined."""
    separated: bool
    """Whether the best system is significantly better."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a comparison says about one measure: the best system, and the systems that are separated from it."""

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
    detectable: float | None
    """The smallest difference between the best two that these queries would show with a power of 0.8 (paired t-test)."""
    test: str
    correction: str
    """`maxT` or `holm`, over all pairs of systems."""
    alpha: float

    @property
    def separated(self) -> tuple[str, ...]:
        """The systems that the best one is significantly better than."""
        return tuple(rival.system for rival in self.rivals if rival.separated)

    @property
    def not_separated(self) -> tuple[str, ...]:
        """The systems that these queries cannot tell apart from the best one."""
        return tuple(rival.system for rival in self.rivals if not rival.separated)

    @property
    def lead(self) -> float | None:
        """How far the next system is behind; None if all are equal."""
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
            "correction": f"{self.correction} over all pairs",
        }
        for system in self.best:
            own: dict[str, Value] = {"mean": self.mean, "low": low, "high": high}
            yield {"measure": self.measure, "system": system, "best": True, **own, **about}
        for rival in self.rivals:
            beside = {"behind": rival.behind, "p_corrected": rival.p, "separated": rival.separated}
            yield {
                "measure": self.measure,
                "system": rival.system,
                "best": False,
                "mean": rival.mean,
                **beside,
                **about,
            }

    def describe(self, *, digits: int = 4, unit: str = "query") -> str:
        """Return the answer in one or two sentences that can be quoted."""
        return " ".join(filter(None, (self._say_best(digits), self._say_certainty(digits, unit))))

    def _say_best(self, digits: int) -> str:
        extreme = "highest" if self.higher_is_better else "lowest"
        value = format_value(self.mean, digits=digits)
        if not self.rivals:
            every = "Both" if len(self.best) == 2 else f"All {len(self.best)}"
            return f"{every} systems have the same {self.measure}, {value}."
        if isinstance(self.interval, Interval):
            low, high = (format_value(end, digits=digits) for end in (self.interval.low, self.interval.high))
            value += f" [{low}, {high}]"
        if len(self.best) > 1:
            return f"{_name(self.best)} share the {extreme} {self.measure}, {value}{self._say_lead(digits)}."
        return f"{self.best[0]} has the {extreme} {self.measure}, {value}{self._say_lead(digits)}."

    def _say_lead(self, digits: int) -> str:
        next_one = self.rivals[0]
        gap = format_value(next_one.behind, digits=digits)
        if float(gap) == 0:
            gap = f"less than {format_value(10.0**-digits, digits=digits)}"
        return f", {gap} {'above' if self.higher_is_better else 'below'} {next_one.system}"

    def _say_certainty(self, digits: int, unit: str) -> str:
        if not self.rivals:
            return ""
        if self.queries == 1:
            return f"One {unit} cannot show that a system is better."
        if all(rival.p is None for rival in self.rivals):
            return f"The {TESTS[self.test]} is undefined here, so no difference is shown."
        units = f"these {counted(self.queries, unit)}"
        if len(self.rivals) == 1 and len(self.best) == 1:
            return self._say_two(units, digits)
        return self._say_several(units, digits)

    def _say_several(self, units: str, digits: int) -> str:
        others, open_ones = self.separated, self.not_separated
        how = f"{SHORT[self.correction]} over all pairs"
        reach = self._say_reach(digits)
        them, they = ("It", "it") if len(self.best) == 1 else ("They", "them")
        verb = "is" if len(self.best) == 1 else "are"
        if not open_ones:
            largest = _format_p(
                max(rival.p or 0.0 for rival in self.rivals),
                digits,
                sign="≤" if len(self.rivals) > 1 else "=",
            )
            return f"{them} {verb} significantly better than {self._say_all()} ({largest}, {how})."
        if not others:
            sign = "≥" if len(self.rivals) > 1 else "="
            least = min(rival.p for rival in self.rivals if rival.p is not None)
            whom = "any other system" if len(open_ones) > 1 else open_ones[0]
            return f"{units.capitalize()} do not separate {they} from {whom} ({_format_p(least, digits, sign=sign)}, {how}){reach}."
        return (
            f"{them} {verb} significantly better than {_name(others)} (p < {self.alpha:g}, {how}); "
            f"{units} do not separate {they} from {_name(open_ones)}{reach}."
        )

    def _say_two(self, units: str, digits: int) -> str:
        rival = self.rivals[0]
        p = "undefined" if rival.p is None else _format_p(rival.p, digits)
        if rival.separated:
            return f"The difference is significant ({p}, {TESTS[self.test]})."
        return f"{units.capitalize()} do not show a difference ({p}, {TESTS[self.test]}){self._say_reach(digits)}."

    def _say_all(self) -> str:
        if len(self.rivals) == 1:
            return self.rivals[0].system
        return "both others" if len(self.rivals) == 2 else f"all {len(self.rivals)} others"

    def _say_reach(self, digits: int) -> str:
        if self.detectable is None:
            return ""
        return f"; a difference of {format_value(self.detectable, digits=digits)} or more would reliably show"


def find_answer(
    scores: PairedScores, means: Sequence[Mean], contrasts: Sequence[Contrast], settings: Settings
) -> Answer | None:
    """Return the answer of one measure; None if neither direction is better.

    `means` and `contrasts` are those of the measure; where the contrasts are already all pairs with the correction
    that is needed, their p-values are used.
    """
    if not scores.has_direction:
        return None
    strict = replace(settings, correction="maxT" if settings.test == "randomisation" else "holm")
    ps = _find_ps(scores, contrasts, strict, same=strict == settings)
    oriented = dict(zip(scores.systems, scores.oriented.values.mean(axis=0).tolist(), strict=True))
    order = sorted(scores.systems, key=lambda system: -oriented[system])
    top = oriented[order[0]]
    near = EQUAL * max(1.0, abs(top))
    best = tuple(system for system in order if top - oriented[system] <= near)
    known = {mean.system: mean for mean in means}
    rivals = tuple(
        Rival(
            system,
            known[system].mean,
            top - oriented[system],
            _largest([ps[frozenset({one, system})] for one in best]),
            all((p := ps[frozenset({one, system})]) is not None and p < settings.alpha for one in best),
        )
        for system in order[len(best) :]
    )
    detectable = (
        detectable_difference(scores.differences(best[0], rivals[0].system), alpha=settings.alpha)
        if rivals
        else None
    )
    return Answer(
        scores.measure,
        len(scores.queries),
        bool(scores.higher_is_better),
        best,
        known[best[0]].mean,
        known[best[0]].interval,
        rivals,
        None if isinstance(detectable, Undefined) else detectable,
        settings.test,
        strict.correction,
        settings.alpha,
    )


def _find_ps(
    scores: PairedScores, contrasts: Sequence[Contrast], settings: Settings, *, same: bool
) -> dict[frozenset[str], float | None]:
    """Return the corrected p-value of every pair of systems."""
    pairs = all_pairs(len(scores.systems))
    if same and len(contrasts) == len(pairs):
        return {frozenset({found.system, found.baseline}): found.corrected for found in contrasts}
    corrected = test_pairs(scores.values, pairs, settings)[1]
    names = (frozenset({scores.systems[one], scores.systems[other]}) for one, other in pairs)
    return dict(zip(names, corrected, strict=True))


def _largest(ps: Sequence[float | None]) -> float | None:
    known = [p for p in ps if p is not None]
    return max(known) if len(known) == len(ps) else None


def describe_baselines(
    baselines: Sequence[str], contrasts: Sequence[Contrast], answer: Answer, order: Sequence[str]
) -> Iterator[str]:
    """Yield a sentence for each baseline: the systems that are better, worse, and not shown to differ."""
    for baseline in baselines:
        found: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
        against = {
            contrast.system if contrast.baseline == baseline else contrast.baseline: contrast
            for contrast in contrasts
            if baseline in {contrast.system, contrast.baseline}
        }
        for system in (name for name in order if name in against):
            contrast = against[system]
            gain = contrast.difference * (1 if contrast.system == system else -1)
            way = "better" if (gain > 0) == answer.higher_is_better else "worse"
            found[way if contrast.is_significant(answer.alpha) else "open"].append(system)
        yield _say_baseline(baseline, answer.measure, found)


def _say_baseline(baseline: str, measure: str, found: dict[str, list[str]]) -> str:
    parts = [
        f"{_name(systems)} {'is' if len(systems) == 1 else 'are'} significantly {way}"
        for way in ("better", "worse")
        if (systems := found[way])
    ]
    if found["open"]:
        parts.append(
            f"{_name(found['open'])} {'is' if len(found['open']) == 1 else 'are'} not shown to differ"
        )
    return f"Against {baseline} in {measure}: {'; '.join(parts)}."


def _name(systems: Sequence[str]) -> str:
    """Return names in a sentence; of many, the first few and how many more."""
    if len(systems) <= NAMED + 1:
        return join_words(systems)
    return join_words([*systems[:NAMED], f"{len(systems) - NAMED} more"])


def _format_p(p: float, digits: int, *, sign: str = "=") -> str:
    shown = format_p(p, digits=digits)
    return (
        f"p {shown[0]} {shown[1:]}"
        if isinstance(shown, str)
        else f"p {sign} {format_value(shown, digits=digits)}"
    )
