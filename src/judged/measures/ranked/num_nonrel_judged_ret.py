"""The number of retrieved documents that were judged and found not relevant."""

from __future__ import annotations

import math

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, segment_count
from judged.measures.measure import Measure

__all__ = ["NumNonrelJudgedRet", "number_refuted_retrieved"]


def number_refuted_retrieved(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""How many of the retrieved documents were judged and are not relevant.

    $$\mathrm{NumNonrelJudgedRet} = |\{ i : 0 \le g_i < \mathrm{rel} \}|$$

    where $g_i$ is the grade of the result at rank $i$.

    Unjudged: is not counted, negative grades neither.
    Ties: do not matter.
    Empty: 0 when nothing is retrieved.
    Agrees with: `trec_eval -m num_nonrel_judged_ret`.

    Example:
        Of two results that are not relevant, one was judged:

        >>> from judged.kernels.examples import make_ranking
        >>> number_refuted_retrieved(make_ranking([1, 0, None]))
        array([1.])

    References:
        Buckley. trec_eval, measure `num_nonrel_judged_ret`. NIST, 2008.
    """
    refuted = (ranking.grade >= 0) & ~ranking.hits(rel)
    return segment_count(refuted, ranking.offset).astype(np.float64)


NumNonrelJudgedRet = Measure(
    "NumNonrelJudgedRet",
    number_refuted_retrieved,
    bounds=(0.0, math.inf),
    aggregate="sum",
    higher_is_better=None,
    properties=frozenset({"whole", "order-free", "linear", "judgment-only", "in-order"}),
)
