"""Problems and notes: what a reader finds, what lint prints, what an error collects, what a result notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Note", "Severity"]

Severity: TypeAlias = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a reader of the numbers should know."""

    code: str
    """Names the fact, for programs: `missing-queries`, `tied-scores`, …"""
    severity: Severity
    message: str

    def __str__(self) -> str:
        return self.message
