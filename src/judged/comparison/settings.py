"""Settings of a comparison: test, correction for multiple comparisons, confidence level, resamples, seed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Integral, Real
from types import NoneType
from typing import Any

from judged.errors import BadSample, UnknownName, check_kind

TESTS = {
    "randomisation": "sign-flip randomisation",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    "bootstrap": "shifted bootstrap",
    "welch": "Welch's t-test, as if not paired",
}
"""The name of each test in sentences."""
CORRECTIONS = {
    "maxT": "single-step maxT",
    "maxT-step-down": "step-down maxT",
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini–Hochberg",
    "none": "no correction",
}
"""The name of each correction in sentences."""
SHORT = {
    "maxT": "maxT",
    "maxT-step-down": "step-down maxT",
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "BH",
    "none": "uncorrected",
}
"""The name of each correction in a column heading."""
NOT_BY_CLUSTER = {
    "welch": "it takes the queries of both systems as independent samples",
    "anova": "its residuals are those of independent queries",
    "tukey": "its residuals are those of independent queries",
    "randomised-tukey": "it permutes the systems of every query by itself",
    "friedman": "it ranks the systems of every query by itself",
    "bayesian": "its posteriors are those of independent queries",
    "risk": "its standard error is that of independent queries",
}
"""The tests, and extra tests, that cannot take clusters of queries as the independent draws, and why."""
NEED_FLIPS = ("maxT", "maxT-step-down")
"""The corrections that need the sign flips of the randomisation test."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a comparison."""

    test: str = "randomisation"
    correction: str = "maxT"
    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0

    @property
    def alpha(self) -> float:
        """The significance level: a corrected p-value below it is significant."""
        return round(1 - self.level, 12)

    @property
    def simultaneous(self) -> bool:
        """Whether the intervals of differences share the critical value of the marks, and so always agree with them."""
        return self.correction == "maxT"

    def describe_intervals(self, comparisons: int) -> str:
        """Return what the intervals of differences are, for the number of comparisons of a measure.

        >>> Settings().describe_intervals(9), Settings(correction="holm").describe_intervals(9)
        ('simultaneous 95 % intervals', "unadjusted Student's 95 % intervals")
        """
        level = f"{100 * self.level:g} % intervals"
        if self.simultaneous:
            return level if comparisons == 1 else f"simultaneous {level}"
        return f"Student's {level}" if comparisons == 1 else f"unadjusted Student's {level}"

    def describe_marks(self, comparisons: int, *, every_pair: bool) -> str:
        """Return the criterion of significance, with the family of comparisons that it is corrected for.

        >>> Settings().describe_marks(9, every_pair=False), Settings(correction="none").describe_marks(9, every_pair=True)
        ('p < 0.05, maxT over 9 comparisons', 'p < 0.05, uncorrected')
        """
        p = f"p < {self.alpha:g}"
        if comparisons == 1:
            return p
        if self.correction == "none":
            return f"{p}, {SHORT['none']}"
        return f"{p}, {SHORT[self.correction]} over {'all pairs' if every_pair else f'{comparisons:,} comparisons'}"

    def to_dict(self) -> dict[str, Any]:
        """Return every setting by name."""
        return asdict(self)

    def describe(self, *, exact: bool = False) -> str:
        """Return the settings in words; `exact` says that all assignments of signs were enumerated."""
        draws = ""
        if self.test == "randomisation" and exact:
            draws = ", all assignments of signs"
        elif self.test in {"bootstrap", "randomisation"}:
            draws = f", {self.resamples:,} resamples, seed {self.seed}"
        return (
            f"{TESTS[self.test]}, {CORRECTIONS[self.correction]} over the comparisons of each measure, "
            f"level {self.level:g}{draws}"
        )


def choose_settings(
    *,
    test: str = "randomisation",
    correction: str | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Settings:
    """Return the settings, checked; the default correction is maxT for randomisation, and Holm for other tests."""
    check_kind("test", test, str, "the name of a test")
    check_kind("correction", correction, (str, NoneType), "the name of a correction, or None")
    check_kind("level", level, Real, "a number")
    check_kind("resamples", resamples, Integral, "a whole number")
    check_kind("seed", seed, Integral, "a whole number")
    if test not in TESTS:
        raise UnknownName("test", test, list(TESTS))
    if correction is not None and correction not in CORRECTIONS:
        raise UnknownName("correction", correction, list(CORRECTIONS))
    if correction in NEED_FLIPS and test != "randomisation":
        msg = f"{correction} needs the resamples of the randomisation test, and the test is `{test}`"
        raise BadSample(msg, hint="choose the correction `holm`, or the test `randomisation`")
    if not 0 < level < 1:
        msg = f"the confidence level is {level}, expected a number between 0 and 1"
        raise BadSample(msg, hint="95 % is written 0.95")
    if resamples < 1 or seed < 0:
        msg = f"{resamples} resamples with seed {seed}, expected at least one, and a seed from 0"
        raise BadSample(msg)
    default = "maxT" if test == "randomisation" else "holm"
    return Settings(test, correction or default, level, resamples, seed)
