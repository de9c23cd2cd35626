"""Measures for incomplete judgments: how much was judged, and scores that allow for what was not."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats
from judged.kernels.in_order import InOrder, bpref_in_order, precision_sums_in_order
from judged.kernels.ranked.precision import binary_preference
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.ranked.terms import bpref_terms, judged_terms
from judged.kernels.segments import divide, segment_count, segment_running_count, segment_sum
from judged.measures.laws import BINARY_IN_ORDER, Law
from judged.measures.measure import Measure

_PREFERENCE = BINARY_IN_ORDER - {Law.RELEVANCE_ONLY} | {Law.JUDGMENT_ONLY, Law.STEPWISE}


def preference(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return the share of preferences of judged relevant over judged non-relevant documents that a ranking keeps.

    $$\mathrm{Bpref} = \frac{1}{R} \sum_{i : g_i \ge \mathrm{rel}}
        \left( 1 - \frac{\min(n_i, R)}{\min(N, R)} \right)$$

    where $g_i$ is the grade of the result at rank $i$, $n_i$ the number of judged non-relevant results above
    it, and $R$ and $N$ the numbers of judged relevant and judged non-relevant documents of the query. Where
    $n_i = 0$ the term is 1.

    Title: Binary preference: relevant above non-relevant, looking at judged documents only.
    Unjudged: is passed over, negative grades too; that makes it robust where judgments are few.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m bpref`; ir_measures' `Bpref`.
    References: Buckley and Voorhees. Retrieval evaluation with incomplete information. SIGIR 2004.
        doi:10.1145/1008992.1009000

    Example:
        One of the two relevant documents is below the one judged non-relevant:

        >>> qrels = {"q1": {"a": 1, "b": 0, "d": 1}}
        >>> run = {"q1": ["a", "b", "c", "d"]}
        >>> judged.evaluate(qrels, run, "Bpref").mean()
        {'Bpref': 0.5}
    """
    return binary_preference(ranking, rel)


Bpref = Measure("Bpref", preference, terms=bpref_terms, laws=_PREFERENCE, in_order=bpref_in_order)


