"""Randomisation tests: sign flips of paired differences, and exchange of queries between groups.

If two systems do not differ, each query's difference could as well have had the other sign; queries of one cluster change
theirs together, so that sums of clusters stand in place of queries. Up to `EXACT_UP_TO` queries all assignments of signs are enumerated, beyond that `draw_flips` draws random ones. They are shared by all pairs
of systems, so one matrix product (assignments × queries) @ (queries × systems) gives the flipped sums of every system,
and the sum of a pair is the difference of two of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from judged.arrays import Bytes, Floats, Ints
from judged.errors import BadSample
from judged.stats.clusters import ClustersLike, find_clusters
from judged.stats.outcome import NO_SPREAD, Outcome, Undefined
from judged.stats.paired import ROUNDING, check_resamples, check_values, steady

EXACT_UP_TO = 20
"""Up to this many queries every assignment of signs is enumerated."""
CLOSE = 1e-9
"""Statistics whose ratio is within this of 1 count as equal: rounding must not decide a tie."""
CELLS = 1 << 19
"""The default number of signs in memory at once."""
STREAM = 64
"""Number of permutations of groups that share a stream of random numbers."""


def draw_flips(queries: int, *, resamples: int, seed: int, block: int | None = None) -> Iterator[Bytes]:
    """Yield random sets of queries whose sign is flipped (1), an assignment in each row, in blocks.

    Each assignment takes whole words of the generator, so that the size of a `block` changes no sign.
    """
    source, words = np.random.PCG64(seed), -(-queries // 64)
    at_once = block or max(1, CELLS // queries)
    for start in range(0, resamples, at_once):
        count = min(at_once, resamples - start)
        # little-endian on every machine, so that a seed means the same signs
        raw = source.random_raw(count * words).astype("<u8").view(np.uint8).reshape(count, -1)
        yield np.unpackbits(raw, axis=1, count=queries)


def _enumerate_flips(queries: int, block: int | None) -> Iterator[Bytes]:
    """Yield all assignments in which the first query keeps its sign; the other half mirrors them."""
    at_once, total = block or max(1, CELLS // queries), 1 << (queries - 1)
    places = np.arange(queries - 1)
    for start in range(0, total, at_once):
        numbers = np.arange(start, min(start + at_once, total))[:, None]
        flips = np.zeros((len(numbers), queries), dtype=np.uint8)
        flips[:, 1:] = (numbers >> places) & 1
        yield flips


@dataclass(frozen=True, slots=True, eq=False)
class Randomised:
    """The p-values of the pairs, in the order given."""

    p: Floats
    """Of each pair alone."""
    single_step: Floats
    """Of each pair among all, by single-step maxT: below alpha exactly where |t| exceeds `critical_t(alpha)`."""
    step_down: Floats
    """Of each pair among all, by Westfall and Young's step-down maxT."""
    exact: bool
    """Whether all assignments of signs were enumerated, rather than sampled."""
    resamples: int
    """The number of assignments of signs."""
    draws: int
    """The number of signs: of queries, or of clusters."""
    maxima: tuple[Floats, ...]
    """The largest statistic of any pair under each assignment, ascending: of the differences, and of their deviations."""

    def critical_t(self, alpha: float) -> float:
        """Return the critical value c of Student's t that all pairs share; infinite if no difference can reach alpha.

        Mean difference ± c standard errors is a simultaneous confidence interval of every pair, at the level 1 − alpha.
        """
        assignments = len(self.maxima[0])
        counts = np.arange(assignments + 1)
        allowed = int(np.count_nonzero(_to_p(counts, assignments, exact=self.exact) < alpha)) - 1
        if allowed < self.exact:  # among all assignments is the observed one, which always counts
            return math.inf
        largest = max(float(maxima[assignments - 1 - allowed]) for maxima in self.maxima) / (1 - CLOSE)
        share = largest**2 / self.draws
        return math.sqrt((self.draws - 1) * share / (1 - share)) if share < 1 else math.inf


def _to_p(count: Floats | Ints, assignments: int, *, exact: bool) -> Floats:
    """Return the p-value of a statistic that is reached by `count` of the assignments."""
    p: Floats = count / assignments if exact else (count + 1) / (assignments + 1)
    return p


def all_pairs(systems: int) -> list[tuple[int, int]]:
    """Return every pair of systems, the first of each before the second."""
    return list(combinations(range(systems), 2))


