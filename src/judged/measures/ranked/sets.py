"""Measures of everything retrieved as a set, regardless of order."""

from __future__ import annotations

import math

import numpy as np

from judged.arrays import Floats
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.ranked.terms import (
    set_average_precision_terms,
    set_precision_terms,
    set_recall_terms,
    set_relative_precision_terms,
)
from judged.kernels.segments import divide
from judged.measures.laws import BINARY_SET, Law
from judged.measures.measure import Measure


def set_precision(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return the share of relevant documents among everything retrieved, regardless of order.

    $$\mathrm{SetP} = \frac{h}{n}$$

    where $h$ is the number of relevant documents among the $n$ retrieved.

    Title: Set precision: how much of everything retrieved is relevant.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: `trec_eval -m set_P`; ir_measures' `SetP`.
    References: van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.

    Example:
        One of four retrieved documents is relevant:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 0}}
        >>> run = {"q1": ["a", "b", "c", "d"]}
        >>> judged.evaluate(qrels, run, "SetP").mean()
        {'SetP': 0.25}
    """
    return divide(ranking.hits_within(None, rel), ranking.retrieved)


SetP = Measure("SetP", set_precision, terms=set_precision_terms, laws=BINARY_SET | {Law.LINEAR})


def set_recall(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return the share of all relevant documents that is retrieved, regardless of order.

    $$\mathrm{SetR} = \frac{h}{R}$$

    where $h$ is the number of relevant documents retrieved and $R$ that of all relevant documents.

    Title: Set recall: how much of what is relevant is retrieved at all.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m set_recall`; ir_measures' `SetR`.
    References: van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.

    Example:
        One of two relevant documents is retrieved:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "SetR").mean()
        {'SetR': 0.5}
    """
    return divide(ranking.hits_within(None, rel), ranking.relevant(rel))


SetR = Measure("SetR", set_recall, terms=set_recall_terms, laws=BINARY_SET | {Law.LINEAR})


def set_f(
    ranking: Ranking, *, rel: float | None = None, beta: float = 1.0, weight: float | None = None
) -> Floats:
    r"""Return the weighted harmonic mean of set precision and set recall.

    $$\mathrm{SetF}_\beta = \frac{(1 + \beta^2) P R}{\beta^2 P + R}$$

    where $P$ and $R$ are set precision and set recall: recall matters `beta` times as much as precision.
    `weight`, if given, is $\beta^2$.

    Title: Set F: precision and recall of everything retrieved, weighted, in one number.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m set_F.x` where `weight` is x: trec_eval, and with it ir_measures'
        `SetF(beta=x)`, do not square it.
    References: van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.

    Example:
        Precision is 1 and recall 1/2:

        >>> qrels = {"q1": {"a": 1, "b": 1}}
        >>> run = {"q1": ["a"]}
        >>> judged.evaluate(qrels, run, "SetF SetF(beta=2)").mean()
        {'SetF': 0.6666..., 'SetF(beta=2)': 0.5555...}
    """
    hits = ranking.hits_within(None, rel)
    square = beta * beta if weight is None else weight
    precision, recall = divide(hits, ranking.retrieved), divide(hits, ranking.relevant(rel))
    return divide((1.0 + square) * precision * recall, square * precision + recall)


SetF = Measure("SetF", set_f, laws=BINARY_SET | {Law.LINEAR})


def set_average_precision(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return average precision if every relevant document retrieved had the precision of the whole set.

    $$\mathrm{SetAP} = \frac{h^2}{n R}$$

    where $h$ is the number of relevant documents among the $n$ retrieved and $R$ that of all relevant
    documents.

    Title: Set average precision: set precision times set recall.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m set_map`; ir_measures' `SetAP`.
    References: Buckley. trec_eval, measure `set_map`. NIST, 2008.

    Example:
        Set precision and set recall are 1/2 each:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "SetAP").mean()
        {'SetAP': 0.25}
    """
    hits = ranking.hits_within(None, rel)
    return divide(hits * hits, ranking.retrieved * ranking.relevant(rel))


SetAP = Measure(
    "SetAP", set_average_precision, terms=set_average_precision_terms, laws=BINARY_SET | {Law.STEPWISE}
)


def set_relative_precision(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return the number of relevant documents retrieved over the most that could have been.

    $$\mathrm{SetRelP} = \frac{h}{\min(n, R)}$$

    where $h$ is the number of relevant documents among the $n$ retrieved and $R$ that of all relevant
    documents.

    Title: Relative set precision: set precision as a share of the best that a set of that size can have.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m set_relative_P`; ir_measures' `SetRelP`.
    References: Buckley. trec_eval, measure `set_relative_P`. NIST, 2008.

    Example:
        Two documents are retrieved and one of them is relevant; two could have been:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 1, "d": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "SetRelP").mean()
        {'SetRelP': 0.5}
    """
    return divide(ranking.hits_within(None, rel), np.minimum(ranking.retrieved, ranking.relevant(rel)))


SetRelP = Measure(
    "SetRelP", set_relative_precision, terms=set_relative_precision_terms, laws=BINARY_SET | {Law.LINEAR}
)


def utility(
    ranking: Ranking,
    *,
    rel: float | None = None,
    a: float = 1.0,
    b: float = -1.0,
    c: float = 0.0,
    d: float = 0.0,
    collection: int = 0,
) -> Floats:
    r"""Return the worth of a retrieved set by four prices; by default, relevant documents less the others.

    $$\mathrm{Utility} = a \, h + b \, (n - h) + c \, (R - h) + d \, (N - n - R + h)$$

    where $h$ is the number of relevant documents among the $n$ retrieved, $R$ that of all relevant documents
    and $N$ that of all documents (`collection`), which is needed only where $d$ is not 0.

    Title: Utility: what the retrieved set is worth when hits and misses have prices.
    Empty: $c R + d (N - R)$ when nothing is retrieved; 0 for a query missing from the run.
    Agrees with: `trec_eval -m utility.a,b,c,d` with `-N` for `collection`.
    References: Lewis. The TREC-4 filtering track. TREC 1995.

    Example:
        One relevant document and two others are retrieved:

        >>> qrels = {"q1": {"a": 1, "b": 0}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "Utility").mean()
        {'Utility': -1.0}
    """
    found, relevant = ranking.hits_within(None, rel), ranking.relevant(rel)
    other = collection - ranking.retrieved - relevant + found
    value = a * found + b * (ranking.retrieved - found) + c * (relevant - found) + d * other
    return np.asarray(value, dtype=np.float64)


Utility = Measure(
    "Utility",
    utility,
    bounds=(-math.inf, math.inf),
    laws=frozenset(
        {Law.SWAP, Law.ORDER_FREE, Law.RELEVANCE_ONLY, Law.LINEAR, Law.BY_GRADE, Law.IN_ORDER, Law.ONE_WAY}
    ),
)
