"""Discounted cumulative gain: what graded results are worth, less the deeper they lie."""

from __future__ import annotations

import math

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.kernels.elementary import log2
from judged.kernels.ranked.gains import (
    LARGEST_EXPONENT,
    Discount,
    Gain,
    Gains,
    Ideal,
    best_gains,
    cumulative_gains,
    discounted_sum,
    found_gains,
    ideal_cumulative_gains,
    ideal_sum,
    jk_discount,
    scale_exponential_gains,
)
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import divide, segment_count, segment_cumsum, segment_sum
from judged.measures.fold import Fold
from judged.measures.laws import BINARY_IN_ORDER, GRADED, Law
from judged.measures.measure import Measure
from judged.plugins import defer


def normalised_discounted_gain(
    ranking: Ranking,
    *,
    cutoff: int | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
    discount: Discount = "log2",
    ideal: Ideal = "judged",
) -> Floats:
    r"""Return the share of the gain of the best possible order that a ranking collects.

    $$\mathrm{nDCG}@k = \frac{\sum_{i=1}^{k} v(g_i) / \log_2(i + 1)}
                             {\sum_{i=1}^{k} v(g^*_i) / \log_2(i + 1)}$$

    where $g_i$ is the grade of the result at rank $i$ and $g^*$ are *all* judged grades of the query, the
    most valuable first, retrieved or not. A grade is worth $v(g) = g$ (`gain="linear"`), $2^g - 1$ (`"exp"`)
    or what `gains` says; negative gains are never part of the best order. `rel` has no part in it. With
    `discount="position"` gains are divided by the rank in place of its logarithm. With `ideal="retrieved"` the best
    order ends after as many documents as were retrieved, so that a short list is not expected to hold them all.

    Title: Normalised discounted cumulative gain: how close a ranking comes to the best possible order.
    Empty: 0 when nothing with a positive gain is retrieved, and when nothing of the query has one.
    Agrees with: `trec_eval -m ndcg` and `-m ndcg_cut`; ir_measures' `nDCG` (`dcg='exp-log2'` is `exp`); ranx'
        `ndcg` and, with `gain="exp"`, `ndcg_burges`; the metrics of LightGBM, XGBoost and CatBoost under their profiles
        (`discount="position"` is CatBoost's `denominator=Position`); Elasticsearch's with `ideal="retrieved"`. trec_eval's order of custom gains fails where two differ
        by less than 1; this one does not.
    References: Järvelin and Kekäläinen. Cumulated gain-based evaluation of IR techniques. TOIS 20(4), 2002.
        doi:10.1145/582415.582418
        Burges and others. Learning to rank using gradient descent. ICML 2005. doi:10.1145/1102351.1102363

    Example:
        The grades [3, 0, 2, 1] collect 4.4307 of the 4.7619 that [3, 2, 1, 0] would:

        >>> qrels = {"q1": {"a": 3, "b": 0, "c": 2, "d": 1}}
        >>> run = {"q1": ["a", "b", "c", "d"]}
        >>> judged.evaluate(qrels, run, "nDCG@4").mean()
        {'nDCG@4': 0.9304...}
    """
    if gain == "exp" and gains is None and ranking.highest > LARGEST_EXPONENT:
        ranking, gain = scale_exponential_gains(ranking), "linear"
    return divide(
        discounted_sum(ranking, cutoff, gain, gains, discount),
        ideal_sum(ranking, cutoff, gain, gains, discount, ideal),
    )


nDCG = Measure(
    "nDCG",
    normalised_discounted_gain,
    terms=defer("judged.kernels.ranked.terms:ndcg_terms"),
    at_parameter="cutoff",
    laws=GRADED | {Law.ONE_IF_IDEAL, Law.LINEAR, Law.DISCOUNTED_RATIO},
    in_order=defer("judged.kernels.in_order:ndcg_in_order"),
    fold=Fold("gain", "ideal"),
)


