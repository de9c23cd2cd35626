"""Fall-out: how much of what is not relevant is shown."""

from __future__ import annotations

import numpy as np

from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats, divide, segment_count
from judged.measures.measure import Measure

__all__ = ["FallOut", "fall_out"]


def fall_out(
    ranking: Ranking,
    *,
    cutoff: int | None = None,
    rel: float | None = None,
    collection: int | None = None,
) -> Floats:
    r"""The share of the non-relevant documents that stand among the first `cutoff` results.

    $$\mathrm{FallOut}@k = \frac{|\{ i \le k : 0 \le g_i < \mathrm{rel} \}|}{N}$$

    where $g_i$ is the grade of the result at rank $i$ and $N$ the number of judged non-relevant documents of
    the query. With `collection`, the number of all documents, everything that is not relevant counts, judged
    or not: the results among the first $k$ that are not relevant, over `collection` less the relevant.

    Unjudged: is passed over; with `collection`, counts as not relevant.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing is retrieved, and when the query has no non-relevant document.
    Agrees with: torchmetrics' `retrieval_fall_out` where every document is judged and retrieved.

    Example:
        One of the two judged non-relevant documents comes first:

        >>> from judged.kernels.examples import make_ranking
        >>> fall_out(make_ranking([0, 1, 0]), cutoff=2), fall_out(make_ranking([0, 1, None]), cutoff=3, collection=101)
        (array([0.5]), array([0.02]))

    References:
        van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.
    """
    if collection is not None:
        shown = ranking.retrieved if cutoff is None else np.minimum(ranking.retrieved, cutoff)
        return divide(shown - ranking.hits_within(cutoff, rel), collection - ranking.relevant(rel))
    refuted = (ranking.grade >= 0) & ~ranking.hits(rel) & ranking.within(cutoff)
    judged = segment_count(ranking.best >= 0, ranking.best_offset)
    return divide(segment_count(refuted, ranking.offset), judged - ranking.relevant(rel))


FallOut = Measure(
    "FallOut",
    fall_out,
    at="cutoff",
    higher_is_better=False,
    properties=frozenset({"swap", "linear", "judgment-only", "in-order"}),
)
