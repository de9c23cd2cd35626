"""Judged: how much of what is shown somebody has looked at."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide, segment_count
from judged.measures.measure import Measure

__all__ = ["Judged", "judged_share"]


def judged_share(ranking: Ranking, *, cutoff: int | None = None) -> Floats:
    r"""The share of judged documents among the first `cutoff` results.

    $$\mathrm{Judged}@k = \frac{|\{ i \le k : g_i \ge 0 \}|}{\min(k, n)}$$

    where $g_i$ is the grade of the result at rank $i$ and $n$ the number of retrieved documents. Where it is
    low, other measures of the same run say little.

    Unjudged: is what it counts; a negative grade, which means pooled but not judged, is unjudged.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing is retrieved.
    Agrees with: ir_measures' `Judged`, except that a negative grade counts as judged there.

    Example:
        One of two results was judged; the list has no tenth:

        >>> from judged.kernels.examples import make_ranking
        >>> judged_share(make_ranking([0, None]), cutoff=10)
        array([0.5])

    References:
        MacAvaney, Macdonald and Ounis. Streamlining evaluation with ir-measures. ECIR 2022.
        doi:10.1007/978-3-030-99739-7_38
    """
    judged = segment_count((ranking.grade >= 0) & ranking.within(cutoff), ranking.offset)
    shown = ranking.retrieved if cutoff is None else np.minimum(ranking.retrieved, cutoff)
    return divide(judged, shown)


Judged = Measure(
    "Judged",
    judged_share,
    at="cutoff",
    higher_is_better=None,
    properties=frozenset({"grade-free", "linear", "by-grade", "judgment-only"}),
)
