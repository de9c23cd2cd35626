"""The labels that a model gave, what failed and why, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from judged.blocks import Block, Display, Notes, Sentence, Table
from judged.io.read import read_labels
from judged.problem import Note
from judged.result import Provenance, Result, tabulate
from judged.tables.labels import Labels

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class Labelling(Result):
    """Outcome of labelling a pool of results."""

    kind: ClassVar[str] = "labelling"
    detail: ClassVar[str] = "labels"

    labeller: str
    labelled: tuple[Mapping[str, Any], ...]
    """A dict for each labelled result: its keys, its grade, who gave it."""
    failures: tuple[Mapping[str, Any], ...]
    """A dict for each result that was asked about but has no label: its keys, the reason, and the raw answer."""
    results: int
    """Number of results."""
    distinct: int
    """Number of distinct results."""
    judged: int
    """Number of those that were judged before."""
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
    answered: int | None = None
    """Number of distinct results with an answer that counts; None: there is one label for each."""
    stopped: str | None = None
    """Why the job ended before everything was labelled."""
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def labels(self) -> Labels:
        """The labels as a table, for example for `judged.evaluate_sessions`."""
        return (
            read_labels(list(self.labelled), name=self.labeller)
            if self.labelled
            else Labels.from_rows((), name=self.labeller)
        )

    @property
    def wanted(self) -> int:
        """Number of distinct results to be labelled."""
        return self.distinct - self.judged

    @property
    def complete(self) -> bool:
        """Whether every result to be labelled has a label."""
        return self._done == self.wanted

    @property
    def _done(self) -> int:
        return len(self.labelled) if self.answered is None else self.answered

    def sentences(self) -> list[str]:
        """Return coverage, failures and cost, a sentence each."""
        share = 100 * self._done / self.wanted if self.wanted else 100.0
        sentences = [
            f"{self.results:,} results, {self.distinct:,} distinct, {self.judged:,} judged before",
            f"{self._done:,} of {self.wanted:,} labelled ({share:.1f} %) by {self.labeller}",
            f"questions: {self.cached:,} answered by the cache, {self.asked:,} asked now",
        ]
        reasons = Counter(str(failure["failure"]) for failure in self.failures)
        sentences += [
            f"failed, left without a label: {count:,} ({reason})" for reason, count in reasons.most_common()
        ]
        sentences.append(f"tokens: {self.tokens_in:,} read, {self.tokens_out:,} written")
        if self.spent:
            sentences.append(f"cost: {self.spent:.4f}, of which {self.spent_before:.4f} earlier")
        if self.stopped:
            remaining = self.wanted - self._done - len(self.failures)
            sentences.append(f"stopped: {self.stopped}; {remaining:,} not asked")
        return sentences

    def summary(self) -> Mapping[str, object]:
        """Return all counts by name."""
        names = ("labeller", "results", "distinct", "judged", "cached", "asked", "tokens_in", "tokens_out")
        return {
            name: getattr(self, name) for name in (*names, "spent", "spent_before", "stopped", "complete")
        }

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the labels and the failures."""
        return {"labels": tabulate(self.labelled), "failures": tabulate(self.failures)}

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the summary, and how often each grade was given."""
        yield from (Sentence(f"{sentence[0].upper()}{sentence[1:]}") for sentence in self.sentences())
        column = next(
            (name for name in ("grade", "gain", "label") if self.labelled and name in self.labelled[0]), ""
        )
        labels = Counter(row[column] for row in self.labelled if column in row)
        if labels:
            name = "label" if column == "label" else "grade"
            yield Table((name, "results"), tuple(sorted(labels.items())), title=display.title)
        if display.notes and self.notes:
            yield Notes(self.notes)
