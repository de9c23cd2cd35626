"""What a gate found: the outcome of each measure, the verdict of the whole, and why."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from judged.errors import UnknownName
from judged.gates.delta import Delta
from judged.gates.words import because
from judged.stats.margin import MarginTest, Verdict

__all__ = ["GateReport", "MeasureGate", "RefusedGate", "worst"]

_ORDER: tuple[Verdict, ...] = ("pass", "inconclusive", "fail")


@dataclass(frozen=True)
class MeasureGate:
    """The outcome of one measure. Differences are in the good direction: above 0 the run is better."""

    measure: str
    run: str
    baseline: str
    run_mean: float
    """Over the queries that were compared."""
    baseline_mean: float
    min_delta: Delta
    test: MarginTest
    higher_is_better: bool = True
    better: int = 0
    """Queries on which the run is better."""
    worse: int = 0
    hurt: tuple[tuple[str, float], ...] = ()
    """The queries that lost most, with their differences, at most five."""
    helped: tuple[tuple[str, float], ...] = ()
    only_in_run: tuple[str, ...] = ()
    """Queries that only the run has a value for; they cannot be compared."""
    only_in_baseline: tuple[str, ...] = ()
    unit: str = "query"
    """What runs are compared on: queries, or tasks."""

    @property
    def verdict(self) -> Verdict:
        """`pass`, `fail` or `inconclusive`."""
        return self.test.verdict

    @property
    def text(self) -> str:
        """Why, in one paragraph, with numbers."""
        return because(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything by name, for JSON; what is undefined or endless is None."""
        test = self.test
        return {
            "measure": self.measure,
            "verdict": self.verdict,
            "difference": test.difference,
            "margin": test.margin,
            "min_delta": str(self.min_delta),
            "alpha": test.alpha,
            "test": test.test,
            "exact": test.exact,
            "low": _finite(test.low),
            "high": _finite(test.high),
            "p_above": test.p_above,
            "p_below": test.p_below,
            "undefined": test.undefined and test.undefined.reason,
            "smallest_detectable": test.detectable,
            "queries_needed": test.needed,
            "run_mean": self.run_mean,
            "baseline_mean": self.baseline_mean,
            "higher_is_better": self.higher_is_better,
            "queries": test.queries,
            "better": self.better,
            "equal": test.queries - self.better - self.worse,
            "worse": self.worse,
            "only_in_run": len(self.only_in_run),
            "only_in_baseline": len(self.only_in_baseline),
            "most_hurt": dict(self.hurt),
            "most_helped": dict(self.helped),
            "why": self.text,
        }


@dataclass(frozen=True)
class GateReport:
    """A run against a baseline: one outcome for each measure; the verdict of the whole is the worst."""

    name: str
    run: str
    baseline: str
    results: tuple[MeasureGate, ...]
    protocol: str
    notes: tuple[str, ...] = ()
    """What was noticed of the inputs."""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of any measure: `fail` before `inconclusive` before `pass`."""
        return worst(each.verdict for each in self.results)

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of each measure."""
        return {each.measure: each.verdict for each in self.results}

    @property
    def passed(self) -> bool:
        """Whether every measure is shown to be no worse than its margin."""
        return self.verdict == "pass"

    @property
    def text(self) -> str:
        """The verdict, and a paragraph for each measure."""
        return "\n\n".join([f"{self.name}: {self.verdict}", *(each.text for each in self.results)])

    def __getitem__(self, measure: object) -> MeasureGate:
        """The outcome of one measure."""
        for each in self.results:
            if each.measure == str(measure):
                return each
        kind = "measure of this gate"
        raise UnknownName(kind, str(measure), [each.measure for each in self.results])

    def to_dict(self) -> dict[str, Any]:
        """Everything by name, for JSON."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "run": self.run,
            "baseline": self.baseline,
            "protocol": self.protocol,
            "measures": [each.to_dict() for each in self.results],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        shown = ", ".join(f"{each.measure} {each.verdict}" for each in self.results)
        return f"GateReport({self.name}: {self.verdict}; {shown})"


@dataclass(frozen=True)
class RefusedGate:
    """A gate that could not be decided, for its settings or its data are at fault."""

    name: str
    message: str

    def to_dict(self) -> dict[str, Any]:
        """Everything by name, for JSON."""
        return {"name": self.name, "verdict": "error", "error": self.message}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The gravest of some verdicts; a pass of none.

    >>> worst(["pass", "fail", "inconclusive"])
    'fail'
    """
    return max(verdicts, key=_ORDER.index, default="pass")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
