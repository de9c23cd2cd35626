"""Measures for each intent of a query by itself, averaged, and of the share of intents and targets that are covered."""

from __future__ import annotations

import math

import numpy as np

from judged.arrays import Floats
from judged.kernels.diversity import intent_mean, split_by_intent
from judged.kernels.ranked.precision import precision_sum, targets_found, targets_judged
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import divide
from judged.measures.laws import Law
from judged.measures.measure import Measure
from judged.measures.parameters import Parameter, Value
from judged.measures.parse import parse_measure


def intent_aware_average_precision(
    ranking: Ranking, *, cutoff: int | None = None, rel: float | None = None
) -> Floats:
    r"""Return the average precision of the results, for each intent by itself, averaged over intents.

    $$\mathrm{AP\text{-}IA}@k = \sum_{j} \frac{w_j}{\sum_{l} w_l} \, \mathrm{AP}_j@k$$

    where $\mathrm{AP}_j$ is `AP` with the grades that documents have for intent $j$, and $w_j$ the weight of
    the intent, 1 unless the judgments give others. Intents without a relevant document are left out. The mean
    over queries is known as MAP-IA.

    Title: Intent-aware average precision: average precision for each intent, averaged.
    Unjudged: counts as not relevant; so does a document that was not judged for the intent.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `MAP-IA` and ir_measures' `AP_IA` for equal weights; `IA(of="AP")` is the same.
    References: Agrawal, Gollapudi, Halverson and Ieong. Diversifying search results. WSDM 2009.
        doi:10.1145/1498759.1498766

    Example:
        The first result is all that one intent needs; of the other, the only document comes third:

        >>> qrels = {"q1": {"a": {"1": 1}, "b": {"1": 0}, "c": {"2": 1}}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "AP_IA").mean()
        {'AP_IA': 0.6666...}
    """
    apart = split_by_intent(ranking)
    return intent_mean(ranking, divide(precision_sum(apart, cutoff, rel), apart.relevant(rel)), rel)


AP_IA = Measure(
    "AP_IA",
    intent_aware_average_precision,
    at_parameter="cutoff",
    group="diversity",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.STEPWISE}),
    needs="intents",
)


def intent_aware_precision(ranking: Ranking, *, cutoff: int, rel: float | None = None) -> Floats:
    r"""Return the share of the first `cutoff` results that are relevant to an intent, averaged over intents.

    $$\mathrm{P\text{-}IA}@k = \sum_{j} \frac{w_j}{\sum_{l} w_l} \, \mathrm{P}_j@k$$

    where $\mathrm{P}_j$ is `P` with the grades that documents have for intent $j$, and $w_j$ the weight of
    the intent, 1 unless the judgments give others. Intents without a relevant document are left out.

    Title: Intent-aware precision: precision for each intent, averaged.
    Unjudged: counts as not relevant; so does a document that was not judged for the intent.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `P-IA` and ir_measures' `P_IA` for equal weights; `IA(of="P@10")` is the same.
    References: Agrawal, Gollapudi, Halverson and Ieong. Diversifying search results. WSDM 2009.
        doi:10.1145/1498759.1498766

    Example:
        Both results are relevant to the first intent, one to the second:

        >>> qrels = {"q1": {"a": {"1": 1}, "b": {"1": 1, "2": 1}}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "P_IA@2").mean()
        {'P_IA@2': 0.75}
    """
    return intent_mean(ranking, split_by_intent(ranking).hits_within(cutoff, rel) / cutoff, rel)


P_IA = Measure(
    "P_IA",
    intent_aware_precision,
    at_parameter="cutoff",
    group="diversity",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.LINEAR}),
    needs="intents",
)


def subtopic_recall(ranking: Ranking, *, cutoff: int | None = None, rel: float | None = None) -> Floats:
    r"""Return the share of a query's intents that the first `cutoff` results answer.

    $$\mathrm{StRecall}@k = \sum_{j} \frac{w_j}{\sum_{l} w_l} \, \max_{i \le k} J_{ij}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, and $w_j$ the weight of
    the intent, 1 unless the judgments give others. Intents without a relevant document are left out.

    Title: Subtopic recall: how many of the intents of a query are answered.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `strec` and ir_measures' `StRecall` for equal weights; `DR` where each document has
        one intent; `IA(of="Success@10")` is the same.
    References: Zhai, Cohen and Lafferty. Beyond independent relevance: methods and evaluation metrics for
        subtopic retrieval. SIGIR 2003. doi:10.1145/860435.860440

    Example:
        The first two results answer one intent, twice; the second intent is not answered:

        >>> qrels = {"q1": {"a": {"1": 1}, "b": {"1": 1}, "c": {"2": 1}}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "StRecall@2").mean()
        {'StRecall@2': 0.5}
    """
    return intent_mean(ranking, np.minimum(split_by_intent(ranking).hits_within(cutoff, rel), 1.0), rel)


StRecall = Measure(
    "StRecall",
    subtopic_recall,
    at_parameter="cutoff",
    group="diversity",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.ONE_IF_IDEAL, Law.STEPWISE}),
    needs="intents",
)


