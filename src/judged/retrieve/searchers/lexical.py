"""Search by words: BM25 of bm25s, and Tantivy."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np

from judged._optional import need
from judged.retrieve.searchers.searcher import SearchSpec, pick_best, rank_rows
from judged.retrieve.stage import Query, Ranked, Searcher, Workshop
from judged.retrieve.vectors import VectorSpace

__all__ = ["Bm25", "Tantivy"]

_NO_WORD = re.compile(r"\W+")


class Bm25(SearchSpec, tag="bm25", frozen=True, kw_only=True):
    """BM25 by bm25s; documents that share no word with the query are not returned."""

    k1: float = 1.5
    b: float = 0.75
    method: Literal["lucene", "robertson", "atire", "bm25l", "bm25+"] = "lucene"
    stopwords: Literal["en", "none"] = "en"

    extra = "demo"

    def build(self, workshop: Workshop, space: VectorSpace | None) -> Searcher:  # noqa: ARG002 - words alone
        """Index the words of the collection."""
        library = need("bm25s", extra=self.extra, needed_by="the searcher `bm25`")
        index = library.BM25(method=self.method, k1=self.k1, b=self.b, backend="numpy")
        searcher = _Bm25Searcher(workshop, library, index, [] if self.stopwords == "none" else self.stopwords)
        index.index(searcher.split(workshop.collection.texts), show_progress=False)
        return searcher


class _Bm25Searcher:
    def __init__(self, workshop: Workshop, library: Any, index: Any, stopwords: Any) -> None:
        self._workshop, self._library, self._index = workshop, library, index
        self._stopwords = stopwords

    def split(self, texts: Any) -> Any:
        """Return the words of each text."""
        return self._library.tokenize(
            list(texts), stopwords=self._stopwords, return_ids=False, show_progress=False
        )

    def search(self, query: Query, depth: int) -> Ranked:
        """Return the documents with the highest BM25."""
        words = self.split([query.text])[0]
        if not words:
            return Ranked()
        scores = self._index.get_scores(words)
        rows = pick_best(scores, min(depth, len(scores)))
        rows = rows[scores[rows] > 0]
        return rank_rows(self._workshop, rows, scores[rows].astype(np.float64))


class Tantivy(SearchSpec, tag="tantivy", frozen=True, kw_only=True):
    """BM25 by Tantivy, with k1 = 1.2 and b = 0.75; the words of a query are joined by OR."""

    tokeniser: Literal["default", "en_stem", "raw", "whitespace"] = "default"

    extra = "tantivy"

    def build(self, workshop: Workshop, space: VectorSpace | None) -> Searcher:  # noqa: ARG002 - words alone
        """Index the collection in memory."""
        library = need("tantivy", extra=self.extra, needed_by="the searcher `tantivy`")
        fields = library.SchemaBuilder()
        fields.add_integer_field("row", stored=True)
        fields.add_text_field("text", tokenizer_name=self.tokeniser)
        index = library.Index(fields.build())
        writer = index.writer(num_threads=1)  # one segment, so that scores do not depend on threads
        for row, text in enumerate(workshop.collection.texts):
            writer.add_document(library.Document(row=row, text=text))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return _TantivySearcher(workshop, index)


class _TantivySearcher:
    def __init__(self, workshop: Workshop, index: Any) -> None:
        self._workshop, self._index, self._searcher = workshop, index, index.searcher()

    def search(self, query: Query, depth: int) -> Ranked:
        """Return the documents with the highest BM25; signs of Tantivy's query language mean nothing here."""
        words = _NO_WORD.sub(" ", query.text.lower()).strip()
        if not words:
            return Ranked()
        parsed = self._index.parse_query(words, ["text"])
        found = [
            (self._searcher.doc(address)["row"][0], score)
            for score, address in self._searcher.search(parsed, depth).hits
        ]
        documents = self._workshop.collection.documents
        return Ranked.sort(((documents[row], score) for row, score in sorted(found)), depth)
