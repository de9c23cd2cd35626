"""Precision, recall and their kin: how many of the first results are relevant, and how many of the relevant are found."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judged.arrays import Floats
from judged.kernels.ranked.precision import count_findable
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import divide, segment_count, segment_max
from judged.measures.fold import Fold
from judged.measures.laws import BINARY, BINARY_IN_ORDER, Law
from judged.measures.measure import Measure
from judged.plugins import defer


def precision(
    ranking: Ranking,
    *,
    cutoff: int,
    rel: float | None = None,
    over: Literal["cutoff", "retrieved"] = "cutoff",
) -> Floats:
    r"""Return the share of relevant documents among the first `cutoff` results.

    $$\mathrm{P}@k = \frac{|\{ i \le k : g_i \ge \mathrm{rel} \}|}{k}$$

    where $g_i$ is the grade of the result at rank $i$. With `over="retrieved"` the divisor is $\min(k, n)$
    for $n$ retrieved documents, so that a short list is not punished for its length.

    Title: Precision: how much of what is shown is relevant.
    Empty: 0 when nothing relevant is retrieved; places of a short list that stay empty count as not relevant.
    Agrees with: `trec_eval -m P`; ir_measures' `P`; ranx' `precision`.
    References: van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.

    Example:
        Two of the first four results are relevant:

        >>> qrels = {"q1": {"a": 1, "b": 0, "c": 1, "d": 0}}
        >>> run = {"q1": ["a", "b", "c", "d"]}
        >>> judged.evaluate(qrels, run, "P@4").mean()
        {'P@4': 0.5}
        >>> qrels = {"q1": {"a": 1, "b": 0}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, ["P@4", 'P(over="retrieved")@4']).mean()
        {'P@4': 0.25, 'P(over="retrieved")@4': 0.5}
    """
    length = cutoff if over == "cutoff" else np.minimum(cutoff, ranking.retrieved)
    return divide(ranking.hits_within(cutoff, rel), np.asarray(length))


P = Measure(
    "P",
    precision,
    terms=defer("judged.kernels.ranked.terms:precision_terms"),
    at_parameter="cutoff",
    laws=BINARY | {Law.LINEAR, Law.GROWS},
    values="binary at 1",
    fold=Fold("count", lambda _ranking, *, cutoff, **_: cutoff),
)


def recall(
    ranking: Ranking,
    *,
    cutoff: int,
    rel: float | None = None,
    over: Literal["relevant", "cutoff"] = "relevant",
) -> Floats:
    r"""Return the share of all relevant documents that are among the first `cutoff` results.

    $$\mathrm{R}@k = \frac{|\{ i \le k : g_i \ge \mathrm{rel} \}|}{R}$$

    where $g_i$ is the grade of the result at rank $i$ and $R$ the number of relevant documents of the query.
    With `over="cutoff"` the divisor is $\min(k, R)$, so that 1 can be reached at every $k$; this is what
    trec_eval calls `relative_P`, BEIR `R_cap` and ann-benchmarks recall.

    Title: Recall: how much of what is relevant is shown.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m recall`, and `-m relative_P` when `over` is `cutoff`; ir_measures' `R`.
    References: van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.

    Example:
        Three documents are relevant, one of them comes among the first two results:

        >>> qrels = {"q1": {"a": 1, "b": 0, "c": 1, "d": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "R@2").mean()
        {'R@2': 0.3333...}
        >>> judged.evaluate(qrels, run, 'R(over="cutoff")@2').mean()
        {'R(over="cutoff")@2': 0.5}
    """
    return divide(
        ranking.hits_within(cutoff, rel), count_findable(ranking, cutoff=cutoff, rel=rel, over=over)
    )


R = Measure(
    "R",
    recall,
    terms=defer("judged.kernels.ranked.terms:recall_terms"),
    at_parameter="cutoff",
    laws=BINARY_IN_ORDER | {Law.LINEAR, Law.ONE_WAY},
    fold=Fold("count", count_findable),
)


def f1(ranking: Ranking, *, cutoff: int, rel: float | None = None) -> Floats:
    r"""Return the harmonic mean of precision and recall of the first `cutoff` results.

    $$\mathrm{F1}@k = \frac{2 \cdot \mathrm{P}@k \cdot \mathrm{R}@k}{\mathrm{P}@k + \mathrm{R}@k}
                    = \frac{2 h}{k + R}$$

    where $h$ is the number of relevant documents among the first $k$ results and $R$ that of all relevant
    documents of the query. `SetF` is the same over everything retrieved, with a weight.

    Title: F1: precision and recall in one number.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: ranx' `f1`; trec_eval has it for whole sets only (`set_F`).
    References: van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.

    Example:
        Precision is 1/2 and recall is 1:

        >>> qrels = {"q1": {"a": 1, "b": 0}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "F1@2").mean()
        {'F1@2': 0.6666...}
    """
    return divide(2 * ranking.hits_within(cutoff, rel), cutoff + ranking.relevant(rel))


F1 = Measure(
    "F1",
    f1,
    terms=defer("judged.kernels.ranked.terms:f1_terms"),
    at_parameter="cutoff",
    laws=BINARY_IN_ORDER | {Law.LINEAR, Law.ONE_WAY},
)


def success(ranking: Ranking, *, cutoff: int, rel: float | None = None) -> Floats:
    r"""Return 1 if a relevant document is among the first `cutoff` results, else 0.

    $$\mathrm{Success}@k = [\, \exists\, i \le k : g_i \ge \mathrm{rel} \,]$$

    where $g_i$ is the grade of the result at rank $i$. The mean over queries is the share of queries that are
    answered, known as hit rate or `Hit@k`.

    Title: Success, or hit rate: whether anything relevant is shown at all.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: `trec_eval -m success`; ir_measures' `Success`; ranx' `hit_rate`.
    References: Tomlinson. Early precision measures: implications from the downside of blind feedback. SIGIR
        2006. doi:10.1145/1148170.1148319

    Example:
        The relevant result comes third:

        >>> qrels = {"q1": {"a": 0, "b": 0, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "Success@2 Success@3").mean()
        {'Success@2': 0.0, 'Success@3': 1.0}
    """
    return (ranking.hits_within(cutoff, rel) > 0).astype(float)


Success = Measure(
    "Success",
    success,
    terms=defer("judged.kernels.ranked.terms:success_terms"),
    at_parameter="cutoff",
    laws=BINARY | {Law.STEPWISE, Law.GROWS},
    values="binary",
    fold=Fold("any"),
)


def reciprocal_rank(ranking: Ranking, *, cutoff: int | None = None, rel: float | None = None) -> Floats:
    r"""Return one over the rank of the first relevant result.

    $$\mathrm{RR} = \frac{1}{\min \{ i : g_i \ge \mathrm{rel} \}}$$

    where $g_i$ is the grade of the result at rank $i$.

    Title: Reciprocal rank: how soon the first relevant result comes; over queries, mean reciprocal rank (MRR).
    Ties: the rank is the one the protocol's tie rule gives.
    Empty: 0 when no relevant result is retrieved (among the first `cutoff`, if that is set).
    Agrees with: `trec_eval -m recip_rank`; ir_measures' `RR` except for the tie rule of its `RR@k`.
    References: Voorhees. The TREC-8 Question Answering Track Report. TREC 1999.

    Example:
        The first relevant result comes second:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "RR").mean()
        {'RR': 0.5}
    """
    hit = ranking.hits(rel) & ranking.within(cutoff)
    return segment_max(hit / ranking.rank, ranking.offset)


RR = Measure(
    "RR",
    reciprocal_rank,
    terms=defer("judged.kernels.ranked.terms:reciprocal_rank_terms"),
    at_parameter="cutoff",
    laws=BINARY | {Law.STEPWISE, Law.GROWS},
    values="binary at 1",
    fold=Fold("first"),
)


def r_precision(ranking: Ranking, *, rel: float | None = None, multiple: float = 1.0) -> Floats:
    r"""Return the precision after $R$ results, or a multiple of $R$.

    $$\mathrm{Rprec} = \frac{|\{ i \le c : g_i \ge \mathrm{rel} \}|}{c}, \qquad
      c = \lfloor m R + 0.9 \rfloor$$

    where $g_i$ is the grade of the result at rank $i$, $R$ the number of relevant documents of the query and
    $m$ the `multiple`; at $m = 1$ precision and recall are equal.

    Title: R-precision: precision after as many results as there are relevant documents.
    Empty: 0 when nothing relevant is retrieved, and when the query has no relevant document.
    Agrees with: `trec_eval -m Rprec` and, for a `multiple`, `-m Rprec_mult`; ir_measures' `Rprec`.
    References: Buckley and Voorhees. Retrieval System Evaluation. In Voorhees and Harman (editors), TREC:
        Experiment and Evaluation in Information Retrieval. MIT Press, 2005.

    Example:
        Two documents are relevant; one of them comes among the first two, both among the first four:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "Rprec Rprec(multiple=2)").mean()
        {'Rprec': 0.5, 'Rprec(multiple=2)': 0.5}
    """
    cutoff = _count_results(ranking, rel=rel, multiple=multiple)
    near = ranking.rank <= cutoff[ranking.query]
    return divide(segment_count(ranking.hits(rel) & near, ranking.offset), cutoff)


def _count_results(ranking: Ranking, *, rel: float | None, multiple: float) -> Floats:
    """Return the number of results that R-precision of every query looks at."""
    count: Floats = np.floor(multiple * ranking.relevant(rel) + 0.9)
    return count


Rprec = Measure(
    "Rprec",
    r_precision,
    terms=defer("judged.kernels.ranked.terms:r_precision_terms"),
    laws=BINARY_IN_ORDER | {Law.LINEAR},
    in_order=defer("judged.kernels.in_order:r_precision_in_order"),
    fold=Fold("count to divisor", _count_results),
)


def fall_out(
    ranking: Ranking, *, cutoff: int | None = None, rel: float | None = None, collection: int | None = None
) -> Floats:
    r"""Return the share of the non-relevant documents that are among the first `cutoff` results.

    $$\mathrm{FallOut}@k = \frac{|\{ i \le k : 0 \le g_i < \mathrm{rel} \}|}{N}$$

    where $g_i$ is the grade of the result at rank $i$ and $N$ the number of judged non-relevant documents of
    the query. With `collection`, the number of all documents, everything that is not relevant counts, judged
    or not: the results among the first $k$ that are not relevant, over `collection` less the relevant.

    Title: Fall-out: how much of what is not relevant is shown.
    Unjudged: is passed over; with `collection`, counts as not relevant.
    Empty: 0 when nothing is retrieved, and when the query has no non-relevant document.
    Agrees with: torchmetrics' `retrieval_fall_out` where every document is judged and retrieved.
    References: van Rijsbergen. Information Retrieval, chapter 7. Butterworths, 1979.

    Example:
        One of the two judged non-relevant documents comes first:

        >>> qrels = {"q1": {"a": 0, "b": 1, "c": 0}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "FallOut@2").mean()
        {'FallOut@2': 0.5}
        >>> qrels = {"q1": {"a": 0, "b": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "FallOut(collection=101)@3").mean()
        {'FallOut(collection=101)@3': 0.02}
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
    at_parameter="cutoff",
    higher_is_better=False,
    laws=frozenset({Law.SWAP, Law.JUDGMENT_ONLY, Law.LINEAR, Law.IN_ORDER, Law.ONE_WAY}),
)
