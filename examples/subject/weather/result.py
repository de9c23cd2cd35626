"""What `judged weather` returns: the error of each source, and their comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import pyarrow as pa

from judged.blocks import Block, Display, Sentence, Table
from judged.problem import Note
from judged.result import Provenance, Result


@dataclass(frozen=True, repr=False)
class WeatherReport(Result):
    """The mean absolute error of every source, the best first."""

    kind: ClassVar[str] = "weather"
    pages: ClassVar[tuple[str, ...]] = ("weather",)

    errors: Mapping[str, float]
    provenance: Provenance = field(default_factory=Provenance)
    notes: tuple[Note, ...] = ()

    @property
    def best(self) -> str:
        """The source with the smallest error."""
        return min(self.errors, key=self.errors.__getitem__)

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the error of each source."""
        return {"errors": pa.table({"source": list(self.errors), "error": list(self.errors.values())})}

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the answer and the table."""
        del display
        yield Sentence(f"{self.best} is closest to what was observed.")
        yield Table(("source", "error"), [(name, error) for name, error in self.errors.items()])
