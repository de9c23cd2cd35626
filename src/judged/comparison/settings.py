"""How systems are compared: the test, the correction for several comparisons, the level, the seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from judged.errors import BadSample, UnknownName

__all__ = ["CORRECTIONS", "TESTS", "Correction", "Settings", "Test", "chosen_settings"]

Test: TypeAlias = Literal["randomisation", "t", "wilcoxon", "sign", "bootstrap", "welch"]
Correction: TypeAlias = Literal["maxT", "holm", "bonferroni", "bh", "none"]
TESTS: tuple[str, ...] = get_args(Test)
CORRECTIONS: tuple[str, ...] = get_args(Correction)

SHORT = {"maxT": "maxT", "holm": "Holm", "bonferroni": "Bonferroni", "bh": "BH"}
"""What a column of corrected p-values is called by."""
WORDS = {
    "randomisation": "sign-flip randomisation",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    "bootstrap": "shifted bootstrap",
    "welch": "Welch's t-test, as if not paired",
    "maxT": "step-down maxT",
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini–Hochberg",
    "none": "no correction",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a comparison was made."""

    test: str = "randomisation"
    correction: str = "maxT"
    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0

    @property
    def alpha(self) -> float:
        """Below which a corrected p-value is a mark."""
        return round(1 - self.level, 12)

    def to_dict(self) -> dict[str, Any]:
        """Everything that was chosen."""
        return {name: getattr(self, name) for name in ("test", "correction", "level", "resamples", "seed")}

    def told(self, *, exact: bool = False) -> str:
        """The settings in words; `exact` says that all assignments of signs were gone through."""
        drawn = self.test == "bootstrap" or (self.test == "randomisation" and not exact)
        draws = f", {self.resamples:,} resamples, seed {self.seed}" if drawn else ""
        if self.test == "randomisation" and exact:
            draws = ", all assignments of signs"
        return f"{WORDS[self.test]}, {WORDS[self.correction]} over the comparisons of each measure, level {self.level:g}{draws}"


def chosen_settings(
    *, test: str, correction: str | None, level: float, resamples: int, seed: int
) -> Settings:
    """The settings, checked; without a correction, maxT where flips are there to make it of, else Holm."""
    for kind, name, known in (("test", test, TESTS), ("correction", correction or "none", CORRECTIONS)):
        if name not in known:
            raise UnknownName(kind, name, known)
    if correction == "maxT" and test != "randomisation":
        msg = f"maxT is made of the flips of the randomisation test, and the test is `{test}`"
        raise BadSample(msg, hint="take `holm`, or the test `randomisation`")
    if not 0 < level < 1:
        msg = f"the confidence level is {level}, expected a number between 0 and 1"
        raise BadSample(msg, hint="95 % is written 0.95")
    if resamples < 1 or seed < 0:
        msg = f"{resamples} resamples with seed {seed}, expected at least one, and a seed from 0"
        raise BadSample(msg)
    usual = "maxT" if test == "randomisation" else "holm"
    return Settings(test, correction or usual, level, resamples, seed)
