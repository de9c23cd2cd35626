"""Neighbours: how many of the exact nearest vectors an index returns, how near the others are, and how fast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadMeasure
from judged.kernels.segments import divide
from judged.measures.groups import Alias, Scope
from judged.measures.measure import Measure
from judged.measures.parameters import Parameter

RELEVANT = 100
"""Neighbours that are relevant unless a measure says otherwise, however many more are known, for ties."""

NEIGHBOUR = Scope(
    "neighbour",
    subject="neighbours",
    example='R(over="cutoff")@10',
    takes="`judged index`, and `judged.evaluate` with exact neighbours and answers",
    groups=("neighbour", "timing"),
    aliases={
        "recall": Alias("R", {"over": "cutoff"}, number="cutoff"),
        "mrr": Alias("RR"),
        "precision": Alias("P"),
    },
    about={
        "neighbour": (
            "Measures of a vector index: its answers against the exact nearest neighbours, which are known with "
            "their distances, deeper than the cutoff. An id that is returned twice counts once."
        )
    },
)


@dataclass(frozen=True, eq=False)
class NeighbourView:
    """Answers and exact neighbours, a row for each query."""

    place: Ints
    """For every answer its place, from 0, among the exact neighbours; −1 if it is not one of them, or repeated."""
    distance: Floats | None
    """The exact distance of every answer; infinite where a row is short, or an answer is repeated."""
    returned: Ints
    """Number of different answers of each query."""
    true_distance: Floats
    """The distances of the exact neighbours, ascending; infinite where there are fewer."""
    depth: Ints
    """Number of exact neighbours of each query."""
    seconds: Floats | None = None
    """Latency of each query."""

    def __len__(self) -> int:
        return len(self.place)

    @property
    def relevant(self) -> Ints:
        """Number of relevant neighbours of each query: the first 100, or as many as are known."""
        return np.minimum(RELEVANT, self.depth)

    def farthest(self, count: Ints) -> Floats:
        """Return the distance of the last of the first `count` neighbours of each query; −inf for none."""
        at = np.maximum(count - 1, 0)[:, None]
        last: Floats = np.take_along_axis(self.true_distance, at, axis=1)[:, 0]
        return np.where(count > 0, last, -np.inf)

    def need_distance(self) -> Floats:
        """Return the distances of the answers; raise `BadMeasure` if they are not known."""
        if self.distance is None:
            msg = "the answers have no distances, which this measure looks at"
            raise BadMeasure(
                msg, hint="leave `tolerance` and `epsilon` out, or give `IndexResults` its `distances`"
            )
        return self.distance


def recall(
    view: NeighbourView,
    *,
    cutoff: int,
    over: Literal["relevant", "cutoff"] = "relevant",
    tolerance: float | None = None,
    epsilon: float | None = None,
    p: float | None = None,  # noqa: ARG001 - how values are aggregated
) -> Floats:
    r"""Return the share of the exact neighbours that are among the first `cutoff` answers.

    $$\mathrm{R}@k = \frac{|A_k \cap N_m|}{m}, \qquad m = \min(100, |N|) \text{, or } \min(k, |N|) \text{ with over="cutoff"}$$

    where $A_k$ are the first $k$ answers and $N_m$ the $m$ nearest of the exact neighbours $N$. By default the first 100
    count, or all where fewer are known, so that R@10 is 0.1 at best; with `over="cutoff"`, the usual "recall" of
    benchmarks, the $k$ answers are compared with the $k$ nearest.

    Neighbours as near as the last one that counts are not all in $N_m$. With `tolerance` or `epsilon`, an answer
    counts if its distance $d \le d_m + \mathrm{tolerance} \cdot |d_m| + \mathrm{epsilon}$, at most $m$ of them, where
    $d_m$ is the distance of the $m$-th neighbour. With `p`, the value over all queries is that percentile.

    Ties: by id, unless `tolerance` (relative) or `epsilon` (absolute) is set; 0 means equal distances only.
    Empty: 0 when nothing is returned.
    Agrees with: ann-benchmarks' `k-nn` with `over="cutoff", epsilon=0.001`; its `epsilon` measures with
        `over="cutoff", tolerance=0.01` or `0.1`; big-ann-benchmarks' recall with `over="cutoff", epsilon=1e-6`.
    References: Document 003 in docs/concepts/sources.md. Aumüller, Bernhardsson and Faithfull. ANN-Benchmarks: A
        benchmarking tool for approximate nearest neighbor algorithms. Information Systems 87, 2020.
        doi:10.1016/j.is.2019.02.006

    Example:
        Four neighbours are known, and the answers are the first, the third and another one:

        >>> truth = judged.Neighbours([[5, 6, 7, 8]], [[0.1, 0.2, 0.3, 0.4]], population=10)
        >>> answers = judged.IndexResults([[5, 7, 9]])
        >>> judged.evaluate(truth, answers, ["R@3", 'R(over="cutoff")@2']).mean()
        {'R@3': 0.5, 'R(over="cutoff")@2': 0.5}
    """
    wanted = view.relevant if over == "relevant" else np.minimum(cutoff, view.depth)
    hits = _find_hits(view, cutoff, wanted, tolerance, epsilon)
    return divide(np.minimum(hits, wanted), wanted)


R = Measure(
    "R",
    recall,
    title="Recall: how many of the exact neighbours are returned.",
    family="neighbour",
    at_parameter="cutoff",
    percentile="p",
    compare_by="R",
    extra_parameters={
        "over": Parameter(
            "what the hits are divided by: the first 100 neighbours, or as many as are looked at"
        ),
        "tolerance": Parameter.number(
            "the share by which a distance may exceed that of the last neighbour", 0, 1
        ),
        "epsilon": Parameter.number(
            "the amount by which a distance may exceed that of the last neighbour", 0, math.inf
        ),
        "p": Parameter.number("the percentile of the values, in place of their mean", 0, 100),
    },
)


def precision(view: NeighbourView, *, cutoff: int) -> Floats:
    r"""Return the share of exact neighbours among the first `cutoff` answers.

    $$\mathrm{P}@k = \frac{|A_k \cap N|}{k}$$

    where $A_k$ are the first $k$ answers and $N$ the first 100 exact neighbours, or all where fewer are known.

    Ties: by id.
    Empty: 0 when nothing is returned; places of a short list that stay empty count as wrong.
    References: Document 003 in docs/concepts/sources.md.

    Example:
        Two of four answers are neighbours:

        >>> truth = judged.Neighbours([[5, 6, 7, 8]], [[0.1, 0.2, 0.3, 0.4]], population=10)
        >>> judged.evaluate(truth, judged.IndexResults([[5, 7, 9, 1]]), "P@4").mean()
        {'P@4': 0.5}
    """
    return _find_hits(view, cutoff, view.relevant) / cutoff


P = Measure(
    "P",
    precision,
    title="Precision: how many of the answers are exact neighbours.",
    family="neighbour",
    at_parameter="cutoff",
    values="binary at 1",
)


def reciprocal_rank(view: NeighbourView, *, cutoff: int | None = None) -> Floats:
    r"""Return one over the rank of the first answer that is an exact neighbour.

    $$\mathrm{RR} = \frac{1}{\min \{ i : a_i \in N \}}$$

    where $a_i$ is the answer at rank $i$ and $N$ the first 100 exact neighbours, or all where fewer are known.

    Ties: by id.
    Empty: 0 when no neighbour is returned.
    References: Document 003 in docs/concepts/sources.md.

    Example:
        The first neighbour comes second:

        >>> truth = judged.Neighbours([[5, 6]], [[0.1, 0.2]], population=10)
        >>> judged.evaluate(truth, judged.IndexResults([[9, 5]]), "RR").mean()
        {'RR': 0.5}
    """
    place = view.place[:, :cutoff]
    hit = (place >= 0) & (place < RELEVANT)
    first = hit.argmax(axis=1) + 1.0 if hit.shape[1] else np.ones(len(hit))
    return np.where(hit.any(axis=1), 1 / first, 0.0)


RR = Measure(
    "RR",
    reciprocal_rank,
    title="Reciprocal rank: how soon the first exact neighbour is returned.",
    family="neighbour",
    at_parameter="cutoff",
    values="binary at 1",
)


def distance_ratio(view: NeighbourView, *, cutoff: int) -> Floats:
    r"""Return how much farther the first `cutoff` answers are than the exact neighbours.

    $$\mathrm{DistanceRatio}@k = \frac{\sum_{i=1}^{n} d(a_i)}{\sum_{i=1}^{n} d_i}, \qquad n = \min(k, |A|)$$

    where $d(a_i)$ is the distance of the $i$-th answer, $d_i$ that of the $i$-th neighbour and $|A|$ the number of
    answers. 1 is best. A query has no value where the neighbours' distances do not add up to more than 0, as with
    inner products, and where nothing is returned.

    Ties: do not matter.
    Empty: no value.
    Agrees with: ann-benchmarks' `rel`, which divides the sums over all queries.
    References: Aumüller, Bernhardsson and Faithfull. ANN-Benchmarks, 2020. doi:10.1016/j.is.2019.02.006

    Example:
        The second answer is at distance 3 instead of 1:

        >>> truth = judged.Neighbours([[5, 6]], [[1.0, 1.0]], population=10)
        >>> answers = judged.IndexResults([[5, 9]], [[1.0, 3.0]])
        >>> judged.evaluate(truth, answers, "DistanceRatio@2").mean()
        {'DistanceRatio@2': 2.0}
    """
    distances = np.sort(view.need_distance()[:, :cutoff], axis=1)
    width = min(distances.shape[1], view.true_distance.shape[1])
    distances, true = distances[:, :width], view.true_distance[:, :width]
    both = np.isfinite(distances) & np.isfinite(true)
    sums = np.where(both, distances, 0).sum(axis=1), np.where(both, true, 0).sum(axis=1)
    ratio = divide(*sums)
    return np.where(both.any(axis=1) & (sums[1] > 0), ratio, np.nan)


DistanceRatio = Measure(
    "DistanceRatio",
    distance_ratio,
    title="Distance ratio: how much farther the answers are than the exact neighbours.",
    family="neighbour",
    at_parameter="cutoff",
    bounds=(0.0, math.inf),
    higher_is_better=False,
    zero_if_missing=False,
)


def missed(view: NeighbourView, *, cutoff: int, tolerance: float | None = None) -> Floats:
    r"""Return 1 if none of the `cutoff` nearest neighbours is among the first `cutoff` answers, else 0.

    $$\mathrm{Missed}@k = [\, A_k \cap N_k = \emptyset \,]$$

    where $A_k$ are the first $k$ answers and $N_k$ the $k$ nearest neighbours. The mean over queries is the share of
    queries with recall 0, which a mean recall hides.

    Ties: by id, unless `tolerance` is set, as in `R`; 0 means equal distances only.
    Empty: 1 when nothing is returned.

    Example:
        Both answers are neighbours, and neither is one of the two nearest:

        >>> truth = judged.Neighbours([[5, 6, 8, 9]], [[0.1, 0.2, 0.3, 0.4]], population=10)
        >>> judged.evaluate(truth, judged.IndexResults([[9, 8]]), "Missed@2").mean()
        {'Missed@2': 1.0}
    """
    hits = _find_hits(view, cutoff, np.minimum(cutoff, view.depth), tolerance)
    return np.where(hits == 0, 1.0, 0.0)


Missed = Measure(
    "Missed",
    missed,
    title="Missed: queries of which no neighbour is found.",
    family="neighbour",
    at_parameter="cutoff",
    extra_parameters={
        "tolerance": Parameter.number(
            "the share by which a distance may exceed that of the last neighbour", 0, 1
        ),
    },
    values="binary",
    higher_is_better=False,
    zero_if_missing=False,
)


def short(view: NeighbourView, *, cutoff: int) -> Floats:
    r"""Return 1 if fewer than `cutoff` different answers are returned although there are as many, else 0.

    $$\mathrm{Short}@k = [\, |A| < \min(k, |N|) \,]$$

    where $|A|$ is the number of different answers and $|N|$ that of the exact neighbours that are known. Indexes
    that filter after the search return short lists.

    Ties: do not matter.
    Empty: 1 when nothing is returned.

    Example:
        The one answer is returned twice:

        >>> truth = judged.Neighbours([[5, 6]], [[0.1, 0.2]], population=10)
        >>> judged.evaluate(truth, judged.IndexResults([[5, 5]]), "Short@2").mean()
        {'Short@2': 1.0}
    """
    return (view.returned < np.minimum(cutoff, view.depth)).astype(float)


Short = Measure(
    "Short",
    short,
    title="Short: queries with fewer answers than were asked for.",
    family="neighbour",
    at_parameter="cutoff",
    values="binary",
    higher_is_better=False,
    zero_if_missing=False,
)


def _find_hits(
    view: NeighbourView,
    cutoff: int,
    wanted: Ints,
    tolerance: float | None = None,
    epsilon: float | None = None,
) -> Ints:
    """Return how many of the first answers are among the wanted neighbours, by id or by distance."""
    if tolerance is None and epsilon is None:
        place = view.place[:, :cutoff]
        hit: Flags = (place >= 0) & (place < wanted[:, None])
    else:
        last = view.farthest(wanted)
        limit = last + (tolerance or 0.0) * np.abs(last) + (epsilon or 0.0)
        hit = view.need_distance()[:, :cutoff] <= limit[:, None]
    counts: Ints = hit.sum(axis=1)
    return counts
