"""Novelty: what results contribute to the intents of a query that earlier results did not."""

from __future__ import annotations

from judged.arrays import Floats
from judged.kernels.diversity import (
    GREEDY_RATIO,
    best_novelty,
    geometric_discount,
    intent_weight,
    log_discount,
    novelty,
    reciprocal_discount,
    share_of_bound,
)
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import divide
from judged.measures.laws import Law
from judged.measures.measure import Measure
from judged.measures.parameters import PATIENCE, SATISFIED


def alpha_normalised_gain(
    ranking: Ranking, *, cutoff: int | None = None, alpha: float = 0.5, rel: float | None = None
) -> Floats:
    r"""Return the novelty of the results, discounted by rank, over that of a good order of all judged documents.

    $$\alpha\text{-}\mathrm{nDCG}@k = \frac{\sum_{i=1}^{k} G_i / \log_2(i + 1)}{\sum_{i=1}^{k} G^*_i / \log_2(i + 1)},
      \qquad G_i = \sum_{j} w_j \, J_{ij} (1 - \alpha)^{c_{ij}}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, $c_{ij}$ the number of
    results before it that are, and $w_j$ the weight of the intent, 1 unless the judgments give others. $G^*$
    belongs to the order that takes the document of the greatest novelty next, of several the one with the
    greatest id. This greedy order approximates the best one, which is too hard to find: a ranking can be
    better than it, and then scores above 1, though never above $e / (e - 1)$.

    Title: α-normalised discounted cumulative gain: α-DCG as a share of what the judged documents allow.
    Ties: results are in the order that the protocol's tie rule gives; the order of ids in the divisor does
        not depend on it.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `alpha-nDCG` and ir_measures' `alpha_nDCG` for equal weights; both stop at 20.
    References: Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher and MacKinnon. Novelty and diversity in
        information retrieval evaluation. SIGIR 2008. doi:10.1145/1390334.1390446

    Example:
        The second result answers what the first did, and so is worth half of one that was missed: 1 + ½ · 0.6309
        over 1 + 0.6309:

        >>> qrels = {"q1": {"a": {"1": 1}, "b": {"1": 1}, "c": {"2": 1}}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "alpha_nDCG@2").mean()
        {'alpha_nDCG@2': 0.8065...}
    """
    best = best_novelty(ranking, log_discount, alpha=alpha, rel=rel, cutoff=cutoff)
    return divide(novelty(ranking, log_discount, alpha=alpha, rel=rel, cutoff=cutoff), best)


alpha_nDCG = Measure(
    "alpha_nDCG",
    alpha_normalised_gain,
    at_parameter="cutoff",
    bounds=(0.0, GREEDY_RATIO),
    group="diversity",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.ONE_IF_IDEAL, Law.STEPWISE}),
    needs="intents",
)


def alpha_discounted_gain(
    ranking: Ranking, *, cutoff: int, alpha: float = 0.5, rel: float | None = None
) -> Floats:
    r"""Return the novelty of the first `cutoff` results, discounted by rank, over the most that any results could have.

    $$\alpha\text{-}\mathrm{DCG}@k = \frac{\sum_{i=1}^{k} \sum_{j} w_j \, J_{ij} (1 - \alpha)^{c_{ij}} / \log_2(i + 1)}
           {\sum_{j} w_j \, \sum_{i=1}^{k} (1 - \alpha)^{i - 1} / \log_2(i + 1)}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, $c_{ij}$ the number of
    results before it that are, and $w_j$ the weight of the intent, 1 unless the judgments give others.
    Intents without a relevant document are left out. The divisor is what results would have that all answer
    every intent; it does not depend on which documents there are.

    Title: α-discounted cumulative gain: gain that is discounted by rank, and for every intent that was answered before.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `alpha-DCG` and ir_measures' `alpha_DCG` for equal weights and from `@2` on; at 1
        they leave out the divisor, and a value may exceed 1.
    References: Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher and MacKinnon. Novelty and diversity in
        information retrieval evaluation. SIGIR 2008. doi:10.1145/1390334.1390446
        Clarke, Craswell, Soboroff and Ashkan. A comparative analysis of cascade measures for novelty and
        diversity. WSDM 2011. doi:10.1145/1935826.1935847

    Example:
        Of two intents, the first result answers one, so half of what a result can be worth:

        >>> qrels = {"q1": {"a": {"1": 1}, "b": {"1": 1, "2": 1}}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "alpha_DCG@1").mean()
        {'alpha_DCG@1': 0.5}
    """
    return share_of_bound(ranking, log_discount, alpha=alpha, rel=rel, cutoff=cutoff)


