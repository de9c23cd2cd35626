"""Return types of statistics: a number, or the reason it is undefined; the outcome of a test; rows of a table."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Cell: TypeAlias = str | int | float | None
"""A value in a row of a result's table."""


@dataclass(frozen=True, slots=True)
class Undefined:
    """The reason why the values do not determine a number; it replaces the number, so that no table holds `nan`.

    >>> print(Undefined("no spread"))
    undefined: no spread
    """

    reason: str

    def __str__(self) -> str:
        return f"undefined: {self.reason}"


NO_BASE = Undefined("the baseline is 0")
NO_SPREAD = Undefined("no spread")
ONE_QUERY = Undefined("one query")
TOO_FEW = Undefined("too few queries")
TOO_FEW_CLUSTERS = Undefined("too few clusters")
NO_DIFFERENCE = Undefined("no query differs")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a two-sided test of no difference."""

    test: str
    statistic: float
    p: float


def stars(p: float, alpha: float = 0.05) -> str:
    """Return `ns` from `alpha` upwards; below it `***` under 0.001, `**` under 0.01, else `*`.

    >>> [stars(p) for p in (0.0001, 0.005, 0.04, 0.05)]
    ['***', '**', '*', 'ns']
    >>> stars(0.07, alpha=0.1), stars(0.04, alpha=0.01)
    ('*', 'ns')
    """
    if p >= alpha:
        return "ns"
    return "***" if p < 0.001 else "**" if p < 0.01 else "*"


def as_row(result: DataclassInstance) -> dict[str, Cell]:
    """Return the fields of a result by name, an undefined number as its text."""
    return {field.name: as_cell(getattr(result, field.name)) for field in fields(result)}


def as_cell(value: Cell | Undefined) -> Cell:
    """Return a value for a table, an undefined number as its text."""
    return str(value) if isinstance(value, Undefined) else value