def geometric_preference(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return the binary preference of each query, to be averaged geometrically over queries.

    $$\mathrm{gm\_Bpref} = \exp \left( \frac{1}{|Q|} \sum_{q \in Q} \ln \max(\mathrm{Bpref}_q, 10^{-5}) \right)$$

    where $Q$ is the set of queries. The value of one query is its Bpref.

    Title: Geometric mean of binary preference: rewards a system that fails no query.
    Unjudged: is passed over, negative grades too.
    Empty: 0 when nothing relevant is retrieved, which counts as 0.00001 in the mean.
    Agrees with: `trec_eval -m gm_bpref`, whose summary shows the mean and whose queries show nothing.
    References: Buckley and Voorhees. Retrieval evaluation with incomplete information. SIGIR 2004.
        doi:10.1145/1008992.1009000
        Robertson. On GMAP: and other transformations. CIKM 2006. doi:10.1145/1183614.1183630

    Example:
        The query's own value is its binary preference:

        >>> qrels = {"q1": {"a": 1, "b": 0, "d": 1}}
        >>> run = {"q1": ["a", "b", "c", "d"]}
        >>> judged.evaluate(qrels, run, "gm_Bpref").mean()
        {'gm_Bpref': 0.5}
    """
    return binary_preference(ranking, rel)


gm_Bpref = Measure(
    "gm_Bpref",
    geometric_preference,
    terms=bpref_terms,
    aggregate="geometric",
    laws=_PREFERENCE,
    in_order=bpref_in_order,
    compare_by="Bpref",
)


EPSILON = 1e-5


"""Smooths the estimate where nothing was judged above; the value that trec_eval uses."""


def inferred_average_precision(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return an estimate of average precision from a judged sample of the pool.

    $$\mathrm{infAP} = \frac{1}{R} \sum_{i : g_i \ge \mathrm{rel}} \left( \frac{1}{i} +
        \frac{i - 1}{i} \cdot \frac{d_i}{i - 1} \cdot
        \frac{r_i + \varepsilon}{r_i + n_i + 2 \varepsilon} \right)$$

    where, of the documents above rank $i$, $d_i$ are in the pool, judged or not, $r_i$ are judged relevant
    and $n_i$ judged non-relevant; $R$ is the number of relevant documents and $\varepsilon = 10^{-5}$. A
    document of the pool that was not judged has a negative grade.

    Title: Inferred average precision: AP estimated where only a sample of the pool was judged.
    Unjudged: outside the pool, counts as not relevant; in the pool (negative grade), is assumed to be
        relevant as often as the judged ones above.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m infAP`; ir_measures' `infAP`.
    References: Yilmaz and Aslam. Estimating average precision with incomplete and imperfect judgments. CIKM
        2006. doi:10.1145/1183614.1183633

    Example:
        The result above the relevant one is in the pool but was not judged, so nothing speaks against it:

        >>> qrels = {"q1": {"a": -1, "b": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "infAP").mean()
        {'infAP': 0.75}
        >>> qrels = {"q1": {"a": 0, "b": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "infAP").mean()
        {'infAP': 0.5000...}
    """
    hit, above = ranking.hits(rel), ranking.rank - 1
    pooled = np.arange(len(hit)) - ranking.offset[ranking.query]
    relevant = ranking.found(rel) - hit
    refuted = segment_running_count((ranking.grade >= 0) & ~hit, ranking.offset)
    rate = (relevant + EPSILON) / (relevant + refuted + 2 * EPSILON)
    estimate = 1.0 / ranking.rank + above / ranking.rank * divide(pooled, above) * rate
    return divide(segment_sum(np.where(hit, estimate, 0.0), ranking.offset), ranking.relevant(rel))


def _inferred_in_order(view: InOrder, *, rel: float) -> tuple[Floats, Floats]:
    """Return the values for bounds: with everything judged, all results above are in the pool."""
    rank = np.arange(1.0, view.visible + 1)
    by_found = (rank - 1.0) / rank / (rank - 1.0 + 2 * EPSILON)
    at_rank = 1.0 / rank + by_found * (EPSILON - 1.0)
    first, last = precision_sums_in_order(view, rel, at_rank, by_found)
    relevant = view.relevant(rel) + view.count
    return divide(first, relevant), divide(last, relevant)


infAP = Measure(
    "infAP",
    inferred_average_precision,
    laws=frozenset({Law.SWAP, Law.ZERO_IF_NOTHING_FOUND, Law.JUDGMENT_ONLY, Law.STEPWISE, Law.IN_ORDER}),
    in_order=_inferred_in_order,
)


def judged_share(ranking: Ranking, *, cutoff: int | None = None) -> Floats:
    r"""Return the share of judged documents among the first `cutoff` results.

    $$\mathrm{Judged}@k = \frac{|\{ i \le k : g_i \ge 0 \}|}{\min(k, n)}$$

    where $g_i$ is the grade of the result at rank $i$ and $n$ the number of retrieved documents. Where it is
    low, other measures of the same run say little.

    Title: Judged: how much of what is shown somebody has looked at.
    Unjudged: is what it counts; a negative grade, which means pooled but not judged, is unjudged.
    Empty: 0 when nothing is retrieved.
    Agrees with: ir_measures' `Judged`, except that a negative grade counts as judged there.
    References: MacAvaney, Macdonald and Ounis. Streamlining evaluation with ir-measures. ECIR 2022.
        doi:10.1007/978-3-030-99739-7_38

    Example:
        One of two results was judged; the list has no tenth:

        >>> qrels = {"q1": {"a": 0}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "Judged@10").mean()
        {'Judged@10': 0.5}
    """
    judged = segment_count((ranking.grade >= 0) & ranking.within(cutoff), ranking.offset)
    shown = ranking.retrieved if cutoff is None else np.minimum(ranking.retrieved, cutoff)
    return divide(judged, shown)


Judged = Measure(
    "Judged",
    judged_share,
    terms=judged_terms,
    at_parameter="cutoff",
    higher_is_better=None,
    laws=frozenset({Law.GRADE_FREE, Law.JUDGMENT_ONLY, Law.LINEAR, Law.BY_GRADE}),
)


def unjudged_share(ranking: Ranking, *, cutoff: int) -> Floats:
    r"""Return the number of unjudged documents among the first `cutoff` results, over `cutoff`.

    $$\mathrm{Unjudged}@k = \frac{|\{ i \le \min(k, n) : i \text{ unjudged} \}|}{k}$$

    where $n$ is the number of retrieved documents. It divides by $k$ also where the list is shorter, so it is
    not one minus `Judged`.

    Title: Unjudged: how much of what is shown was not judged.
    Unjudged: is what it counts; a negative grade, which means pooled but not judged, is unjudged.
    Empty: 0 when nothing is retrieved.
    Agrees with: `trec_eval -m unj` (version 10).
    References: Soboroff. trec_eval 10, measure `unj`. NIST, 2024.

    Example:
        One of two results is unjudged, over four places:

        >>> qrels = {"q1": {"a": 0}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "Unjudged@4").mean()
        {'Unjudged@4': 0.25}
    """
    judged = segment_count((ranking.grade >= 0) & ranking.within(cutoff), ranking.offset)
    return (np.minimum(ranking.retrieved, cutoff) - judged) / cutoff


Unjudged = Measure(
    "Unjudged",
    unjudged_share,
    at_parameter="cutoff",
    higher_is_better=None,
    laws=frozenset({Law.GRADE_FREE, Law.JUDGMENT_ONLY, Law.LINEAR, Law.BY_GRADE}),
)