alpha_DCG = Measure(
    "alpha_DCG",
    alpha_discounted_gain,
    at_parameter="cutoff",
    group="diversity",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.STEPWISE}),
    needs="intents",
)


def intent_aware_err(
    ranking: Ranking, *, cutoff: int, alpha: float = 0.5, rel: float | None = None
) -> Floats:
    r"""Return the mean over intents of one over the rank at which a reader is satisfied, over the most it could be.

    $$\mathrm{ERR\text{-}IA}@k = \frac{\sum_{i=1}^{k} \frac{1}{i} \sum_{j} w_j \, J_{ij} (1 - \alpha)^{c_{ij}}}
           {\sum_{j} w_j \, \sum_{i=1}^{k} \frac{1}{i} (1 - \alpha)^{i - 1}}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, $c_{ij}$ the number of
    results before it that are, $\alpha$ the chance that a relevant result satisfies, and $w_j$ the weight of
    the intent, 1 unless the judgments give others. Intents without a relevant document are left out. This is
    ndeval's form, whose highest value is 1; the plain mean of `ERR` over intents, with grades, is
    `IA(of="ERR@20")`.

    Title: Intent-aware expected reciprocal rank: how soon a reader of unknown intent is satisfied.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `ERR-IA` and ir_measures' `ERR_IA` for equal weights and from `@2` on; at 1 they
        leave out the divisor, and a value may exceed 1.
    References: Chapelle, Metzler, Zhang and Grinspan. Expected reciprocal rank for graded relevance. CIKM
        2009. doi:10.1145/1645953.1646033
        Clarke, Craswell, Soboroff and Ashkan. A comparative analysis of cascade measures for novelty and
        diversity. WSDM 2011. doi:10.1145/1935826.1935847

    Example:
        Of two intents, both results answer the first; of a possible 1 + 1/4 for each, it has all:

        >>> qrels = {"q1": {"a": {"1": 1}, "b": {"1": 1}, "c": {"2": 1}}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "ERR_IA@2").mean()
        {'ERR_IA@2': 0.5}
    """
    return share_of_bound(ranking, reciprocal_discount, alpha=alpha, rel=rel, cutoff=cutoff)


ERR_IA = Measure(
    "ERR_IA",
    intent_aware_err,
    at_parameter="cutoff",
    group="diversity",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.STEPWISE}),
    extra_parameters={"alpha": SATISFIED},
    needs="intents",
)


def normalised_intent_aware_err(
    ranking: Ranking, *, cutoff: int | None = None, alpha: float = 0.5, rel: float | None = None
) -> Floats:
    r"""Return how soon a reader of unknown intent is satisfied, relative to a good order of all judged documents.

    $$\mathrm{nERR\text{-}IA}@k = \frac{\sum_{i=1}^{k} G_i / i}{\sum_{i=1}^{k} G^*_i / i},
      \qquad G_i = \sum_{j} w_j \, J_{ij} (1 - \alpha)^{c_{ij}}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, $c_{ij}$ the number of
    results before it that are, $\alpha$ the chance that a relevant result satisfies, and $w_j$ the weight of
    the intent, 1 unless the judgments give others. $G^*$ belongs to the order that takes the document of the
    greatest novelty next, of several the one with the greatest id. This greedy order approximates the best
    one: a ranking can be better than it, and then scores above 1, though never above $e / (e - 1)$.

    Title: Normalised intent-aware expected reciprocal rank: ERR-IA as a share of what the judged documents
        allow.
    Ties: results are in the order that the protocol's tie rule gives; the order of ids in the divisor does
        not depend on it.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's `nERR-IA` and ir_measures' `nERR_IA` for equal weights; both stop at 20.
    References: Chapelle, Metzler, Zhang and Grinspan. Expected reciprocal rank for graded relevance. CIKM
        2009. doi:10.1145/1645953.1646033
        Clarke, Craswell, Soboroff and Ashkan. A comparative analysis of cascade measures for novelty and
        diversity. WSDM 2011. doi:10.1145/1935826.1935847

    Example:
        Results that answer one intent twice contribute 1 + 1/4, where 1 + 1/2 was possible:

        >>> qrels = {"q1": {"a": {"1": 1}, "b": {"1": 1}, "c": {"2": 1}}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "nERR_IA@2").mean()
        {'nERR_IA@2': 0.8333...}
    """
    best = best_novelty(ranking, reciprocal_discount, alpha=alpha, rel=rel, cutoff=cutoff)
    return divide(novelty(ranking, reciprocal_discount, alpha=alpha, rel=rel, cutoff=cutoff), best)


