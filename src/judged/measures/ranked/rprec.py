"""R-precision: precision after as many results as there are relevant documents."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide, segment_count
from judged.measures.measure import Measure

__all__ = ["Rprec", "r_precision"]


def r_precision(ranking: Ranking, *, rel: float | None = None, multiple: float = 1.0) -> Floats:
    r"""The precision after $R$ results, or a multiple of $R$.

    $$\mathrm{Rprec} = \frac{|\{ i \le c : g_i \ge \mathrm{rel} \}|}{c}, \qquad
      c = \lfloor m R + 0.9 \rfloor$$

    where $g_i$ is the grade of the result at rank $i$, $R$ the number of relevant documents of the query and
    $m$ the `multiple`; at $m = 1$ precision and recall are equal.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m Rprec` and, for a `multiple`, `-m Rprec_mult`; ir_measures' `Rprec`.

    Example:
        Two documents are relevant; one of them comes among the first two, both among the first four:

        >>> from judged.kernels.examples import make_ranking
        >>> r_precision(make_ranking([0, 1, 1])), r_precision(make_ranking([0, 1, 1]), multiple=2)
        (array([0.5]), array([0.5]))

    References:
        Buckley and Voorhees. Retrieval System Evaluation. In Voorhees and Harman (editors), TREC:
        Experiment and Evaluation in Information Retrieval. MIT Press, 2005.
    """
    cutoff = np.floor(multiple * ranking.relevant(rel) + 0.9)
    near = ranking.rank <= cutoff[ranking.query]
    return divide(segment_count(ranking.hits(rel) & near, ranking.offset), cutoff)


Rprec = Measure(
    "Rprec",
    r_precision,
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "linear", "relevance-only", "by-grade", "in-order"}
    ),
)
