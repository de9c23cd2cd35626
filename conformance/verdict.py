"""What a tool made of the suite: the outcome of each measure, of each case, and in sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from conformance.cases import Case, Measured

__all__ = ["OUTCOMES", "Answer", "Outcome", "Results", "Verdict", "compare", "describe_faults", "summarise"]

Outcome: TypeAlias = Literal[
    "equal", "refused", "different", "accepted", "error", "crash", "not supported", "not installed"
]
OUTCOMES: tuple[Outcome, ...] = (
    "crash",
    "error",
    "accepted",
    "different",
    "refused",
    "equal",
    "not supported",
    "not installed",
)
"""The most serious first: a case has the most serious outcome of its measures."""
FAULTS: frozenset[Outcome] = frozenset({"crash", "error", "accepted", "different"})
SHOWN = 3
"""How many measures of a case a sentence names."""
CLOSE = 1e-9
"""How far a double may be from the exact value and still be equal."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool returned: values by query where it has them, their aggregate, and how many digits it printed."""

    queries: dict[str, float]
    all: float | None
    digits: int | None = None
    call: str = ""
    """How the tool was called, in its own spelling."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one measure of one case for one tool."""

    case: str
    measure: str
    outcome: Outcome
    detail: str = ""
    difference: float | None = None
    call: str = ""
    queries: dict[str, float] | None = None
    all: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return its fields without the empty ones; infinities and NaN as strings."""
        fields = {name: value for name, value in asdict(self).items() if value not in (None, "")}
        if self.queries is not None:
            fields["queries"] = {query: _plain(value) for query, value in self.queries.items()}
        return {name: _plain(value) for name, value in fields.items()}


def compare(case: Case, measure: Measured, answer: Answer) -> Verdict:
    """Compare an answer with the exact values, to 1e-9 or to the digits that were printed."""
    given: dict[str, Any] = {"call": answer.call, "queries": answer.queries, "all": answer.all}
    if case.refused:
        return Verdict(case.id, measure.measure, "accepted", f"gives {_shown(answer.all)}", **given)
    extra = sorted(set(answer.queries) - set(measure.queries))
    if extra:
        return Verdict(case.id, measure.measure, "different", f"scores query `{extra[0]}` too", **given)
    pairs = [(answer.queries[query], measure.queries[query]) for query in answer.queries]
    if answer.all is not None and measure.all is not None:
        pairs.append((answer.all, measure.all))
    if not pairs:
        return Verdict(case.id, measure.measure, "different", "gives no value", **given)
    tolerance = CLOSE if answer.digits is None else 0.5 * 10**-answer.digits + CLOSE
    distances = [_distance(got, wanted) for got, wanted in pairs]
    worst = max(distances)
    if worst <= tolerance:
        return Verdict(case.id, measure.measure, "equal", difference=worst, **given)
    got, wanted = pairs[distances.index(worst)]
    detail = f"{_shown(got)} instead of {float(wanted):.4f}"
    return Verdict(case.id, measure.measure, "different", detail, difference=worst, **given)


def _distance(got: float, wanted: Fraction) -> float:
    """Return how far a value is off; infinite for a value that is no number."""
    return abs(float(Fraction(got) - wanted)) if math.isfinite(got) else math.inf


def _shown(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.4f}"


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True, slots=True)
class Results:
    """The verdicts of one tool, under its name and version."""

    tool: str
    verdicts: tuple[Verdict, ...]

    def of(self, case: Case) -> list[Verdict]:
        """Return the verdicts of one case, in the order of its measures."""
        return [verdict for verdict in self.verdicts if verdict.case == case.id]

    def counts(self, cases: Sequence[Case]) -> Counter[Outcome]:
        """Return the number of cases with each outcome."""
        return Counter(_most_serious(self.of(case)) for case in cases)

    @property
    def faults(self) -> int:
        """Number of measures with an outcome other than the suite's."""
        return sum(verdict.outcome in FAULTS for verdict in self.verdicts)


def _most_serious(verdicts: Sequence[Verdict]) -> Outcome:
    return min((verdict.outcome for verdict in verdicts), key=OUTCOMES.index)


def summarise(verdicts: Sequence[Verdict]) -> str:
    """Return a case in a word or two: outcome, share of measures where not all, largest difference."""
    outcome = _most_serious(verdicts)
    if outcome in {"not supported", "not installed"}:
        return "–"
    concerned = [verdict for verdict in verdicts if verdict.outcome == outcome]
    share = "" if len(concerned) == len(verdicts) else f" {len(concerned)}/{len(verdicts)}"
    if outcome != "different":
        return f"{outcome}{share}"
    worst = max((verdict.difference or 0.0 for verdict in concerned), default=0.0)
    size = f" by {worst:.4f}" if math.isfinite(worst) and worst else ""
    return f"different{share}{size}"


def describe_faults(results: Sequence[Results], case: Case) -> Iterator[str]:
    """Return a sentence for each tool that has a fault in this case."""
    for result in results:
        faults = [verdict for verdict in result.of(case) if verdict.outcome in FAULTS]
        if faults:
            named = "; ".join(_describe(verdict) for verdict in faults[:SHOWN])
            more = f"; and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
            yield f"{result.tool}: {named}{more}"


def _describe(verdict: Verdict) -> str:
    kind = f"{verdict.outcome}, " if verdict.outcome in {"crash", "error"} else ""
    return f"`{verdict.measure}` {kind}{verdict.detail}"
