"""The view that measures of sessions are given: what each iteration brought, as flat arrays cut by offsets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judged.kernels.segments import Floats, Ints

__all__ = ["UNLABELLED", "Reference", "Steps"]

UNLABELLED = -1
"""What stands for the gain of a result that nobody labelled."""


@dataclass(frozen=True, eq=False)
class Reference:
    """What a session could have found: a set of results with their gains, by judgments or by all systems together."""

    gains: NDArray[np.int8]
    """For each new result of the sessions, its gain in the reference; `UNLABELLED` where it is not there."""
    counts: Ints
    """A row for each session: how many results of the reference have a gain of at least 0, 1, 2, 3, 4."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Sessions, iteration by iteration: what was returned, what of it was new, and how good the new was.

    Iterations of session `s` are `offset[s]:offset[s + 1]`; new results of iteration `i` are
    `cut[i]:cut[i + 1]` of `gains`.
    """

    offset: Ints
    results: Ints
    """|R^i|: how many results each iteration returned, duplicates with them."""
    cut: Ints
    gains: NDArray[np.int8]
    """The gain of each new result (UR), in the order of first occurrence; `UNLABELLED` where nobody said."""
    searches: Ints
    """How many searches each iteration made."""
    tokens: Floats
    """Tokens that each iteration took; NaN where the trace does not say."""
    seconds: Floats
    """Seconds that each iteration took; NaN where the trace does not say."""
    reference: Reference | None = None
