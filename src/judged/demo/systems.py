"""The three systems of the demonstration: BM25, latent semantic analysis, and the fusion of both.

A system scores every document for every query: a matrix with a row for each query, 0 where it does not return a
document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged._optional import need
from judged.arrays import Floats

__all__ = ["DEPTH", "fuse", "keep_best", "need_bm25s", "score_by_bm25", "score_by_lsa"]

DEPTH = 100
"""How many documents a system returns for a query."""
DIMENSIONS = 200
"""Dimensions of the vectors of latent semantic analysis."""
ROUNDS = 4
DAMPING = 60
"""The constant of Cormack, Clarke and Büttcher (SIGIR 2009), doi:10.1145/1571941.1572114."""
_WORD = re.compile(r"[a-z0-9]{2,}")


def need_bm25s() -> Any:
    """Return the library bm25s, or raise an error that says how to install it."""
    return need("bm25s", extra="demo", needed_by="`judged demo`")


def score_by_bm25(documents: Sequence[str], queries: Sequence[str]) -> Floats:
    """Score by shared words: BM25 in Lucene's variant, k1 = 1.5, b = 0.75."""
    bm25s = need_bm25s()
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75, backend="numpy")
    words, asked = (
        bm25s.tokenize(list(texts), stopwords="en", return_ids=False, show_progress=False)
        for texts in (documents, queries)
    )
    index.index(words, show_progress=False)
    return keep_best(np.stack([index.get_scores(query) for query in asked]))


def score_by_lsa(documents: Sequence[str], queries: Sequence[str]) -> Floats:
    """Score by the cosine of TF–IDF vectors, reduced to 200 dimensions by a singular value decomposition.

    By subspace iteration from a fixed start (Halko, Martinsson and Tropp 2011, doi:10.1137/090771806).
    """
    words = [_WORD.findall(text.lower()) for text in documents]
    spread = Counter(word for text in words for word in set(text))
    rarity = {word: float(np.log(len(words) / count)) for word, count in sorted(spread.items())}
    weights = _weigh(words, rarity)
    asked = _weigh([_WORD.findall(text.lower()) for text in queries], rarity)
    axes = np.random.default_rng(0).standard_normal((len(rarity), min(DIMENSIONS, *weights.shape)))
    for _ in range(ROUNDS):  # the directions in which the documents vary most
        axes = _orthonormalise(weights.T @ (weights @ axes))
    return keep_best(_normalise(asked @ axes) @ _normalise(weights @ axes).T)


def _orthonormalise(vectors: Floats) -> Floats:
    """Return an orthonormal basis of the columns: few large products, on which busy machines do not stall."""
    squares, rotation = np.linalg.eigh(vectors.T @ vectors)
    kept = squares > 1e-10 * squares[-1]
    basis: Floats = vectors @ (rotation[:, kept] / np.sqrt(squares[kept]))
    return basis


def fuse(*systems: Floats) -> Floats:
    """Score by the sum of 1 / (60 + rank) over the systems that return a document."""
    total = np.zeros_like(systems[0])
    for scores in systems:
        order = np.argsort(-scores, axis=1, kind="stable")
        gain = np.zeros_like(scores)
        np.put_along_axis(gain, order, 1 / (DAMPING + 1 + np.arange(scores.shape[1]))[None, :], axis=1)
        total += np.where(scores > 0, gain, 0)
    return keep_best(total)


def keep_best(scores: NDArray[np.floating[Any]], *, depth: int = DEPTH) -> Floats:
    """Return the scores with all but the `depth` highest of each row set to 0, as are those below 0.

    Scores are rounded to six decimals, as they are written to files; of equal ones the first are kept.

    >>> keep_best(np.array([[0.5, -1.0, 2.0, 0.5]]), depth=2)
    array([[0.5, 0. , 2. , 0. ]])
    """
    rounded = scores.astype(np.float64).round(6).clip(min=0)
    order = np.argsort(-rounded, axis=1, kind="stable")
    np.put_along_axis(rounded, order[:, depth:], 0, axis=1)
    return rounded


def _weigh(texts: Sequence[Sequence[str]], rarity: dict[str, float]) -> Any:
    """Return a sparse matrix, a row for each text: (1 + log tf) · log(N / df), each row of length 1."""
    from scipy import sparse

    column = {word: place for place, word in enumerate(rarity)}
    matrix = sparse.lil_matrix((len(texts), len(rarity)))
    for row, words in enumerate(texts):
        weights = {
            word: (1 + np.log(times)) * rarity[word]
            for word, times in sorted(Counter(words).items())
            if word in rarity
        }
        length = np.sqrt(sum(weight**2 for weight in weights.values())) or 1.0
        for word, weight in weights.items():
            matrix[row, column[word]] = weight / length
    return matrix.tocsr()


def _normalise(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1.0)
