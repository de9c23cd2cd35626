"""The view of session measures: what every iteration returned, as flat arrays cut by offsets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Flags, Floats, Ints
from judged.kernels.segments import segment_count, segment_ids, take_segments

__all__ = ["GAINS", "UNLABELLED", "Reference", "SessionView", "count_by_gain", "offsets_from_counts"]

T = TypeVar("T")

GAINS = range(5)
"""The gains that a result may have."""

UNLABELLED = -1
"""The gain of a result without a label."""


@dataclass(frozen=True, eq=False)
class Reference:
    """The results that a session could have found, with their gains: from judgments, or from all systems together."""

    gains: NDArray[np.int8]
    """The gain in the reference of every new result of the sessions; `UNLABELLED` if the reference lacks it.

    Different results of a session match different results of the reference.
    """
    counts: Ints
    """A row for every session: how many results of the reference have a gain of at least 0, 1, 2, 3, 4."""


@dataclass(frozen=True, eq=False)
class SessionView:
    """Sessions by iteration: how many results were returned, which of them were new, and their gains.

    The iterations of session `s` are `offset[s]:offset[s + 1]`; the new results of iteration `i` are
    `cut[i]:cut[i + 1]` of `gains`.
    """

    offset: Ints
    results: Ints
    """|R^i|: the number of results that every iteration returned, duplicates included."""
    cut: Ints
    gains: NDArray[np.int8]
    """The gain of every new result (UR), in the order of first occurrence; `UNLABELLED` if it has no label."""
    searches: Ints
    """The number of searches of every iteration."""
    tokens: Floats
    """The tokens that every iteration used; NaN if unknown."""
    seconds: Floats
    """The seconds that every iteration took; NaN if unknown."""
    reference: Reference | None = None
    _cache: dict[tuple[object, ...], object] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_results(
        cls,
        iterations: Ints,
        results: Ints,
        new: Flags,
        gains: NDArray[np.int8],
        *,
        searches: Ints | None = None,
        tokens: Floats | None = None,
        seconds: Floats | None = None,
    ) -> SessionView:
        """Return the view of results in the order in which the agents received them.

        Args:
            iterations: The number of iterations of every session.
            results: The number of results of every iteration.
            new: Whether a result is not a duplicate of an earlier one, for every result.
            gains: The gain of every result.
            searches: The number of searches of every iteration; by default one.
            tokens: The tokens that every iteration used.
            seconds: The seconds that every iteration took.

        >>> SessionView.from_results([2], [2, 1], [True, True, False], [3, 0, 3]).grades.tolist()
        [[0, 1, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0]]
        """
        returned, first = np.asarray(results, dtype=np.int64), np.asarray(new, dtype=bool)
        unknown = np.full(len(returned), np.nan)
        return cls(
            offset=offsets_from_counts(np.asarray(iterations)),
            results=returned,
            cut=offsets_from_counts(_count_flags(first, returned)),
            # Twice as fast as indexing by flags, and the slowest part of building a view.
            gains=np.compress(first, np.asarray(gains, dtype=np.int8)),
            searches=np.ones_like(returned) if searches is None else np.asarray(searches, dtype=np.int64),
            tokens=unknown if tokens is None else np.asarray(tokens, dtype=np.float64),
            seconds=unknown if seconds is None else np.asarray(seconds, dtype=np.float64),
        )

    def __len__(self) -> int:
        """Return the number of sessions."""
        return len(self.offset) - 1

    @cached_property
    def iterations(self) -> Ints:
        """N: the number of iterations of every session."""
        return np.diff(self.offset)

    @cached_property
    def session(self) -> Ints:
        """The session of every iteration."""
        return segment_ids(self.offset)

    @cached_property
    def number(self) -> Ints:
        """The number of every iteration within its session, from 1."""
        return np.arange(1, len(self.results) + 1) - self.offset[self.session]

    @cached_property
    def new(self) -> Ints:
        """|UR^i|: the number of new results of every iteration."""
        return np.diff(self.cut)

    @cached_property
    def duplicates(self) -> Ints:
        """|Dup^i|: the number of results of every iteration that repeat an earlier one of the session."""
        return self.results - self.new

    @cached_property
    def found(self) -> Flags:
        """Whether any search of a session returned anything, for every session."""
        return segment_count(self.results > 0, self.offset) > 0

    @cached_property
    def grades(self) -> Ints:
        """For every iteration (row), how many new results are unlabelled (column 0) or have gain g (column g + 1)."""
        return count_by_gain(self.gains, self.cut)

    def select(self, sessions: Ints) -> SessionView:
        """Return the view of the given sessions, by number and in that order.

        >>> from judged.kernels.examples import make_sessions
        >>> make_sessions(["a3 b1"], ["c2", "c2 d4"]).select([1]).gains.tolist()
        [2, 4]
        """
        iterations, offset = take_segments(self.offset, sessions)
        new, cut = take_segments(self.cut, iterations)
        reference = self.reference
        return SessionView(
            offset=offset,
            results=self.results[iterations],
            cut=cut,
            gains=self.gains[new],
            searches=self.searches[iterations],
            tokens=self.tokens[iterations],
            seconds=self.seconds[iterations],
            reference=None
            if reference is None
            else Reference(reference.gains[new], reference.counts[sessions]),
        )

    def with_best_labels(self) -> SessionView:
        """Return the same sessions with the highest gain for every unlabelled result, an upper bound."""
        return replace(self, gains=np.where(self.gains == UNLABELLED, GAINS[-1], self.gains).astype(np.int8))

    def cached(self, key: tuple[object, ...], compute: Callable[[], T]) -> T:
        """Return the result of `compute`, computed once for this view."""
        if key not in self._cache:
            self._cache[key] = compute()
        return cast("T", self._cache[key])


def count_by_gain(gains: NDArray[np.int8], cut: Ints) -> Ints:
    """Return for every segment of gains (row) how many are `UNLABELLED` (column 0) or have gain g (column g + 1)."""
    if len(gains) and not UNLABELLED <= int(gains.min()) <= int(gains.max()) <= GAINS[-1]:
        msg = f"gains must be from 0 to {GAINS[-1]}, or {UNLABELLED} for unlabelled results"
        raise ValueError(msg)  # readers refuse other labels; here they would be counted in the wrong cell
    columns = len(GAINS) + 1
    cells = np.repeat(np.arange(len(cut) - 1) * columns + 1, np.diff(cut))
    cells += gains
    return np.bincount(cells, minlength=columns * (len(cut) - 1)).reshape(-1, columns)


def offsets_from_counts(counts: Ints) -> Ints:
    """Return the start of every part of the given sizes, and the end of the last one."""
    running = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=running[1:])
    return running


def _count_flags(flags: Flags, counts: Ints) -> Ints:
    """Count the flags set in every part; `reduceat` alone would misread an empty part."""
    filled = counts > 0
    out = np.zeros(len(counts), dtype=np.int64)
    if filled.any():
        out[filled] = np.add.reduceat(flags, offsets_from_counts(counts)[:-1][filled], dtype=np.int64)
    return out
