"""What a reader left out or noticed, counted by kind and said in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from judged.problem import Problem

__all__ = ["Skipped"]


class Skipped:
    """What was left out of traces, and what was noticed on the way; made by whoever wants to know, to be filled."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """How many results, searches or sessions were left out, by the kind of their fault."""
        self.first: dict[str, Problem] = {}
        """The first fault of each kind."""
        self.notes: list[str] = []
        """Sentences on what is no fault and yet should be known."""

    def add(self, faults: Iterable[Problem]) -> None:
        """Count faults whose results, searches or sessions were left out."""
        for fault in faults:
            self.counts[fault.code] += 1
            self.first.setdefault(fault.code, fault)

    def note(self, sentence: str) -> None:
        """Keep a sentence, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def sentences(self) -> tuple[str, ...]:
        """All that was left out, the most frequent kind first, then the notes."""
        kinds = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        return (
            *(f"left out: {kind} ({count:,}); first {self.first[kind]}" for kind, count in kinds),
            *self.notes,
        )

    def __len__(self) -> int:
        return sum(self.counts.values())
