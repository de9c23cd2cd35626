"""Sign-flip randomisation of paired scores, of all pairs of systems at once, with step-down maxT.

If two systems do not differ, each query's difference could as well have had the other sign. Flips are shared by all
pairs, so one matrix product (flips × queries) @ (queries × systems) gives the flipped sums of every system, and the
sum of a pair is the difference of two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample
from judged.stats.paired import Floats, steady
from judged.stats.sample import checked

__all__ = ["EXACT_UP_TO", "Randomised", "all_pairs", "randomise"]

EXACT_UP_TO = 20
"""With no more queries than this, all assignments of signs are gone through."""
CLOSE = 1e-9
"""Statistics whose ratio is within this of 1 count as equal: rounding must not decide a tie."""
CELLS = 1 << 19
"""How many signs are held at once, unless the caller says how many flips."""


@dataclass(frozen=True, slots=True)
class Randomised:
    """The p-values of the pairs, in the order given."""

    p: Floats
    """Of each pair alone."""
    corrected: Floats
    """Of each pair among all, by Westfall and Young's step-down maxT."""
    exact: bool
    """Whether all assignments of signs were gone through, not a sample of them."""
    flips: int
    """How many assignments of signs that were."""


def all_pairs(systems: int) -> list[tuple[int, int]]:
    """Every pair of systems, the first of each before the second."""
    return list(combinations(range(systems), 2))


def randomise(
    scores: Floats,
    pairs: Sequence[tuple[int, int]] | None = None,
    *,
    flips: int = 10_000,
    seed: int = 0,
    block: int | None = None,
) -> Randomised:
    r"""The two-sided p-values of the pairs of columns of `scores` (queries × systems) by flipping signs.

    The statistic of a pair is $|\sum_q s_q d_q| / \sqrt{\sum_q d_q^2}$, which orders assignments as Student's t
    does. Up to 20 queries all $2^n$ assignments are gone through, and p is their exact share; beyond,
    $p = (k + 1) / (B + 1)$ of $B$ random `flips`, which is never 0. One seed gives one result, whatever `block` (how
    many flips are held at once) and however many threads.

    The corrected p-values hold the chance of any false claim among all pairs at their level. maxT takes from the
    flips how the pairs depend on each other, and so loses less than Holm's rule.

    Example:
        Three wins of three: two of the eight assignments are as extreme, all signs the same

        >>> randomise(np.array([[0.5, 0.4], [0.6, 0.3], [0.9, 0.7]])).p.tolist()
        [0.25]

    References:
        Westfall and Young. Resampling-based multiple testing. Wiley, 1993.
        Smucker, Allan and Carterette. A comparison of statistical significance tests for information retrieval
        evaluation. CIKM 2007. doi:10.1145/1321440.1321528
    """
    values = _checked(scores)
    chosen = all_pairs(values.shape[1]) if pairs is None else list(pairs)
    if flips < 1:
        msg = f"{flips} flips were asked for, expected at least one"
        raise BadSample(msg)
    exact = len(values) <= EXACT_UP_TO
    sums = _Pairs(values, chosen)
    at_once = block or max(1, CELLS // len(values))
    signs = _every_sign(len(values), at_once) if exact else _random_signs(len(values), flips, seed, at_once)
    for some in signs:
        sums.count(some)
    # in the exact case one half of the assignments mirrors the other, and the one observed is among them
    add, done = (0, 1 << (len(values) - 1)) if exact else (1, flips)
    alone, stepped = ((each + add) / (done + add) for each in (sums.alone, sums.stepped))
    return Randomised(alone, sums.in_order(stepped), exact, done * 2 if exact else flips)


class _Pairs:
    """The pairs in the order of their observed statistics, smallest first, and counts of flips that reach them."""

    def __init__(self, values: Floats, pairs: list[tuple[int, int]]) -> None:
        self.values = np.ascontiguousarray(values.T)
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        scale = float(np.abs(values).max())
        squares = np.array([_norm(steady(values[:, i] - values[:, j], scale=scale)) for i, j in pairs])
        self.weight = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)
        sums = steady(values.sum(axis=0)[first] - values.sum(axis=0)[second], scale=scale * len(values))
        observed = np.abs(sums) * self.weight
        self.order = np.argsort(observed, kind="stable")
        self.first, self.second = first, second
        self.reached = observed * (1 - CLOSE)
        self.alone = np.zeros(len(pairs))
        self.stepped = np.zeros(len(pairs))

    def count(self, signs: Floats) -> None:
        """Count the flips in which a pair, or any pair up to it in order, reaches what the pair was observed at."""
        sums = self.values @ signs
        highest = np.zeros(signs.shape[1])
        statistic = np.empty_like(highest)
        for at in self.order.tolist():
            np.subtract(sums[self.first[at]], sums[self.second[at]], out=statistic)
            np.abs(statistic, out=statistic)
            statistic *= self.weight[at]
            np.maximum(highest, statistic, out=highest)
            self.alone[at] += np.count_nonzero(statistic >= self.reached[at])
            self.stepped[at] += np.count_nonzero(highest >= self.reached[at])

    def in_order(self, p: Floats) -> Floats:
        """The p-values, none smaller than that of a pair with a larger statistic."""
        descending = self.order[::-1]
        corrected = np.empty_like(p)
        corrected[descending] = np.maximum.accumulate(p[descending])
        return corrected


def _norm(difference: Floats) -> float:
    return float(np.sqrt((difference**2).sum()))


def _every_sign(queries: int, at_once: int) -> Iterator[Floats]:
    """All assignments in which the first query keeps its sign, as columns, some at a time."""
    bits = np.arange(queries - 1)[:, None]
    total = 1 << (queries - 1)
    for start in range(0, total, at_once):
        numbers = np.arange(start, min(start + at_once, total))
        signs = np.ones((queries, len(numbers)))
        signs[1:] -= 2.0 * ((numbers >> bits) & 1)
        yield signs


def _random_signs(queries: int, flips: int, seed: int, at_once: int) -> Iterator[Floats]:
    """Random assignments as columns, some at a time; each takes the same whole words from the generator."""
    source = np.random.PCG64(seed)
    words = -(-queries // 64)
    for start in range(0, flips, at_once):
        count = min(at_once, flips - start)
        raw = source.random_raw(count * words).astype("<u8").view(np.uint8).reshape(count, -1)
        bits: NDArray[np.uint8] = np.unpackbits(raw, axis=1, count=queries)
        yield np.subtract(1.0, 2.0 * bits.T, dtype=np.float64)


def _checked(scores: Floats) -> Floats:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        msg = f"the scores have the shape {values.shape}, expected queries × systems, two or more of these"
        raise BadSample(msg)
    for column in values.T:
        checked(column)  # refuses what is empty or not finite
    return values
