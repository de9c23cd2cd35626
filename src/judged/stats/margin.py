"""Is a difference above a margin or below it? One-sided paired tests, and what so many queries can show.

Everything is said of the *excess*: what is left of each query's difference after the margin is taken off. Above the
margin is an excess above 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.errors import BadSample
from judged.stats.power import least_effect, least_size
from judged.stats.sample import Sample, sample

__all__ = ["POWER", "MarginTest", "Verdict", "margin_test"]

Floats: TypeAlias = NDArray[np.float64]
Verdict: TypeAlias = Literal["pass", "fail", "inconclusive"]
Test: TypeAlias = Literal["t", "randomisation"]

POWER = 0.8
"""How often an effect that is said to be detectable would be detected."""
EXACT = 20
"""Up to so many queries every assignment of signs is looked at."""
DRAWS = 10_000
"""How many assignments are drawn where there are more."""
CELLS = 2**22
"""How many signs are drawn at a time, about."""
SAME = 1e-12
"""Sums that differ by less than this share of all there is to sum are equal."""


@dataclass(frozen=True, slots=True)
class MarginTest:
    """What a one-sided paired test says of a mean difference and a margin."""

    test: Test
    queries: int
    difference: float
    """The mean difference; above the margin is good."""
    margin: float
    alpha: float
    low: float
    """The lower confidence bound of the difference at 1 − alpha, one-sided; −∞ where there is none."""
    high: float
    """The upper one, likewise."""
    p_above: float
    """The p-value of the test that could show the difference to be above the margin."""
    p_below: float
    """The p-value of the test that could show it to be below."""
    verdict: Verdict
    detectable: float | None = None
    """How far from the margin the true difference must be to be noticed with a power of 0.8; None: undefined."""
    needed: int | None = None
    """With so many queries, two systems equally good would pass with that power; None: undefined, or never."""
    undefined: Literal["one query", "no spread"] | None = None
    """Why no test could be made, where none could."""
    exact: bool = True
    """Whether p-values are computed rather than estimated from draws."""


def margin_test(
    differences: Iterable[float] | Floats,
    *,
    margin: float | Floats = 0.0,
    alpha: float = 0.05,
    test: Test = "t",
    seed: int = 0,
) -> MarginTest:
    r"""Whether the mean of `differences` is shown to be above `margin`, or below it, or neither.

    With excesses $e_i = d_i - m_i$ (a margin is one number, or one for each query) and their mean and standard
    deviation over $n$ queries, the bounds of Student's t are

    $$\bar{d} \pm t_{n-1,\,1-\alpha} \; s_e / \sqrt{n}$$

    It is a `pass` if the lower bound lies above the (mean) margin, a `fail` if the upper one lies below it, and
    otherwise `inconclusive`. Each of the two errors has a probability of `alpha` at most where excesses are normal, and
    about that where they are not too skewed. `randomisation` flips the
    signs of the excesses in place of assuming a distribution: in every way up to 20 queries, else in 10,000 drawn
    from `seed`, where $p = (k + 1) / (B + 1)$.

    One query shows nothing: `inconclusive`. Where excesses are all equal, or no query differs at all, there is no
    spread, and the outcome is what is seen: a `pass` from the margin up.

    Example:
        >>> found = margin_test([0.0, 0.01, -0.005, 0.02, 0.0, 0.005], margin=-0.01)
        >>> found.verdict, round(found.low, 4), round(found.p_above, 4)
        ('pass', -0.0024, 0.0046)
    """
    _check(alpha, test, seed)
    given = np.asarray(differences if isinstance(differences, np.ndarray) else list(differences), np.float64)
    of = sample(given, name="the differences")
    excess = given - margin
    around = float(np.mean(margin))
    left = sample(excess, name="the differences, less the margin")
    if left.size == 1 or not given.any() or _spreadless(excess, left):
        return _without_spread(test, of, left, around, alpha)
    found = _by_t(left, alpha) if test == "t" else _by_signs(excess, alpha, seed)
    return MarginTest(
        test,
        of.size,
        of.mean,
        around,
        alpha,
        found.low + around,
        found.high + around,
        found.above,
        found.below,
        _verdict(found, alpha * (1 + SAME)),
        detectable=left.deviation * least_effect(left.size, POWER, alpha, sides=1),
        needed=least_size(-around / left.deviation, POWER, alpha, sides=1) if around < 0 else None,
        exact=found.exact,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """Bounds of the mean excess, and the two p-values."""

    low: float
    high: float
    above: float
    below: float
    exact: bool = True


def _verdict(found: _Found, alpha: float) -> Verdict:
    return "pass" if found.above <= alpha else "fail" if found.below <= alpha else "inconclusive"


def _check(alpha: float, test: str, seed: int) -> None:
    if not 0 < alpha < 0.5:
        msg = f"`alpha` is {alpha}, expected a number above 0 and below 0.5"
        raise BadSample(msg, hint="5 % is written 0.05")
    if test not in {"t", "randomisation"}:
        msg = f"the test is `{test}`, expected `t` or `randomisation`"
        raise BadSample(msg)
    if seed < 0:
        msg = f"`seed` is {seed}, expected a whole number from 0"
        raise BadSample(msg)


def _spreadless(excess: Floats, of: Sample) -> bool:
    """Whether all are equal, the last bits aside, which subtracting leaves behind."""
    return bool(np.ptp(excess) <= SAME * max(1.0, abs(of.mean)))


def _without_spread(test: Test, of: Sample, left: Sample, margin: float, alpha: float) -> MarginTest:
    """What is seen, where nothing can be estimated: one query shows nothing, equal ones what they are."""
    if left.size == 1:
        return MarginTest(
            test,
            1,
            of.mean,
            margin,
            alpha,
            -math.inf,
            math.inf,
            1.0,
            1.0,
            "inconclusive",
            undefined="one query",
        )
    passes = left.mean >= -SAME
    above, below = (0.0, 1.0) if passes else (1.0, 0.0)
    verdict: Verdict = "pass" if passes else "fail"
    ends = (of.mean, of.mean)
    return MarginTest(
        test, of.size, of.mean, margin, alpha, *ends, above, below, verdict, undefined="no spread"
    )


def _by_t(of: Sample, alpha: float) -> _Found:
    from scipy.special import stdtr, stdtrit

    freedom, error = of.size - 1, of.deviation / math.sqrt(of.size)
    reach = float(stdtrit(freedom, 1 - alpha)) * error
    statistic = of.mean / error
    above, below = float(stdtr(freedom, -statistic)), float(stdtr(freedom, statistic))
    return _Found(of.mean - reach, of.mean + reach, above, below)


def _by_signs(excess: Floats, alpha: float, seed: int) -> _Found:
    r"""The sign-flip test of a mean of 0, and the bounds that the same test gives for other means.

    To flip the signs of a set of queries lowers the sum by twice theirs: a flipped sum reaches the observed one just
    where the mean excess of that set is 0 or less. So p counts sets by their mean, and the bounds are means of sets.
    """
    exact = len(excess) <= EXACT
    sums, sizes = _every_set(excess) if exact else _drawn_sets(excess, seed)
    same = SAME * float(np.abs(excess).sum())
    extra = 0 if exact else 1  # the observed signs themselves, which drawing may not meet
    total = len(sums) + extra
    above, below = (float((way * sums <= same).sum() + extra) / total for way in (1, -1))
    allowed = math.floor(alpha * total * (1 + SAME)) - extra
    empty = sizes == 0
    means = sums / np.maximum(sizes, 1)
    low = _nth(np.where(empty, -np.inf, means), allowed)
    high = -_nth(np.where(empty, -np.inf, -means), allowed)
    return _Found(low, high, above, below, exact=exact)


def _nth(values: Floats, allowed: int) -> float:
    """The value that just more than `allowed` others do not pass; −∞ where not even the observed signs are allowed."""
    return -math.inf if allowed < 0 else float(np.partition(values, allowed)[allowed])


def _every_set(excess: Floats) -> tuple[Floats, Floats]:
    """The sum and the size of every set of queries, the empty one first."""
    sums, sizes = np.zeros(1), np.zeros(1)
    for value in excess:
        sums, sizes = np.concatenate([sums, sums + value]), np.concatenate([sizes, sizes + 1])
    return sums, sizes


def _drawn_sets(excess: Floats, seed: int) -> tuple[Floats, Floats]:
    """The sums and sizes of sets of queries that are drawn, each query with a chance of a half."""
    rng, width = np.random.default_rng(seed), (len(excess) + 7) // 8
    both = np.stack([excess, np.ones(len(excess))], axis=1)
    made, rows = (
        [],
        max(4, CELLS // len(excess) // 4 * 4),
    )  # by fours, as bytes are drawn: blocks change nothing
    for done in range(0, DRAWS, rows):
        drawn = rng.integers(0, 256, size=(min(rows, DRAWS - done), width), dtype=np.uint8)
        made.append(np.unpackbits(drawn, axis=1, count=len(excess)).astype(np.float64) @ both)
    sums, sizes = np.concatenate(made).T
    return sums, sizes
