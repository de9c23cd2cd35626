"""The labels that a model gave, what failed and why, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

from judged.blocks import Block, Display, Notes, Sentence, Table
from judged.io.read import read_labels
from judged.problem import Note
from judged.result import Provenance, Result, tabulate
from judged.stats.outcome import Undefined
from judged.stats.rater_agreement import cohen_kappa, krippendorff_alpha
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
    votes: tuple[Mapping[str, Any], ...] = ()
    """If several judges labelled: a dict for each result and judge with the label, None if there is none."""
    values: tuple[Any, ...] = ()
    """If several judges labelled: all labels of their scale, lowest first."""
    column: str = "grade"
    """Column of the labels in their rows."""
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

    def judges(self) -> dict[str, list[Any]]:
        """Return the labels of each judge, in one order of results; empty if there was only one judge."""
        judges: dict[str, list[Any]] = {}
        for vote in self.votes:
            judges.setdefault(vote["judge"], []).append(vote["label"])
        return judges

    def labels_of_judges(self) -> dict[str, list[dict[str, Any]]]:
        """Return the labels of each judge as rows, by the judge; empty if there was only one judge."""
        rows: dict[str, list[dict[str, Any]]] = {}
        for vote in self.votes:
            own = rows.setdefault(vote["judge"], [])
            if vote["label"] is not None:
                keys = {name: value for name, value in vote.items() if name not in {"judge", "label"}}
                own.append({**keys, self.column: vote["label"], "labeller": vote["judge"]})
        return rows

    def compare_judges(self) -> list[dict[str, Any]]:
        """Return how far each pair of judges agrees: the share of equal labels, κ, and κ with quadratic weights."""
        places = {label: place for place, label in enumerate(self.values)}
        numbered = {
            name: [None if label is None else places[label] for label in labels]
            for name, labels in self.judges().items()
        }
        rows = []
        for (one, first), (other, second) in combinations(numbered.items(), 2):
            plain, squared = (cohen_kappa(first, second, weights=kind) for kind in ("equal", "quadratic"))
            row: dict[str, Any] = {
                "judge": one,
                "other": other,
                "results": plain.items,
                "same_label": plain.observed,
            }
            rows.append(row | {"kappa": plain.value, "quadratic_kappa": squared.value})
        return rows

    def _describe_judges(self) -> str:
        """Return on how many of the results that all judges labelled their labels differ, and α."""
        judges = self.judges()
        places = {label: place for place, label in enumerate(self.values)}
        every = [labels for labels in zip(*judges.values(), strict=True) if None not in labels]
        differing = sum(len(set(labels)) > 1 for labels in every)
        numbered = [[None if one is None else places[one] for one in labels] for labels in judges.values()]
        alpha = krippendorff_alpha(numbered, distance="ordinal").value
        shown = alpha if isinstance(alpha, Undefined) else f"{alpha:.3f}"
        return f"judges: {len(judges)}, of different opinions on {differing:,} of {len(every):,} results (ordinal α {shown})"

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
        if self.votes:
            sentences.append(self._describe_judges())
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
        """Return the labels and the failures; of several judges, also their own labels and how they agree."""
        tables = {"labels": tabulate(self.labelled), "failures": tabulate(self.failures)}
        if self.votes:
            tables |= {"votes": tabulate(self.votes), "judges": tabulate(_flatten(self.compare_judges()))}
        return tables

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the summary, and how often each grade was given."""
        yield from (Sentence(f"{sentence[0].upper()}{sentence[1:]}") for sentence in self.sentences())
        # releases that had one column of labels saved no name of it
        values = (row.get(self.column, row.get("gain")) for row in self.labelled)
        labels = Counter(value for value in values if value is not None)
        if labels:
            name = "label" if self.column == "label" else "grade"
            yield Table((name, "results"), tuple(sorted(labels.items())), title=display.title)
        if self.votes:
            columns = ("judge", "other", "results", "same label", "κ", "κ, quadratic weights")
            rows = tuple(tuple(row.values()) for row in _flatten(self.compare_judges()))
            yield Table(columns, rows, title="Pairs of judges")
        if display.notes and self.notes:
            yield Notes(self.notes)


def _flatten(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with the reason in place of a number that is undefined."""
    return [
        {name: str(value) if isinstance(value, Undefined) else value for name, value in row.items()}
        for row in rows
    ]
