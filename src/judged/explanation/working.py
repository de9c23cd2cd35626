"""The working of a measure: the columns its arithmetic goes through, and its formula filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from numpy.typing import NDArray

from judged.blocks import format_value
from judged.registry import Registry

__all__ = ["WORKINGS", "Formula", "Working", "Works", "summed"]

TERMS = 8
"""So many terms of a sum are format_value out."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in words, the same with `{}` for each number, the numbers, and what comes out.

    >>> Formula("found / k", "{} / {}", (3, 4), 0.75).text()
    'found / k = 3 / 4 = 0.7500'
    """

    words: str
    filled: str
    numbers: tuple[float, ...]
    value: float

    def text(self, *, digits: int = 4) -> str:
        """The formula, filled in and worked out."""
        value = format_value(self.value, digits=digits)
        if self.filled == "{}":
            return f"{self.words} = {value}"
        shown = self.filled.format(*(format_value(number, digits=digits) for number in self.numbers))
        return f"{self.words} = {shown} = {value}"


def summed(words: str, terms: Iterable[float], value: float) -> Formula:
    """The formula of a sum, its terms format_value out where they are few; those that are 0 are left out."""
    parts = tuple(term for term in terms if term)
    if not 1 < len(parts) <= TERMS:
        return Formula(words, "{}", (value,), value)
    return Formula(words, " + ".join(["{}"] * len(parts)), parts, value)


@dataclass(frozen=True, eq=False)
class Working:
    """What a measure computes on its way, for one query."""

    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """Beside each result, by name, from left to right."""
    formula: Formula | None = None
    ideal: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """Beside each judged document in the best order; empty if the measure knows none."""
    order: NDArray[Any] | None = None
    """How the best order differs from that of grades, which a table of gains may overturn."""


Works: TypeAlias = Callable[..., Working]
"""Makes the working from the view of one query, in which every result has a row, and the measure's parameters."""

WORKINGS: Registry[Works] = Registry("working")
"""Measures by name, with what shows more of them than the amount that each rank adds."""

_FILES = {
    "gains": ("DCG", "nDCG", "IDCG", "nDCG_JK"),
    "precision": ("P", "R", "F1", "Success", "RR", "AP", "gm_AP", "Rprec", "IPrec", "AP11", "NumRelRet"),
    "sets": ("SetP", "SetR", "SetAP", "SetRelP", "Judged"),
    "cascade": ("ERR", "nERR"),
    "persistence": ("RBP",),
    "blended": ("Q", "O", "P_measure", "P_plus", "NCU"),
    "preference": ("Bpref", "gm_Bpref"),
    "browsing": ("INST", "INSQ", "BPM", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11"),
}

for _file, _names in _FILES.items():
    for _name in _names:
        WORKINGS.add(_name, f"judged.explanation.workings.{_file}:{_name}")
