"""What was noticed while a run met its judgments: counted, and told in words beside the numbers."""

from __future__ import annotations

from dataclasses import dataclass

from judged.protocol import Protocol
from judged.wording import counted

__all__ = ["Observations"]

DEFAULT = Protocol()
SHOWN = 5
"""How many query ids a sentence names before it says how many more there are."""


@dataclass(frozen=True, slots=True)
class Observations:
    """Counts of everything notable; `sentences` tells only what happened."""

    queries: int
    """Queries that were scored."""
    rows: int = 0
    """Rows of the run that were read."""
    missing: tuple[str, ...] = ()
    """Judged queries without results."""
    extra: tuple[str, ...] = ()
    """Queries of the run that nobody judged; they are not scored."""
    without_relevant: int = 0
    """Scored queries without any relevant document."""
    tied_documents: int = 0
    """Judged documents that share their score with another document of the query."""
    tied_queries: int = 0
    """Queries that have such documents."""
    unjudged: float = 0.0
    """Share of unjudged documents among the first ten of each query."""
    infinite: int = 0
    """Scores that are infinite."""
    interleaved: int = 0
    """Queries whose rows do not stand together."""
    notes: tuple[str, ...] = ()
    """What the readers of the inputs noticed."""

    def sentences(self, protocol: Protocol = DEFAULT) -> list[str]:
        """Return one sentence for each thing that happened under the protocol, the gravest first."""
        found = []
        if self.missing:
            found.append(
                f"{_named(self.missing)} judged but missing from the run: {protocol.outcome('missing')}"
            )
        if self.extra:
            outcome = protocol.outcome("unjudged_queries")
            found.append(f"{_named(self.extra)} in the run but never judged: {outcome}")
        if self.without_relevant:
            left_out = ": left out" if protocol.no_relevant == "skip" else ""
            found.append(f"{counted(self.without_relevant, 'query')} without any relevant document{left_out}")
        if self.tied_documents:
            found.append(
                f"{counted(self.tied_documents, 'judged document')} of {counted(self.tied_queries, 'query')} "
                f"tied with another document: {protocol.outcome('ties')}"
            )
        if self.unjudged:
            found.append(f"{self.unjudged:.1%} of the first ten results are unjudged")
        if self.infinite:
            found.append(f"{counted(self.infinite, 'infinite score')}")
        if self.interleaved:
            found.append(f"{counted(self.interleaved, 'query')} with rows that do not stand together")
        return found + list(self.notes)


def _named(ids: tuple[str, ...]) -> str:
    """Return how many queries there are, and the first of them by name."""
    named = ", ".join(ids[:SHOWN]) + (", …" if len(ids) > SHOWN else "")
    return f"{counted(len(ids), 'query')} ({named})"
