"""Measures within a budget of tokens: `R@2000tokens` is `R` of the results that fit into 2,000 tokens."""

from __future__ import annotations

import re
from typing import NamedTuple

from judged.errors import BadMeasure
from judged.measures.parse import parse_measure

_BUDGET = re.compile(r"(?P<base>.+)@(?P<tokens>[1-9][0-9_]*)tokens")
_WHOLE = 1_000_000
"""A cutoff below which no list ends."""


class Budgeted(NamedTuple):
    """A measure of the results that fit into a number of tokens."""

    name: str
    base: str
    """The measure of these results, as it is written before the budget."""
    tokens: int

    def find_measure(self) -> str:
        """Return the measure of whole lists; raise `BadMeasure` for one that counts places that no result fills."""
        found = parse_measure(self.base)
        if found.at_parameter != "cutoff" or "cutoff" in found.parameters:
            return str(found)
        found @= _WHOLE
        if found.name == "P" and found.parameters.get("over") != "retrieved":
            msg = f"`{self.name}` divides by a cutoff, and within a budget there is none"
            raise BadMeasure(
                msg, hint=f'`P(over="retrieved")@{self.tokens}tokens` divides by the results that fit'
            )
        return str(found)


def parse_budget(name: str) -> Budgeted | None:
    """Return a measure within a number of tokens; None for any other one.

    >>> parse_budget("nDCG@2000tokens")
    Budgeted(name='nDCG@2000tokens', base='nDCG', tokens=2000)
    """
    found = _BUDGET.fullmatch(name.strip())
    return None if found is None else Budgeted(name.strip(), found["base"], int(found["tokens"]))
