"""What became of many attempts to break one thing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

SEED = 20_251_118


@dataclass
class Outcome:
    """How often something was tried, and what came of it."""

    target: str
    held: Counter[str] = field(default_factory=Counter)
    """Number of attempts by what was expected of them and happened, such as `read` and `refused`."""
    defects: list[str] = field(default_factory=list)
    """Number or name of the attempt, and what was wrong."""

    @property
    def tried(self) -> int:
        """Number of attempts."""
        return self.held.total() + len(self.defects)

    def expect(self, kind: str, *, held: bool, defect: str) -> None:
        """Count one attempt: as `kind` if it held, otherwise as a defect."""
        if held:
            self.held[kind] += 1
        else:
            self.defects.append(f"{kind}: {defect}")
