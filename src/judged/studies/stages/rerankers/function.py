"""User-defined rerankers: a callable, or an object with `rerank`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from judged.studies.stages.functions import call, load_object
from judged.studies.stages.rerankers.reranker import RerankSpec
from judged.studies.stages.stage import Query, Ranked, StageFailed, Workshop
from judged.studies.stages.vectors import VectorSpace


class FunctionReranking(RerankSpec, frozen=True, kw_only=True, tag="function"):
    """Scores by a callable, or by the method `rerank` of an object: (query, list of texts) → a score for each text."""

    function: str
    """`module:attribute`, or a name announced under the entry points `judged.rerankers`."""
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    """If there are any, the callable is called with them first, and returns the reranker."""

    def load(self, workshop: Workshop, space: VectorSpace | None) -> _FunctionScorer:  # noqa: ARG002 - texts alone
        """Import the function."""
        target = load_object(self.function, self.settings, kind="reranker")
        score = getattr(target, "rerank", target)
        if not callable(score):
            msg = f"`{self.function}` is an object of type {type(target).__name__}, expected a callable or an object with `rerank`"
            raise StageFailed(msg)
        return _FunctionScorer(workshop, score, self.function)


class _FunctionScorer:
    def __init__(self, workshop: Workshop, score: Callable[..., object], place: str) -> None:
        self._workshop, self._score, self._place = workshop, score, place

    def order(self, query: Query, head: Ranked) -> Ranked:
        """Return the documents by the function's scores."""
        texts = self._workshop.texts(head.documents)
        return score_texts(head, call(self._score, self._place, query.text, texts), self._place)


def score_texts(head: Ranked, scores: Any, name: str) -> Ranked:
    """Return documents by new scores, the highest first; of equal ones the first stays first."""
    try:
        numbers = np.asarray(scores if hasattr(scores, "__len__") else list(scores), dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):  # the last is torch's, for a tensor with gradients
        msg = f"`{name}` returned {type(scores).__name__}, expected a number for each of {len(head)} texts"
        raise StageFailed(msg) from None
    if numbers.shape != (len(head),):
        msg = f"`{name}` returned scores of shape {numbers.shape}, expected a number for each of {len(head)} texts"
        raise StageFailed(msg)
    return Ranked.sort(zip(head.documents, numbers.tolist(), strict=True))
