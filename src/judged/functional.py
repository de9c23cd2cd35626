"""Measures of plain lists of document ids, computed by the same engine as all others.

Every function takes the relevant ids and the retrieved ids (one id or a list, best first). A document
retrieved twice is credited once, at its first rank; the repetition keeps its place in the list. Nothing
relevant, or nothing retrieved, scores 0.

    >>> ndcg_at_k(["doc1", "doc2", "doc3"], ["doc4", "doc1", "doc5", "doc2"], k=4)  # doctest: +ELLIPSIS
    0.4981...
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

from judged.engine.evaluate import evaluate
from judged.errors import BadInput, UnknownName
from judged.measures.measure import Measure
from judged.measures.parse import parse_measure
from judged.problem import Problem

__all__ = [
    "RetrievalMetricsSuite",
    "UnknownMetric",
    "average_precision_at_k",
    "calculate_confidence_interval",
    "evaluate_retrieval_batch",
    "hit_at_k",
    "mean_reciprocal_rank",
    "ndcg_at_k",
    "precision_at_k",
    "recall_at_k",
    "statistical_significance_test",
]

Ids: TypeAlias = str | Iterable[str]
"""One document id, or several."""

METRICS = {
    "hit": "Success",
    "ndcg": "nDCG",
    "mrr": "RR",
    "map": "AP",
    "recall": "R",
    "precision": 'P(over="retrieved")',
}
"""The names of this module and the measures they mean; precision divides by what was retrieved."""

BATCH = "the batch"
DEFAULT_METRICS = ("hit@1", "hit@3", "hit@5", "ndcg@5", "ndcg@10", "mrr")


class UnknownMetric(UnknownName, ValueError):
    """No metric has that name."""


def hit_at_k(relevant_ids: Ids, predicted_ids: Ids, k: int = 10) -> float:
    """Return 1 if a relevant document is among the first `k` retrieved, else 0.

    >>> hit_at_k(["doc1", "doc3", "doc5"], ["doc2", "doc1", "doc4"], k=3)
    1.0
    """
    return _score_one("hit", relevant_ids, predicted_ids, k)


def ndcg_at_k(
    relevant_ids: Ids,
    predicted_ids: Ids,
    k: int = 10,
    relevance_grades: Mapping[str, float] | None = None,
) -> float:
    """Return the normalised discounted cumulative gain of the first `k` retrieved.

    With `relevance_grades` a document's gain is its grade (1 for a relevant one that has none); the ideal
    order is that of all graded and relevant documents.

    >>> grades = {"a": 3, "b": 2, "c": 1, "d": 0}
    >>> round(ndcg_at_k(["a", "b", "c"], ["a", "d", "b", "c"], 4, grades), 4)
    0.9305
    """
    return _score_one("ndcg", relevant_ids, predicted_ids, k, relevance_grades)


def mean_reciprocal_rank(relevant_ids_list: Sequence[Ids], predicted_ids_list: Sequence[Ids]) -> float:
    """Return the mean over queries of one over the rank of the first relevant document.

    >>> round(mean_reciprocal_rank([["a"], ["b"], ["c"]], [["a"], ["x", "y", "b"], ["x"]]), 4)
    0.4444
    """
    return _mean(_parse_metric("mrr"), relevant_ids_list, predicted_ids_list)


def average_precision_at_k(relevant_ids: Ids, predicted_ids: Ids, k: int = 10) -> float:
    """Return the average precision of the first `k` retrieved, over all relevant documents.

    >>> round(average_precision_at_k(["a", "b", "c"], ["a", "x", "b", "y", "c"], k=5), 4)
    0.7556
    """
    return _score_one("map", relevant_ids, predicted_ids, k)


def recall_at_k(relevant_ids: Ids, predicted_ids: Ids, k: int = 10) -> float:
    """Return the share of the relevant documents that are among the first `k` retrieved.

    >>> recall_at_k(["a", "b"], ["a", "x"], k=2)
    0.5
    """
    return _score_one("recall", relevant_ids, predicted_ids, k)


def precision_at_k(relevant_ids: Ids, predicted_ids: Ids, k: int = 10) -> float:
    """Return the share of relevant documents among the first `k`, or among all retrieved if those are fewer.

    >>> precision_at_k(["a", "b"], ["a", "x"], k=10)
    0.5
    """
    return _score_one("precision", relevant_ids, predicted_ids, k)


def evaluate_retrieval_batch(
    queries: Sequence[Mapping[str, object]],
    retrieval_results: Sequence[Sequence[Mapping[str, object]]],
    metrics: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return the mean of every metric over all queries, by the name it was asked for.

    A query carries its `relevant_docs`; a result its `id`.

    >>> evaluate_retrieval_batch([{"relevant_docs": ["a"]}], [[{"id": "b"}, {"id": "a"}]], ["hit@1", "mrr"])
    {'hit@1': 0.0, 'mrr': 0.5}
    """
    names = list(DEFAULT_METRICS if metrics is None else metrics)
    measures = {name: _parse_metric(name) for name in names}
    relevant = [_field(query, "relevant_docs", f"query {number}") for number, query in enumerate(queries, 1)]
    found = [
        [_field(result, "id", f"results of query {number}") for result in results]
        for number, results in enumerate(retrieval_results, 1)
    ]
    return {name: _mean(measure, relevant, found) for name, measure in measures.items()}


