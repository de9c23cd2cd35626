"""Binary preference: relevant above non-relevant, looking at judged documents only."""

from __future__ import annotations

from judged.kernels.ranked.precision import binary_preference
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["Bpref", "preference"]


def preference(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""The share of preferences of judged relevant over judged non-relevant documents that a ranking keeps.

    $$\mathrm{Bpref} = \frac{1}{R} \sum_{i : g_i \ge \mathrm{rel}}
        \left( 1 - \frac{\min(n_i, R)}{\min(N, R)} \right)$$

    where $g_i$ is the grade of the result at rank $i$, $n_i$ the number of judged non-relevant results
    above it, and $R$ and $N$ the numbers of judged relevant and judged non-relevant documents of the query.
    Where $n_i = 0$ the term is 1.

    Unjudged: is passed over, negative grades too; that makes it robust where judgments are few.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m bpref`; ir_measures' `Bpref`.

    Example:
        One of the two relevant documents stands below the one judged non-relevant:

        >>> from judged.kernels.examples import make_ranking
        >>> preference(make_ranking([1, 0, None, 1]))
        array([0.5])

    References:
        Buckley and Voorhees. Retrieval evaluation with incomplete information. SIGIR 2004.
        doi:10.1145/1008992.1009000
    """
    return binary_preference(ranking, rel)


Bpref = Measure(
    "Bpref",
    preference,
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "stepwise", "by-grade", "judgment-only", "in-order"}
    ),
)
