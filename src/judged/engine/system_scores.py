"""What systems are compared and gated by: scores with their protocol, whether of runs or of sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from judged.measures.measure import Measure
from judged.tables.scores import Scores

__all__ = ["Conventions", "SystemScores"]


class Conventions(Protocol):
    """What a protocol can tell of itself, whether of runs or of sessions."""

    @property
    def fingerprint(self) -> str:
        """Some digits that change when any convention does."""

    def to_dict(self) -> Mapping[str, Any]:
        """Every convention by name."""


class SystemScores(Protocol):
    """What is compared: the scores of one system, whether of a ranked run or of its sessions."""

    @property
    def run(self) -> str:
        """The name of the system."""

    @property
    def scores(self) -> Scores:
        """A value for each query and measure."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, the same for all systems compared."""

    @property
    def protocol(self) -> Conventions:
        """What the scores were made under."""
