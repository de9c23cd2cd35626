"""Geometric mean of binary preference: rewards a system that fails no query."""

from __future__ import annotations

from judged.kernels.ranked.precision import binary_preference
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["geometric_preference", "gm_Bpref"]


def geometric_preference(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""The binary preference of each query, to be averaged geometrically over queries.

    $$\mathrm{gm\_Bpref} = \exp \left( \frac{1}{|Q|} \sum_{q \in Q} \ln \max(\mathrm{Bpref}_q, 10^{-5}) \right)$$

    where $Q$ is the set of queries. The value of one query is its Bpref.

    Unjudged: is passed over, negative grades too.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, which counts as 0.00001 in the mean.
    Agrees with: `trec_eval -m gm_bpref`, whose summary shows the mean and whose queries show nothing.

    Example:
        The query's own value is its binary preference:

        >>> from judged.kernels.examples import make_ranking
        >>> geometric_preference(make_ranking([1, 0, None, 1]))
        array([0.5])

    References:
        Buckley and Voorhees. Retrieval evaluation with incomplete information. SIGIR 2004.
        doi:10.1145/1008992.1009000
        Robertson. On GMAP: and other transformations. CIKM 2006. doi:10.1145/1183614.1183630
    """
    return binary_preference(ranking, rel)


gm_Bpref = Measure(
    "gm_Bpref",
    geometric_preference,
    aggregate="geometric",
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "stepwise", "by-grade", "judgment-only", "in-order"}
    ),
)
