"""Search by words: BM25 of bm25s, and Tantivy."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import msgspec
import numpy as np

from judged._optional import need
from judged.arrays import Ints
from judged.studies.stages.searchers.searcher import SearchSpec, pick_best, rank_rows
from judged.studies.stages.stage import Query, Ranked, Searcher, Workshop
from judged.studies.stages.vectors import VectorSpace

if TYPE_CHECKING:
    import bm25s
    import tantivy

LONGEST = 40
"""Bytes of a word beyond which Tantivy's own tokenisers leave it out."""


class Bm25(SearchSpec, tag="bm25", frozen=True, kw_only=True):
    """BM25 by bm25s; documents that share no word with the query are not returned."""

    k1: Annotated[float, msgspec.Meta(ge=0)] = 1.5
    """Saturation of term frequency; the higher, the longer repeated words keep counting."""
    b: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.75
    """Correction of scores for the length of documents, from 0 (none) to 1."""
    method: Literal["lucene", "robertson", "atire", "bm25l", "bm25+"] = "lucene"
    stopwords: Literal["en", "none"] = "en"

    extra: ClassVar[str] = "demo"

    def build(self, workshop: Workshop, space: VectorSpace | None) -> Searcher:  # noqa: ARG002 - words alone
        """Index the words of the collection."""
        library = need("bm25s", extra=self.extra, needed_by="the searcher `bm25`")
        index = library.BM25(method=self.method, k1=self.k1, b=self.b, backend="numpy")
        searcher = _Bm25Searcher(workshop, library, index, [] if self.stopwords == "none" else self.stopwords)
        searcher.add(workshop.collection.texts)
        return searcher


class _Bm25Searcher:
    def __init__(
        self, workshop: Workshop, library: ModuleType, index: bm25s.BM25, stopwords: str | list[str]
    ) -> None:
        self._workshop, self._library, self._index = workshop, library, index
        self._stopwords = stopwords
        self._known: frozenset[str] = frozenset()

    def add(self, texts: Sequence[str]) -> None:
        """Index the words of all documents."""
        # as numbers: lists of words would take a third more time, and many times the memory
        words = self._library.tokenize(list(texts), stopwords=self._stopwords, show_progress=False)
        self._known = frozenset(words.vocab) - {""}
        if self._known:
            self._index.index(words, show_progress=False)

    def split(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text."""
        words: list[list[str]] = self._library.tokenize(
            list(texts), stopwords=self._stopwords, return_ids=False, show_progress=False
        )
        return words

    def search(self, query: Query, depth: int) -> Ranked:
        """Return the documents with the highest BM25."""
        words = [word for word in self.split([query.text])[0] if word in self._known]
        if not words:
            return Ranked()
        scores = np.zeros(len(self._workshop.collection.documents))
        shared = self._find_rows(words)  # BM25L and BM25+ score all other documents too
        scores[shared] = self._index.get_scores(words)[shared]
        rows = pick_best(scores, min(depth, len(scores)))
        rows = rows[scores[rows] > 0]
        return rank_rows(self._workshop, rows, scores[rows])

    def _find_rows(self, words: Sequence[str]) -> Ints:
        """Return the documents that have one of the words, from the index by words."""
        starts, rows = self._index.scores["indptr"], self._index.scores["indices"]
        tokens = [self._index.vocab_dict[word] for word in words]
        matching: Ints = np.concatenate([rows[starts[token] : starts[token + 1]] for token in tokens])
        return matching


class Tantivy(SearchSpec, tag="tantivy", frozen=True, kw_only=True):
    """BM25 by Tantivy, with k1 = 1.2 and b = 0.75; the words of a query are joined by OR."""

    tokeniser: Literal["default", "en_stem", "whitespace"] = "default"
    """Words in lower case, their English stems, or anything between blanks."""

    extra: ClassVar[str] = "tantivy"

    def build(self, workshop: Workshop, space: VectorSpace | None) -> Searcher:  # noqa: ARG002 - words alone
        """Index the collection in memory."""
        library = need("tantivy", extra=self.extra, needed_by="the searcher `tantivy`")
        fields = library.SchemaBuilder()
        fields.add_integer_field("row", stored=True)
        fields.add_text_field("text", tokenizer_name="words")
        schema, analyser = fields.build(), self._make_analyser(library)
        index = library.Index(schema)
        index.register_tokenizer("words", analyser)
        writer = index.writer(num_threads=1)  # one segment, so that scores do not depend on threads
        for row, text in enumerate(workshop.collection.texts):
            writer.add_document(library.Document(row=row, text=_clean(text)))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return _TantivySearcher(workshop, library, schema, analyser, index.searcher())

    def _make_analyser(self, library: ModuleType) -> tantivy.TextAnalyzer:
        """Return what splits texts into words, queries and documents alike."""
        builder: tantivy.TextAnalyzerBuilder
        if self.tokeniser == "whitespace":
            builder = library.TextAnalyzerBuilder(library.Tokenizer.whitespace())
            return builder.build()
        builder = library.TextAnalyzerBuilder(library.Tokenizer.simple())
        builder = builder.filter(library.Filter.remove_long(LONGEST)).filter(library.Filter.lowercase())
        if self.tokeniser == "en_stem":
            builder = builder.filter(library.Filter.stemmer("english"))
        return builder.build()


class _TantivySearcher:
    def __init__(
        self,
        workshop: Workshop,
        library: ModuleType,
        schema: tantivy.Schema,
        analyser: tantivy.TextAnalyzer,
        searcher: tantivy.Searcher,
    ) -> None:
        self._workshop, self._library, self._schema = workshop, library, schema
        self._analyser, self._searcher = analyser, searcher

    def search(self, query: Query, depth: int) -> Ranked:
        """Return the documents with the highest BM25; signs of Tantivy's query language mean nothing here."""
        asked, either = self._library.Query, self._library.Occur.Should
        words = [
            (either, asked.term_query(self._schema, "text", word, "freq"))
            for word in self._analyser.analyze(_clean(query.text))
        ]
        if not words:
            return Ranked()
        hits = [
            (self._searcher.doc(address)["row"][0], score)
            for score, address in self._searcher.search(asked.boolean_query(words), depth).hits
        ]
        documents = self._workshop.collection.documents
        return Ranked.sort(((documents[row], score) for row, score in sorted(hits)), depth)


def _clean(text: str) -> str:
    """Return a text without halves of surrogate pairs, which UTF-8 does not have."""
    return text.encode("utf-8", "replace").decode()
