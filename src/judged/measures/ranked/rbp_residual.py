"""The residual of rank-biased precision: how much higher it could be if all that is unknown were relevant."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judged.kernels.ranked.browsing import reach_probability
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, segment_count, segment_sum
from judged.measures.measure import Measure

__all__ = ["RBP_residual", "rank_biased_residual"]


def rank_biased_residual(
    ranking: Ranking, *, p: float = 0.8, tail: Literal["always", "unjudged"] = "always"
) -> Floats:
    r"""The width of what rank-biased precision could be, given what was not judged or not retrieved.

    $$\mathrm{residual} = (1 - p) \sum_{i \le n,\; i \text{ unjudged}} p^{i - 1} + p^n
                        = 1 - (1 - p) \sum_{i \text{ judged}} p^{i - 1}$$

    where $n$ is the number of retrieved documents: $p^n$ is the weight of all that lies beyond them. With
    `tail="unjudged"` that weight counts only if something unjudged was retrieved, and the residual is 0
    otherwise. True RBP lies between RBP and RBP plus this.

    Unjudged: is what it measures; a negative grade is unjudged too.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 1 when nothing is retrieved, for nothing is known (0 with `tail="unjudged"`).
    Agrees with: `trec_eval -m rbp_resid` (version 10) with `p=0.9, tail="unjudged"`.

    Example:
        The second result is unjudged, and nothing is known beyond the third, $0.5 \cdot 0.5 + 0.5^3$:

        >>> from judged.kernels.examples import make_ranking
        >>> rank_biased_residual(make_ranking([1, None, 0]), p=0.5)
        array([0.375])

    References:
        Moffat and Zobel. Rank-biased precision for measurement of retrieval effectiveness. TOIS 27(1), 2008.
        doi:10.1145/1416950.1416952
    """
    judged = ranking.grade >= 0
    known = (1.0 - p) * segment_sum(np.where(judged, reach_probability(ranking, p), 0.0), ranking.offset)
    residual = np.maximum(1.0 - known, 0.0)
    if tail == "always":
        return residual
    return np.where(segment_count(judged, ranking.offset) < ranking.retrieved, residual, 0.0)


RBP_residual = Measure(
    "RBP_residual",
    rank_biased_residual,
    higher_is_better=None,
    of_run=False,
    properties=frozenset({"grade-free", "by-grade", "judgment-only"}),
)
