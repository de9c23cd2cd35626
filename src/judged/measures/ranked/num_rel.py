"""The number of relevant documents."""

from __future__ import annotations

import math

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["NumRel", "number_relevant"]


def number_relevant(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""How many documents are relevant to the query, retrieved or not.

    $$\mathrm{NumRel} = R = |\{ d : g_d \ge \mathrm{rel} \}|$$

    where $g_d$ is the grade of the judged document $d$.

    Unjudged: counts as not relevant.
    Ties: do not matter.
    Empty: 0 when the query has no relevant document; what is retrieved does not matter.
    Agrees with: `trec_eval -m num_rel` (whose sum under `-c` forgets `-l`); ir_measures' `NumRel`.

    Example:
        One relevant document is retrieved and one is missed:

        >>> from judged.kernels.examples import make_ranking
        >>> number_relevant(make_ranking([1, 0], missed=[[1]]))
        array([2.])

    References:
        Buckley. trec_eval, measure `num_rel`. NIST, 2008.
    """
    return ranking.relevant(rel).astype(np.float64)


NumRel = Measure(
    "NumRel",
    number_relevant,
    bounds=(0.0, math.inf),
    aggregate="sum",
    higher_is_better=None,
    of_run=False,
    properties=frozenset({"whole", "run-free", "order-free", "linear", "relevance-only", "grows"}),
)
