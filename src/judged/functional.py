"""Measures of plain lists of document ids, computed by the same code as all others.

Every function takes the relevant ids and the retrieved ids (one id or a list, best first). A document
retrieved twice is credited once, at its first rank; the repetition keeps its place in the list. Nothing
relevant, or nothing retrieved, scores 0.

    >>> ndcg_at_k(["doc1", "doc2", "doc3"], ["doc4", "doc1", "doc5", "doc2"], k=4)  # doctest: +ELLIPSIS
    0.4981...
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, TypeAlias, TypedDict, cast

import msgspec
import numpy as np

from judged.errors import BadInput, BadSample, UnknownName
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import segment_ids
from judged.measures.measure import Measure
from judged.measures.parse import parse_measure
from judged.problem import Problem
from judged.scoring.evaluate import evaluate
from judged.scoring.evaluation import aggregate
from judged.store.hashing import hash_bytes
from judged.tables.nested import are_plain_ids, keep_order

__all__ = [
    "MetricsCache",
    "RetrievalMetricsSuite",
    "UnknownMetric",
    "average_precision_at_k",
    "batch_evaluate_metrics",
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


class MetricsCache:
    """Values of metrics that were computed before, for the functions of this module to look up.

    Query, metric and `k` alone do not determine a value: another run of the same query has another one. So the key
    includes `content`, a digest of the query's judgments and results; the functions pass it when they are given
    `cache=`, and a value that was kept under another content is not found.

    >>> cache = MetricsCache()
    >>> recall_at_k(["a", "b"], ["a", "x"], k=2, cache=cache)
    0.5
    >>> content = MetricsCache.digest(["a", "b"], ["a", "x"])
    >>> cache.get_cached_metric("", "recall", 2, content=content)
    0.5
    >>> cache.get_cached_metric("", "recall", 2) is None
    True
    """

    def __init__(self) -> None:
        self._values: dict[tuple[str, str, int | None, str | None], float] = {}

    def get_cached_metric(
        self, query_id: str, metric: str, k: int | None, *, content: str | None = None
    ) -> float | None:
        """Return the value that was kept for exactly this query, metric, cutoff and content; None if there is none."""
        return self._values.get((query_id, metric, k, content))

    def cache_metric(
        self, query_id: str, metric: str, k: int | None, value: float, *, content: str | None = None
    ) -> None:
        """Keep a value."""
        self._values[query_id, metric, k, content] = value

    @staticmethod
    def digest(
        relevant_ids: Ids, predicted_ids: Ids, relevance_grades: Mapping[str, float] | None = None
    ) -> str:
        """Return the digest of a query's judgments and results; the order of judgments does not matter."""
        content = (
            sorted(set(_to_list(relevant_ids))),
            _to_list(predicted_ids),
            sorted((relevance_grades or {}).items()),
        )
        return hash_bytes(msgspec.json.encode(content)).hex()


def hit_at_k(
    relevant_ids: Ids, predicted_ids: Ids, k: int = 10, *, cache: MetricsCache | None = None
) -> float:
    """Return 1 if a relevant document is among the first `k` retrieved, else 0.

    >>> hit_at_k(["doc1", "doc3", "doc5"], ["doc2", "doc1", "doc4"], k=3)
    1.0
    """
    return _score_one("hit", relevant_ids, predicted_ids, k, cache=cache)


def ndcg_at_k(
    relevant_ids: Ids,
    predicted_ids: Ids,
    k: int = 10,
    relevance_grades: Mapping[str, float] | None = None,
    *,
    cache: MetricsCache | None = None,
) -> float:
    """Return the normalised discounted cumulative gain of the first `k` retrieved.

    With `relevance_grades` a document's gain is its grade (1 for a relevant one that has none); the ideal
    order is that of all graded and relevant documents.

    >>> grades = {"a": 3, "b": 2, "c": 1, "d": 0}
    >>> round(ndcg_at_k(["a", "b", "c"], ["a", "d", "b", "c"], 4, grades), 4)
    0.9305
    """
    return _score_one("ndcg", relevant_ids, predicted_ids, k, relevance_grades, cache=cache)


