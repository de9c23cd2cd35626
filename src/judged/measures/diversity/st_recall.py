"""Subtopic recall: how many of the intents of a query are answered."""

from __future__ import annotations

import numpy as np

from judged.kernels.diversity.intent_aware import intent_mean, split_by_intent
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["StRecall", "subtopic_recall"]


def subtopic_recall(ranking: Ranking, *, cutoff: int | None = None, rel: float | None = None) -> Floats:
    r"""The share of a query's intents that the first `cutoff` results answer.

    $$\mathrm{StRecall}@k = \sum_{j} \frac{w_j}{\sum_{l} w_l} \, \max_{i \le k} J_{ij}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, and $w_j$ the weight of the
    intent, 1 unless the judgments give others. Intents without a relevant document are left out.

    Unjudged: answers no intent.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `strec` and ir_measures' `StRecall` for equal weights; `DR` where each document has
        one intent; `IA(of="Success@10")` is the same.

    Example:
        The first two results answer one intent, twice; the second was to be had:

        >>> from judged.kernels.examples import make_ranking
        >>> subtopic_recall(make_ranking([1, 1, 1], intents=[[{1}, {1}, {2}]]), cutoff=2)
        array([0.5])

    References:
        Zhai, Cohen and Lafferty. Beyond independent relevance: methods and evaluation metrics for subtopic
        retrieval. SIGIR 2003. doi:10.1145/860435.860440
    """
    return intent_mean(ranking, np.minimum(split_by_intent(ranking).hits_within(cutoff, rel), 1.0), rel)


StRecall = Measure(
    "StRecall",
    subtopic_recall,
    at="cutoff",
    family="diversity",
    properties=frozenset({"zero-if-nothing-found", "one-if-ideal", "stepwise"}),
    intents=True,
)
