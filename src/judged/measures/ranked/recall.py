"""Recall: how much of what is relevant is shown."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["R", "recall"]


def recall(
    ranking: Ranking,
    *,
    cutoff: int,
    rel: float | None = None,
    over: Literal["relevant", "cutoff"] = "relevant",
) -> Floats:
    r"""The share of all relevant documents that stand among the first `cutoff` results.

    $$\mathrm{R}@k = \frac{|\{ i \le k : g_i \ge \mathrm{rel} \}|}{R}$$

    where $g_i$ is the grade of the result at rank $i$ and $R$ the number of relevant documents of the
    query. With `over="cutoff"` the divisor is $\min(k, R)$, so that 1 can be reached at every $k$; this is
    what trec_eval calls `relative_P`, BEIR `R_cap` and ann-benchmarks recall.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m recall`, and `-m relative_P` when `over` is `cutoff`; ir_measures' `R`.

    Example:
        Three documents are relevant, one of them comes among the first two results:

        >>> from judged.kernels.examples import make_ranking
        >>> recall(make_ranking([1, 0, 1], missed=[[1]]), cutoff=2).round(4)
        array([0.3333])
        >>> recall(make_ranking([1, 0, 1], missed=[[1]]), cutoff=2, over="cutoff")
        array([0.5])

    References:
        van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.
    """
    relevant = ranking.relevant(rel)
    divisor = relevant if over == "relevant" else np.minimum(relevant, cutoff)
    return divide(ranking.hits_within(cutoff, rel), divisor)


R = Measure(
    "R",
    recall,
    at="cutoff",
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "linear", "relevance-only", "by-grade", "in-order"}
    ),
)
