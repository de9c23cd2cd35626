"""Average precision and other summaries of the curve of precision against recall."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from judged.arrays import Floats, Ints
from judged.kernels.elementary import log
from judged.kernels.ranked.precision import (
    count_findable,
    interpolated_precision,
    precision_at_hits,
    precision_sum,
)
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import divide, segment_sum
from judged.measures.fold import Fold
from judged.measures.laws import BINARY_IN_ORDER, Law
from judged.measures.measure import Measure
from judged.plugins import defer


def average_precision(
    ranking: Ranking,
    *,
    cutoff: int | None = None,
    rel: float | None = None,
    over: Literal["relevant", "cutoff"] = "relevant",
    interpolation: Literal["none", "trapezoid"] = "none",
) -> Floats:
    r"""Return the precision at the rank of each relevant document, averaged; an unretrieved one counts 0.

    $$\mathrm{AP}@k = \frac{1}{R} \sum_{i \le k,\; g_i \ge \mathrm{rel}} \mathrm{P}@i$$

    where $g_i$ is the grade of the result at rank $i$ and $R$ the number of relevant documents of the query.
    With `over="cutoff"` the divisor is $\min(k, R)$. The mean over queries is known as MAP. With
    `interpolation="trapezoid"` each $\mathrm{P}@i$ is averaged with the precision just above, $\mathrm{P}@(i - 1)$,
    which is 1 above rank 1: the area under the curve of precision against recall, as image retrieval computes it.

    Title: Average precision: precision at each relevant document, averaged; over queries, mean average
        precision (MAP).
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m map` and `-m map_cut`; ir_measures' `AP`; ranx' `map`; with
        `interpolation="trapezoid"`, the `compute_ap` of Oxford, Paris and their revisited versions.
    References: Buckley and Voorhees. Retrieval System Evaluation. In Voorhees and Harman (editors), TREC:
        Experiment and Evaluation in Information Retrieval. MIT Press, 2005; Radenović et al. Revisiting Oxford and
        Paris: Large-scale image retrieval benchmarking. CVPR 2018. doi:10.1109/CVPR.2018.00598

    Example:
        Relevant documents come first and third, so the precisions are 1/1 and 2/3; a third one is missed. With
        those above they are on average (1 + 1) / 2 and (1/2 + 2/3) / 2:

        >>> qrels = {"q1": {"a": 1, "b": 0, "c": 1, "d": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "AP").mean()
        {'AP': 0.5555...}
        >>> judged.evaluate(qrels, run, 'AP(interpolation="trapezoid")').mean()
        {'AP(interpolation="trapezoid")': 0.5277...}
    """
    total = precision_sum(ranking, cutoff, rel, trapezoid=interpolation == "trapezoid")
    return divide(total, count_findable(ranking, cutoff=cutoff, rel=rel, over=over))


def _count_folded(
    ranking: Ranking,
    *,
    interpolation: str,  # noqa: ARG001 - another one is not folded
    cutoff: int | None,
    rel: float | None,
    over: Literal["relevant", "cutoff"],
) -> Ints:
    """Return the divisor of average precision."""
    return count_findable(ranking, cutoff=cutoff, rel=rel, over=over)


AP = Measure(
    "AP",
    average_precision,
    terms=defer("judged.kernels.ranked.terms:average_precision_terms"),
    at_parameter="cutoff",
    laws=BINARY_IN_ORDER | {Law.STEPWISE},
    in_order=defer("judged.kernels.in_order:average_precision_in_order"),
    fold=Fold("precision", _count_folded),
)


def average_precision_at_r(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return average precision over the first $R$ results alone.

    $$\mathrm{AP\_R} = \frac{1}{R} \sum_{i \le R,\; g_i \ge \mathrm{rel}} \mathrm{P}@i$$

    where $g_i$ is the grade of the result at rank $i$ and $R$ the number of relevant documents of the query: R-precision
    that rewards the order as well. The mean over queries is known as MAP@R. Each query has a cutoff of its own,
    so a run needs as many results as the query with the most relevant documents has of them.

    Title: Average precision at R: R-precision that sees the order; over queries, MAP@R of metric learning.
    Empty: 0 when nothing relevant is among the first $R$, and when the query has no relevant document.
    Agrees with: pytorch-metric-learning's `mean_average_precision_at_r`, with a `k` that reaches every $R$.
    References: Musgrave, Belongie and Lim. A Metric Learning Reality Check. ECCV 2020.
        doi:10.1007/978-3-030-58595-2_41

    Example:
        Two documents are relevant. One comes second, with a precision of 1/2, the other below the first two:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "AP_R AP").mean()
        {'AP_R': 0.25, 'AP': 0.5833...}
    """
    relevant = ranking.relevant(rel)
    near = ranking.rank <= relevant[ranking.query]
    return divide(segment_sum(np.where(near, precision_at_hits(ranking, rel), 0.0), ranking.offset), relevant)


AP_R = Measure("AP_R", average_precision_at_r, laws=BINARY_IN_ORDER | {Law.STEPWISE})


def average_precision_of_found(
    ranking: Ranking, *, cutoff: int | None = None, rel: float | None = None
) -> Floats:
    r"""Return the precision at the rank of each relevant result, averaged over these results alone.

    $$\mathrm{AP\_found}@k = \frac{1}{n} \sum_{i \le k,\; g_i \ge \mathrm{rel}} \mathrm{P}@i$$

    where $g_i$ is the grade of the result at rank $i$ and $n$ the number of relevant results down to rank $k$.
    A relevant document that was missed costs nothing, so one found first is worth as much as all of them, and another
    one found at the end lowers the value: read it with recall.

    Title: Average precision over the relevant documents found: the order alone, regardless of what was missed.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: torchmetrics' `RetrievalMAP` on positive scores; the context precision of Ragas, from its verdicts.
    References: Ragas. Context precision. https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/context_precision

    Example:
        Relevant documents come first and third, so the precisions are 1/1 and 2/3; that a third one is missed has no
        effect:

        >>> qrels = {"q1": {"a": 1, "b": 0, "c": 1, "d": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "AP_found").mean()
        {'AP_found': 0.8333...}
    """
    return divide(precision_sum(ranking, cutoff, rel), ranking.hits_within(cutoff, rel))


AP_found = Measure(
    "AP_found",
    average_precision_of_found,
    at_parameter="cutoff",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.ONE_IF_IDEAL, Law.RELEVANCE_ONLY}),
)


def geometric_average_precision(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return the average precision of each query, to be averaged geometrically over queries.

    $$\mathrm{gm\_AP} = \exp \left( \frac{1}{|Q|} \sum_{q \in Q} \ln \max(\mathrm{AP}_q, 10^{-5}) \right)$$

    where $Q$ is the set of queries. The value of one query is its AP; a query that fails altogether counts as
    0.00001, so it drags the mean down without making it 0.

    Title: Geometric mean of average precision: rewards a system that fails no query.
    Empty: 0 when nothing relevant is retrieved, which counts as 0.00001 in the mean.
    Agrees with: `trec_eval -m gm_map`, whose summary shows the mean and whose queries show nothing.
    References: Robertson. On GMAP: and other transformations. CIKM 2006. doi:10.1145/1183614.1183630

    Example:
        The query's own value is its average precision, (1/1 + 2/3) / 2:

        >>> qrels = {"q1": {"a": 1, "b": 0, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "gm_AP").mean()
        {'gm_AP': 0.8333...}
    """
    return divide(precision_sum(ranking, None, rel), ranking.relevant(rel))


gm_AP = Measure(
    "gm_AP",
    geometric_average_precision,
    terms=defer("judged.kernels.ranked.terms:average_precision_terms"),
    aggregate="geometric",
    laws=BINARY_IN_ORDER | {Law.STEPWISE},
    in_order=defer("judged.kernels.in_order:average_precision_in_order"),
    compare_by="AP",
)


def logit_average_precision(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return the smoothed log odds of average precision.

    $$\mathrm{yaap} = \ln \frac{1 + s}{1 + R - s}, \qquad s = \sum_{i : g_i \ge \mathrm{rel}} \mathrm{P}@i$$

    where $g_i$ is the grade of the result at rank $i$ and $R$ the number of relevant documents of the query,
    so that $s = R \cdot \mathrm{AP}$. It is 0 at an average precision of 1/2 and has no upper limit.

    Title: Yet another average precision: AP on a scale where differences at either end count alike.
    Empty: $-\ln(1 + R)$ when nothing relevant is retrieved; 0 when the query has no relevant document, and 0
        for a query missing from the run, as trec_eval has it.
    Agrees with: `trec_eval -m yaap`.
    References: Robertson. On smoothing average precision. ECIR 2012. doi:10.1007/978-3-642-28997-2_14

    Example:
        The one relevant document comes second, an average precision of 1/2:

        >>> qrels = {"q1": {"a": 0, "b": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "yaap").mean()
        {'yaap': 0.0}
        >>> qrels = {"q1": {"a": 1}}
        >>> run = {"q1": ["a"]}
        >>> judged.evaluate(qrels, run, "yaap").mean()
        {'yaap': 0.6931...}
    """
    total = precision_sum(ranking, None, rel)
    return log((1.0 + total) / (1.0 + ranking.relevant(rel) - total))


yaap = Measure(
    "yaap",
    logit_average_precision,
    bounds=(-math.inf, math.inf),
    laws=frozenset({Law.SWAP, Law.RELEVANCE_ONLY, Law.BY_GRADE, Law.IN_ORDER}),
    in_order=defer("judged.kernels.in_order:precision_odds_in_order"),
)


def precision_at_recall(ranking: Ranking, *, recall: float, rel: float | None = None) -> Floats:
    r"""Return the highest precision at or after the rank where recall is reached; the points of the classic curve.

    $$\mathrm{IPrec}@r = \max_{j \ge i(r)} \mathrm{P}@j, \qquad
      i(r) = \min \{ i : |\{ j \le i : g_j \ge \mathrm{rel} \}| \ge c(r) \}$$

    where $g_j$ is the grade of the result at rank $j$ and $c(r)$ the number of relevant documents that make
    up the share $r$: $\lfloor r R + 0.9 \rfloor$ in trec_eval 9 and $rR$ rounded in trec_eval 10, as the
    protocol says, for $R$ relevant documents.

    Title: Interpolated precision: the best precision still possible at a given recall.
    Unjudged: counts as not relevant; bounds over what it could be are searched for, which is slow for
        lists of tens of thousands of results.
    Empty: 0 when that recall is never reached, and when nothing relevant is retrieved.
    Agrees with: `trec_eval -m iprec_at_recall`, version 9 or 10 by protocol; ir_measures' `IPrec` (9).
    References: Manning, Raghavan and Schütze. Introduction to Information Retrieval, section 8.4. Cambridge,
        2008.

    Example:
        Half of the relevant documents are found at rank 2, but precision is higher at rank 3:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "IPrec@0.5").mean()
        {'IPrec@0.5': 0.6666...}
    """
    return interpolated_precision(ranking, recall, rel)


IPrec = Measure(
    "IPrec",
    precision_at_recall,
    terms=defer("judged.kernels.ranked.terms:interpolated_terms"),
    at_parameter="recall",
    laws=BINARY_IN_ORDER | {Law.PARTED},
    conventions=("recall_points",),
)


ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def eleven_point_average(
    ranking: Ranking, *, rel: float | None = None, points: tuple[float, ...] = ELEVEN
) -> Floats:
    r"""Return the mean of the interpolated precision at the recall points 0, 0.1, …, 1.

    $$\mathrm{AP11} = \frac{1}{11} \sum_{j=0}^{10} \mathrm{IPrec}@\tfrac{j}{10}$$

    where $\mathrm{IPrec}@r$ is the highest precision at or after recall $r$; `points` may name others.
    Average precision has taken its place; it is here for comparison with old results.

    Title: Eleven-point average precision: the area under the classic curve, coarsely.
    Unjudged: counts as not relevant; bounds over what it could be are searched for, which is slow for
        lists of tens of thousands of results.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: `trec_eval -m 11pt_avg`, version 9 or 10 by protocol.
    References: Manning, Raghavan and Schütze. Introduction to Information Retrieval, section 8.4. Cambridge,
        2008.

    Example:
        The one relevant document comes second, so precision is 1/2 at every point:

        >>> qrels = {"q1": {"a": 0, "b": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "AP11").mean()
        {'AP11': 0.5}
    """
    total = np.zeros(len(ranking))
    for point in reversed(points):
        total += interpolated_precision(ranking, point, rel)
    return total / len(points)


AP11 = Measure(
    "AP11",
    eleven_point_average,
    terms=defer("judged.kernels.ranked.terms:interpolated_terms"),
    laws=BINARY_IN_ORDER | {Law.PARTED},
    conventions=("recall_points",),
)