def discounted_gain(
    ranking: Ranking,
    *,
    cutoff: int | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
    discount: Discount = "log2",
) -> Floats:
    r"""Return the sum of the gains of the results, each divided by the logarithm of its rank plus one.

    $$\mathrm{DCG}@k = \sum_{i=1}^{k} \frac{v(g_i)}{\log_2(i + 1)}$$

    where $g_i$ is the grade of the result at rank $i$ and $v(g)$ its worth: $g$ (`gain="linear"`), $2^g - 1$
    (`"exp"`) or what `gains` says. `discount="position"` divides by the rank. Queries with more to find can reach more; `nDCG` evens that out.

    Title: Discounted cumulative gain: the gain of a ranking, discounted by rank.
    Empty: 0 when nothing with a gain is retrieved.
    Agrees with: `trec_eval -m dcg` (version 10); ranx' `dcg` and `dcg_burges`.
    References: Järvelin and Kekäläinen. Cumulated gain-based evaluation of IR techniques. TOIS 20(4), 2002.
        doi:10.1145/582415.582418

    Example:
        $3/1 + 0 + 2/2 + 1/\log_2 5$:

        >>> qrels = {"q1": {"a": 3, "b": 0, "c": 2, "d": 1}}
        >>> run = {"q1": ["a", "b", "c", "d"]}
        >>> judged.evaluate(qrels, run, "DCG").mean()
        {'DCG': 4.4306...}
    """
    return discounted_sum(ranking, cutoff, gain, gains, discount)


DCG = Measure(
    "DCG",
    discounted_gain,
    terms=defer("judged.kernels.ranked.terms:dcg_terms"),
    at_parameter="cutoff",
    bounds=(0.0, math.inf),
    laws=GRADED | {Law.LINEAR, Law.GROWS},
    fold=Fold("gain"),
)


def ideal_discounted_gain(
    ranking: Ranking,
    *,
    cutoff: int | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
    discount: Discount = "log2",
) -> Floats:
    r"""Return the discounted cumulative gain of the best order of everything judged; nDCG divides by it.

    $$\mathrm{IDCG}@k = \sum_{i=1}^{k} \frac{v(g^*_i)}{\log_2(i + 1)}$$

    where $g^*$ are all judged grades of the query, the most valuable first, and $v(g)$ the worth of a grade:
    $g$ (`gain="linear"`), $2^g - 1$ (`"exp"`) or what `gains` says; negative gains are left out.
    `discount="position"` divides by the rank.

    Title: Ideal discounted cumulative gain: the highest DCG that any ranking of a query could have.
    Unjudged: has no part in it.
    Ties: have no part in it.
    Empty: 0 when nothing of the query has a positive gain; whether anything is retrieved does not matter.
    Agrees with: `trec_eval -m ideal_dcg` (version 10).
    References: Järvelin and Kekäläinen. Cumulated gain-based evaluation of IR techniques. TOIS 20(4), 2002.
        doi:10.1145/582415.582418

    Example:
        The best order of [3, 0, 2, 1] is [3, 2, 1, 0]:

        >>> qrels = {"q1": {"a": 3, "b": 0, "c": 2, "d": 1}}
        >>> run = {"q1": ["a", "b", "c", "d"]}
        >>> judged.evaluate(qrels, run, "IDCG").mean()
        {'IDCG': 4.7618...}
    """
    return ideal_sum(ranking, cutoff, gain, gains, discount)


IDCG = Measure(
    "IDCG",
    ideal_discounted_gain,
    terms=defer("judged.kernels.ranked.terms:idcg_terms"),
    at_parameter="cutoff",
    bounds=(0.0, math.inf),
    higher_is_better=None,
    zero_if_missing=False,
    laws=frozenset({Law.ORDER_FREE, Law.RUN_FREE, Law.GAIN_ONLY, Law.LINEAR, Law.GROWS}),
)


