"""The functions on lists: the source's worked examples, corrected where they slip, and its edge cases."""

from __future__ import annotations

import inspect
import math

import pytest
from hypothesis import given, strategies as st

from judged import functional
from judged.errors import BadInput, BadMeasure, BadSample, JudgedError
from judged.functional import (
    MetricsCache,
    RetrievalMetricsSuite,
    UnknownMetric,
    average_precision_at_k,
    batch_evaluate_metrics,
    calculate_confidence_interval,
    evaluate_retrieval_batch,
    hit_at_k,
    mean_reciprocal_rank,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    statistical_significance_test,
)

SIGNATURES = {
    "hit_at_k": ["relevant_ids", "predicted_ids", "k"],
    "ndcg_at_k": ["relevant_ids", "predicted_ids", "k", "relevance_grades"],
    "mean_reciprocal_rank": ["relevant_ids_list", "predicted_ids_list"],
    "average_precision_at_k": ["relevant_ids", "predicted_ids", "k"],
    "recall_at_k": ["relevant_ids", "predicted_ids", "k"],
    "precision_at_k": ["relevant_ids", "predicted_ids", "k"],
    "evaluate_retrieval_batch": ["queries", "retrieval_results", "metrics"],
    "calculate_confidence_interval": ["scores", "confidence_level"],
    "batch_evaluate_metrics": ["queries", "batch_size", "retrieval_results", "metrics"],
    "statistical_significance_test": ["scores_a", "scores_b", "alpha", "test"],
}
EVERY_AT_K = pytest.mark.parametrize(
    "metric", [hit_at_k, ndcg_at_k, average_precision_at_k, recall_at_k, precision_at_k]
)


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_the_published_ones(name: str) -> None:
    """Parameters have the names and order that callers rely on, then `cache` by name; k is 10 unless given."""
    parameters = dict(inspect.signature(getattr(functional, name)).parameters)
    cache = parameters.pop("cache", None)

    assert list(parameters) == SIGNATURES[name]
    assert cache is None or (cache.kind, cache.default) == (inspect.Parameter.KEYWORD_ONLY, None)
    assert "k" not in parameters or parameters["k"].default == 10


def test_perfect_retrieval() -> None:
    """Case 1 of the source: both relevant documents first."""
    relevant, retrieved = ["doc1", "doc2"], ["doc1", "doc2", "doc3", "doc4"]

    assert hit_at_k(relevant, retrieved, 1) == 1.0
    assert hit_at_k(relevant, retrieved, 2) == 1.0
    assert ndcg_at_k(relevant, retrieved, 2) == 1.0
    assert mean_reciprocal_rank([relevant], [retrieved]) == 1.0


def test_nothing_relevant_retrieved() -> None:
    """Case 2 of the source: no relevant document comes back."""
    relevant, retrieved = ["doc1", "doc2"], ["doc3", "doc4", "doc5", "doc6"]

    assert hit_at_k(relevant, retrieved, 10) == 0.0
    assert ndcg_at_k(relevant, retrieved, 10) == 0.0
    assert mean_reciprocal_rank([relevant], [retrieved]) == 0.0


def test_partial_retrieval() -> None:
    """Case 3 of the source, its NDCG corrected: (1/log₂3 + 1/log₂5) / (1 + 1/log₂3 + 1/2) = 0.4982."""
    relevant, retrieved = ["doc1", "doc2", "doc3"], ["doc4", "doc1", "doc5", "doc2"]
    found = 1 / math.log2(3) + 1 / math.log2(5)
    ideal = 1 + 1 / math.log2(3) + 1 / 2

    assert hit_at_k(relevant, retrieved, 2) == 1.0
    assert hit_at_k(relevant, retrieved, 1) == 0.0
    assert ndcg_at_k(relevant, retrieved, 4) == pytest.approx(found / ideal)
    assert round(found / ideal, 4) == 0.4982
    assert mean_reciprocal_rank([relevant], [retrieved]) == 0.5


