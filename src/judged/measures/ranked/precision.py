"""Precision: how much of what is shown is relevant."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["P", "precision"]


def precision(
    ranking: Ranking,
    *,
    cutoff: int,
    rel: float | None = None,
    over: Literal["cutoff", "retrieved"] = "cutoff",
) -> Floats:
    r"""The share of relevant documents among the first `cutoff` results.

    $$\mathrm{P}@k = \frac{|\{ i \le k : g_i \ge \mathrm{rel} \}|}{k}$$

    where $g_i$ is the grade of the result at rank $i$. With `over="retrieved"` the divisor is
    $\min(k, n)$ for $n$ retrieved documents, so that a short list is not punished for its length.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved; places of a short list that stay empty count as not relevant.
    Agrees with: `trec_eval -m P`; ir_measures' `P`; ranx' `precision`.

    Example:
        Two of the first four results are relevant:

        >>> from judged.kernels.examples import make_ranking
        >>> precision(make_ranking([1, 0, 1, 0]), cutoff=4)
        array([0.5])
        >>> precision(make_ranking([1, 0]), cutoff=4), precision(make_ranking([1, 0]), cutoff=4, over="retrieved")
        (array([0.25]), array([0.5]))

    References:
        van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.
    """
    length = cutoff if over == "cutoff" else np.minimum(cutoff, ranking.retrieved)
    return divide(ranking.hits_within(cutoff, rel), np.asarray(length))


P = Measure(
    "P",
    precision,
    at="cutoff",
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "linear", "relevance-only", "by-grade", "grows"}
    ),
)