def r_level_discounted_gain(
    ranking: Ranking, *, rel: float | None = None, gains: Gains | None = None
) -> Floats:
    r"""Return the mean of nDCG at the ranks where the best order passes from one gain to the next.

    $$\mathrm{Rndcg} = \frac{1}{|C|} \sum_{c \in C} \mathrm{nDCG}@c$$

    where $C$ holds, for each positive gain $v$ that a judged document of the query has, the number of
    documents with a gain of $v$ or more; and the number of retrieved documents, if that exceeds the number of
    documents with a gain by more than one.

    Title: R-level nDCG: nDCG averaged over the ranks where the best order goes down a grade.
    Unjudged: has no gain; bounds over what it could be are found by trying up to 5,000 judgments, which is slow for
        lists of thousands of results, and are 0 and 1 where there are more.
    Empty: 0 when nothing with a gain is retrieved, and when no document of the query is relevant.
    Agrees with: `trec_eval -m Rndcg`, whole gains given.
    References: Buckley. trec_eval, measure `Rndcg` (experimental). NIST, 2008.

    Example:
        One document of grade 2 and one of grade 1: nDCG@1 is 1/2 and nDCG@2 is 0.8597:

        >>> qrels = {"q1": {"a": 1, "b": 2}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "Rndcg").mean()
        {'Rndcg': 0.6798...}
    """
    value, offset = best_gains(ranking, gains=gains), ranking.best_offset
    last = _last_of_level(value, offset)
    level = _collected(ranking, ranking.best_query[last], ranking.best_rank[last], gains)
    ratio = np.zeros(len(value))
    ratio[last] = level / ideal_cumulative_gains(ranking, gains)[last]
    beyond = ranking.retrieved > segment_count(value > 0, offset) + 1
    whole = divide(discounted_sum(ranking, gains=gains), ideal_sum(ranking, gains=gains))
    points = segment_count(last, offset) + (beyond & (ideal_sum(ranking, gains=gains) > 0))
    total = segment_sum(ratio, offset) + np.where(beyond, whole, 0.0)
    return np.where(ranking.relevant(rel) > 0, divide(total, points), 0.0)


def _last_of_level(value: Floats, offset: Ints) -> Flags:
    """Return which documents of the best order have a gain and precede one with another gain, or are last."""
    last = np.ones(len(value), dtype=bool)
    last[:-1] = value[:-1] != value[1:]
    ends = offset[1:][np.diff(offset) > 0] - 1
    last[ends] = True
    return last & (value > 0)


def _collected(ranking: Ranking, query: Ints, cutoff: Ints, gains: Gains | None) -> Floats:
    """Return the discounted gain of each query's results down to a rank of its own."""
    running = np.concatenate(([0.0], cumulative_gains(ranking, gains)))
    count = ranking.count_down_to(query, cutoff)
    return np.where(count > 0, running[ranking.offset[query] + count], 0.0)


Rndcg = Measure("Rndcg", r_level_discounted_gain, laws=GRADED | {Law.ONE_IF_IDEAL, Law.LINEAR})


