"""Repeated values in a comparison: how much of each interval is due to queries, and how much to attempts at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from judged.blocks import Block, Sentence, Table, Value
from judged.stats.outcome import Undefined
from judged.stats.repeats import Components, find_components
from judged.wording import counted, plural

if TYPE_CHECKING:
    from judged.comparison.contrasts import PairedScores

TITLE = "Repeated values: what the intervals consist of, and what would halve them"


@dataclass(frozen=True, slots=True)
class RepeatedError:
    """The error of one system's mean, or of the difference of two, by its parts."""

    measure: str
    system: str
    baseline: str | None
    """None: of the mean of the system itself."""
    components: Components
    unit: str
    """The independent draws, in one word: a query, a task, a cluster."""

    @property
    def name(self) -> str:
        """Subject of the error: a system, or a difference."""
        return self.system if self.baseline is None else f"{self.system} − {self.baseline}"

    @property
    def attempts(self) -> str:
        """The number of attempts, or the fewest and the most."""
        return "–".join(dict.fromkeys(map(str, (self.components.fewest, self.components.most))))

    def describe(self) -> str:
        """Return which part is larger, and what would halve the interval, in two sentences."""
        parts, of = self.components, f"the variance of {self.measure} ({self.name})"
        share = f"{100 * max(parts.share, 1 - parts.share):.0f} %"
        larger, smaller = (
            ("attempts", plural(self.unit)) if parts.share > 0.5 else (plural(self.unit), "attempts")
        )
        first = f"Of {of}, {share} is due to {larger}, and the rest to {smaller}."
        if parts.draws_to_halve is None:
            return f"{first} {self._say_attempts()[0].upper()}{self._say_attempts()[1:]}."
        more = f"To halve the interval takes about {counted(parts.draws_to_halve, self.unit)} like these"
        return f"{first} {more}; {self._say_attempts()}."

    def _say_attempts(self) -> str:
        parts = self.components
        if parts.attempts_to_halve is not None:
            each = "attempts" if self.baseline is None else "attempts of each system"
            return f"or about {parts.attempts_to_halve:,} {each}, in place of {parts.attempts:.3g}"
        return f"attempts alone cannot: without end, they leave {100 * parts.floor:.0f} % of its width"

    def to_dict(self) -> dict[str, Value]:
        """Return every number by name."""
        parts = self.components
        return {
            "measure": self.measure,
            "system": self.system,
            "baseline": self.baseline,
            "queries": parts.queries,
            "draws": parts.draws,
            "fewest_attempts": parts.fewest,
            "most_attempts": parts.most,
            "mean_attempts": parts.attempts,
            "error": parts.error,
            "variance_of_attempts": parts.attempt_variance,
            "variance_of_queries": parts.query_variance,
            "share_of_attempts": parts.share,
            "draws_to_halve": parts.draws_to_halve,
            "attempts_to_halve": parts.attempts_to_halve,
            "width_with_endless_attempts": parts.floor,
        }


def find_repeated_errors(
    scores: PairedScores, pairs: Sequence[tuple[str, str]], *, level: float, unit: str
) -> Iterator[RepeatedError]:
    """Yield the parts of the error of each repeated system's mean, and of each difference with a repeated system."""
    draw = "cluster" if scores.clusters else unit
    for system, baseline in [*((name, None) for name in scores.repeats), *pairs]:
        attempts = [rows for name, rows in scores.repeats.items() if name in {system, baseline}]
        means = scores.column(system) if baseline is None else scores.differences(system, baseline)
        if attempts:
            parts = find_components(means, attempts, clusters=scores.grouping, level=level)
            if not isinstance(parts, Undefined):
                yield RepeatedError(scores.measure, system, baseline, parts, draw)


def repeats_blocks(errors: Sequence[RepeatedError]) -> Iterator[Block]:
    """Yield the sentence about the first difference, or mean, and a row for each of them."""
    first = next((error for error in errors if error.baseline is not None), errors[0])
    yield Sentence(first.describe())
    unit = plural(first.unit)
    columns = (
        "measure",
        "of",
        "attempts",
        f"sd of {unit}",
        "sd of attempts",
        "share of attempts",
        unit,
        "or attempts",
    )
    rows: list[tuple[Value, ...]] = []
    for error in errors:
        parts = error.components
        rows.append(
            (
                *(error.measure, error.name, error.attempts),
                *(sqrt(parts.query_variance), sqrt(parts.attempt_variance)),
                f"{100 * parts.share:.0f} %",
                parts.draws_to_halve or "none",
                parts.attempts_to_halve or f"none ({100 * parts.floor:.0f} % is left)",
            )
        )
    yield Table(columns, tuple(rows), title=TITLE, keys=2)
