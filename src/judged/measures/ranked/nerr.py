"""Normalised expected reciprocal rank: ERR as a share of the best that the query allows."""

from __future__ import annotations

from judged.kernels.ranked.browsing import best_reciprocal_rank, expected_reciprocal_rank
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["nERR", "normalised_expected_reciprocal"]


def normalised_expected_reciprocal(
    ranking: Ranking, *, cutoff: int | None = None, max_grade: float | None = None
) -> Floats:
    r"""Expected reciprocal rank over that of the best order of everything judged.

    $$\mathrm{nERR}@k = \frac{\mathrm{ERR}@k(g)}{\mathrm{ERR}@k(g^*)}$$

    where $g$ are the grades of the results and $g^*$ all judged grades of the query, highest first. The top
    of the scale is `max_grade`, by default the highest grade in all the judgments.

    Unjudged: satisfies nobody.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a positive grade is retrieved, and when nothing of the query has one.
    Agrees with: NTCIREVAL's `nERR` where every grade of the scale has the gain $2^g - 1$.

    Example:
        The one relevant document comes second, half as good as first:

        >>> from judged.kernels.examples import make_ranking
        >>> normalised_expected_reciprocal(make_ranking([0, 1]))
        array([0.5])

    References:
        Chapelle, Metzler, Zhang and Grinspan. Expected reciprocal rank for graded relevance. CIKM 2009.
        doi:10.1145/1645953.1646033
        Sakai. Metrics, statistics, tests. PROMISE Winter School 2013. doi:10.1007/978-3-642-54798-0_6
    """
    highest = ranking.highest if max_grade is None else max_grade
    got = expected_reciprocal_rank(ranking, highest, cutoff)
    return divide(got, best_reciprocal_rank(ranking, highest, cutoff))


nERR = Measure(
    "nERR",
    normalised_expected_reciprocal,
    at="cutoff",
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "stepwise", "gain-only", "by-grade", "parted"}
    ),
)