def discounted_gain_at_relevant(ranking: Ranking, *, gains: Gains | None = None) -> Floats:
    r"""Return the mean of nDCG at the rank of each document with a gain; an unretrieved one adds nDCG of the whole list.

    $$\mathrm{nDCG\_rel} = \frac{1}{N} \left( \sum_{i : v(g_i) > 0} \mathrm{nDCG}@i +
        (N - n) \cdot \mathrm{nDCG} \right)$$

    where $v(g_i)$ is the gain of the result at rank $i$, $N$ the number of judged documents of the query with
    a gain and $n$ of those the retrieved.

    Title: nDCG at relevant documents: nDCG averaged over the ranks where something with a gain is found.
    Empty: 0 when nothing with a gain is retrieved, and when nothing of the query has one.
    Agrees with: `trec_eval -m ndcg_rel`, whole gains given.
    References: Buckley. trec_eval, measure `ndcg_rel` (experimental). NIST, 2008.

    Example:
        nDCG is 0.6309 at rank 2, where the one document with a gain is found:

        >>> qrels = {"q1": {"a": 0, "b": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "nDCG_rel").mean()
        {'nDCG_rel': 0.6309...}
    """
    useful = found_gains(ranking, gains=gains) > 0
    possible = segment_count(best_gains(ranking, gains=gains) > 0, ranking.best_offset)
    missed = possible - segment_count(useful, ranking.offset)
    at_each = divide(cumulative_gains(ranking, gains), _ideal_at(ranking, gains))
    whole = divide(discounted_sum(ranking, gains=gains), ideal_sum(ranking, gains=gains))
    total = segment_sum(np.where(useful, at_each, 0.0), ranking.offset) + missed * whole
    return divide(np.maximum(total, 0.0), possible)


def _ideal_at(ranking: Ranking, gains: Gains | None) -> Floats:
    """Return the discounted gain of the best order down to the rank of each retrieved judged document."""
    start, length = ranking.best_offset[:-1], np.diff(ranking.best_offset)
    deep = np.minimum(ranking.rank, length[ranking.query]) - 1
    at_each: Floats = ideal_cumulative_gains(ranking, gains)[start[ranking.query] + deep]
    return at_each


nDCG_rel = Measure("nDCG_rel", discounted_gain_at_relevant, laws=(GRADED - {Law.SWAP}) | {Law.ONE_IF_IDEAL})


def originally_discounted_gain(
    ranking: Ranking,
    *,
    cutoff: int | None = None,
    base: float = 2.0,
    gain: Gain = "linear",
    gains: Gains | None = None,
) -> Floats:
    r"""Return the share of the best order's gain, discounted by the logarithm of the rank from rank `base` on.

    $$\mathrm{nDCG_{JK}}@k = \frac{\sum_{i=1}^{k} v(g_i) / \max(1, \log_b i)}
                                {\sum_{i=1}^{k} v(g^*_i) / \max(1, \log_b i)}$$

    where $b$ is `base`, $g_i$ the grade of the result at rank $i$ and $g^*$ are all judged grades of the
    query, the most valuable first. A grade is worth $v(g) = g$ (`gain="linear"`), $2^g - 1$ (`"exp"`) or what
    `gains` says. The order of the first $b$ results does not matter. Today's usual discount, $\log_2(i + 1)$,
    is that of `nDCG`.

    Title: Normalised discounted cumulative gain as first published: no discount before the rank that is the base of the
        logarithm.
    Empty: 0 when nothing with a positive gain is retrieved, and when nothing of the query has one.
    Agrees with: NTCIREVAL's and pyNTCIREVAL's `nDCG`, with `base` for `-logb`; their `MSnDCG` is `nDCG`.
    References: Järvelin and Kekäläinen. Cumulated gain-based evaluation of IR techniques. TOIS 20(4), 2002.
        doi:10.1145/582415.582418

    Example:
        The one relevant document comes third, at $1 / \log_2 3$:

        >>> qrels = {"q1": {"a": 0, "b": 0, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "nDCG_JK").mean()
        {'nDCG_JK': 0.6309...}
    """
    if gain == "exp" and gains is None and ranking.highest > LARGEST_EXPONENT:
        ranking, gain = scale_exponential_gains(ranking), "linear"
    got = found_gains(ranking, gain, gains) / jk_discount(ranking.rank, base)
    best = best_gains(ranking, gain, gains) / jk_discount(ranking.best_rank, base)
    near = True if cutoff is None else ranking.best_rank <= cutoff
    return divide(
        segment_sum(np.where(ranking.within(cutoff), got, 0.0), ranking.offset),
        segment_sum(np.where(near, best, 0.0), ranking.best_offset),
    )


