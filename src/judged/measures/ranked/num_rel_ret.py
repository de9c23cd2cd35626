"""The number of relevant documents that are retrieved."""

from __future__ import annotations

import math

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["NumRelRet", "number_relevant_retrieved"]


def number_relevant_retrieved(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""How many of the retrieved documents are relevant.

    $$\mathrm{NumRelRet} = |\{ i : g_i \ge \mathrm{rel} \}|$$

    where $g_i$ is the grade of the result at rank $i$.

    Unjudged: counts as not relevant.
    Ties: do not matter.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: `trec_eval -m num_rel_ret`; ir_measures' `NumRet(rel=…)`.

    Example:
        One of two relevant documents is retrieved:

        >>> from judged.kernels.examples import make_ranking
        >>> number_relevant_retrieved(make_ranking([1, 0], missed=[[1]]))
        array([1.])

    References:
        Buckley. trec_eval, measure `num_rel_ret`. NIST, 2008.
    """
    return ranking.hits_within(None, rel).astype(np.float64)


NumRelRet = Measure(
    "NumRelRet",
    number_relevant_retrieved,
    bounds=(0.0, math.inf),
    aggregate="sum",
    higher_is_better=None,
    properties=frozenset(
        {"whole", "order-free", "zero-if-nothing-found", "linear", "relevance-only", "grows"}
    ),
)
