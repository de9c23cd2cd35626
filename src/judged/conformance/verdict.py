"""What a tool made of one measure of one case: equal, different, refused, accepted, error, crash, not supported."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from judged.conformance.cases import Case, Measured

__all__ = ["OUTCOMES", "Answer", "Outcome", "Verdict", "compared"]

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
"""The gravest first: a case has the gravest outcome of its measures."""
CLOSE = 1e-9
"""How far a double may be from the exact value and still be equal."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gave: values by query where it tells them, their aggregate, and how many digits it printed."""

    queries: dict[str, float]
    all: float | None
    digits: int | None = None
    call: str = ""
    """How the tool was asked, in its own spelling."""


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
        """Its fields, without the empty ones; numbers that JSON has not as words."""
        made = {name: value for name, value in asdict(self).items() if value not in (None, "")}
        if self.queries is not None:
            made["queries"] = {query: _plain(value) for query, value in self.queries.items()}
        return {name: _plain(value) for name, value in made.items()}


def compared(case: Case, measure: Measured, answer: Answer) -> Verdict:
    """Whether the answer is what the case says, to 1e-9 or to the digits that were printed."""
    told: dict[str, Any] = {"call": answer.call, "queries": answer.queries, "all": answer.all}
    if case.refused:
        return Verdict(case.id, measure.measure, "accepted", f"gives {_shown(answer.all)}", **told)
    extra = sorted(set(answer.queries) - set(measure.queries))
    if extra:
        return Verdict(case.id, measure.measure, "different", f"scores query `{extra[0]}` too", **told)
    pairs = [(answer.queries[query], measure.queries[query]) for query in answer.queries]
    if answer.all is not None and measure.all is not None:
        pairs.append((answer.all, measure.all))
    if not pairs:
        return Verdict(case.id, measure.measure, "different", "gives no value", **told)
    tolerance = CLOSE if answer.digits is None else 0.5 * 10**-answer.digits + CLOSE
    distances = [_distance(got, wanted) for got, wanted in pairs]
    worst = max(distances)
    if worst <= tolerance:
        return Verdict(case.id, measure.measure, "equal", difference=worst, **told)
    got, wanted = pairs[distances.index(worst)]
    detail = f"{_shown(got)} instead of {float(wanted):.4f}"
    return Verdict(case.id, measure.measure, "different", detail, difference=worst, **told)


def _distance(got: float, wanted: Fraction) -> float:
    """How far a value is off; no number at all is infinitely far."""
    return abs(float(Fraction(got) - wanted)) if math.isfinite(got) else math.inf


def _shown(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.4f}"


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
