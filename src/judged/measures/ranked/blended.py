"""The measures of NTCIR, which blend precision with the gain of graded documents."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from judged.arrays import Floats
from judged.kernels.elementary import powers
from judged.kernels.ranked.blended import blended_ratio, ideal_gain_down_to, is_top_document, relevant_gains
from judged.kernels.ranked.gains import Gain, Gains, grade_gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.ranked.terms import (
    blended_terms,
    first_ratio_terms,
    q_terms,
    top_mean_terms,
    top_ratio_terms,
)
from judged.kernels.segments import divide, segment_count, segment_sum
from judged.measures.laws import GRADED, Law
from judged.measures.measure import Measure
from judged.measures.parameters import BLEND

_measure = partial(Measure, extra_parameters={"beta": BLEND})


def q_measure(
    ranking: Ranking,
    *,
    cutoff: int | None = None,
    beta: float = 1.0,
    rel: float | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
    over: Literal["cutoff", "relevant"] = "cutoff",
) -> Floats:
    r"""Return the blended ratio of precision and gain at each relevant document, averaged; an unretrieved one counts 0.

    $$\mathrm{Q}@k = \frac{1}{\min(k, R)} \sum_{i \le k,\; g_i \ge \mathrm{rel}} \mathrm{BR}(i), \qquad
      \mathrm{BR}(i) = \frac{n_i + \beta \, V_i}{i + \beta \, V^*_i}$$

    where $g_i$ is the grade of the result at rank $i$, $n_i$ the number of relevant documents down to there,
    $V_i$ the sum of their gains and $V^*_i$ that of the best order. A relevant grade is worth itself
    (`gain="linear"`), $2^g - 1$ (`"exp"`) or what `gains` says. $R$ is the number of relevant documents of
    the query, and with `over="relevant"` the divisor. With `beta=0` it is average precision.

    Title: Q-measure: average precision that takes grades into account.
    Unjudged: counts as not relevant.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: NTCIREVAL's and pyNTCIREVAL's `Q-measure`, where a document is relevant from grade 1.
    References: Sakai. New performance metrics based on multigrade relevance: their application to question
        answering.
        NTCIR-4, 2004.
        Sakai and Song. Evaluating diversified search results using per-intent graded relevance. SIGIR 2011.
        doi:10.1145/2009916.2010055

    Example:
        Grades 1 and 2 are in the wrong order, so the first ratio is $(1 + 1) / (1 + 2)$ and the second 1:

        >>> qrels = {"q1": {"a": 1, "b": 2}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "Q").mean()
        {'Q': 0.8333...}
    """
    ratio = blended_ratio(ranking, beta, rel, gain, gains)
    relevant = ranking.relevant(rel)
    if over == "cutoff" and cutoff is not None:
        relevant = np.minimum(relevant, cutoff)
    return divide(segment_sum(np.where(ranking.within(cutoff), ratio, 0.0), ranking.offset), relevant)


Q = _measure(
    "Q",
    q_measure,
    terms=q_terms,
    at_parameter="cutoff",
    laws=(GRADED - {Law.SWAP}) | {Law.ONE_IF_IDEAL, Law.STEPWISE, Law.PARTED},
)


def o_measure(
    ranking: Ranking,
    *,
    beta: float = 1.0,
    rel: float | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
) -> Floats:
    r"""Return the blended ratio of precision and gain at the first relevant result.

    $$\mathrm{O} = \frac{1 + \beta \, v(g_r)}{r + \beta \, V^*_r}, \qquad
      r = \min \{ i : g_i \ge \mathrm{rel} \}$$

    where $g_i$ is the grade of the result at rank $i$ and $V^*_r$ the sum of gains of the best order down to
    rank $r$. A relevant grade is worth $v(g) = g$ (`gain="linear"`), $2^g - 1$ (`"exp"`) or what `gains`
    says. With `beta=0` it is the reciprocal rank.

    Title: O-measure: how soon the first relevant result comes, and how relevant it is.
    Unjudged: counts as not relevant.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: NTCIREVAL's and pyNTCIREVAL's `O-measure`, where a document is relevant from grade 1.
    References: Sakai. On the properties of evaluation metrics for finding one highly relevant document. IPSJ
        Transactions on Databases 48(SIG9), 2007.

    Example:
        A document of grade 1 comes second, where the best order would have gained 3, $(1 + 1) / (2 + 3)$:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 2}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "O").mean()
        {'O': 0.4}
    """
    first = ranking.hits(rel) & (ranking.found(rel) == 1)
    gained = 1.0 + beta * relevant_gains(ranking, rel, gain, gains)
    ideal = ranking.rank + beta * ideal_gain_down_to(ranking, rel, gain, gains)
    return segment_sum(np.where(first, gained / ideal, 0.0), ranking.offset)


O = _measure(  # noqa: E741 - its published name
    "O", o_measure, terms=first_ratio_terms, laws=(GRADED - {Law.SWAP}) | {Law.ONE_IF_IDEAL, Law.STEPWISE}
)


def preferred_ratio(
    ranking: Ranking,
    *,
    beta: float = 1.0,
    rel: float | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
) -> Floats:
    r"""Return the blended ratio of precision and gain at the first of the most relevant results.

    $$\mathrm{P\text{-}measure} = \mathrm{BR}(r_p), \qquad
      \mathrm{BR}(i) = \frac{n_i + \beta \, V_i}{i + \beta \, V^*_i}$$

    where $g_i$ is the grade of the result at rank $i$, $n_i$ the number of relevant documents down to there,
    $V_i$ the sum of their gains and $V^*_i$ that of the best order. A relevant grade is worth itself
    (`gain="linear"`), $2^g - 1$ (`"exp"`) or what `gains` says. $r_p$ is the rank of the first of the most
    relevant documents that were retrieved; to get there, a reader must pass over all results above. Moving a
    better result up can lower it, because what stood there then lies below $r_p$.

    Title: P-measure: how good the results are down to the best of them.
    Unjudged: counts as not relevant.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: NTCIREVAL's and pyNTCIREVAL's `P-measure`, where a document is relevant from grade 1.
    References: Sakai. On the properties of evaluation metrics for finding one highly relevant document. IPSJ
        Transactions on Databases 48(SIG9), 2007.

    Example:
        The best result comes third, after one that is relevant and one that is not, $(2 + 3) / (3 + 3)$:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 2}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "P_measure").mean()
        {'P_measure': 0.8333...}
    """
    ratio = blended_ratio(ranking, beta, rel, gain, gains)
    return segment_sum(np.where(is_top_document(ranking, rel), ratio, 0.0), ranking.offset)


P_measure = _measure(
    "P_measure",
    preferred_ratio,
    terms=top_ratio_terms,
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.ONE_IF_IDEAL, Law.GAIN_ONLY}),
)


def preferred_average(
    ranking: Ranking,
    *,
    beta: float = 1.0,
    rel: float | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
) -> Floats:
    r"""Return the blended ratio of precision and gain, averaged over the relevant results down to the best of them.

    $$\mathrm{P\text{-}plus} = \frac{1}{n_{r_p}} \sum_{i \le r_p,\; g_i \ge \mathrm{rel}} \mathrm{BR}(i), \qquad
      \mathrm{BR}(i) = \frac{n_i + \beta \, V_i}{i + \beta \, V^*_i}$$

    where $g_i$ is the grade of the result at rank $i$, $n_i$ the number of relevant documents down to there,
    $V_i$ the sum of their gains and $V^*_i$ that of the best order. A relevant grade is worth itself
    (`gain="linear"`), $2^g - 1$ (`"exp"`) or what `gains` says. $r_p$ is the rank of the first of the most
    relevant documents that were retrieved; to get there, a reader must pass over all results above. Moving a
    better result up can lower it, because what stood there then lies below $r_p$.

    Title: P-plus: how good the results are on the way to the best of them.
    Unjudged: counts as not relevant.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: NTCIREVAL's and pyNTCIREVAL's `P-plus`, where a document is relevant from grade 1.
    References: Sakai. On the properties of evaluation metrics for finding one highly relevant document. IPSJ
        Transactions on Databases 48(SIG9), 2007.

    Example:
        The ratios at the second and third result are $(1 + 1) / (2 + 3)$ and $(2 + 3) / (3 + 3)$:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 2}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "P_plus").mean()
        {'P_plus': 0.6166...}
    """
    best = is_top_document(ranking, rel)
    last = segment_sum(np.where(best, ranking.rank, 0.0), ranking.offset)[ranking.query]
    above = ranking.hits(rel) & (ranking.rank <= last)
    ratio = blended_ratio(ranking, beta, rel, gain, gains)
    total = segment_sum(np.where(above, ratio, 0.0), ranking.offset)
    return divide(total, segment_count(above, ranking.offset))


P_plus = _measure(
    "P_plus",
    preferred_average,
    terms=top_mean_terms,
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.ONE_IF_IDEAL, Law.GAIN_ONLY}),
)


def normalised_utility(
    ranking: Ranking,
    *,
    stop: Literal["graded", "biased", "uniform"] = "graded",
    beta: float = 1.0,
    rel: float | None = None,
    gain: Gain = "linear",
    gains: Gains | None = None,
    stops: Gains | None = None,
    gamma: float = 0.95,
) -> Floats:
    r"""Return the blended ratio of precision and gain at each relevant result, by the share of readers who stop there.

    $$\mathrm{NCU} = \sum_{i : g_i \ge \mathrm{rel}} p(i) \, \mathrm{BR}(i), \qquad
      \mathrm{BR}(i) = \frac{n_i + \beta \, V_i}{i + \beta \, V^*_i}$$

    where $g_i$ is the grade of the result at rank $i$, $n_i$ the number of relevant documents down to there,
    $V_i$ the sum of their gains and $V^*_i$ that of the best order. A relevant grade is worth itself
    (`gain="linear"`), $2^g - 1$ (`"exp"`) or what `gains` says. The share $p(i)$ of readers who stop at rank
    $i$ is $s(g_i) / \sum s(g^*)$ over all relevant documents (`stop="graded"`, $s$ being the gain or what
    `stops` says), $\gamma^{n_i - 1} / \sum_{j < R} \gamma^j$ (`"biased"`: towards the first relevant
    documents) or $1 / R$ (`"uniform"`, which makes it `Q`); $R$ is the number of relevant documents. With
    `beta=0` the ratio is precision: NTCIREVAL's `NCUgu,P` and `NCUrb,P`.

    Title: Normalised cumulative utility: what readers find useful down to the relevant document where they
        stop.
    Unjudged: counts as not relevant.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: NTCIREVAL's and pyNTCIREVAL's `NCUgu,P`, `NCUgu,BR` (`stop="graded"`), `NCUrb,P` and
        `NCUrb,BR` (`stop="biased"`), where a document is relevant from grade 1.
    References: Sakai and Robertson. Modelling a user population for designing information retrieval metrics. EVIA
        2008.

    Example:
        One in three readers stops at grade 1, with a ratio of $2/3$; the others at grade 2, with a ratio of 1:

        >>> qrels = {"q1": {"a": 1, "b": 2}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "NCU").mean()
        {'NCU': 0.8888...}
    """
    ratio = blended_ratio(ranking, beta, rel, gain, gains)
    if stop == "graded":
        here, there = (
            np.maximum(grade_gains(worth_of, gain, stops if stops is not None else gains), 0.0)
            for worth_of in (ranking.grade, ranking.best)
        )
    else:
        step = gamma if stop == "biased" else 1.0
        here, there = powers(step)(np.maximum(ranking.found(rel) - 1, 0)), powers(step)(ranking.best_rank - 1)
    readers = segment_sum(np.where(ranking.best_relevant(rel), there, 0.0), ranking.best_offset)
    return divide(segment_sum(here * ratio, ranking.offset), readers)


NCU = _measure(
    "NCU",
    normalised_utility,
    terms=blended_terms,
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.ONE_IF_IDEAL, Law.GAIN_ONLY, Law.STEPWISE}),
)
