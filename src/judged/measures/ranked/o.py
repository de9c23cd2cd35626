"""O-measure: how soon the first relevant result comes, and how relevant it is."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.blended import ideal_gain_down_to, relevant_gains
from judged.kernels.ranked.gains import Gain, Gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, segment_sum
from judged.measures.measure import Measure
from judged.measures.parameters import BLEND

__all__ = ["O", "o_measure"]


def o_measure(
    ranking: Ranking,
    *,
    beta: float = 1.0,
    rel: float | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
) -> Floats:
    r"""The blended ratio of precision and gain at the first relevant result.

    $$\mathrm{O} = \frac{1 + \beta \, v(g_r)}{r + \beta \, V^*_r}, \qquad
      r = \min \{ i : g_i \ge \mathrm{rel} \}$$

    where $g_i$ is the grade of the result at rank $i$ and $V^*_r$ the sum of gains of the best order down to
    rank $r$. A relevant grade is worth $v(g) = g$ (`gain="linear"`), $2^g - 1$ (`"exp"`) or what `gains` says.
    With `beta=0` it is the reciprocal rank.

    Unjudged: counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: NTCIREVAL's and pyNTCIREVAL's `O-measure`, where a document is relevant from grade 1.

    Example:
        A document of grade 1 comes second, where the best order would have gained 3, $(1 + 1) / (2 + 3)$:

        >>> from judged.kernels.examples import make_ranking
        >>> o_measure(make_ranking([0, 1, 2]))
        array([0.4])

    References:
        Sakai. On the properties of evaluation metrics for finding one highly relevant document. IPSJ
        Transactions on Databases 48(SIG9), 2007.
    """
    first = ranking.hits(rel) & (ranking.found(rel) == 1)
    gained = 1.0 + beta * relevant_gains(ranking, rel, gain, gains)
    ideal = ranking.rank + beta * ideal_gain_down_to(ranking, rel, gain, gains)
    return segment_sum(np.where(first, gained / ideal, 0.0), ranking.offset)


O = Measure(  # noqa: E741 - its published name
    "O",
    o_measure,
    own={"beta": BLEND},
    properties=frozenset(
        {"swap", "zero-if-nothing-found", "one-if-ideal", "stepwise", "gain-only", "by-grade"}
    ),
)