nDCG_JK = Measure(
    "nDCG_JK",
    originally_discounted_gain,
    terms=defer("judged.kernels.ranked.terms:ndcg_jk_terms"),
    at_parameter="cutoff",
    laws=GRADED | {Law.ONE_IF_IDEAL, Law.LINEAR, Law.PARTED},
    in_order=defer("judged.kernels.in_order:ndcg_jk_in_order"),
)


def normalised_gain(ranking: Ranking, *, gains: Gains | None = None) -> Floats:
    r"""Return the gains of the results, each discounted by the gain of the best order down to its rank.

    $$\mathrm{G} = \frac{1}{\sum_i v(g^*_i)} \sum_i
        \frac{v(g_i)}{\log_2 \left( 2 + \sum_{j \le i} (c_j - v(g_j)) \right)}, \qquad
      c_j = \max(v(g^*_j), 1)$$

    where $v(g_i)$ is the gain of the result at rank $i$ and $g^*$ are all judged grades of the query, the
    most valuable first; beyond them $c_j = 1$. With gains of 0 and 1 it is `binG`. With more grades, moving a
    better result up can lower it, because it raises what is expected of the next.

    Title: G: gains discounted by how far a ranking has fallen behind the best order.
    Empty: 0 when nothing with a gain is retrieved, and when nothing of the query has one.
    Agrees with: `trec_eval -m G`, whole gains given.
    References: Buckley. trec_eval, measure `G` (experimental). NIST, 2008.

    Example:
        A result without gain pushes the one of grade 1 to $1 / \log_2 3$:

        >>> qrels = {"q1": {"a": 0, "b": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "G").mean()
        {'G': 0.6309...}
    """
    value, best = found_gains(ranking, gains=gains), best_gains(ranking, gains=gains)
    behind = _cost(ranking, best) - segment_cumsum(value, ranking.offset)
    got = segment_sum(divide(value, log2(2.0 + behind)), ranking.offset)
    return divide(got, segment_sum(best, ranking.best_offset))


def _cost(ranking: Ranking, best: Floats) -> Floats:
    """Return the gain of the best order down to the rank of each retrieved judged document, at least 1 a rank."""
    possible = segment_count(best > 0, ranking.best_offset)[ranking.query]
    deep = np.minimum(ranking.rank, possible)
    running = np.concatenate(([0.0], segment_cumsum(np.maximum(best, 1.0), ranking.best_offset)))
    within = np.where(deep > 0, running[ranking.best_offset[ranking.query] + deep], 0.0)
    return within + (ranking.rank - deep)


G = Measure(
    "G",
    normalised_gain,
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.ONE_IF_IDEAL, Law.GAIN_ONLY, Law.STEPWISE}),
)


def binary_gain(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return the mean over relevant documents of one over the logarithm of two plus the others above.

    $$\mathrm{binG} = \frac{1}{R} \sum_{i : g_i \ge \mathrm{rel}} \frac{1}{\log_2(2 + n_i)}$$

    where $g_i$ is the grade of the result at rank $i$, $n_i$ the number of results above it that are not
    relevant, and $R$ the number of relevant documents of the query.

    Title: Binary G: relevant documents discounted by the number of others above them.
    Unjudged: counts as not relevant; bounds over what it could be are searched for, which is slow for
        lists of tens of thousands of results.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m binG`.
    References: Buckley. trec_eval, measure `binG` (experimental). NIST, 2008.

    Example:
        One relevant document has nothing above it, the other one result that is not relevant:

        >>> qrels = {"q1": {"a": 1, "b": 0, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "binG").mean()
        {'binG': 0.8154...}
    """
    others = ranking.rank - ranking.found(rel)
    gains = np.where(ranking.hits(rel), 1.0 / log2(2 + others), 0.0)
    return divide(segment_sum(gains, ranking.offset), ranking.relevant(rel))


binG = Measure("binG", binary_gain, laws=BINARY_IN_ORDER | {Law.STEPWISE, Law.PARTED})