def randomise(
    scores: Floats,
    pairs: Sequence[tuple[int, int]] | None = None,
    *,
    clusters: ClustersLike = None,
    resamples: int = 10_000,
    seed: int = 0,
    block: int | None = None,
) -> Randomised:
    r"""Test the pairs of columns of `scores` (queries × systems) by flipping signs; the p-values are two-sided.

    The statistic of a pair is $|\sum_q s_q d_q| / \sqrt{\sum_q d_q^2}$, which orders assignments as Student's t
    does. Up to 20 queries all $2^n$ assignments are enumerated, and p is their exact share; beyond,
    $p = (k + 1) / (B + 1)$ of $B$ random assignments (`resamples`), which is never 0. One seed gives one result,
    independent of the `block` (how many assignments are held at once) and the number of threads.

    The corrected p-values bound the chance of any false claim among all pairs; maxT takes from the assignments how the
    pairs depend on each other, and so has more power than Bonferroni's rule. Step-down maxT claims a little more;
    single-step maxT has one critical value for all pairs, and with it simultaneous intervals.

    With several pairs, that value is the larger of two: one from flipping the signs of the differences, which makes
    the test exact, and one from flipping the signs of their deviations from the mean. Differences that are all far
    from 0 resemble each other, however independent their errors are, and the first alone would be too small.

    `clusters` has the cluster of each query, if they are not independent: all queries of a cluster change their signs
    together, and up to 20 clusters all assignments are enumerated.

    Example:
        Three wins of three: two of the eight assignments are as extreme, all signs the same

        >>> randomise(np.array([[0.5, 0.4], [0.6, 0.3], [0.9, 0.7]])).p.tolist()
        [0.25]

    References:
        Westfall and Young. Resampling-based multiple testing. Wiley, 1993.
        Smucker, Allan and Carterette. A comparison of statistical significance tests for information retrieval
        evaluation. CIKM 2007. doi:10.1145/1321440.1321528
    """
    families = randomise_families(
        scores, [pairs], clusters=clusters, resamples=resamples, seed=seed, block=block
    )
    return families[0]


