"""G: gains discounted by how far a ranking has fallen behind the best order."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.gains import Gains, best_gains, found_gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide, segment_count, segment_cumsum, segment_sum
from judged.measures.measure import Measure

__all__ = ["G", "normalised_gain"]


def normalised_gain(ranking: Ranking, *, gains: Gains | None = None) -> Floats:
    r"""The gains of the results, each discounted by what the best order would have brought by then.

    $$\mathrm{G} = \frac{1}{\sum_i v(g^*_i)} \sum_i
        \frac{v(g_i)}{\log_2 \left( 2 + \sum_{j \le i} (c_j - v(g_j)) \right)}, \qquad
      c_j = \max(v(g^*_j), 1)$$

    where $v(g_i)$ is the gain of the result at rank $i$ and $g^*$ are all judged grades of the query, the
    most valuable first; beyond them $c_j = 1$. With gains of 0 and 1 it is `binG`. With more grades, moving
    a better result up can lower it, because it raises what is expected of the next.

    Unjudged: has no gain.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a gain is retrieved, and when nothing of the query has one.
    Agrees with: `trec_eval -m G`, whole gains given.

    Example:
        A result without gain pushes the one of grade 1 to $1 / \log_2 3$:

        >>> from judged.kernels.examples import make_ranking
        >>> normalised_gain(make_ranking([0, 1])).round(4)
        array([0.6309])

    References:
        Buckley. trec_eval, measure `G` (experimental). NIST, 2008.
    """
    value, best = found_gains(ranking, gains=gains), best_gains(ranking, gains=gains)
    behind = _cost(ranking, best) - segment_cumsum(value, ranking.offset)
    got = segment_sum(divide(value, np.log2(2.0 + behind)), ranking.offset)
    return divide(got, segment_sum(best, ranking.best_offset))


def _cost(ranking: Ranking, best: Floats) -> Floats:
    """What the best order brings down to the rank of each retrieved judged document, 1 or more a rank."""
    possible = segment_count(best > 0, ranking.best_offset)[ranking.query]
    deep = np.minimum(ranking.rank, possible)
    running = np.concatenate(([0.0], segment_cumsum(np.maximum(best, 1.0), ranking.best_offset)))
    within = np.where(deep > 0, running[ranking.best_offset[ranking.query] + deep], 0.0)
    return within + (ranking.rank - deep)


G = Measure(
    "G",
    normalised_gain,
    properties=frozenset({"zero-if-nothing-found", "one-if-ideal", "stepwise", "gain-only"}),
)