def mean_reciprocal_rank(
    relevant_ids_list: Sequence[Ids],
    predicted_ids_list: Sequence[Ids],
    *,
    cache: MetricsCache | None = None,
) -> float:
    """Return the mean over queries of one over the rank of the first relevant document.

    >>> round(mean_reciprocal_rank([["a"], ["b"], ["c"]], [["a"], ["x", "y", "b"], ["x"]]), 4)
    0.4444
    """
    return _means(["mrr"], _make_batch(relevant_ids_list, predicted_ids_list), cache)["mrr"]


def average_precision_at_k(
    relevant_ids: Ids, predicted_ids: Ids, k: int = 10, *, cache: MetricsCache | None = None
) -> float:
    """Return the average precision of the first `k` retrieved, over all relevant documents.

    >>> round(average_precision_at_k(["a", "b", "c"], ["a", "x", "b", "y", "c"], k=5), 4)
    0.7556
    """
    return _score_one("map", relevant_ids, predicted_ids, k, cache=cache)


def recall_at_k(
    relevant_ids: Ids, predicted_ids: Ids, k: int = 10, *, cache: MetricsCache | None = None
) -> float:
    """Return the share of the relevant documents that are among the first `k` retrieved.

    >>> recall_at_k(["a", "b"], ["a", "x"], k=2)
    0.5
    """
    return _score_one("recall", relevant_ids, predicted_ids, k, cache=cache)


def precision_at_k(
    relevant_ids: Ids, predicted_ids: Ids, k: int = 10, *, cache: MetricsCache | None = None
) -> float:
    """Return the share of relevant documents among the first `k`, or among all retrieved if those are fewer.

    >>> precision_at_k(["a", "b"], ["a", "x"], k=10)
    0.5
    """
    return _score_one("precision", relevant_ids, predicted_ids, k, cache=cache)


def evaluate_retrieval_batch(
    queries: Sequence[Mapping[str, object]],
    retrieval_results: Sequence[Sequence[Mapping[str, object]]],
    metrics: Sequence[str] | None = None,
    *,
    cache: MetricsCache | None = None,
) -> dict[str, float]:
    """Return the mean of every metric over all queries, by the name it was asked for.

    A query carries its `relevant_docs`; a result its `id`.

    >>> evaluate_retrieval_batch([{"relevant_docs": ["a"]}], [[{"id": "b"}, {"id": "a"}]], ["hit@1", "mrr"])
    {'hit@1': 0.0, 'mrr': 0.5}
    """
    return _means(metrics, _read_batch(queries, retrieval_results), cache)


def batch_evaluate_metrics(
    queries: Sequence[Mapping[str, object]],
    batch_size: int = 100,
    *,
    retrieval_results: Sequence[Sequence[Mapping[str, object]]] | None = None,
    metrics: Sequence[str] | None = None,
    cache: MetricsCache | None = None,
) -> dict[str, float]:
    """Return what `evaluate_retrieval_batch` returns, scoring `batch_size` queries at a time.

    The means are over all queries and do not depend on the batch size. Without `retrieval_results`, each query carries
    its results under `results`.

    >>> queries = [{"relevant_docs": ["a"], "results": [{"id": "a"}]}, {"relevant_docs": ["b"], "results": []}]
    >>> batch_evaluate_metrics(queries, batch_size=1, metrics=["mrr"])
    {'mrr': 0.5}
    """
    if batch_size < 1:
        msg = f"`batch_size` is {batch_size}, expected a whole number from 1"
        raise BadSample(msg)
    results = retrieval_results
    if results is None:
        results = [_field(query, "results", f"query {number}") for number, query in enumerate(queries, 1)]
    return _means(metrics, _read_batch(queries, results), cache, batch_size)


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
    relevant_ids_list: Sequence[Ids],
    predicted_ids_list: Sequence[Ids],
    k: int = 10,
    *,
    cache: MetricsCache | None = None,
) -> float:
    """Return the mean over queries of the average precision of the first `k` retrieved."""
    (mean,) = _means([f"map@{k}"], _make_batch(relevant_ids_list, predicted_ids_list), cache).values()
    return mean


def _parse_metric(metric: str) -> Measure:
    """Return the measure that a metric's name means, with its cutoff."""
    name, _, cutoff = metric.strip().partition("@")
    if name.lower() in METRICS:
        return _parse_own(name.lower(), cutoff)
    try:
        return parse_measure(name + (f"@{cutoff}" if cutoff else ""))
    except UnknownName as error:
        kind = "metric"
        raise UnknownMetric(kind, metric, [], hint=error.hint) from None


