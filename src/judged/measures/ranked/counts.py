"""Counts of queries and documents, and the relevance of each result as a string."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.ranked.terms import hits_terms
from judged.kernels.segments import segment_count
from judged.measures.laws import Law
from judged.measures.measure import Measure

_count = partial(Measure, bounds=(0.0, math.inf), aggregate="sum", higher_is_better=None)


def number_of_queries(ranking: Ranking) -> Floats:
    r"""Return 1 for each query, so that the sum is the number of queries that were scored.

    $$\mathrm{NumQ} = 1$$

    where missing queries count too, unless the protocol leaves them out.

    Title: Number of queries.
    Unjudged: does not matter.
    Empty: 1, regardless of what is retrieved.
    Agrees with: `trec_eval -m num_q`; ir_measures' `NumQ`.
    References: Buckley. trec_eval, measure `num_q`. NIST, 2008.

    Example:
        Two queries:

        >>> qrels = {"q1": {"a": 1}, "q2": {"a": 0}}
        >>> run = {"q1": ["a"], "q2": ["a"]}
        >>> judged.evaluate(qrels, run, "NumQ").mean()
        {'NumQ': 2.0}
    """
    return np.ones(len(ranking))


NumQ = _count(
    "NumQ",
    number_of_queries,
    zero_if_missing=False,
    laws=frozenset(
        {Law.WHOLE, Law.ORDER_FREE, Law.RUN_FREE, Law.GRADE_FREE, Law.RELEVANCE_ONLY, Law.LINEAR, Law.GROWS}
    ),
)


def number_retrieved(ranking: Ranking) -> Floats:
    r"""Return how many documents are retrieved, judged or not.

    $$\mathrm{NumRet} = n$$

    where $n$ is counted after the protocol's depth, and without unjudged documents if it removes them.

    Title: Number of retrieved documents.
    Unjudged: counts like any other.
    Empty: 0 when nothing is retrieved.
    Agrees with: `trec_eval -m num_ret`; ir_measures' `NumRet`.
    References: Buckley. trec_eval, measure `num_ret`. NIST, 2008.

    Example:
        Three documents, one of them unjudged:

        >>> qrels = {"q1": {"a": 1, "c": 0}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "NumRet").mean()
        {'NumRet': 3.0}
    """
    return ranking.retrieved.astype(np.float64)


NumRet = _count(
    "NumRet",
    number_retrieved,
    laws=frozenset({Law.WHOLE, Law.ORDER_FREE, Law.GRADE_FREE, Law.RELEVANCE_ONLY, Law.LINEAR, Law.GROWS}),
)


def number_relevant(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return how many documents are relevant to the query, retrieved or not.

    $$\mathrm{NumRel} = R = |\{ d : g_d \ge \mathrm{rel} \}|$$

    where $g_d$ is the grade of the judged document $d$.

    Title: Number of relevant documents.
    Empty: 0 when the query has no relevant document; what is retrieved does not matter.
    Agrees with: `trec_eval -m num_rel` (whose sum under `-c` forgets `-l`); ir_measures' `NumRel`.
    References: Buckley. trec_eval, measure `num_rel`. NIST, 2008.

    Example:
        One relevant document is retrieved and one is missed:

        >>> qrels = {"q1": {"a": 1, "b": 0, "c": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "NumRel").mean()
        {'NumRel': 2.0}
    """
    return ranking.relevant(rel).astype(np.float64)


NumRel = _count(
    "NumRel",
    number_relevant,
    zero_if_missing=False,
    laws=frozenset({Law.WHOLE, Law.ORDER_FREE, Law.RUN_FREE, Law.RELEVANCE_ONLY, Law.LINEAR, Law.GROWS}),
)


