"""Diversity count: how many different answers are shown."""

from __future__ import annotations

import math

import numpy as np

from judged.kernels.ranked.precision import targets_found
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["DiversityCount", "diversity_count"]


def diversity_count(ranking: Ranking, *, cutoff: int = 20, rel: float | None = None) -> Floats:
    r"""How many distinct targets the first `cutoff` results answer.

    $$\mathrm{DiversityCount}@k = |\{ t(d_i) : i \le k,\; g_i \ge \mathrm{rel} \}|$$

    where $d_i$ is the document at rank $i$, $g_i$ its grade and $t(d)$ the target that the judgments give
    it; a document without one is its own target.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: no other tool; `DR` is the same count as a share of all targets.

    Example:
        Three relevant results answer two targets:

        >>> from judged.kernels.examples import make_ranking
        >>> diversity_count(make_ranking([1, 1, 1], targets=[[7, 7, 8]]))
        array([2.])

    References:
        Zhai, Cohen and Lafferty. Beyond independent relevance: methods and evaluation metrics for subtopic
        retrieval. SIGIR 2003. doi:10.1145/860435.860440
    """
    return targets_found(ranking, cutoff, rel).astype(np.float64)


DiversityCount = Measure(
    "DiversityCount",
    diversity_count,
    at="cutoff",
    bounds=(0.0, math.inf),
    family="diversity",
    properties=frozenset({"whole", "zero-if-nothing-found", "stepwise", "grows"}),
)
