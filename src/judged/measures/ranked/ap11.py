"""Eleven-point average precision: the area under the classic curve, coarsely."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.precision import interpolated_precision
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["AP11", "eleven_point_average"]

ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def eleven_point_average(
    ranking: Ranking, *, rel: float | None = None, points: tuple[float, ...] = ELEVEN
) -> Floats:
    r"""The mean of the interpolated precision at the recall points 0, 0.1, …, 1.

    $$\mathrm{AP11} = \frac{1}{11} \sum_{j=0}^{10} \mathrm{IPrec}@\tfrac{j}{10}$$

    where $\mathrm{IPrec}@r$ is the highest precision at or after recall $r$; `points` may name others.
    Average precision has taken its place; it is here for comparison with old results.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: `trec_eval -m 11pt_avg`, version 9 or 10 by protocol.

    Example:
        The one relevant document comes second, so precision is 1/2 at every point:

        >>> from judged.kernels.examples import make_ranking
        >>> eleven_point_average(make_ranking([0, 1]))
        array([0.5])

    References:
        Manning, Raghavan and Schütze. Introduction to Information Retrieval, section 8.4. Cambridge, 2008.
    """
    total = np.zeros(len(ranking))
    for point in reversed(points):
        total += interpolated_precision(ranking, point, rel)
    return total / len(points)


AP11 = Measure(
    "AP11",
    eleven_point_average,
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "relevance-only", "by-grade", "in-order"}
    ),
)
