"""sentence-transformers: its evaluators of retrieval and reranking, with the values computed by judged.

    from judged.compat.sentence_transformers import InformationRetrievalEvaluator
    evaluator = InformationRetrievalEvaluator(queries, corpus, {"q1": {"d1": 2, "d7": 1}}, name="dev")
    evaluator(model), evaluator.evaluations["cosine"].per_query()

They encode, search, log and write as the library's own, of which they are subclasses, and return the same metrics. Judgments
may have grades, and the values of every query stay in `evaluations`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judged._optional import need
from judged.errors import BadInput, WrongKind
from judged.problem import Problem
from judged.protocol import PROTOCOLS, Protocol
from judged.scoring.evaluate import evaluate
from judged.scoring.evaluation import Evaluation

__all__ = ["InformationRetrievalEvaluator", "RerankingEvaluator"]

_NEEDED_BY = "`judged.compat.sentence_transformers`"


def _find_evaluation() -> Any:
    """Return the module of the evaluators, which moved in version 6."""
    package = need("sentence_transformers", extra="sentence-transformers", needed_by=_NEEDED_BY)
    is_new = int(package.__version__.partition(".")[0]) >= 6
    path = (
        "sentence_transformers.sentence_transformer.evaluation"
        if is_new
        else "sentence_transformers.evaluation"
    )
    return need(path, extra="sentence-transformers", needed_by=_NEEDED_BY)


_evaluation: Any = _find_evaluation()

# The library's scores are floats; of equal ones, it puts the lower id first, which is the order of the dicts below.
_AS_SEARCHED = PROTOCOLS["trec_eval-9"].replace(ties="input-order", precision="float64")
# A model that gives all documents one score would otherwise get the best or the worst value, by the order of the sample.
_EXPECTED = PROTOCOLS["trec_eval-9"].replace(ties="expected", precision="float64")


class InformationRetrievalEvaluator(_evaluation.InformationRetrievalEvaluator):  # type: ignore[misc]
    """The library's evaluator of a search, with grades.

    `relevant_docs` maps queries to documents with grades, or to sets of documents, whose grade is then 1; the other
    arguments are the library's. A query counts if a document of it is judged. `ndcg@k` uses the grades, and all other
    metrics count documents of grade 1 and above.
    """

    evaluations: dict[str, Evaluation]
    """The last evaluation under each score function: `evaluator.evaluations["cosine"].per_query()`."""

    def __init__(
        self,
        queries: Mapping[str, Any],
        corpus: Mapping[str, Any],
        relevant_docs: Mapping[str, Mapping[str, float] | Sequence[str] | set[str]],
        *arguments: Any,
        **settings: Any,
    ) -> None:
        self.evaluations = {}
        self._unnamed: list[Evaluation] = []
        graded = {query: _to_grades(query, documents) for query, documents in relevant_docs.items()}
        _check_distinct("queries", queries)
        _check_distinct("documents", corpus)
        super().__init__(dict(queries), dict(corpus), graded, *arguments, **settings)

    def __call__(self, model: Any, *arguments: Any, **settings: Any) -> dict[str, float]:
        """Return the metrics of the model, and keep the values of every query."""
        self._unnamed = []
        metrics: dict[str, float] = super().__call__(model, *arguments, **settings)
        self.evaluations = dict(zip(self.score_functions, self._unnamed, strict=True))
        return metrics

    def compute_metrics(self, queries_result_list: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
        """Return the metrics of the results of every query."""
        run = {
            str(query): {str(hit["corpus_id"]): hit["score"] for hit in sorted(hits, key=_by_score)}
            for query, hits in zip(self.queries_ids, queries_result_list, strict=True)
        }
        judgments = {
            str(query): {str(document): grade for document, grade in self.relevant_docs[query].items()}
            for query in self.queries_ids
        }
        cutoffs = {
            "accuracy@k": ("Success@{}", self.accuracy_at_k),
            "precision@k": ("P@{}", self.precision_recall_at_k),
            "recall@k": ("R@{}", self.precision_recall_at_k),
            "ndcg@k": ("nDCG@{}", self.ndcg_at_k),
            "mrr@k": ("RR@{}", self.mrr_at_k),
            "map@k": ('AP(over="cutoff")@{}', self.map_at_k),
        }
        evaluation = _evaluate(
            judgments,
            run,
            [name.format(k) for name, values in cutoffs.values() for k in values],
            _AS_SEARCHED,
        )
        self._unnamed.append(evaluation)
        return {
            metric: {k: evaluation[name.format(k)] for k in values}
            for metric, (name, values) in cutoffs.items()
        }


class RerankingEvaluator(_evaluation.RerankingEvaluator):  # type: ignore[misc]
    """The library's evaluator of a reranking, with grades.

    `positive` of a sample is a text, a list of texts, or a dict of texts with their grades; the other arguments are the
    library's. Documents with equal scores count by their expectation over all orders.
    """

    similarity_fct: Any
    """The library's function of the similarity of two sets of vectors."""
    evaluations: dict[str, Evaluation]
    """The last evaluation, as `evaluator.evaluations["similarity"]`; queries are the numbers of the samples, from 0."""

    def __init__(self, samples: Any, *arguments: Any, **settings: Any) -> None:
        self.evaluations = {}
        super().__init__(samples, *arguments, **settings)

    def compute_metrics(self, model: Any) -> dict[str, float]:
        """Return the metrics of the model on all samples."""
        lists = self._score(model)
        judgments, run = {}, {}
        for number, (sample, scores) in enumerate(zip(self.samples, lists, strict=True)):
            positive = sample["positive"]
            grades = [
                *(positive.values() if isinstance(positive, Mapping) else [1] * len(positive)),
                *([0] * len(sample["negative"])),
            ]
            judgments[str(number)] = {str(place): grade for place, grade in enumerate(grades)}
            run[str(number)] = {str(place): score for place, score in enumerate(scores)}
        names = {"map": "AP", "mrr": f"RR@{self.at_k}", "ndcg": f"nDCG@{self.at_k}"}
        evaluation = _evaluate(judgments, run, list(names.values()), _EXPECTED)
        self.evaluations = {"similarity": evaluation}
        return {metric: evaluation[name] for metric, name in names.items()}

    compute_metrices = compute_metrics  # its name before version 5
    """The name of `compute_metrics` in earlier versions."""

    def _score(self, model: Any) -> list[list[float]]:
        """Return the scores of the documents of each sample, which the library computes; its own metrics are dropped."""
        found: list[list[float]] = []
        similarity = self.similarity_fct

        def keep(query: Any, documents: Any) -> Any:
            scores = similarity(query, documents)
            found.append(scores.flatten().cpu().tolist())
            return scores

        library: Any = super()
        self.similarity_fct = keep
        try:
            (library.compute_metrics if hasattr(library, "compute_metrics") else library.compute_metrices)(
                model
            )
        finally:
            self.similarity_fct = similarity
        return found


def _evaluate(judgments: Any, run: Any, measures: list[str], protocol: Protocol) -> Evaluation:
    return evaluate(judgments, run, list(dict.fromkeys(measures)), protocol=protocol)


def _by_score(hit: Mapping[str, Any]) -> tuple[float, Any]:
    return -hit["score"], hit["corpus_id"]


def _to_grades(query: str, documents: Any) -> dict[Any, Any]:
    """Return the grades of documents; those of a set or a list are 1."""
    if isinstance(documents, Mapping):
        return dict(documents)
    if isinstance(documents, str):
        msg = f"the relevant documents of query `{query}` are a text, expected a set, or a dict with grades"
        raise WrongKind(msg)
    return dict.fromkeys(documents, 1)


def _check_distinct(subject: str, ids: Mapping[Any, Any]) -> None:
    """Raise `BadInput` for ids that are equal as text, such as 1 and "1"."""
    if len({str(identity) for identity in ids}) < len(ids):
        message = "two of them are equal as text, such as 1 and '1'"
        raise BadInput(subject, [Problem.error("repeated-id", "ids", message)])