nERR_IA = Measure(
    "nERR_IA",
    normalised_intent_aware_err,
    at_parameter="cutoff",
    bounds=(0.0, GREEDY_RATIO),
    group="diversity",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.ONE_IF_IDEAL, Law.STEPWISE}),
    extra_parameters={"alpha": SATISFIED},
    needs="intents",
)


def novelty_rank_biased(
    ranking: Ranking, *, alpha: float = 0.5, beta: float = 0.5, rel: float | None = None
) -> Floats:
    r"""Return the novelty of all results, the reader going on from each to the next with chance `beta`.

    $$\mathrm{NRBP} = \frac{1 - (1 - \alpha) \beta}{\sum_{j} w_j} \sum_{i} \beta^{i - 1} \sum_{j} w_j \, J_{ij} (1 - \alpha)^{c_{ij}}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, $c_{ij}$ the number of
    results before it that are, and $w_j$ the weight of the intent, 1 unless the judgments give others.
    Intents without a relevant document are left out. Results that all answer every intent, without end, score
    1.

    Title: Novelty- and rank-biased precision: what a reader of fixed patience finds that is new.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's and ir_measures' `NRBP` for equal weights.
    References: Clarke, Kolla and Vechtomova. An effectiveness measure for ambiguous and underspecified
        queries.
        ICTIR 2009. doi:10.1007/978-3-642-04417-5_17

    Example:
        One intent, answered first: of 1 + 1/4 + 1/16 and so on, the first term:

        >>> qrels = {"q1": {"a": {"1": 1}, "b": {"1": 0}}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "NRBP").mean()
        {'NRBP': 0.75}
    """
    got = novelty(ranking, geometric_discount(beta), alpha=alpha, rel=rel)
    return divide(got * (1.0 - (1.0 - alpha) * beta), intent_weight(ranking, rel))


NRBP = Measure(
    "NRBP",
    novelty_rank_biased,
    group="diversity",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.STEPWISE}),
    extra_parameters={"beta": PATIENCE},
    needs="intents",
)


def normalised_novelty_rank_biased(
    ranking: Ranking, *, alpha: float = 0.5, beta: float = 0.5, rel: float | None = None
) -> Floats:
    r"""Return what a reader of fixed patience finds that is new, relative to a good order of all judged documents.

    $$\mathrm{nNRBP} = \frac{\sum_{i} \beta^{i - 1} G_i}{\sum_{i} \beta^{i - 1} G^*_i},
      \qquad G_i = \sum_{j} w_j \, J_{ij} (1 - \alpha)^{c_{ij}}$$

    where $J_{ij}$ is 1 if the result at rank $i$ is relevant to intent $j$, else 0, $c_{ij}$ the number of
    results before it that are, and $w_j$ the weight of the intent, 1 unless the judgments give others. $G^*$
    belongs to the order that takes the document of the greatest novelty next, of several the one with the
    greatest id. This greedy order approximates the best one: a ranking can be better than it, and then scores
    above 1, though never above $e / (e - 1)$.

    Title: Normalised novelty- and rank-biased precision: NRBP as a share of what the judged documents allow.
    Ties: results are in the order that the protocol's tie rule gives; the order of ids in the divisor does
        not depend on it.
    Empty: 0 when nothing relevant is retrieved, and when no intent has a relevant document.
    Agrees with: ndeval's and ir_measures' `nNRBP` for equal weights, which is not a number where no intent
        has a relevant document.
    References: Clarke, Kolla and Vechtomova. An effectiveness measure for ambiguous and underspecified
        queries.
        ICTIR 2009. doi:10.1007/978-3-642-04417-5_17

    Example:
        The one relevant document comes second, half as good as first:

        >>> qrels = {"q1": {"a": {"1": 0}, "b": {"1": 1}}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "nNRBP").mean()
        {'nNRBP': 0.5}
    """
    best = best_novelty(ranking, geometric_discount(beta), alpha=alpha, rel=rel)
    return divide(novelty(ranking, geometric_discount(beta), alpha=alpha, rel=rel), best)


nNRBP = Measure(
    "nNRBP",
    normalised_novelty_rank_biased,
    bounds=(0.0, GREEDY_RATIO),
    group="diversity",
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.ONE_IF_IDEAL, Law.STEPWISE}),
    extra_parameters={"beta": PATIENCE},
    needs="intents",
)
