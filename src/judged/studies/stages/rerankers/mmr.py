r"""Maximal marginal relevance: results that are relevant and unlike those above them.

Of the results that are left, the next one is

$$\arg\max_{d}\ (1 - \delta)\, r(d) - \delta \max_{s \in S} \cos(d, s)$$

where $S$ are those already chosen, $r$ is relevance and $\delta$ the diversity: $1 - \lambda$ of the paper. While nothing
is chosen the second term is 0; of equal ones the first in the ranking is chosen.

References:
    Carbonell and Goldstein. The use of MMR, diversity-based reranking for reordering documents and producing
    summaries. SIGIR 1998. doi:10.1145/290941.291025
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np

from judged.arrays import Floats
from judged.studies.stages.cosine import find_space, normalise
from judged.studies.stages.encoders import Encoders
from judged.studies.stages.rerankers.reranker import RerankSpec
from judged.studies.stages.stage import Query, Ranked, StageFailed, Workshop
from judged.studies.stages.vectors import VectorSpace


class MaximalMarginalRelevance(RerankSpec, frozen=True, kw_only=True, tag="mmr"):
    """Maximal marginal relevance by vectors of documents (Carbonell and Goldstein 1998)."""

    diversity: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.3
    """The weight of being unlike the results above: 0 keeps the order of relevance, 1 ignores relevance."""
    relevance: Literal["scores", "similarity"] = "scores"
    """The scores of the ranking, scaled to 0…1 (min-max), or the cosine of query and document."""
    encoder: Encoders | None = None
    """None takes the encoder of the system."""

    needs_vectors: ClassVar[bool] = True

    def load(self, workshop: Workshop, space: VectorSpace | None) -> _Diversifier:
        """Return what orders by relevance and novelty."""
        return _Diversifier(workshop, find_space(self.type, self.encoder, workshop, space), self)


class _Diversifier:
    def __init__(self, workshop: Workshop, space: VectorSpace, spec: MaximalMarginalRelevance) -> None:
        self._workshop, self._space, self._spec = workshop, space, spec

    def order(self, query: Query, head: Ranked) -> Ranked:
        """Return the documents in the order in which they are chosen, with their value when they were."""
        vectors = normalise(self._space.documents[self._find_rows(head.documents)])
        if self._spec.relevance == "similarity":
            relevance = vectors @ normalise(query.embed(self._space))
        else:
            relevance = _scale(np.asarray(head.scores, dtype=np.float64))
        chosen, values = choose_greedily(relevance, vectors @ vectors.T, self._spec.diversity)
        return Ranked(tuple(head.documents[at] for at in chosen), tuple(values))

    def _find_rows(self, documents: tuple[str, ...]) -> list[int]:
        try:
            return [self._workshop.collection.row(document) for document in documents]
        except KeyError as error:
            msg = f"document `{error.args[0]}` is not in the collection, so it has no vector"
            raise StageFailed(msg) from None


def choose_greedily(relevance: Floats, similarity: Floats, diversity: float) -> tuple[list[int], list[float]]:
    """Return positions in the order in which they are chosen, and the value of each when it was.

    >>> similarity = np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]])
    >>> choose_greedily(np.array([1, 0.9, 0.5]), similarity, 0.5)[0]
    [0, 2, 1]
    """
    nearest = np.zeros(len(relevance))
    left = np.ones(len(relevance), dtype=bool)
    chosen: list[int] = []
    values: list[float] = []
    for _ in relevance:
        worth = np.where(left, (1 - diversity) * relevance - diversity * nearest, -np.inf)
        best = int(np.argmax(worth))
        nearest = np.maximum(nearest, similarity[best]) if chosen else similarity[best]
        chosen.append(best)
        values.append(float(worth[best]))
        left[best] = False
    return chosen, values


def _scale(scores: Floats) -> Floats:
    """Return scores from 0 to 1; equal ones become 1."""
    spread = scores.max() - scores.min()
    return (scores - scores.min()) / spread if spread > 0 else np.ones_like(scores)
