"""Diversity recall: how many of the different answers to a query are shown."""

from __future__ import annotations

from judged.kernels.ranked.precision import targets_found, targets_judged
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide
from judged.measures.measure import Measure

__all__ = ["DR", "diversity_recall"]


def diversity_recall(ranking: Ranking, *, cutoff: int, rel: float | None = None) -> Floats:
    r"""The share of a query's distinct targets that the first `cutoff` results answer.

    $$\mathrm{DR}@k = \frac{|\{ t(d_i) : i \le k,\; g_i \ge \mathrm{rel} \}|}
                           {|\{ t(d) : g_d \ge \mathrm{rel} \}|}$$

    where $d_i$ is the document at rank $i$, $g$ a document's grade and $t(d)$ the target that the judgments
    give it; a document without one is its own target, and then this is recall.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: subtopic recall (`StRecall` of ir_measures, `strec` of ndeval) where targets are subtopics
        and each document has one.

    Example:
        Three relevant documents answer two targets; the first two results answer the same one:

        >>> from judged.kernels.examples import make_ranking
        >>> diversity_recall(make_ranking([1, 1, 1], targets=[[7, 7, 8]]), cutoff=2)
        array([0.5])

    References:
        Zhai, Cohen and Lafferty. Beyond independent relevance: methods and evaluation metrics for subtopic
        retrieval. SIGIR 2003. doi:10.1145/860435.860440
    """
    return divide(targets_found(ranking, cutoff, rel), targets_judged(ranking, rel))


DR = Measure(
    "DR",
    diversity_recall,
    at="cutoff",
    family="diversity",
    properties=frozenset({"zero-if-nothing-found", "one-if-ideal", "stepwise", "in-order"}),
)
