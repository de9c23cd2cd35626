"""What the tools made of the suite, as a table of cases by tools and as sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judged.conformance.cases import Case
from judged.conformance.verdict import OUTCOMES, Outcome, Verdict

__all__ = ["Results", "cell", "told"]

FAULTS: frozenset[Outcome] = frozenset({"crash", "error", "accepted", "different"})
SHOWN = 3
"""How many measures of a case a sentence names."""


@dataclass(frozen=True, slots=True)
class Results:
    """The verdicts of one tool, under the tool's name and version."""

    tool: str
    verdicts: tuple[Verdict, ...]

    def of(self, case: Case) -> list[Verdict]:
        """The verdicts of one case, in the order of its measures."""
        return [each for each in self.verdicts if each.case == case.id]

    def counts(self, cases: Sequence[Case]) -> Counter[Outcome]:
        """How many cases have each outcome."""
        return Counter(outcome(self.of(case)) for case in cases)

    @property
    def faults(self) -> int:
        """How many measures came out other than the suite says."""
        return sum(each.outcome in FAULTS for each in self.verdicts)


def outcome(verdicts: Sequence[Verdict]) -> Outcome:
    """The outcome of a case: the gravest of its measures."""
    return min((each.outcome for each in verdicts), key=OUTCOMES.index)


def cell(verdicts: Sequence[Verdict]) -> str:
    """A case for one tool in a word or two: outcome, share of measures where not all, largest difference."""
    gravest = outcome(verdicts)
    if gravest in {"not supported", "not installed"}:
        return "–"
    concerned = [each for each in verdicts if each.outcome == gravest]
    share = "" if len(concerned) == len(verdicts) else f" {len(concerned)}/{len(verdicts)}"
    if gravest != "different":
        return f"{gravest}{share}"
    worst = max((each.difference or 0.0 for each in concerned), default=0.0)
    size = f" by {worst:.4f}" if math.isfinite(worst) and worst else ""
    return f"different{share}{size}"


def told(results: Sequence[Results], case: Case) -> Iterator[str]:
    """A sentence for each tool in which the case came out otherwise."""
    for each in results:
        wrong = [verdict for verdict in each.of(case) if verdict.outcome in FAULTS]
        if wrong:
            named = "; ".join(_named(verdict) for verdict in wrong[:SHOWN])
            more = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
            yield f"{each.tool}: {named}{more}"


def _named(verdict: Verdict) -> str:
    kind = f"{verdict.outcome}, " if verdict.outcome in {"crash", "error"} else ""
    return f"`{verdict.measure}` {kind}{verdict.detail}"
