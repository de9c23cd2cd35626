"""The seam of rerankers: how a study declares one, and what holds for the results of all of them.

A reranker orders the first results of a ranking; the rest follow below them in their order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Protocol

import msgspec

from judged.studies.stages.stage import Query, Ranked, Reranker, StageFailed, StageSpec, Workshop
from judged.studies.stages.vectors import VectorSpace

RERANKING = "reranking"
"""The stage in which results are reranked."""


class Orderer(Protocol):
    """A stage that orders the first results of one query."""

    def order(self, query: Query, head: Ranked) -> Ranked:
        """Return these documents, or some of them, best first."""
        ...


class RerankSpec(StageSpec, frozen=True, kw_only=True):
    """A reranker as a study declares it."""

    depth: Annotated[int, msgspec.Meta(ge=1)] = 100
    """Number of the first results that are reranked; the rest keep their order below them."""
    stage: str = RERANKING
    """The name under which it is timed."""

    def build(self, workshop: Workshop, space: VectorSpace | None = None) -> Reranker:
        """Return the reranker, ready for queries; `space` has the vectors of the system's encoder, if it has one."""
        return HeadReranker(self.type, self.load(workshop, space), self.depth)

    def load(self, workshop: Workshop, space: VectorSpace | None) -> Orderer:
        """Return what orders the first results."""
        raise NotImplementedError


class ModelRerankSpec(RerankSpec, frozen=True, kw_only=True):
    """Base of rerankers with a transformer."""

    extra: ClassVar[str] = "encoders"

    model: str
    """A folder, a hub id, or `package:NAME/FOLDER`."""
    revision: str | None = None
    """Branch, tag or commit of the hub."""
    weights: Literal["trained", "random"] = "trained"
    """`random`: build the architecture of the model's configuration without training."""
    seed: int = 0
    """Random seed of random weights."""
    batch: Annotated[int, msgspec.Meta(ge=1)] = 32
    """Batch size in documents; no score depends on it."""
    max_length: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Tokens that are read of a text, or of query and document together; None takes the model's limit."""
    device: str = "cpu"


class HeadReranker:
    """Reranks the first results, checks what comes back, and puts the rest below them."""

    def __init__(self, name: str, orderer: Orderer, depth: int) -> None:
        self.name = name
        self.orderer = orderer
        self.depth = depth

    @property
    def untrained(self) -> bool:
        """Whether its weights are random: every table and chart says so."""
        return bool(getattr(self.orderer, "untrained", False))

    def rerank(self, query: Query, ranked: Ranked) -> Ranked:
        """Return the documents in their new order, with scores that fall from each to the next."""
        head = ranked.cut(self.depth)
        if not len(head):
            return ranked
        ordered = self.orderer.order(query, head)
        self._check(ordered, head)
        tail = Ranked(ranked.documents[self.depth :], ranked.scores[self.depth :])
        return join_rankings(ordered, tail)

    def notes(self) -> list[str]:
        """Return what readers of the results should know."""
        notes = getattr(self.orderer, "notes", None)
        return [] if notes is None else list(notes())

    def forget(self) -> None:
        """Forget what was counted for notes."""
        getattr(self.orderer, "forget", lambda: None)()

    def _check(self, ordered: Ranked, head: Ranked) -> None:
        given = set(head.documents)
        unknown = [document for document in ordered.documents if document not in given]
        if unknown:
            msg = (
                f"`{self.name}` returned document `{unknown[0]}`, which is not among the results it was given"
            )
            raise StageFailed(msg)
        if len(set(ordered.documents)) < len(ordered):
            twice = next(repeated for repeated in ordered.documents if ordered.documents.count(repeated) > 1)
            msg = f"`{self.name}` returned document `{twice}` twice"
            raise StageFailed(msg)
        check_scores(self.name, ordered.documents, ordered.scores)


def check_scores(name: str, documents: Sequence[str], scores: Sequence[float]) -> None:
    """Raise `StageFailed` for the first score that is not a finite number."""
    for document, score in zip(documents, scores, strict=True):
        if not math.isfinite(score):
            word = "NaN" if math.isnan(score) else "infinity"
            msg = f"`{name}` returned {word} as the score of document `{document}`, expected a finite number"
            raise StageFailed(msg)


def join_rankings(head: Ranked, tail: Ranked) -> Ranked:
    """Return one ranking, the tail below the head, with scores that keep this order.

    A tail that reaches into the head is shifted to 1 below it.

    >>> join_rankings(Ranked(("a", "b"), (0.75, 0.25)), Ranked(("c", "d"), (9.0, 8.5)))
    Ranked(documents=('a', 'b', 'c', 'd'), scores=(0.75, 0.25, -0.75, -1.25))
    """
    documents = (*head.documents, *tail.documents)
    head, shift = head.in_order(), 0.0
    if len(head) and len(tail) and tail.scores[0] >= head.scores[-1]:
        shift = tail.scores[0] - head.scores[-1] + 1
    return Ranked(documents, (*head.scores, *(score - shift for score in tail.scores))).in_order()
