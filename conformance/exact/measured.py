"""Every measure of the suite by name, and one number from those of all queries."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from conformance.exact import experimental, lists, novelty
from conformance.exact.arithmetic import Number, geometric_mean, mean

MEASURES = lists.MEASURES | experimental.MEASURES | novelty.MEASURES

OF_JUDGMENTS = frozenset({"NumRel", "IDCG"})
"""What a query missing from the run keeps: these are functions of the judgments alone."""


def measured(each: lists.List, name: str, parameters: Mapping[str, Any]) -> Number:
    """Return the value of one query."""
    renamed = {"over_" if key == "over" else key: given for key, given in parameters.items()}
    return MEASURES[name](each, **renamed)


def aggregate(name: str, values: list[Number]) -> Number:
    """One number from those of all queries: geometric mean, sum of counts, or mean."""
    if name.startswith("gm_"):
        return geometric_mean(values)
    if name.startswith("Num"):
        return sum((each for each in values if isinstance(each, Fraction)), Fraction(0))
    return mean(values)
