"""The evaluators of sentence-transformers: the library's numbers from judged's engine, grades, values of every query."""

from __future__ import annotations

import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")

QUERIES = {f"q{number}": f"query {number * 7}" for number in range(9)}
CORPUS = {f"d{number}": f"document {number * 13}" for number in range(60)} | {
    # the same texts again, so that scores are tied
    "d5 copy": "document 65",
    "c5": "document 65",
}
RELEVANT = {
    f"q{number}": {f"d{(number * 11 + step) % 60}" for step in range(0, 4 * number + 1, 4)} | {"d5 copy"}
    for number in range(8)
}


class Model:
    """A model that gives each text a vector of its own, and equal texts equal ones."""

    similarity_fn_name = "cosine"
    model_card_data = SimpleNamespace(set_evaluation_metrics=lambda *_: None)

    def similarity(self, one: Any, other: Any) -> Any:
        """Return the cosines."""
        from sentence_transformers.util import cos_sim

        return cos_sim(one, other)

    def encode(self, texts: Any, **_: Any) -> Any:
        """Return vectors that depend on the text alone."""
        vectors = []
        for text in [texts] if isinstance(texts, str) else texts:
            generator = torch.Generator().manual_seed(zlib.crc32(text.encode()))
            vectors.append(torch.randn(8, generator=generator))
        return torch.stack(vectors)

    encode_query = encode_document = encode


@pytest.fixture(scope="module")
def ours() -> Any:
    """The twins."""
    from judged.compat import sentence_transformers

    return sentence_transformers


@pytest.fixture(scope="module")
def theirs() -> Any:
    """The library's evaluators."""
    return pytest.importorskip("sentence_transformers.sentence_transformer.evaluation")


def test_they_are_evaluators_of_the_library(ours: Any) -> None:
    """The trainer asks for an instance, a primary metric and a direction."""
    from sentence_transformers.base.evaluation import BaseEvaluator

    evaluator = ours.InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, name="dev", write_csv=False)
    metrics = evaluator(Model())

    assert isinstance(evaluator, BaseEvaluator)
    assert evaluator.primary_metric == "dev_cosine_ndcg@10"
    assert evaluator.primary_metric in metrics
    assert evaluator.greater_is_better is True


def test_metrics_are_those_of_the_library(ours: Any, theirs: Any) -> None:
    """With tied documents, and a query without judgments, which is left out."""
    settings = {"write_csv": False, "map_at_k": [3, 100], "ndcg_at_k": [1, 10], "mrr_at_k": [2, 10]}
    expected = theirs.InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, **settings)(Model())
    found = ours.InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, **settings)(Model())

    assert list(found) == list(expected)
    assert found == pytest.approx(expected, abs=1e-12)


def test_grades_count_in_ndcg(ours: Any) -> None:
    """Grade 2 at rank 2 below grade 1 at rank 1 is (1 + 2 / log2 3) / (2 + 1 / log2 3)."""
    first, second, third = (
        {"corpus_id": name, "score": score} for name, score in (("b", 3.0), ("a", 2.0), ("c", 1.0))
    )
    evaluator = ours.InformationRetrievalEvaluator(
        {"q": "?"}, {"a": "A", "b": "B", "c": "C"}, {"q": {"a": 2, "b": 1, "c": 0}}
    )
    metrics = evaluator.compute_metrics([[first, second, third]])

    assert metrics["ndcg@k"][10] == pytest.approx((1 + 2 * 0.6309297535714575) / (2 + 0.6309297535714575))
    assert metrics["precision@k"][3] == pytest.approx(2 / 3)


def test_every_query_has_its_values(ours: Any) -> None:
    """Under each score function, as an evaluation that `compare` takes."""
    import judged

    evaluator = ours.InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, write_csv=False)
    metrics = evaluator(Model())
    evaluation = evaluator.evaluations["cosine"]

    assert evaluation.per_query().queries.to_pylist() == sorted(RELEVANT)
    assert evaluation["nDCG@10"] == metrics["cosine_ndcg@10"]
    assert judged.compare({"a": evaluation, "b": evaluation}).systems == ("a", "b")


def test_what_the_library_writes_is_written(ours: Any, tmp_path: Path) -> None:
    """Its file of results, with a row for each call."""
    evaluator = ours.InformationRetrievalEvaluator(QUERIES, CORPUS, RELEVANT, name="dev")
    evaluator(Model(), output_path=str(tmp_path))
    evaluator(Model(), output_path=str(tmp_path))

    assert len((tmp_path / "Information-Retrieval_evaluation_dev_results.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("queries", "relevant", "error", "words"),
    [
        ({"q": "?"}, {"q": "a"}, TypeError, "relevant documents of query `q` are a text"),
        ({1: "?", "1": "!"}, {1: {"a"}}, ValueError, "two of them are equal as text"),
    ],
)
def test_refuses_what_would_be_misread(
    ours: Any, queries: Any, relevant: Any, error: type, words: str
) -> None:
    """A text is a set of letters; 1 and "1" would be one query."""
    with pytest.raises(error, match=words):
        ours.InformationRetrievalEvaluator(queries, {"a": "A"}, relevant)


SAMPLES = [
    {
        "query": f"query {number}",
        "positive": [f"good {number}", f"better {number}"][: 1 + number % 2],
        "negative": [f"bad {number} {other}" for other in range(5)],
    }
    for number in range(12)
]


@pytest.mark.parametrize("batched", [True, False])
def test_metrics_of_a_reranking_are_those_of_the_library(ours: Any, theirs: Any, *, batched: bool) -> None:
    """Where no scores are tied."""
    settings = {"use_batched_encoding": batched, "write_csv": False, "at_k": 3, "name": "dev"}
    one, other = theirs.RerankingEvaluator(SAMPLES, **settings), ours.RerankingEvaluator(SAMPLES, **settings)

    assert other(Model()) == pytest.approx(one(Model()), abs=1e-12)
    assert other.primary_metric == one.primary_metric == "dev_ndcg@3"
    assert other.greater_is_better is True


def test_grades_count_in_a_reranking(ours: Any) -> None:
    """Positives may be a dict with grades."""
    graded = [{**sample, "positive": dict.fromkeys(sample["positive"], 1)} for sample in SAMPLES]
    higher = [
        {**sample, "positive": {text: 1 + at for at, text in enumerate(sample["positive"])}}
        for sample in SAMPLES
    ]

    def metrics(samples: Any) -> Any:
        return ours.RerankingEvaluator(samples, write_csv=False)(Model())

    assert metrics(graded) == metrics(SAMPLES)
    assert metrics(higher)["ndcg@10"] != metrics(SAMPLES)["ndcg@10"]
    assert metrics(higher)["map"] == metrics(SAMPLES)["map"]


def test_a_constant_model_is_not_the_best(ours: Any) -> None:
    """The expectation over the orders of two documents is (1 + 1/2) / 2; the first of the sample would give 1."""
    sample = {"query": "?", "positive": "same", "negative": ["same"]}
    evaluator = ours.RerankingEvaluator([sample], write_csv=False)

    assert evaluator(Model())["mrr@10"] == pytest.approx(0.75)
    assert evaluator.evaluations["similarity"].per_query().by_query("RR@10") == {"0": pytest.approx(0.75)}
