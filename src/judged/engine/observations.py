"""What was noticed while a run met its judgments: counted, and told in words beside the numbers."""

from __future__ import annotations

from dataclasses import dataclass

from judged.wording import counted

__all__ = ["Observations"]

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

    def sentences(
        self,
        *,
        missing: str = "zero",
        ties: str = "document-descending",
        extra: str = "ignored",
        barren: str = "zero",
    ) -> list[str]:
        """One sentence for each thing that happened, the gravest first."""
        told = []
        if self.missing:
            fate = "scored as 0" if missing == "zero" else "left out"
            told.append(f"{_named(self.missing)} judged but missing from the run: {fate}")
        if self.extra:
            told.append(f"{_named(self.extra)} in the run but never judged: {_FATES[extra]}")
        if self.without_relevant:
            told.append(
                f"{counted(self.without_relevant, 'query')} without any relevant document{_LEFT[barren]}"
            )
        if self.tied_documents:
            told.append(
                f"{counted(self.tied_documents, 'judged document')} of {counted(self.tied_queries, 'query')} tied with "
                f"another document: {_RULES[ties]}"
            )
        if self.unjudged:
            told.append(f"{self.unjudged:.1%} of the first ten results are unjudged")
        if self.infinite:
            told.append(f"{counted(self.infinite, 'infinite score')}")
        if self.interleaved:
            told.append(f"{counted(self.interleaved, 'query')} with rows that do not stand together")
        return told + list(self.notes)


_FATES = {"ignored": "not scored", "zero": "scored as 0"}
_LEFT = {"zero": "", "skip": ": left out"}
_RULES = {
    "document-descending": "ordered by document id, descending",
    "document-ascending": "ordered by document id, ascending",
    "input-order": "ordered as in the input",
    "expected": "averaged over all orders",
}


def _named(ids: tuple[str, ...]) -> str:
    """How many queries, and the first of them by name."""
    named = ", ".join(ids[:SHOWN]) + (", …" if len(ids) > SHOWN else "")
    return f"{counted(len(ids), 'query')} ({named})"
