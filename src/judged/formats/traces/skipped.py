"""What a reader left out or noticed, counted by kind and said in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from judged.errors import Fault

__all__ = ["Skipped"]


class Skipped:
    """What was left out of a trace read leniently, and what was noticed on the way; made by whoever wants to know."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """How many of each kind were skipped: results, searches or sessions with a fault."""
        self.first: dict[str, Fault] = {}
        """The first fault of each kind."""
        self.notes: list[str] = []
        """Sentences on what is no fault and yet should be known."""

    def add(self, faults: Iterable[Fault]) -> None:
        """Count faults whose results or sessions were left out."""
        for fault in faults:
            self.counts[fault.kind] += 1
            self.first.setdefault(fault.kind, fault)

    def note(self, sentence: str) -> None:
        """Keep a sentence, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def sentences(self) -> tuple[str, ...]:
        """All that was skipped, most frequent first, then the notes."""
        return (
            *(
                f"skipped {count:,}: {kind} (first: {self.first[kind]})"
                for kind, count in self.counts.most_common()
            ),
            *self.notes,
        )

    def __len__(self) -> int:
        return sum(self.counts.values())
