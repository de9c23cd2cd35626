"""A labelling: the labels that a model gave, what failed and why, what it took, and what a reader should know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judged.io.read import read_labels
from judged.tables.labels import Labels

__all__ = ["Labelling"]

DOUBTFUL = 0.5
"""Below this share of probability on legal grades, a grade says little."""


@dataclass(frozen=True, eq=False)
class Labelling:
    """What came of labelling a pool of results."""

    labeller: str
    rows: tuple[Mapping[str, Any], ...]
    """A dict for each result that was labelled: its keys, its gain, who said so."""
    failures: tuple[Mapping[str, Any], ...]
    """A dict for each result that was asked about and has no label: its keys, why, and the raw answer."""
    results: int
    """How many results there were."""
    different: int
    """How many of them are different."""
    judged: int
    """How many of those had a gain before."""
    cached: int
    """How many questions were answered in an earlier job."""
    asked: int
    """How many were put to the model now."""
    tokens_in: int
    tokens_out: int
    """Tokens of now."""
    spent: float
    """What all answers cost, those of earlier jobs among them."""
    spent_before: float = 0.0
    stopped: str | None = None
    """Why the job ended before all was labelled."""
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> Labels:
        """The labels as a table, for `evaluate_sessions` and the like."""
        return read_labels(list(self.rows), name=self.labeller) if self.rows else Labels.from_rows((), name=self.labeller)

    @property
    def wanted(self) -> int:
        """How many different results were to be labelled."""
        return self.different - self.judged

    @property
    def complete(self) -> bool:
        """Whether every result that was to be labelled is."""
        return len(self.rows) == self.wanted

    def sentences(self) -> list[str]:
        """Coverage, failures, cost, and what else should be known, a sentence each."""
        share = 100 * len(self.rows) / self.wanted if self.wanted else 100.0
        told = [
            f"{self.results:,} results, {self.different:,} different, {self.judged:,} judged before",
            f"{len(self.rows):,} of {self.wanted:,} labelled ({share:.1f} %) by {self.labeller}",
            f"questions: {self.cached:,} answered by the cache, {self.asked:,} asked now",
        ]
        reasons = Counter(str(failure["failure"]) for failure in self.failures)
        told += [
            f"failed, and left without a label: {count:,} ({why})" for why, count in reasons.most_common()
        ]
        if self.failures:
            told.append("what failed, with the answers: `--failures FILE`; to ask again: `--retry-failed`")
        told.append(f"tokens: {self.tokens_in:,} read, {self.tokens_out:,} written")
        if self.spent:
            told.append(f"cost: {self.spent:.4f}, of which {self.spent_before:.4f} earlier")
        if self.stopped:
            left = self.wanted - len(self.rows) - len(self.failures)
            told.append(f"stopped: {self.stopped}; {left:,} not asked")
        return [*told, *self._doubts(), *self.notes]

    def _doubts(self) -> list[str]:
        masses = [row["mass"] for row in self.rows if row.get("mass") is not None]
        low = sum(mass < DOUBTFUL for mass in masses)
        if not low:
            return []
        doubt = "the prompt, or the form of its answer, may not suit this model"
        return [
            f"{low:,} of {len(masses):,} grades had less than half of the probability on any grade: {doubt}"
        ]
