"""The number of retrieved documents."""

from __future__ import annotations

import math

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["NumRet", "number_retrieved"]


def number_retrieved(ranking: Ranking) -> Floats:
    r"""How many documents are retrieved, judged or not.

    $$\mathrm{NumRet} = n$$

    where $n$ is counted after the protocol's depth, and without unjudged documents if it removes them.

    Unjudged: counts like any other.
    Ties: do not matter.
    Empty: 0 when nothing is retrieved.
    Agrees with: `trec_eval -m num_ret`; ir_measures' `NumRet`.

    Example:
        Three documents, one of them unjudged:

        >>> from judged.kernels.examples import make_ranking
        >>> number_retrieved(make_ranking([1, None, 0]))
        array([3.])

    References:
        Buckley. trec_eval, measure `num_ret`. NIST, 2008.
    """
    return ranking.retrieved.astype(np.float64)


NumRet = Measure(
    "NumRet",
    number_retrieved,
    bounds=(0.0, math.inf),
    aggregate="sum",
    higher_is_better=None,
    properties=frozenset({"whole", "order-free", "grade-free", "linear", "relevance-only", "grows"}),
)