def intent_aware(ranking: Ranking, *, of: str) -> Floats:
    r"""Return another measure of the results, for each intent by itself, averaged over intents.

    $$M\text{-}\mathrm{IA} = \sum_{j} \frac{w_j}{\sum_{l} w_l} \, M_j$$

    where $M_j$ is the measure `of` with the grades that documents have for intent $j$, and $w_j$ the weight
    of the intent, 1 unless the judgments give others. Intents without a relevant document are left out;
    relevant means what it does in the measure. `nDCG_IA@10` is read as `IA(of="nDCG@10")`, and so are all
    others.

    Title: Intent-aware measures in general: another measure for each intent, averaged.
    Unjudged: as in the measure; a document that was not judged for the intent is unjudged.
    Empty: 0 when no intent has a relevant document; else the mean of what the measure says.
    Agrees with: its definition; of ndeval, only `MAP-IA`, `P-IA` and `strec` are of this kind, as `AP_IA`,
        `P_IA` and `StRecall` here.
    References: Agrawal, Gollapudi, Halverson and Ieong. Diversifying search results. WSDM 2009.
        doi:10.1145/1498759.1498766

    Example:
        The first result answers one intent, the second another, so the reciprocal ranks are 1 and 1/2:

        >>> qrels = {"q1": {"a": {"1": 1}, "b": {"2": 1}}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, 'IA(of="RR")').mean()
        {'IA(of="RR")': 0.75}
    """
    measure = parse_measure(of)
    rel = measure.parameters.get("rel")
    values = measure.per_query(split_by_intent(ranking))
    return intent_mean(ranking, values, rel if isinstance(rel, int | float) else None)


def _parse_inner(value: object) -> Value:
    """Return the measure as it is written; raise ValueError if its mean over intents has no meaning."""
    measure = parse_measure(value) if isinstance(value, str | Measure) else None
    if measure is None or measure.needs == "intents" or measure.text:
        raise ValueError
    if measure.bounds != (0.0, 1.0) or measure.aggregate != "mean" or not measure.zero_if_missing:
        raise ValueError
    if set(measure.defaults) != set(measure.parameters):  # one that must be given is not
        raise ValueError
    return str(measure)


IA = Measure(
    "IA",
    intent_aware,
    group="diversity",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND}),
    extra_parameters={
        "of": Parameter(
            "the measure that is averaged over intents",
            "a measure from 0 to 1, complete with its cutoff, that does not look at intents itself, such as `nDCG@10`",
            _parse_inner,
        )
    },
    needs="intents",
    wraps="of",
)


def diversity_recall(ranking: Ranking, *, cutoff: int, rel: float | None = None) -> Floats:
    r"""Return the share of a query's distinct targets that the first `cutoff` results answer.

    $$\mathrm{DR}@k = \frac{|\{ t(d_i) : i \le k,\; g_i \ge \mathrm{rel} \}|}
                           {|\{ t(d) : g_d \ge \mathrm{rel} \}|}$$

    where $d_i$ is the document at rank $i$, $g$ a document's grade and $t(d)$ the target that the judgments
    give it; a document without one is its own target, and then this is recall.

    Title: Diversity recall: how many of the different answers to a query are shown.
    Unjudged: counts as not relevant.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: subtopic recall (`StRecall` of ir_measures, `strec` of ndeval) where targets are subtopics
        and each document has one.
    References: Zhai, Cohen and Lafferty. Beyond independent relevance: methods and evaluation metrics for
        subtopic retrieval. SIGIR 2003. doi:10.1145/860435.860440

    Example:
        Three relevant documents answer two targets; the first two results answer the same one:

        >>> targets = {"a": "t1", "b": "t1", "c": "t2"}
        >>> qrels = [
        ...     {"query": "q1", "document": document, "grade": 1, "target": target}
        ...     for document, target in targets.items()
        ... ]
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "DR@2").mean()
        {'DR@2': 0.5}
    """
    return divide(targets_found(ranking, cutoff, rel), targets_judged(ranking, rel))


DR = Measure(
    "DR",
    diversity_recall,
    at_parameter="cutoff",
    group="diversity",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.ONE_IF_IDEAL, Law.STEPWISE, Law.IN_ORDER, Law.ONE_WAY}),
)


def diversity_count(ranking: Ranking, *, cutoff: int = 20, rel: float | None = None) -> Floats:
    r"""Return how many distinct targets the first `cutoff` results answer.

    $$\mathrm{DiversityCount}@k = |\{ t(d_i) : i \le k,\; g_i \ge \mathrm{rel} \}|$$

    where $d_i$ is the document at rank $i$, $g_i$ its grade and $t(d)$ the target that the judgments give it;
    a document without one is its own target.

    Title: Diversity count: how many different answers are shown.
    Unjudged: counts as not relevant.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: no other tool; `DR` is the same count as a share of all targets.
    References: Zhai, Cohen and Lafferty. Beyond independent relevance: methods and evaluation metrics for
        subtopic retrieval. SIGIR 2003. doi:10.1145/860435.860440

    Example:
        Three relevant results answer two targets:

        >>> targets = {"a": "t1", "b": "t1", "c": "t2"}
        >>> qrels = [
        ...     {"query": "q1", "document": document, "grade": 1, "target": target}
        ...     for document, target in targets.items()
        ... ]
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "DiversityCount").mean()
        {'DiversityCount': 2.0}
    """
    return targets_found(ranking, cutoff, rel).astype(np.float64)


DiversityCount = Measure(
    "DiversityCount",
    diversity_count,
    at_parameter="cutoff",
    bounds=(0.0, math.inf),
    group="diversity",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.WHOLE, Law.STEPWISE, Law.GROWS}),
)