def calculate_confidence_interval(
    scores: Sequence[float], confidence_level: float = 0.95
) -> tuple[float, float]:
    """Return the bounds of the mean at `confidence_level`, by Student's t; equal for one value or equal values.

    >>> low, high = calculate_confidence_interval([0.2, 0.4, 0.6])
    >>> round(low, 4), round(high, 4)
    (-0.0968, 0.8968)
    """
    from judged.stats.intervals import student_interval

    interval = student_interval(scores, level=confidence_level)
    return interval.low, interval.high


class SignificanceTest(TypedDict):
    """The result of `statistical_significance_test`."""

    t_statistic: float
    p_value: float
    significant: bool
    mean_a: float
    mean_b: float
    test: Literal["paired", "independent"]


def statistical_significance_test(
    scores_a: Sequence[float],
    scores_b: Sequence[float],
    alpha: float = 0.05,
    *,
    test: Literal["paired", "independent"] | None = None,
) -> SignificanceTest:
    """Compare two systems by Student's t-test, paired if both have equally many scores, unless `test` is given.

    Scores that do not differ at all, and single scores, give t = 0 and p = 1; differences that are all the
    same but not 0 give t = ±∞ and p = 0.

    >>> result = statistical_significance_test([0.5, 0.6, 0.9], [0.4, 0.6, 0.6])
    >>> result["test"], round(result["p_value"], 4), result["significant"]
    ('paired', 0.2697, False)
    """
    from judged.stats.paired import summarise
    from judged.stats.paired_tests import independent_t, paired_t

    chosen = test or ("paired" if len(scores_a) == len(scores_b) else "independent")
    tests = {"paired": paired_t, "independent": independent_t}
    if chosen not in tests:
        kind = "significance test"
        raise UnknownMetric(kind, chosen, list(tests))
    result = tests[chosen](scores_a, scores_b)
    return {
        "t_statistic": result.statistic,
        "p_value": result.p,
        "significant": result.p < alpha,
        "mean_a": summarise(scores_a).mean,
        "mean_b": summarise(scores_b).mean,
        "test": chosen,
    }