@lru_cache(maxsize=1024)
def _parse_own(name: str, cutoff: str) -> Measure:
    """Return the measure of one of this module's names, which always mean the same."""
    return parse_measure(METRICS[name] + (f"@{cutoff}" if cutoff else ""))


@lru_cache(maxsize=1024)
def _cut(metric: str, k: int) -> Measure:
    """Return one of the measures of this module, whose names always mean the same, at a cutoff."""
    return _parse_metric(metric) @ k


class _Query(msgspec.Struct, frozen=True):
    """A query with its judgments and results."""

    relevant: Ids
    predicted: Ids
    grades: Mapping[str, float] | None = None
    id: str = ""

    def digest(self) -> str:
        """Return the digest that cached values are kept under."""
        return MetricsCache.digest(self.relevant, self.predicted, self.grades)


def _make_batch(relevant: Sequence[Ids], predicted: Sequence[Ids]) -> list[_Query]:
    """Return the queries of parallel lists."""
    if len(relevant) != len(predicted):
        message = f"{len(relevant):,} queries and {len(predicted):,} result lists, expected as many of each"
        raise BadInput(BATCH, [Problem.error("unequal-columns", "lists", message)])
    return list(map(_Query, relevant, predicted))


def _read_batch(
    queries: Sequence[Mapping[str, object]], results: Sequence[Sequence[Mapping[str, object]]]
) -> list[_Query]:
    """Return the queries of dicts that carry `relevant_docs`, and of results that carry an `id`."""
    relevant = [_field(query, "relevant_docs", f"query {number}") for number, query in enumerate(queries, 1)]
    predicted = [
        [_field(result, "id", f"results of query {number}") for result in found]
        for number, found in enumerate(results, 1)
    ]
    names = [str(query.get("id", query.get("query_id", ""))) for query in queries]
    batch = _make_batch(relevant, predicted)
    return [msgspec.structs.replace(query, id=name) for query, name in zip(batch, names, strict=True)]


def _score_one(
    metric: str,
    relevant: Ids,
    predicted: Ids,
    k: int,
    grades: Mapping[str, float] | None = None,
    *,
    cache: MetricsCache | None,
) -> float:
    measure = _cut(metric, k) if type(k) is int else _parse_metric(metric) @ k
    (value,) = _score([(metric, measure)], [_Query(relevant, predicted, grades)], cache)
    return value[0]


def _means(
    metrics: Sequence[str] | None,
    queries: Sequence[_Query],
    cache: MetricsCache | None = None,
    batch_size: int | None = None,
) -> dict[str, float]:
    """Return the mean of every metric over the queries, which are scored in batches and averaged once."""
    names = list(DEFAULT_METRICS if metrics is None else metrics)
    measures = [(name.partition("@")[0].strip().lower(), _parse_metric(name)) for name in names]
    size = batch_size or max(len(queries), 1)
    batches = [
        _score(measures, queries[first : first + size], cache) for first in range(0, len(queries), size)
    ]
    return {
        name: aggregate(measure, np.array([*chain.from_iterable(batch[at] for batch in batches)]))
        for at, (name, (_, measure)) in enumerate(zip(names, measures, strict=True))
    }


def _score(
    measures: Sequence[tuple[str, Measure]], queries: Sequence[_Query], cache: MetricsCache | None
) -> list[list[float]]:
    """Return the values of each measure, which comes with the name it is cached under, for each query."""
    if cache is None:
        return _compute([measure for _, measure in measures], queries)
    contents = [query.digest() for query in queries]
    values = []
    for name, measure in measures:
        cutoff = cast("int | None", measure.parameters.get("cutoff"))
        known = [
            cache.get_cached_metric(query.id, name, cutoff, content=content)
            for query, content in zip(queries, contents, strict=True)
        ]
        absent = [at for at, value in enumerate(known) if value is None]
        for at, value in zip(absent, _compute([measure], [queries[at] for at in absent])[0], strict=True):
            known[at] = value
            cache.cache_metric(queries[at].id, name, cutoff, value, content=contents[at])
        values.append([value for value in known if value is not None])
    return values


