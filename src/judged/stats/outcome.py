"""What a test says: its statistic and its p-value."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Outcome", "stars"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a two-sided test of no difference."""

    test: str
    statistic: float
    p: float


def stars(p: float) -> str:
    """`***` below 0.001, `**` below 0.01, `*` below 0.05, else `ns`.

    >>> [stars(p) for p in (0.0001, 0.005, 0.04, 0.05)]
    ['***', '**', '*', 'ns']
    """
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else "ns"