def randomise_families(
    scores: Floats,
    families: Sequence[Sequence[tuple[int, int]] | None],
    *,
    clusters: ClustersLike = None,
    resamples: int = 10_000,
    seed: int = 0,
    block: int | None = None,
) -> list[Randomised]:
    """Test several families of pairs as `randomise` tests each; the signs are drawn once for all of them."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        msg = f"the scores have the shape {values.shape}, expected queries × systems, two or more of these"
        raise BadSample(msg)
    for column in values.T:
        check_values(column)
    check_resamples(resamples)
    every = all_pairs(values.shape[1])
    found = find_clusters(clusters, len(values))
    means = values.mean(axis=0)
    values = values if clusters is None else found.sum(values)
    counts = [_PairCounts(values, found.sizes, every if pairs is None else list(pairs)) for pairs in families]
    exact = len(values) <= EXACT_UP_TO
    drawn = (
        _enumerate_flips(len(values), block)
        if exact
        else draw_flips(len(values), resamples=resamples, seed=seed, block=block)
    )
    columns = np.ascontiguousarray(values.T)
    totals = columns.sum(axis=1, keepdims=True)
    deviations = columns - np.outer(means, found.sizes)
    several = any(len(family.first) > 1 for family in counts)
    for flips in drawn:
        # flipping a sign takes its value away twice: one pass over the flips instead of one that makes signs of them
        flipped = flips.T.astype(np.float64)
        sums = totals - 2.0 * (columns @ flipped)
        deviated = -2.0 * (deviations @ flipped) if several else None  # deviations sum to 0
        for family in counts:
            family.add(sums, deviated)
    return [family.finish(len(values), exact=exact) for family in counts]


class _PairCounts:
    """The pairs ordered by their observed statistics, smallest first, and counts of assignments that reach them."""

    def __init__(self, values: Floats, sizes: Floats, pairs: list[tuple[int, int]]) -> None:
        self.first, self.second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        scale = float(np.abs(values).max())
        apart = [steady(values[:, i] - values[:, j], scale=scale) for i, j in pairs]
        self.weight = _invert([np.sqrt((difference**2).sum()) for difference in apart])
        self.deviation_weight = _invert([_deviate(difference, sizes, scale) for difference in apart])
        totals = values.sum(axis=0)
        sums = steady(totals[self.first] - totals[self.second], scale=scale * len(values))
        observed = np.abs(sums) * self.weight
        self.order = np.argsort(observed, kind="stable")
        self.reached = observed * (1 - CLOSE)
        self.alone = np.zeros(len(pairs))
        self.stepped = np.zeros(len(pairs))
        self.maxima: list[Floats] = []
        self.deviation_maxima: list[Floats] = []

    def add(self, sums: Floats, deviated: Floats | None) -> None:
        """Count the assignments in which a pair, or any pair up to it in order, reaches its observed statistic.

        `sums` has the flipped sum of each system (row) under each assignment (column), `deviated` that of the deviations
        from its mean.
        """
        highest = np.zeros(sums.shape[1])
        for at, statistic in self._statistics(sums, self.weight):
            np.maximum(highest, statistic, out=highest)
            self.alone[at] += np.count_nonzero(statistic >= self.reached[at])
            self.stepped[at] += np.count_nonzero(highest >= self.reached[at])
        self.maxima.append(highest)
        if deviated is not None and len(self.order) > 1:
            largest = np.zeros_like(highest)
            for _, statistic in self._statistics(deviated, self.deviation_weight):
                np.maximum(largest, statistic, out=largest)
            self.deviation_maxima.append(largest)

    def _statistics(self, sums: Floats, weight: Floats) -> Iterator[tuple[int, Floats]]:
        """Yield every pair in order, with its statistic under each assignment in an array that is used again."""
        statistic = np.empty(sums.shape[1])
        for at in self.order.tolist():
            np.subtract(sums[self.first[at]], sums[self.second[at]], out=statistic)
            np.abs(statistic, out=statistic)
            statistic *= weight[at]
            yield at, statistic

    def finish(self, queries: int, *, exact: bool) -> Randomised:
        """Return the p-values; `exact`: all assignments of signs to the queries were enumerated."""
        drawn = (self.maxima, self.deviation_maxima) if self.deviation_maxima else (self.maxima,)
        maxima = tuple(np.sort(np.concatenate(blocks)) for blocks in drawn)
        assignments = len(maxima[0])
        largest = [
            _to_p(assignments - np.searchsorted(ascending, self.reached), assignments, exact=exact)
            for ascending in maxima
        ]
        return Randomised(
            _to_p(self.alone, assignments, exact=exact),
            np.max(largest, axis=0),
            self.make_monotone(_to_p(self.stepped, assignments, exact=exact)),
            exact,
            2 * assignments if exact else assignments,  # one half mirrors the other
            queries,
            maxima,
        )

    def make_monotone(self, p: Floats) -> Floats:
        """Raise each p-value to that of the pair with the next larger statistic."""
        descending = self.order[::-1]
        corrected = np.empty_like(p)
        corrected[descending] = np.maximum.accumulate(p[descending])
        return corrected


def _deviate(sums: Floats, sizes: Floats, scale: float) -> float:
    """Return the norm of the deviations of sums from the mean of all values; 0 if they are due to rounding."""
    off = sums - sizes * (sums.sum() / sizes.sum())
    return math.sqrt(float((off[np.abs(off) > ROUNDING * scale] ** 2).sum()))


def _invert(norms: Sequence[float]) -> Floats:
    """Return 1 over each norm; 0 for a norm of 0."""
    norm = np.array(norms, dtype=np.float64)
    return np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)


def interaction_test(
    differences: Floats,
    group: Ints,
    *,
    clusters: ClustersLike = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Outcome | Undefined]:
    r"""Test, for each column of `differences`, whether its mean is the same in all groups of rows.

    It is a test of the difference of differences. The statistic is the sum of squares between the groups,
    $\sum_g n_g (\bar{d}_g - \bar{d})^2$; p is its place among random assignments of the queries to groups of the same
    sizes, $(k + 1) / (B + 1)$. With two groups this is the permutation test of the difference between their means.
    The assignments are shared by all columns. `clusters` are assigned to groups as a whole; the test is undefined where one
    has queries of several groups.

    Example:
        >>> d = np.array([[0.5], [0.4], [0.6], [-0.5], [-0.4], [-0.6]])
        >>> round(interaction_test(d, np.array([0, 0, 0, 1, 1, 1]))[0].p, 1)  # 2 of the 20 ways to choose three of six
        0.1
    """
    found = find_clusters(clusters, len(differences))
    groups, label = np.unique(group, return_inverse=True)
    first = np.unique(found.label, return_index=True)[1]
    if len(groups) < 2 or len(found) == len(groups) or (label != label[first][found.label]).any():
        one = "one query in each slice" if clusters is None else "one cluster in each slice"
        why = one if len(found) == len(groups) else "clusters with queries of several slices"
        return [Undefined("one slice" if len(groups) < 2 else why)] * differences.shape[1]
    scale = float(np.abs(differences).max())
    centred = found.sum(steady(differences - differences.mean(axis=0), scale=scale))
    label = label[first]
    observed = _squares_between(label[None, :], centred, found.sizes)[0]
    reached = np.zeros(centred.shape[1], dtype=np.int64)
    for number, stream in enumerate(np.random.SeedSequence(seed).spawn(-(-resamples // STREAM))):
        rows = min(STREAM, resamples - number * STREAM)
        shuffled = np.random.default_rng(stream).permuted(np.tile(label, (rows, 1)), axis=1)
        reached += (_squares_between(shuffled, centred, found.sizes) >= observed * (1 - CLOSE)).sum(axis=0)
    ps = ((reached + 1) / (resamples + 1)).tolist()
    spread = (centred != 0).any(axis=0).tolist()
    return [
        Outcome("interaction", value, p) if varies else NO_SPREAD
        for value, p, varies in zip(observed.tolist(), ps, spread, strict=True)
    ]


def _squares_between(labels: Ints, centred: Floats, sizes: Floats) -> Floats:
    """Return the sum of squares between groups, for each row of labels and each column of differences.

    `sizes` has the number of queries of each row of `centred`: 1, or those of a cluster.
    """
    total = np.zeros((len(labels), centred.shape[1]))
    for group in range(int(labels.max()) + 1):
        member = (labels == group).astype(np.float64)
        total += (member @ centred) ** 2 / (member @ sizes)[:, None]
    return total
