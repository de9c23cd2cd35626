"""The true rate behind the rate that an imperfect judge reports: Rogan and Gladen's estimate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judged.errors import BadSample
from judged.stats.paired import Floats, Values
from judged.stats.rows import Cell, as_row
from judged.stats.sample import checked
from judged.stats.undefined import Undefined
from judged.stats.wilson import zero_or_one

__all__ = ["CorrectedRate", "rogan_gladen_rate"]


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """A rate as a judge reports it, and as it is when the judge's known mistakes are taken out."""

    value: float | Undefined
    """The corrected rate, from 0 to 1."""
    apparent: float
    """The rate that the judge reports, over all items."""
    sensitivity: float | Undefined
    """The share of good items that the judge calls good."""
    specificity: float | Undefined
    """The share of other items that the judge does not call good."""

    def rows(self) -> list[dict[str, Cell]]:
        """One dict; what is undefined as its words."""
        return [as_row(self)]


def rogan_gladen_rate(human: Values, machine: Values, others: Values = ()) -> CorrectedRate:
    r"""The rate of good items by the machine's sensitivity and specificity on those that people judged too.

    $$p = \frac{q + sp - 1}{se + sp - 1}$$

    with $q$ the rate that the machine reports over all items. Values are 0 or 1: `human` and `machine` of the sample,
    `others` the machine's of the rest. It is a point, a check of `prediction_powered_mean`, without an interval; what
    falls outside 0 to 1 is set to the end. A machine whose labels have nothing to do with people's leaves it undefined.

    Example:
        >>> found = rogan_gladen_rate([1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0] * 5)
        >>> round(found.value, 4), round(found.sensitivity, 4), found.specificity
        (0.7, 0.6667, 1.0)

    References:
        Rogan and Gladen. Estimating prevalence from the results of a screening test. American Journal of
        Epidemiology 107(1), 1978. doi:10.1093/oxfordjournals.aje.a112510
    """
    truth, given = _rates(human, "human"), _rates(machine, "machine")
    if len(truth) != len(given):
        msg = f"{len(truth):,} human values and {len(given):,} of the machine were given, expected one of each for an item"
        raise BadSample(msg, hint="the machine's values of items that nobody saw are `others`")
    every = np.concatenate([given, _rates(others, "others")]) if len(others) else given
    apparent = float(every.mean())
    sensitivity = _share(given[truth == 1], "no item of the sample is good")
    specificity = _share(1 - given[truth == 0], "every item of the sample is good")
    return CorrectedRate(_corrected(apparent, sensitivity, specificity), apparent, sensitivity, specificity)


def _corrected(
    apparent: float, sensitivity: float | Undefined, specificity: float | Undefined
) -> float | Undefined:
    if isinstance(sensitivity, Undefined):
        return sensitivity
    if isinstance(specificity, Undefined):
        return specificity
    told = sensitivity + specificity - 1
    if abs(told) < 1e-12:
        return Undefined("the machine calls good items good as often as others")
    return min(max((apparent + specificity - 1) / told, 0.0), 1.0)


def _rates(values: Values, name: str) -> Floats:
    array = checked(values, name=name)
    if not zero_or_one(array):
        msg = f"`{name}` holds other values than 0 and 1, expected whether each item is good"
        raise BadSample(msg)
    return array


def _share(values: Floats, none: str) -> float | Undefined:
    return float(np.mean(values)) if len(values) else Undefined(none)