def test_graded_ndcg() -> None:
    """The source's example of grades [3, 0, 2, 1], its discounts put right: 4.4307 / 4.7619 = 0.9305."""
    grades = {"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.0}
    found = 3 + 2 / 2 + 1 / math.log2(5)
    ideal = 3 + 2 / math.log2(3) + 1 / 2

    assert ndcg_at_k(["a", "b", "c"], ["a", "d", "b", "c"], 4, grades) == pytest.approx(found / ideal)
    assert round(found / ideal, 4) == 0.9305


def test_a_relevant_document_without_a_grade_counts_as_one() -> None:
    """Grades may be given for some documents only; the others keep the 1 that relevance means."""
    assert ndcg_at_k(["a", "b"], ["b", "a"], 2, {"a": 3.0}) == pytest.approx(
        (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    )


def test_average_precision_divides_by_all_relevant() -> None:
    """The source's example: (1 + 2/3 + 3/5) / 3 = 0.7556; a fourth relevant document makes it / 4."""
    retrieved = ["a", "x", "b", "y", "c"]
    total = 1 + 2 / 3 + 3 / 5

    assert average_precision_at_k(["a", "b", "c"], retrieved, 5) == pytest.approx(total / 3)
    assert average_precision_at_k(["a", "b", "c", "d"], retrieved, 5) == pytest.approx(total / 4)


def test_mean_reciprocal_rank_over_queries() -> None:
    """The source's example: ranks 1, 3 and none give (1 + 1/3 + 0) / 3."""
    relevant = [["a"], ["b"], ["c"]]
    retrieved = [["a"], ["x", "y", "b"], ["x"]]

    assert mean_reciprocal_rank(relevant, retrieved) == pytest.approx(4 / 9)
    assert mean_reciprocal_rank([], []) == 0.0


def test_precision_divides_by_what_was_retrieved() -> None:
    """With fewer than k results the divisor is their number, as the source has it."""
    assert precision_at_k(["a", "b"], ["a", "x"], 10) == 0.5
    assert precision_at_k(["a", "b"], ["a", "x", "b", "y"], 2) == 0.5


def test_recall_counts_all_relevant() -> None:
    """The divisor is the number of relevant documents, whatever k is."""
    assert recall_at_k(["a", "b", "c", "d"], ["a", "b", "x"], 2) == 0.5
    assert recall_at_k(["a", "b", "c", "d"], ["a", "b", "x"], 1) == 0.25


@EVERY_AT_K
def test_empty_sets_score_zero(metric: object) -> None:
    """Nothing relevant, nothing retrieved, or neither: 0."""
    assert metric([], ["a", "b"], 5) == 0.0  # type: ignore[operator]
    assert metric(["a"], [], 5) == 0.0  # type: ignore[operator]
    assert metric([], [], 5) == 0.0  # type: ignore[operator]


@EVERY_AT_K
def test_one_id_may_be_given_bare(metric: object) -> None:
    """A single id is a list of one."""
    assert metric("doc1", "doc1", 1) == metric(["doc1"], ["doc1"], 1) == 1.0  # type: ignore[operator]


@EVERY_AT_K
def test_a_large_cutoff_changes_nothing(metric: object) -> None:
    """A cutoff beyond the end of the list is the end of the list."""
    assert metric(["a", "b"], ["a", "x", "b"], 3) == metric(["a", "b"], ["a", "x", "b"], 10_000)  # type: ignore[operator]


@pytest.mark.parametrize("k", [0, -1, 2.5])
def test_a_cutoff_that_means_nothing_is_refused(k: float) -> None:
    """A cutoff must be a whole number from 1."""
    with pytest.raises(BadMeasure, match="a whole number from 1"):
        hit_at_k(["a"], ["a"], k)  # type: ignore[arg-type]


def test_a_repeated_document_is_credited_once() -> None:
    """The first occurrence counts; the second keeps its place and earns nothing."""
    assert ndcg_at_k(["a", "b"], ["a", "a", "a"], 3) == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert recall_at_k(["a", "b"], ["a", "a"], 2) == 0.5
    assert precision_at_k(["a"], ["a", "a"], 2) == 0.5
    assert average_precision_at_k(["a", "b"], ["a", "a", "b"], 3) == pytest.approx((1 + 2 / 3) / 2)


def test_names_that_imitate_ours_do_no_harm() -> None:
    """Documents may be called anything, even what stands in for a repetition or for nothing."""
    assert recall_at_k(["a again at 1"], ["a", "a"], 2) == 0.0
    assert recall_at_k([], ["nothing"], 1) == 0.0


def test_inputs_are_left_as_they_were() -> None:
    """Lists and grades given are not written to."""
    relevant, retrieved, grades = ["a"], ["b", "a", "b"], {"a": 2.0}
    ndcg_at_k(relevant, retrieved, 3, grades)

    assert (relevant, retrieved, grades) == (["a"], ["b", "a", "b"], {"a": 2.0})


QUERIES = [{"relevant_docs": ["a"]}, {"relevant_docs": ["b", "c"]}]
RESULTS = [[{"id": "x"}, {"id": "a"}], [{"id": "b"}, {"id": "x"}]]


def test_a_batch_returns_the_mean_of_every_metric() -> None:
    """Two queries, by hand: first hits at ranks 2 and 1; two of three relevant documents found."""
    means = evaluate_retrieval_batch(QUERIES, RESULTS, ["hit@1", "hit@2", "mrr", "recall@2", "precision@10"])

    assert means == pytest.approx(
        {"hit@1": 0.5, "hit@2": 1.0, "mrr": 0.75, "recall@2": 0.75, "precision@10": 0.5}
    )


def test_a_batch_has_the_published_default_metrics() -> None:
    """Without a choice, six metrics are computed."""
    assert list(evaluate_retrieval_batch(QUERIES, RESULTS)) == [
        "hit@1",
        "hit@3",
        "hit@5",
        "ndcg@5",
        "ndcg@10",
        "mrr",
    ]


def test_an_empty_batch_scores_zero() -> None:
    """No queries: every mean is 0, not an error."""
    assert evaluate_retrieval_batch([], [], ["mrr"]) == {"mrr": 0.0}


def test_a_batch_counts_queries_without_judgments_or_results() -> None:
    """A query with nothing relevant or nothing retrieved stays in the mean, as 0."""
    queries = [
        {"relevant_docs": ["a"]},
        {"relevant_docs": []},
        {"relevant_docs": ["b"]},
        {"relevant_docs": "c"},
    ]
    results = [[{"id": "a"}], [{"id": "a"}], [], [{"id": "c"}]]

    assert evaluate_retrieval_batch(queries, results, ["hit@1"]) == {"hit@1": 0.5}


def test_a_batch_refuses_an_unknown_metric_and_says_what_was_meant() -> None:
    """The error is a ValueError and a LookupError, with a hint."""
    with pytest.raises(UnknownMetric, match="no metric is called `ndgc@5`") as caught:
        evaluate_retrieval_batch(QUERIES, RESULTS, ["ndgc@5"])

    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, JudgedError)
    assert "did you mean" in str(caught.value)


def test_a_batch_refuses_lists_of_different_lengths() -> None:
    """Queries and results must be as many."""
    with pytest.raises(BadInput, match="2 queries and 1 result lists"):
        evaluate_retrieval_batch(QUERIES, RESULTS[:1], ["mrr"])


@pytest.mark.parametrize(
    ("queries", "results", "message"),
    [
        ([{"docs": []}], [[]], "expected `relevant_docs`"),
        ([{"relevant_docs": []}], [[{"doc": "a"}]], "expected `id`"),
    ],
)
def test_a_batch_names_the_field_that_is_missing(queries: list, results: list, message: str) -> None:  # type: ignore[type-arg]
    """A query without judgments, or a result without id, is named in the error."""
    with pytest.raises(BadInput, match=message):
        evaluate_retrieval_batch(queries, results, ["mrr"])


def test_confidence_intervals_use_student_at_any_level() -> None:
    """Bounds as in scipy 1.17.1 `t.interval(level, 2, 0.4, 0.2 / 3**0.5)`, not the normal's 1.96."""
    assert calculate_confidence_interval([0.2, 0.4, 0.6]) == pytest.approx((-0.0968275, 0.8968275))
    assert calculate_confidence_interval([0.2, 0.4, 0.6], 0.9) == pytest.approx((0.0628291, 0.7371709))


def test_confidence_intervals_of_one_value_have_no_width() -> None:
    """One value, or no spread, gives the value twice; no values are refused."""
    assert calculate_confidence_interval([0.7]) == (0.7, 0.7)
    assert calculate_confidence_interval([0.1, 0.1, 0.1]) == (0.1, 0.1)
    with pytest.raises(BadSample):
        calculate_confidence_interval([])


def test_significance_is_paired_by_default() -> None:
    """Equal lengths are pairs: scipy 1.17.1 `ttest_rel` on these scores."""
    result = statistical_significance_test([0.5, 0.6, 0.9], [0.4, 0.6, 0.6])

    assert set(result) == {"t_statistic", "p_value", "significant", "mean_a", "mean_b", "test"}
    assert result["t_statistic"] == pytest.approx(1.5118578920369086)
    assert result["p_value"] == pytest.approx(0.26970325665977857)
    assert result["significant"] is False
    assert (result["mean_a"], result["mean_b"]) == pytest.approx((2 / 3, 1.6 / 3))
    assert result["test"] == "paired"


def test_significance_of_independent_samples_is_available_by_name() -> None:
    """Different lengths, or the name, give the independent test: scipy 1.17.1 `ttest_ind`."""
    unequal = statistical_significance_test([0.5, 0.6, 0.9], [0.4, 0.6])
    named = statistical_significance_test([0.5, 0.6, 0.9], [0.4, 0.6, 0.6], test="independent")

    assert unequal["p_value"] == pytest.approx(0.4043420061080662)
    assert unequal["test"] == named["test"] == "independent"


def test_significance_follows_alpha() -> None:
    """The same p is significant or not by the level asked for."""
    scores = ([0.5, 0.6, 0.9], [0.4, 0.6, 0.6])

    assert statistical_significance_test(*scores, alpha=0.3)["significant"] is True
    assert statistical_significance_test(*scores, alpha=0.2)["significant"] is False


@pytest.mark.parametrize("scores", [([0.5], [0.5]), ([0.5], [0.1]), ([0.5, 0.5], [0.5, 0.5])])
def test_significance_without_spread_has_a_stated_outcome(scores: tuple[list[float], list[float]]) -> None:
    """One score, or no difference anywhere: t = 0, p = 1, not significant."""
    result = statistical_significance_test(*scores)

    assert (result["t_statistic"], result["p_value"], result["significant"]) == (0.0, 1.0, False)


def test_significance_refuses_a_test_nobody_knows() -> None:
    """The name of the test is checked."""
    with pytest.raises(UnknownMetric, match="no significance test is called `pared`"):
        statistical_significance_test([1.0], [1.0], test="pared")  # type: ignore[arg-type]


def test_the_suite_has_every_metric_by_name() -> None:
    """Six names, each the function of that metric."""
    suite = RetrievalMetricsSuite()

    assert list(suite.metrics) == ["hit", "ndcg", "mrr", "map", "recall", "precision"]
    assert suite.evaluate("hit", ["a"], ["x", "a"], k=2) == 1.0
    assert suite.evaluate("mrr", [["a"]], [["x", "a"]]) == 0.5
    assert suite.evaluate("map", [["a"], ["b"]], [["a"], ["x"]], k=5) == 0.5


def test_the_suite_refuses_an_unknown_name_as_a_value_error() -> None:
    """Callers that catch ValueError still do."""
    with pytest.raises(ValueError, match="no metric is called `ndgc`"):
        RetrievalMetricsSuite().evaluate("ndgc", ["a"], ["a"])


IDS = st.lists(st.sampled_from("abcdef"), max_size=6)
BATCHES = st.lists(st.tuples(IDS, IDS), max_size=12)
METRICS = ["hit@2", "ndcg@3", "mrr", "map@4", "recall@5", "precision@2", "AP(rel=1)"]


def to_batch(
    pairs: list[tuple[list[str], list[str]]],
) -> tuple[list[dict[str, object]], list[list[dict[str, object]]]]:
    """Return queries and results as the batch functions take them."""
    results = [[{"id": document} for document in predicted] for _, predicted in pairs]
    queries = [
        {"id": f"q{number}", "relevant_docs": relevant, "results": found}
        for number, ((relevant, _), found) in enumerate(zip(pairs, results, strict=True))
    ]
    return queries, results  # type: ignore[return-value]


@given(pairs=BATCHES, size=st.integers(1, 14))
def test_batches_of_any_size_have_the_means_of_all_queries(
    pairs: list[tuple[list[str], list[str]]], size: int
) -> None:
    """To the last bit, with the results beside the queries or in them."""
    queries, results = to_batch(pairs)
    expected = evaluate_retrieval_batch(queries, results, METRICS)

    assert batch_evaluate_metrics(queries, size, retrieval_results=results, metrics=METRICS) == expected
    assert batch_evaluate_metrics(queries, size, metrics=METRICS) == expected
    for name in ("hit@2", "recall@5"):
        function = {"hit": hit_at_k, "recall": recall_at_k}[name[:-2]]
        values = [function(relevant, predicted, int(name[-1])) for relevant, predicted in pairs]
        assert expected[name] == pytest.approx(math.fsum(values) / max(len(values), 1), abs=1e-12)


@given(before=BATCHES, after=BATCHES)
def test_a_cache_never_changes_a_value(
    before: list[tuple[list[str], list[str]]], after: list[tuple[list[str], list[str]]]
) -> None:
    """Queries of the same ids with other judgments or results are computed, not looked up."""
    cache = MetricsCache()
    for pairs in (before, after, before):
        batch = to_batch(pairs)

        assert evaluate_retrieval_batch(*batch, METRICS, cache=cache) == evaluate_retrieval_batch(
            *batch, METRICS
        )
        for relevant, predicted in pairs:
            assert ndcg_at_k(relevant, predicted, 3, cache=cache) == ndcg_at_k(relevant, predicted, 3)


def test_a_value_that_was_kept_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the same content; the methods of the source find it too."""
    cache = MetricsCache()
    queries, results = to_batch([(["a", "b"], ["a", "c"])])
    first = evaluate_retrieval_batch(queries, results, ["recall@2"], cache=cache)
    content = MetricsCache.digest(["b", "a"], ["a", "c"])
    monkeypatch.setattr(functional, "evaluate", lambda *_: pytest.fail("computed again"))

    assert evaluate_retrieval_batch(queries, results, ["recall@2"], cache=cache) == first == {"recall@2": 0.5}
    assert cache.get_cached_metric("q0", "recall", 2, content=content) == 0.5
    assert cache.get_cached_metric("q0", "recall", 2) is None
    assert cache.get_cached_metric("q0", "recall", 3, content=content) is None


def test_a_value_may_be_kept_by_hand() -> None:
    """With the positional arguments of the source."""
    cache = MetricsCache()
    cache.cache_metric("q1", "ndcg", 10, 0.25)

    assert cache.get_cached_metric("q1", "ndcg", 10) == 0.25


@pytest.mark.parametrize("size", [0, -1])
def test_a_batch_size_that_means_nothing_is_refused(size: int) -> None:
    """In words."""
    with pytest.raises(BadSample, match="`batch_size` is"):
        batch_evaluate_metrics([], size)


def test_a_query_without_results_names_the_field() -> None:
    """Where no results are given apart."""
    with pytest.raises(BadInput, match="expected `results`"):
        batch_evaluate_metrics([{"relevant_docs": ["a"]}])
