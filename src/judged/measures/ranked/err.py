"""Expected reciprocal rank: where a reader who stops when satisfied will stop."""

from __future__ import annotations

from judged.kernels.ranked.browsing import expected_reciprocal_rank
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["ERR", "expected_reciprocal"]


def expected_reciprocal(
    ranking: Ranking, *, cutoff: int | None = None, max_grade: float | None = None
) -> Floats:
    r"""The mean of one over the rank at which a reader going down the list is satisfied.

    $$\mathrm{ERR}@k = \sum_{i=1}^{k} \frac{1}{i} \, s_i \prod_{j < i} (1 - s_j), \qquad
      s_i = \frac{2^{g_i} - 1}{2^{g_{\max}}}$$

    where $g_i$ is the grade of the result at rank $i$ and $s_i$ the chance that it satisfies. $g_{\max}$ is
    `max_grade`, by default the highest grade in all the judgments; a grade above it counts as it.

    Unjudged: satisfies nobody.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a positive grade is retrieved.
    Agrees with: gdeval.pl and ir_measures' `ERR` for `max_grade=4`, which they have built in.

    Example:
        On a scale from 0 to 1, the second reader in two goes on to rank 2, and half of those stop there:

        >>> from judged.kernels.examples import make_ranking
        >>> expected_reciprocal(make_ranking([1, 1]))
        array([0.625])

    References:
        Chapelle, Metzler, Zhang and Grinspan. Expected reciprocal rank for graded relevance. CIKM 2009.
        doi:10.1145/1645953.1646033
    """
    highest = ranking.highest if max_grade is None else max_grade
    return expected_reciprocal_rank(ranking, highest, cutoff)


ERR = Measure(
    "ERR",
    expected_reciprocal,
    at="cutoff",
    properties=frozenset({"swap", "zero-if-nothing-found", "stepwise", "gain-only", "by-grade", "grows"}),
)