def number_relevant_retrieved(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return how many of the retrieved documents are relevant.

    $$\mathrm{NumRelRet} = |\{ i : g_i \ge \mathrm{rel} \}|$$

    where $g_i$ is the grade of the result at rank $i$.

    Title: Number of relevant documents that are retrieved.
    Empty: 0 when nothing relevant is retrieved.
    Agrees with: `trec_eval -m num_rel_ret`; ir_measures' `NumRet(rel=…)`.
    References: Buckley. trec_eval, measure `num_rel_ret`. NIST, 2008.

    Example:
        One of two relevant documents is retrieved:

        >>> qrels = {"q1": {"a": 1, "b": 0, "c": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, "NumRelRet").mean()
        {'NumRelRet': 1.0}
    """
    return ranking.hits_within(None, rel).astype(np.float64)


NumRelRet = _count(
    "NumRelRet",
    number_relevant_retrieved,
    terms=hits_terms,
    laws=frozenset(
        {Law.ZERO_IF_NOTHING_FOUND, Law.WHOLE, Law.ORDER_FREE, Law.RELEVANCE_ONLY, Law.LINEAR, Law.GROWS}
    ),
)


def number_refuted_retrieved(ranking: Ranking, *, rel: float | None = None) -> Floats:
    r"""Return how many of the retrieved documents were judged and are not relevant.

    $$\mathrm{NumNonrelJudgedRet} = |\{ i : 0 \le g_i < \mathrm{rel} \}|$$

    where $g_i$ is the grade of the result at rank $i$.

    Title: Number of retrieved documents that were judged and found not relevant.
    Unjudged: is not counted, negative grades neither.
    Empty: 0 when nothing is retrieved.
    Agrees with: `trec_eval -m num_nonrel_judged_ret`.
    References: Buckley. trec_eval, measure `num_nonrel_judged_ret`. NIST, 2008.

    Example:
        Of two results that are not relevant, one was judged:

        >>> qrels = {"q1": {"a": 1, "b": 0}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, "NumNonrelJudgedRet").mean()
        {'NumNonrelJudgedRet': 1.0}
    """
    refuted = (ranking.grade >= 0) & ~ranking.hits(rel)
    return segment_count(refuted, ranking.offset).astype(np.float64)


NumNonrelJudgedRet = _count(
    "NumNonrelJudgedRet",
    number_refuted_retrieved,
    laws=frozenset({Law.WHOLE, Law.ORDER_FREE, Law.JUDGMENT_ONLY, Law.LINEAR, Law.IN_ORDER, Law.ONE_WAY}),
)


def relevance_string(ranking: Ranking, *, cutoff: int = 10) -> NDArray[Any]:
    r"""Return the grades of the first `cutoff` results as a string, one character for each.

    $$\mathrm{relstring}@k = c(g_1) \, c(g_2) \cdots c(g_{\min(k, n)})$$

    where $g_i$ is the grade of the result at rank $i$, $n$ the number of retrieved documents and $c(g)$ the
    digit of a grade from 0 to 9, `>` for a higher one, `.` for a negative one and `-` for a result that is
    not in the judgments at all. A fractional grade shows its whole part.

    Title: Relevance string: the grades of the first results, a character each, to look at.
    Unjudged: shows as `-`, or as `.` where its grade is negative.
    Empty: an empty string when nothing is retrieved.
    Agrees with: `trec_eval -m relstring`, which sets the string in quotation marks.
    References: Buckley. trec_eval, measure `relstring`. NIST, 2008.

    Example:
        A grade of 3, an unjudged result, a negative grade, and one beyond 9:

        >>> qrels = {"q1": {"a": 3, "c": -1, "d": 12}}
        >>> run = {"q1": ["a", "b", "c", "d"]}
        >>> judged.evaluate(qrels, run, "relstring").per_query().by_query("relstring")
        {'q1': '3-.>'}
    """
    shown = np.minimum(ranking.retrieved, cutoff)
    width = max(int(shown.max(initial=0)), 1)
    text = np.where(np.arange(width) < shown[:, None], ord("-"), 0).astype(np.uint8)
    near = ranking.within(cutoff)
    text[ranking.query[near], ranking.rank[near] - 1] = _characters(np.floor(ranking.grade[near]))
    return text.view(f"S{width}")[:, 0].astype(str).astype(object)


def _characters(grade: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the code of each grade's character."""
    digit = np.clip(grade, 0, 9).astype(np.int64) + ord("0")
    return np.where(grade < 0, ord("."), np.where(grade > 9, ord(">"), digit))


relstring = Measure(
    "relstring",
    relevance_string,
    at_parameter="cutoff",
    higher_is_better=None,
    values="text",
    laws=frozenset({Law.TEXT}),
)
