"""The number of queries."""

from __future__ import annotations

import math

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["NumQ", "number_of_queries"]


def number_of_queries(ranking: Ranking) -> Floats:
    r"""1 for each query, so that the sum is the number of queries that were scored.

    $$\mathrm{NumQ} = 1$$

    where missing queries count too, unless the protocol leaves them out.

    Unjudged: does not matter.
    Ties: do not matter.
    Empty: 1, whatever is retrieved.
    Agrees with: `trec_eval -m num_q`; ir_measures' `NumQ`.

    Example:
        Two queries:

        >>> from judged.kernels.examples import make_ranking
        >>> number_of_queries(make_ranking([1], [0]))
        array([1., 1.])

    References:
        Buckley. trec_eval, measure `num_q`. NIST, 2008.
    """
    return np.ones(len(ranking))


NumQ = Measure(
    "NumQ",
    number_of_queries,
    bounds=(0.0, math.inf),
    aggregate="sum",
    higher_is_better=None,
    of_run=False,
    properties=frozenset(
        {"whole", "run-free", "order-free", "grade-free", "linear", "relevance-only", "grows"}
    ),
)
