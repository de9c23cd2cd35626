"""Counts taken while a run was aligned with judgments, and the notes that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from judged.problem import FEW_QUERIES, ZERO_RELEVANT, Note, Severity
from judged.protocol import Protocol
from judged.wording import counted

SHOWN = 5
"""Maximum number of query ids a note names before it ends with an ellipsis."""


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Counts of everything notable about a run and its judgments."""

    queries: int
    """Queries that were scored."""
    rows: int = 0
    """Rows of the run that were read."""
    missing: tuple[str, ...] = ()
    """Judged queries that the run does not have."""
    empty: int = 0
    """Judged queries that the run has without results."""
    judged_queries: int = 0
    """Queries with judgments."""
    zero_relevant: int = 0
    """Judgments of grade 0 that count as relevant."""
    unjudged_queries: tuple[str, ...] = ()
    """Queries of the run without judgments."""
    without_relevant: int = 0
    """Scored queries without any relevant document."""
    scored_one: Mapping[str, int] = field(default_factory=dict)
    """Queries that score 1 because they have no relevant document, by the measures concerned; "" for all of them."""
    tied_documents: int = 0
    """Judged documents that share their score with another document of the query."""
    tied_queries: int = 0
    """Queries that have such documents."""
    unjudged: float = 0.0
    """Share of unjudged documents among the first ten of each query."""
    infinite: int = 0
    """Scores that are infinite."""
    interleaved: int = 0
    """Queries whose rows are not consecutive."""
    input_notes: tuple[Note, ...] = ()
    """Notes of the readers of the inputs."""

    def notes(self, protocol: Protocol) -> tuple[Note, ...]:
        """Return notes on what the protocol changed, most severe first."""
        notes = self._doubts(protocol)

        def add(code: str, fact: str, value: str, message: str, severity: Severity = "warning") -> None:
            notes.append(Note(code, severity, message, fact, value))

        if self.missing:
            outcome, names = protocol.outcome("missing"), _name(self.missing)
            message = (
                f"{counted(len(self.missing), 'query')} ({names}) judged but missing from the run: {outcome}"
            )
            value = f"{len(self.missing):,} ({names})"
            add(
                "missing-queries", f"judged queries that are missing from the run ({outcome})", value, message
            )
        if self.empty:
            outcome = "scored 0" + (", or 1 where nothing is relevant" * (protocol.no_relevant == "one"))
            fact, message = (
                f"{queries} of the run without any result: {outcome}"
                for queries in ("queries", counted(self.empty, "query"))
            )
            add("empty-results", fact, f"{self.empty:,}", message)
        if self.unjudged_queries:
            outcome, names = protocol.outcome("unjudged_queries"), _name(self.unjudged_queries)
            queries = counted(len(self.unjudged_queries), "query")
            message = f"{queries} ({names}) in the run but never judged: {outcome}"
            value = f"{len(self.unjudged_queries):,} ({names})"
            add("unjudged-queries", f"queries that were never judged ({outcome})", value, message)
        notes += self._describe_hopeless(protocol)
        if self.tied_documents:
            documents, outcome = counted(self.tied_documents, "judged document"), protocol.outcome("ties")
            queries = counted(self.tied_queries, "query")
            message = f"{documents} in {queries} tied with another document: {outcome}"
            value = f"{self.tied_documents:,} in {queries}"
            add("tied-scores", f"judged documents tied with another ({outcome})", value, message, "info")
        if self.unjudged:
            share = f"{100 * self.unjudged:.1f} %"
            message = f"{share} of the first ten results are unjudged"
            # none at all are judged where ids of another kind were retrieved
            severity: Severity = "warning" if self.unjudged == 1 else "info"
            add("unjudged-results", "unjudged among the first ten results", share, message, severity)
        if self.infinite:
            add(
                "infinite-scores",
                "infinite scores",
                f"{self.infinite:,}",
                counted(self.infinite, "infinite score"),
            )
        if self.interleaved:
            fact, message = (
                f"{queries} with rows that are not consecutive"
                for queries in ("queries", counted(self.interleaved, "query"))
            )
            add("interleaved-queries", fact, f"{self.interleaved:,}", message, "info")
        return (*notes, *self.input_notes)

    def _describe_hopeless(self, protocol: Protocol) -> Iterator[Note]:
        """Yield what became of queries without any relevant document."""
        if protocol.no_relevant == "one":
            for measures, many in self.scored_one.items():
                message, fact, value = _describe_ones(many, self.queries, measures)
                yield Note("no-relevant", "warning", message, fact, value)
        elif self.without_relevant:
            left_out = ": left out" if protocol.no_relevant == "skip" else ""
            message = f"{counted(self.without_relevant, 'query')} without any relevant document{left_out}"
            fact = f"queries without any relevant document{left_out.replace(':', ',')}"
            yield Note("no-relevant", "warning", message, fact, f"{self.without_relevant:,}")

    def _doubts(self, protocol: Protocol) -> list[Note]:
        """Return the notes that put all numbers in doubt."""
        notes = []
        without = len(self.missing) + self.empty
        if 2 * without > self.judged_queries > 0:
            share = f"{self.judged_queries - without:,} of {counted(self.judged_queries, 'judged query')}"
            message = f"the run has results for only {share}: are these the right judgments?"
            fact = "only a few of the judged queries have results; are these the right judgments?"
            notes.append(Note(FEW_QUERIES, "warning", message, fact, share))
        if self.zero_relevant:
            verb = "counts" if self.zero_relevant == 1 else "count"
            message = (
                f"{counted(self.zero_relevant, 'judgment')} of grade 0 {verb} as relevant, because documents are "
                f"relevant from grade {protocol.rel:g}: with graded judgments, values are far too high"
            )
            notes.append(Note(ZERO_RELEVANT, "warning", message))
        return notes


def to_notes(messages: Iterable[Note | str], code: str = "input") -> tuple[Note, ...]:
    """Return what readers of inputs reported as notes."""
    return tuple(
        message if isinstance(message, Note) else Note(code, "info", message) for message in messages
    )


def _describe_ones(many: int, queries: int, measures: str) -> tuple[str, str, str]:
    """Return the message, the fact and its value for queries that score 1 without a relevant document."""
    verbs = "has no relevant document and scores 1" if many == 1 else "have no relevant document and score 1"
    scope = f" in {measures}" if measures else ""
    share = f"{many:,} of {counted(queries, 'query')}"
    return f"{share} {verbs}{scope}", f"queries without any relevant document, which score 1{scope}", share


def _name(ids: tuple[str, ...]) -> str:
    """Return the first of the queries by name."""
    return ", ".join(ids[:SHOWN]) + (", …" if len(ids) > SHOWN else "")
