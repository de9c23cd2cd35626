r"""Late interaction: every token of the query finds its best match among the tokens of the document.

$$\mathrm{MaxSim}(q, d) = \sum_{i \in q} \max_{j \in d} \cos(q_i, d_j)$$

over the states of the tokens in the last layer of a transformer, special tokens included. ColBERT's own additions are
left out: marker tokens, a linear layer, padding of queries with masks, removal of punctuation.

References:
    Khattab and Zaharia. ColBERT: efficient and effective passage search via contextualized late interaction over
    BERT. SIGIR 2020. doi:10.1145/3397271.3401075
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from judged.arrays import Ints
from judged.studies.stages.cosine import normalise_rows
from judged.studies.stages.encoders.transformers import Transformers, TransformersEncoder
from judged.studies.stages.rerankers.function import score_texts
from judged.studies.stages.rerankers.reranker import ModelRerankSpec
from judged.studies.stages.stage import Matrix, Query, Ranked, StageFailed, Workshop
from judged.studies.stages.vectors import VectorSpace


class MaxSim(ModelRerankSpec, frozen=True, kw_only=True, tag="maxsim"):
    """MaxSim over token vectors of a transformer (Khattab and Zaharia 2020).

    The vectors of all documents are computed when the system is built and kept in memory in float16: 2 bytes for each
    token and dimension, about 150 MB for 1,000 documents of 200 tokens and 384 dimensions.
    """

    def load(self, workshop: Workshop, space: VectorSpace | None) -> _TokenMatcher:  # noqa: ARG002 - texts alone
        """Load the model, and encode the tokens of all documents."""
        encoder = Transformers(
            model=self.model,
            revision=self.revision,
            weights=self.weights,
            seed=self.seed,
            max_length=self.max_length,
            device=self.device,
        ).load(())
        matcher = _TokenMatcher(workshop, encoder, self)
        matcher.encode_documents()
        return matcher


class _TokenMatcher:
    def __init__(self, workshop: Workshop, encoder: TransformersEncoder, spec: MaxSim) -> None:
        self._workshop, self._encoder, self._spec = workshop, encoder, spec
        self.untrained = bool(encoder.untrained)
        self._starts: Ints = np.zeros(1, dtype=np.int64)
        self._vectors = np.zeros((0, encoder.dimensions), dtype=np.float16)

    @property
    def bytes(self) -> int:
        """The memory that the vectors of documents take."""
        return int(self._vectors.nbytes)

    def encode_documents(self) -> None:
        """Encode the tokens of every document, in batches of equal length, so that none is padded."""
        tokens = [self._tokenise(text) for text in self._workshop.collection.texts]
        lengths = np.array([len(ids) for ids in tokens])
        if not lengths.all():
            document = self._workshop.collection.documents[int(np.argmin(lengths))]
            msg = f"document `{document}` has no tokens"
            raise StageFailed(msg)
        self._starts = np.concatenate([[0], np.cumsum(lengths)])
        self._vectors = np.zeros((int(self._starts[-1]), self._encoder.dimensions), dtype=np.float16)
        done = 0
        for rows in _make_batches(lengths, self._spec.batch):
            for row, vectors in zip(rows, self._encode([tokens[row] for row in rows]), strict=True):
                self._vectors[self._starts[row] : self._starts[row + 1]] = vectors
            done += len(rows)
            self._workshop.progress(done, len(tokens), "encoding tokens")

    def order(self, query: Query, head: Ranked) -> Ranked:
        """Return the documents by MaxSim."""
        self._workshop.texts(head.documents)  # raises for one that is not in the collection
        rows = [self._workshop.collection.row(document) for document in head.documents]
        parts = [self._vectors[self._starts[row] : self._starts[row + 1]] for row in rows]
        starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
        tokens = self._tokenise(query.text)
        if not tokens:
            msg = "the query has no tokens"
            raise StageFailed(msg)
        asked = self._encode([tokens])[0]
        similarity = asked @ np.concatenate(parts).astype(np.float32).T
        best = np.maximum.reduceat(similarity, starts, axis=1)
        return score_texts(head, best.sum(axis=0, dtype=np.float64), self._spec.model)

    def notes(self) -> list[str]:
        """Return how much memory the vectors take."""
        return [f"the vectors of {self._starts[-1]:,} tokens are kept in float16: {self.bytes / 1e6:,.1f} MB"]

    def _tokenise(self, text: str) -> list[int]:
        return self._encoder.tokenizer(
            text, truncation=True, max_length=self._encoder.max_length, verbose=False
        )["input_ids"]

    def _encode(self, tokens: Sequence[Sequence[int]]) -> Matrix:
        """Return the vectors of the tokens of texts of one length, each of length 1."""
        import torch

        with torch.inference_mode():
            given = torch.tensor(tokens, device=self._spec.device)
            mask = torch.ones_like(given)
            states = self._encoder.network(input_ids=given, attention_mask=mask).last_hidden_state
        vectors = states.float().cpu().numpy()
        if not np.isfinite(vectors).all():
            msg = f"the model `{self._spec.model}` returned vectors that are not finite"
            raise StageFailed(msg)
        return normalise_rows(vectors)


def _make_batches(lengths: Ints, size: int) -> list[list[int]]:
    """Return rows of texts of one length, at most `size` at a time."""
    order = np.argsort(lengths, kind="stable").tolist()
    groups = [list(rows) for _, rows in groupby(order, key=lambda row: lengths[row])]
    return [rows[start : start + size] for rows in groups for start in range(0, len(rows), size)]
