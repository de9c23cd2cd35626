"""TF-IDF and latent semantic analysis: vectors of terms, fitted to the documents of the collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import msgspec
import numpy as np

from judged._optional import need
from judged.store.machine import list_versions
from judged.studies.stages.cosine import normalise_rows
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.stage import Matrix, StageFailed, Vector

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

MAX_TERMS = 20_000
"""Dimensions of TF-IDF vectors, of which all numbers are stored, beyond which they make no sense."""


class LSA(EncoderSpec, tag="lsa", frozen=True, kw_only=True):
    """TF-IDF vectors reduced by a truncated singular value decomposition; both are fitted to the documents.

    References:
        Deerwester et al. Indexing by latent semantic analysis. JASIS 41(6), 1990.
        doi:10.1002/(SICI)1097-4571(199009)41:6<391::AID-ASI1>3.0.CO;2-9
    """

    extra: ClassVar[str] = "lsa"
    fitted: ClassVar[bool] = True

    dimensions: Annotated[int, msgspec.Meta(ge=1)] | None = 256
    """At most; a collection with fewer documents or terms has fewer. null: TF-IDF without a reduction."""
    analyser: Literal["word", "char", "char_wb"] = "word"
    """Terms are words, n-grams of characters, or n-grams of characters within words."""
    ngrams: tuple[int, int] = (1, 1)
    """The shortest and the longest n-gram that is a term."""
    stop_words: tuple[str, ...] = ()
    """Words that are left out."""
    max_terms: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Keep the terms that occur most often only."""
    sublinear: bool = True
    """Whether a term that occurs n times weighs 1 + ln n instead of n."""
    normalise: bool = True
    """Whether vectors are scaled to length 1."""
    seed: int = 0
    """Random seed of the decomposition."""

    def load(self, documents: Sequence[str]) -> LSAEncoder:
        """Fit the terms and the decomposition to the documents."""
        text = need("sklearn.feature_extraction.text", extra=self.extra, needed_by="the encoder `lsa`")
        vectoriser = text.TfidfVectorizer(
            analyzer=self.analyser,
            ngram_range=self.ngrams,
            stop_words=list(self.stop_words) or None,
            max_features=self.max_terms,
            sublinear_tf=self.sublinear,
            dtype=np.float32,
        )
        try:
            terms = vectoriser.fit_transform(documents)
        except ValueError as error:
            msg = f"no TF-IDF vectors can be made of {len(documents):,} documents: {error}"
            raise StageFailed(
                msg, hint="documents need terms that `analyser` and `stop_words` keep"
            ) from None
        return LSAEncoder(self, vectoriser, self._reduce(terms))

    def _reduce(self, terms: csr_matrix) -> TruncatedSVD | None:
        """Return the decomposition, or None if there is none."""
        documents, count = terms.shape
        if self.dimensions is None:
            if count > MAX_TERMS:
                msg = f"the collection has {count:,} terms, expected at most {MAX_TERMS:,} for TF-IDF vectors without a reduction"
                raise StageFailed(msg, hint="set `dimensions`, such as 256, or `max_terms`")
            return None
        dimensions = min(self.dimensions, documents, count)
        if dimensions == count:  # the same space, turned
            return None
        decomposition = need("sklearn.decomposition", extra=self.extra, needed_by="the encoder `lsa`")
        with np.errstate(invalid="ignore"):  # equal documents have no variance, which is not used
            return decomposition.TruncatedSVD(dimensions, random_state=self.seed).fit(terms)


@dataclass(eq=False)
class LSAEncoder:
    """Terms and a decomposition that were fitted to a collection."""

    spec: LSA
    vectoriser: TfidfVectorizer
    decomposition: TruncatedSVD | None

    untrained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        fitted = self.vectoriser.vocabulary_ if self.decomposition is None else self.decomposition.components_
        self.dimensions = len(fitted)
        self.identity = list_versions("scikit-learn", "numpy", "scipy")

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of documents; a text without known terms has the vector 0."""
        terms = self.vectoriser.transform(texts)
        vectors = terms.toarray() if self.decomposition is None else self.decomposition.transform(terms)
        vectors = np.asarray(vectors, dtype=np.float32)
        return normalise_rows(vectors) if self.spec.normalise else vectors

    def encode_query(self, text: str) -> Vector:
        """Return the vector of a query."""
        vector: Vector = self.encode_documents([text])[0]
        return vector
