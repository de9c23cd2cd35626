"""The view that measures of sessions are given: what each iteration brought, as flat arrays cut by offsets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from judged.kernels.segments import Flags, Floats, Ints, segment_count, segment_ids

__all__ = ["GAINS", "UNLABELLED", "Reference", "Steps", "cuts", "graded", "steps_from_results", "upper"]

T = TypeVar("T")

GAINS = range(5)
"""The gains that a result may have."""

UNLABELLED = -1
"""What stands for the gain of a result that nobody labelled."""


@dataclass(frozen=True, eq=False)
class Reference:
    """What a session could have found: a set of results with their gains, by judgments or by all systems together."""

    gains: NDArray[np.int8]
    """For each new result of the sessions, its gain in the reference; `UNLABELLED` where it is not there.

    No two results of a session stand for the same one of the reference.
    """
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
    _cache: dict[tuple[object, ...], object] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        """How many sessions there are."""
        return len(self.offset) - 1

    @cached_property
    def iterations(self) -> Ints:
        """N of each session: how many of its iterations searched."""
        return np.diff(self.offset)

    @cached_property
    def session(self) -> Ints:
        """For each iteration, the session that it belongs to."""
        return segment_ids(self.offset)

    @cached_property
    def number(self) -> Ints:
        """For each iteration, its place within its session, from 1."""
        return np.arange(1, len(self.results) + 1) - self.offset[self.session]

    @cached_property
    def new(self) -> Ints:
        """|UR^i|: how many results of each iteration were new."""
        return np.diff(self.cut)

    @cached_property
    def duplicates(self) -> Ints:
        """|Dup^i|: how many results of each iteration repeat an earlier one of the session."""
        return self.results - self.new

    @cached_property
    def found(self) -> Flags:
        """For each session, whether any of its searches returned anything."""
        return segment_count(self.results > 0, self.offset) > 0

    @cached_property
    def grades(self) -> Ints:
        """For each iteration (row), how many new results are unlabelled (column 0) or have gain g (column g + 1)."""
        return graded(self.gains, self.cut)

    def cached(self, key: tuple[object, ...], compute: Callable[[], T]) -> T:
        """What `compute` returns, computed once for this view; several measures need the same parts."""
        if key not in self._cache:
            self._cache[key] = compute()
        return cast("T", self._cache[key])


def steps_from_results(
    iterations: Ints,
    results: Ints,
    new: Flags,
    gains: NDArray[np.int8],
    *,
    searches: Ints | None = None,
    tokens: Floats | None = None,
    seconds: Floats | None = None,
) -> Steps:
    """The view of results in the order in which agents were given them.

    `iterations` says how many iterations each session has, `results` how many results each iteration returned,
    `new` of each result whether it is no duplicate of an earlier one, `gains` its gain. Without `searches`,
    each iteration made one.

    >>> steps_from_results([2], [2, 1], [True, True, False], [3, 0, 3]).grades.tolist()
    [[0, 1, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0]]
    """
    returned, first = np.asarray(results, dtype=np.int64), np.asarray(new, dtype=bool)
    unknown = np.full(len(returned), np.nan)
    return Steps(
        offset=cuts(np.asarray(iterations)),
        results=returned,
        cut=cuts(_flagged(first, returned)),
        # Twice as fast as an index by flags, and what building takes longest for.
        gains=np.compress(first, np.asarray(gains, dtype=np.int8)),
        searches=np.ones_like(returned) if searches is None else np.asarray(searches, dtype=np.int64),
        tokens=unknown if tokens is None else np.asarray(tokens, dtype=np.float64),
        seconds=unknown if seconds is None else np.asarray(seconds, dtype=np.float64),
    )


def graded(gains: NDArray[np.int8], cut: Ints) -> Ints:
    """For each segment of gains (row), how many are `UNLABELLED` (column 0), and how many have gain g (column g + 1)."""
    if len(gains) and not UNLABELLED <= int(gains.min()) <= int(gains.max()) <= GAINS[-1]:
        msg = f"gains must be from 0 to {GAINS[-1]}, or {UNLABELLED} where nobody said"
        raise ValueError(msg)  # whoever reads labels refuses others; here they would be counted elsewhere
    columns = len(GAINS) + 1
    cells = np.repeat(np.arange(len(cut) - 1) * columns + 1, np.diff(cut))
    cells += gains
    return np.bincount(cells, minlength=columns * (len(cut) - 1)).reshape(-1, columns)


def upper(steps: Steps) -> Steps:
    """The same sessions, with every unlabelled result at the highest gain: the most that labels could add."""
    return replace(steps, gains=np.where(steps.gains == UNLABELLED, GAINS[-1], steps.gains).astype(np.int8))


def _flagged(flags: Flags, counts: Ints) -> Ints:
    """How many flags are set in each of the parts of so many; `reduceat` alone would misread an empty one."""
    filled = counts > 0
    out = np.zeros(len(counts), dtype=np.int64)
    if filled.any():
        out[filled] = np.add.reduceat(flags, cuts(counts)[:-1][filled], dtype=np.int64)
    return out


def cuts(counts: Ints) -> Ints:
    """Where each of so many parts begins, and where the last one ends."""
    running = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=running[1:])
    return running