class RetrievalMetricsSuite:
    """The metrics of this module by name.

    >>> RetrievalMetricsSuite().evaluate("recall", ["a", "b"], ["a", "x"], k=2)
    0.5
    """

    def __init__(self) -> None:
        self.metrics: dict[str, Callable[..., float]] = {
            "hit": hit_at_k,
            "ndcg": ndcg_at_k,
            "mrr": mean_reciprocal_rank,
            "map": _mean_average_precision,
            "recall": recall_at_k,
            "precision": precision_at_k,
        }

    def evaluate(self, metric_name: str, *args: object, **kwargs: object) -> float:
        """Return the value of the metric of that name for the arguments."""
        if metric_name not in self.metrics:
            kind = "metric"
            raise UnknownMetric(kind, metric_name, list(self.metrics))
        return self.metrics[metric_name](*args, **kwargs)


def _mean_average_precision(
    relevant_ids_list: Sequence[Ids], predicted_ids_list: Sequence[Ids], k: int = 10
) -> float:
    """Return the mean over queries of the average precision of the first `k` retrieved."""
    return _mean(_parse_metric("map") @ k, relevant_ids_list, predicted_ids_list)


def _parse_metric(metric: str) -> Measure:
    """Return the measure that a metric's name means, with its cutoff."""
    name, _, cutoff = metric.strip().partition("@")
    try:
        return parse_measure(METRICS.get(name.lower(), name) + (f"@{cutoff}" if cutoff else ""))
    except UnknownName as error:
        kind = "metric"
        raise UnknownMetric(kind, metric, [], hint=error.hint) from None


def _score_one(
    metric: str, relevant: Ids, predicted: Ids, k: int, grades: Mapping[str, float] | None = None
) -> float:
    return _mean(_parse_metric(metric) @ k, [relevant], [predicted], [grades])


def _mean(
    measure: Measure,
    relevant: Sequence[Ids],
    predicted: Sequence[Ids],
    grades: Sequence[Mapping[str, float] | None] | None = None,
) -> float:
    """Return the mean of one measure over queries given as parallel lists; 0 for no queries."""
    if len(relevant) != len(predicted):
        message = f"{len(relevant):,} queries and {len(predicted):,} result lists, expected as many of each"
        raise BadInput(BATCH, [Problem.error("unequal-columns", "lists", message)])
    graded = [None] * len(relevant) if grades is None else grades
    judgments, run = {}, {}
    for number, (wanted, found, levels) in enumerate(zip(relevant, predicted, graded, strict=True)):
        retrieved = _to_list(found)
        judgments[str(number)] = _grade(_to_list(wanted), levels, retrieved)
        run[str(number)] = _score_by_place(retrieved, judgments[str(number)])
    found_any = any(run.values())
    return evaluate(judgments, run, measure)[measure] if found_any else 0.0


def _to_list(ids: Ids) -> list[str]:
    return [ids] if isinstance(ids, str) else list(ids)


def _grade(relevant: list[str], grades: Mapping[str, float] | None, retrieved: list[str]) -> dict[str, float]:
    """Return the grades of all judged documents; a query without any gets one with grade 0, so that it counts."""
    judged = dict.fromkeys(relevant, 1.0) | dict(grades or {})
    return judged or {_find_unused("nothing", set(retrieved)): 0.0}


def _score_by_place(retrieved: list[str], judged: Mapping[str, float]) -> dict[str, float]:
    """Return scores that keep the order; the repetitions of a document become unjudged documents."""
    scores: dict[str, float] = {}
    taken = {*retrieved, *judged}
    for place, document in enumerate(retrieved):
        name = document if document not in scores else _find_unused(f"{document} again at {place}", taken)
        scores[name] = float(-place)
    return scores


def _find_unused(name: str, taken: Collection[str]) -> str:
    """Return `name`, with enough marks after it to make it new."""
    while name in taken:
        name += "'"
    return name


def _field(mapping: Mapping[str, object], name: str, where: str) -> Any:
    if name not in mapping:
        known = ", ".join(f"`{key}`" for key in mapping) or "nothing"
        raise BadInput(BATCH, [Problem.error("missing-field", where, f"has {known}, expected `{name}`")])
    return mapping[name]
