"""The labels that a model gave, what failed and why, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judged.io.read import read_labels
from judged.tables.labels import Labels

__all__ = ["Labelling"]

LOW_MASS = 0.5
"""Below this probability of any legal grade, a grade means little."""


@dataclass(frozen=True, eq=False)
class Labelling:
    """Outcome of labelling a pool of results."""

    labeller: str
    rows: tuple[Mapping[str, Any], ...]
    """A dict for each labelled result: its keys, its grade, who gave it."""
    failures: tuple[Mapping[str, Any], ...]
    """A dict for each result that was asked about but has no label: its keys, the reason, and the raw answer."""
    results: int
    """Number of results."""
    distinct: int
    """Number of distinct results."""
    judged: int
    """How many of those were judged before."""
    cached: int
    """Number of questions answered by an earlier job."""
    asked: int
    """Number of questions sent to the model now."""
    tokens_in: int
    """Tokens read by the model now."""
    tokens_out: int
    """Tokens written by the model now."""
    spent: float
    """Cost of all answers, those of earlier jobs included."""
    spent_before: float = 0.0
    """Cost of the answers of earlier jobs."""
    stopped: str | None = None
    """Why the job ended before everything was labelled."""
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> Labels:
        """The labels as a table, for example for `judged.evaluate_sessions`."""
        return (
            read_labels(list(self.rows), name=self.labeller)
            if self.rows
            else Labels.from_rows((), name=self.labeller)
        )

    @property
    def wanted(self) -> int:
        """Number of distinct results to be labelled."""
        return self.distinct - self.judged

    @property
    def complete(self) -> bool:
        """Whether every result to be labelled has a label."""
        return len(self.rows) == self.wanted

    def sentences(self) -> list[str]:
        """Return coverage, failures, cost and notes, a sentence each."""
        share = 100 * len(self.rows) / self.wanted if self.wanted else 100.0
        sentences = [
            f"{self.results:,} results, {self.distinct:,} distinct, {self.judged:,} judged before",
            f"{len(self.rows):,} of {self.wanted:,} labelled ({share:.1f} %) by {self.labeller}",
            f"questions: {self.cached:,} answered by the cache, {self.asked:,} asked now",
        ]
        reasons = Counter(str(failure["failure"]) for failure in self.failures)
        sentences += [
            f"failed, left without a label: {count:,} ({reason})" for reason, count in reasons.most_common()
        ]
        if self.failures:
            sentences.append(
                "to see failures with their answers: `--failures FILE`; to ask again: `--retry-failed`"
            )
        sentences.append(f"tokens: {self.tokens_in:,} read, {self.tokens_out:,} written")
        if self.spent:
            sentences.append(f"cost: {self.spent:.4f}, of which {self.spent_before:.4f} earlier")
        if self.stopped:
            remaining = self.wanted - len(self.rows) - len(self.failures)
            sentences.append(f"stopped: {self.stopped}; {remaining:,} not asked")
        masses = [row["mass"] for row in self.rows if row.get("mass") is not None]
        low = sum(mass < LOW_MASS for mass in masses)
        if low:
            sentences.append(
                f"{low:,} of {len(masses):,} grades had less than half of the probability on any grade: the prompt,"
                " or the form of its answer, may not suit this model"
            )
        return [*sentences, *self.notes]
