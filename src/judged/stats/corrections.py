"""Corrections of p-values for multiple comparisons; None stands for a comparison without a p-value, and stays None."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from judged.arrays import Floats


def uncorrected(ps: Sequence[float | None]) -> list[float | None]:
    """Return the p-values unchanged."""
    return list(ps)


def bonferroni(ps: Sequence[float | None]) -> list[float | None]:
    """Multiply every p-value by their number, up to 1.

    >>> bonferroni([0.01, None, 0.6])
    [0.02, None, 1.0]
    """
    return _on_defined(ps, lambda p: np.minimum(1.0, p * len(p)))


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Apply Holm's step-down rule: the smallest times n, the next times n − 1 and no less than the one before, and so on.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    return _on_defined(ps, lambda p: np.maximum.accumulate(np.minimum(1.0, p * np.arange(len(p), 0, -1))))


def benjamini_hochberg(ps: Sequence[float | None]) -> list[float | None]:
    """Apply Benjamini and Hochberg's step-up rule, which bounds the share of false discoveries.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """

    def step_up(p: Floats) -> Floats:
        raised = np.minimum(1.0, p * len(p) / np.arange(1, len(p) + 1))
        lowered: Floats = np.minimum.accumulate(raised[::-1])[::-1]
        return lowered

    return _on_defined(ps, step_up)


def _on_defined(ps: Sequence[float | None], rule: Callable[[Floats], Floats]) -> list[float | None]:
    """Apply the rule to the defined p-values in ascending order, and restore the given order."""
    at = [place for place, p in enumerate(ps) if p is not None]
    values = np.array([p for p in ps if p is not None], dtype=np.float64)
    order = np.argsort(values, kind="stable")
    corrected: list[float | None] = [None] * len(ps)
    for place, value in zip(order.tolist(), rule(values[order]).tolist(), strict=True):
        corrected[at[place]] = value
    return corrected


CORRECTIONS: dict[str, Callable[[Sequence[float | None]], list[float | None]]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "bh": benjamini_hochberg,
    "none": uncorrected,
}
"""The corrections that need only the p-values; maxT, which needs the sign flips, is part of `randomise`."""
