"""Interpolated precision: the best precision still to be had at a given recall."""

from __future__ import annotations

from judged.kernels.ranked.precision import interpolated_precision
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["IPrec", "precision_at_recall"]


def precision_at_recall(ranking: Ranking, *, recall: float, rel: float | None = None) -> Floats:
    r"""The highest precision at or after the rank where recall is reached; the points of the classic curve.

    $$\mathrm{IPrec}@r = \max_{j \ge i(r)} \mathrm{P}@j, \qquad
      i(r) = \min \{ i : |\{ j \le i : g_j \ge \mathrm{rel} \}| \ge c(r) \}$$

    where $g_j$ is the grade of the result at rank $j$ and $c(r)$ the number of relevant documents that make
    up the share $r$: $\lfloor r R + 0.9 \rfloor$ in trec_eval 9 and $rR$ rounded in trec_eval 10, as the
    protocol says, for $R$ relevant documents.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when that recall is never reached, and when nothing relevant is retrieved.
    Agrees with: `trec_eval -m iprec_at_recall`, version 9 or 10 by protocol; ir_measures' `IPrec` (9).

    Example:
        Half of the relevant documents are found at rank 2, but precision is higher at rank 3:

        >>> from judged.kernels.examples import make_ranking
        >>> precision_at_recall(make_ranking([0, 1, 1]), recall=0.5).round(4)
        array([0.6667])

    References:
        Manning, Raghavan and Schütze. Introduction to Information Retrieval, section 8.4. Cambridge, 2008.
    """
    return interpolated_precision(ranking, recall, rel)


IPrec = Measure(
    "IPrec",
    precision_at_recall,
    at="recall",
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "relevance-only", "by-grade", "in-order"}
    ),
)
