"""Unjudged: how much of what is shown nobody has looked at."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, segment_count
from judged.measures.measure import Measure

__all__ = ["Unjudged", "unjudged_share"]


def unjudged_share(ranking: Ranking, *, cutoff: int) -> Floats:
    r"""The number of unjudged documents among the first `cutoff` results, over `cutoff`.

    $$\mathrm{Unjudged}@k = \frac{|\{ i \le \min(k, n) : i \text{ unjudged} \}|}{k}$$

    where $n$ is the number of retrieved documents. It divides by $k$ also where the list is shorter, so it
    is not one minus `Judged`.

    Unjudged: is what it counts; a negative grade, which means pooled but not judged, is unjudged.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing is retrieved.
    Agrees with: `trec_eval -m unj` (version 10).

    Example:
        One of two results is unjudged, over four places:

        >>> from judged.kernels.examples import make_ranking
        >>> unjudged_share(make_ranking([0, None]), cutoff=4)
        array([0.25])

    References:
        Soboroff. trec_eval 10, measure `unj`. NIST, 2024.
    """
    judged = segment_count((ranking.grade >= 0) & ranking.within(cutoff), ranking.offset)
    return (np.minimum(ranking.retrieved, cutoff) - judged) / cutoff


Unjudged = Measure(
    "Unjudged",
    unjudged_share,
    at="cutoff",
    higher_is_better=None,
    properties=frozenset({"grade-free", "linear", "by-grade", "judgment-only"}),
)
