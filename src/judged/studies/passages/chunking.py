"""Chunked collections: passages in place of documents, and the way back to what is judged.

A system with a `chunk` searches and reranks passages. What it returns are documents, each at the rank of its best passage; or,
where passages are judged, those passages, each at the rank of the first chunk that covers enough of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from judged.studies.stages.chunkers import ChunkSpec, Span, load_tokeniser
from judged.studies.stages.stage import Passage, Ranked, StageFailed

if TYPE_CHECKING:
    from judged.studies.collections.collection import Collection


@dataclass(frozen=True, eq=False)
class Chunked:
    """A collection cut into passages."""

    collection: Collection
    """The passages as documents; their ids name document and offsets."""
    passages: tuple[Passage, ...]
    """The passage of each row of the collection."""
    source: Collection
    """The whole documents."""
    _lengths: dict[str, dict[str, float]] = field(default_factory=dict)

    def count_tokens(self, tokeniser: str) -> dict[str, float]:
        """Return mean, median and largest number of tokens of a passage, and that of all together."""
        if tokeniser not in self._lengths:
            self._lengths[tokeniser] = count_tokens(self.collection.texts, tokeniser)
        return self._lengths[tokeniser]

    @property
    def per_document(self) -> float:
        """The mean number of passages of a document."""
        return len(self.passages) / max(len(self.source.documents), 1)

    def find(self, ranked: Ranked) -> list[Passage]:
        """Return the passages of a ranking."""
        return [self.passages[self.collection.row(name)] for name in ranked.documents]


def count_tokens(texts: Sequence[str], tokeniser: str) -> dict[str, float]:
    """Return mean, median and largest number of tokens of texts, and that of all together.

    >>> count_tokens(["a b c", "d"], "words")
    {'mean': 2.0, 'median': 2.0, 'largest': 3.0, 'all': 4.0}
    """
    load = load_tokeniser(tokeniser)
    counts = np.array([load.count(text) for text in texts])
    return {
        "mean": float(counts.mean()),
        "median": float(np.median(counts)),
        "largest": float(counts.max()),
        "all": float(counts.sum()),
    }


def chunk_collection(collection: Collection, spec: ChunkSpec) -> Chunked:
    """Return a collection cut into passages; raise `StageFailed` if there are none."""
    passages: dict[Passage, str] = {}
    for document, text in zip(collection.documents, collection.texts, strict=True):
        for start, end in spec.split(text):
            passages[Passage(document, start, end)] = text[start:end]
    if not passages:
        msg = f"the collection `{collection.name}` has no text to cut into chunks"
        raise StageFailed(msg)
    name = f"{collection.name}, in chunks by {spec.type}"
    chunks = replace(
        collection,
        name=name,
        documents=tuple(one.id for one in passages),
        texts=tuple(passages.values()),
        judgments=None,
        notes=(),
        spans=(),
    )
    return Chunked(chunks, tuple(passages), collection)


@dataclass(frozen=True, eq=False)
class Judging:
    """What is judged, documents or spans of them, and how passages lead to it."""

    spans: tuple[Passage, ...] = ()
    """The spans that are judged; none: documents are."""
    coverage: float = 0.5
    """The share of a span's characters that a passage has to cover."""

    @cached_property
    def _by_document(self) -> Mapping[str, list[Passage]]:
        found: dict[str, list[Passage]] = {}
        for span in dict.fromkeys(self.spans):
            found.setdefault(span.document, []).append(span)
        return found

    def list_units(self, passages: Sequence[Passage]) -> list[tuple[int, str]]:
        """Return what is judged in the order in which passages show it, each once, with the place of its passage."""
        seen: dict[str, int] = {}
        for place, passage in enumerate(passages):
            for unit in self._find_units(passage):
                seen.setdefault(unit, place)
        return [(place, unit) for unit, place in seen.items()]

    def _find_units(self, passage: Passage) -> list[str]:
        """Return the document of a passage; or the judged spans that it covers, or itself if there are none."""
        if not self.spans:
            return [passage.document]
        found = []
        for span in self._by_document.get(passage.document, ()):
            shared = min(span.end, passage.end) - max(span.start, passage.start)
            if shared >= self.coverage * (span.end - span.start):
                found.append(span.id)
        return found or [passage.id]

    def convert(self, ranked: Ranked, passages: Sequence[Passage]) -> Ranked:
        """Return a ranking of what is judged; scores are those of the passages, made to keep the order."""
        units = self.list_units(passages)
        scores = tuple(ranked.scores[place] for place, _ in units)
        return Ranked(tuple(unit for _, unit in units), scores).in_order()


def whole_passages(collection: Collection, documents: Sequence[str]) -> list[Passage]:
    """Return documents as passages, those without text as empty ones."""
    return [Passage(name, *_whole(collection, name)) for name in documents]


def _whole(collection: Collection, document: str) -> Span:
    try:
        return 0, len(collection.texts[collection.row(document)])
    except KeyError:
        return 0, 0
