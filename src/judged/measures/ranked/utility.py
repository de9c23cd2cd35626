"""Utility: what the retrieved set is worth when hits and misses have prices."""

from __future__ import annotations

import math

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["Utility", "utility"]


def utility(
    ranking: Ranking,
    *,
    rel: float | None = None,
    a: float = 1.0,
    b: float = -1.0,
    c: float = 0.0,
    d: float = 0.0,
    collection: int = 0,
) -> Floats:
    r"""The worth of a retrieved set by four prices; by default, relevant documents less the others.

    $$\mathrm{Utility} = a \, h + b \, (n - h) + c \, (R - h) + d \, (N - n - R + h)$$

    where $h$ is the number of relevant documents among the $n$ retrieved, $R$ that of all relevant documents
    and $N$ that of all documents (`collection`), which is needed only where $d$ is not 0.

    Unjudged: counts as not relevant.
    Ties: do not matter.
    Empty: $c R + d (N - R)$ when nothing is retrieved; 0 for a query missing from the run.
    Agrees with: `trec_eval -m utility.a,b,c,d` with `-N` for `collection`.

    Example:
        One relevant document and two others are retrieved:

        >>> from judged.kernels.examples import make_ranking
        >>> utility(make_ranking([1, 0, None]))
        array([-1.])

    References:
        Lewis. The TREC-4 filtering track. TREC 1995.
    """
    found, relevant = ranking.hits_within(None, rel), ranking.relevant(rel)
    other = collection - ranking.retrieved - relevant + found
    value = a * found + b * (ranking.retrieved - found) + c * (relevant - found) + d * other
    return np.asarray(value, dtype=np.float64)


Utility = Measure(
    "Utility",
    utility,
    bounds=(-math.inf, math.inf),
    properties=frozenset({"order-free", "swap", "linear", "relevance-only", "by-grade", "in-order"}),
)