def _compute(measures: Sequence[Measure], queries: Sequence[_Query]) -> list[list[float]]:
    """Return the values of each measure for each query."""
    if not queries:
        return [[] for _ in measures]
    view = _make_view(queries) if all(measure.family in _FROM_LISTS for measure in measures) else None
    if view is not None and all(not measure.needs and not measure.text for measure in measures):
        values = [measure.per_query(view) for measure in measures]
        if all(np.isfinite(column).all() for column in values):
            return [column.tolist() for column in values]
    return _evaluate(measures, queries)


def _make_view(queries: Sequence[_Query]) -> Ranking | None:
    """Return the view of the queries as the protocol would make it; None for ids and grades that need a closer look."""
    rank: list[int] = []
    row: list[int] = []
    grades: list[float] = []
    offset, best_offset, retrieved = [0], [0], []
    for query in queries:
        relevant, predicted = _to_list(query.relevant), _to_list(query.predicted)
        judged = dict.fromkeys(relevant, 1.0) | dict(query.grades or {})
        if not (are_plain_ids([*judged, *predicted]) and set(map(type, judged.values())) <= {float, int}):
            return None
        rows = dict(zip(judged, range(len(grades), len(grades) + len(judged)), strict=True))
        for place, document in enumerate(predicted, 1):
            # a repetition finds nothing any more, and keeps its place
            if (number := rows.pop(document, None)) is not None:
                rank.append(place)
                row.append(number)
        grades += judged.values() or [0.0]
        retrieved.append(len(predicted))
        offset.append(len(rank))
        best_offset.append(len(grades))
    return _to_ranking(rank, row, grades, offset, best_offset, retrieved)


def _to_ranking(
    rank: list[int],
    row: list[int],
    grades: list[float],
    offset: list[int],
    best_offset: list[int],
    retrieved: list[int],
) -> Ranking | None:
    try:
        grade = np.array(grades, dtype=np.float64)
    except OverflowError:  # an integer beyond any float
        return None
    if not np.isfinite(grade).all():
        return None
    rows, cuts = np.array(row, dtype=np.int64), np.array(best_offset, dtype=np.int64)
    order = np.lexsort((-grade, segment_ids(cuts)))
    return Ranking(
        rank=np.array(rank, dtype=np.int64),
        grade=grade[rows],
        offset=np.array(offset, dtype=np.int64),
        retrieved=np.array(retrieved, dtype=np.int64),
        best=grade[order],
        best_offset=cuts,
        target=rows,
        best_target=order,
        highest=float(grade.max(initial=0.0)),
    )


def _evaluate(measures: Sequence[Measure], queries: Sequence[_Query]) -> list[list[float]]:
    """Return the same as a run and judgments are scored, which takes ids of any kind or says what is wrong."""
    judgments, run = {}, {}
    for number, query in enumerate(queries):
        retrieved = _to_list(query.predicted)
        judgments[str(number)] = judged = _grade(_to_list(query.relevant), query.grades, retrieved)
        named = _rename_repeats(retrieved, judged)
        run[str(number)] = dict(zip(named, keep_order([None] * len(named)), strict=True))
    scores = evaluate(judgments, run, measures).per_query()
    by_query = [scores.by_query(measure) for measure in measures]
    return [[values[str(number)] for number in range(len(queries))] for values in by_query]


_FROM_LISTS = frozenset({"ranked", "browsing"})
"""Families of measures for which ranks and grades are enough."""


def _to_list(ids: Ids) -> list[str]:
    return [ids] if isinstance(ids, str) else list(ids)


def _grade(relevant: list[str], grades: Mapping[str, float] | None, retrieved: list[str]) -> dict[str, float]:
    """Return the grades of all judged documents; a query without any gets one with grade 0, so that it counts."""
    judged = dict.fromkeys(relevant, 1.0) | dict(grades or {})
    return judged or {_find_unused("nothing", set(retrieved)): 0.0}


def _rename_repeats(retrieved: list[str], judged: Mapping[str, float]) -> list[str]:
    """Return the documents in their order; the repetitions of one become unjudged documents."""
    named: dict[str, None] = {}
    taken = {*retrieved, *judged}
    for place, document in enumerate(retrieved):
        again = document in named
        named[_find_unused(f"{document} again at {place}", taken) if again else document] = None
    return list(named)


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
