"""Latent semantic analysis: documents are found by the company their words keep."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.demo.retrieved import Retrieved, best

__all__ = ["retrieve"]

DIMENSIONS = 200
ROUNDS = 4
_WORD = re.compile(r"[a-z0-9]{2,}")


def retrieve(documents: Sequence[str], queries: Sequence[str]) -> Retrieved:
    """The best documents of every query by the cosine of their vectors.

    A vector is TF–IDF of words, reduced to 200 dimensions by a truncated singular value decomposition.
    """
    counts = [Counter(_WORD.findall(text.lower())) for text in documents]
    spread = Counter(word for count in counts for word in count)
    column = {word: place for place, word in enumerate(sorted(spread))}
    rarity = np.array([np.log(len(documents) / spread[word]) for word in column])
    weighted = _weighted(counts, column, rarity)
    axes = _axes(weighted)
    asked = _weighted([Counter(_WORD.findall(text.lower())) for text in queries], column, rarity)
    return best("lsa", _unit(asked @ axes) @ _unit(weighted @ axes).T)


def _weighted(counts: Sequence[Counter[str]], column: dict[str, int], rarity: NDArray[np.float64]) -> Any:
    """A sparse matrix, a row for each text: (1 + log tf) · log(N / df), each row of length 1."""
    from scipy import sparse

    cells = [
        (row, column[word], 1 + np.log(times))
        for row, count in enumerate(counts)
        for word, times in sorted(count.items())
        if word in column
    ]
    rows, columns, weights = (np.array(part) for part in zip(*cells, strict=True))
    matrix = sparse.csr_matrix((weights * rarity[columns], (rows, columns)), shape=(len(counts), len(column)))
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sparse.diags(1 / np.where(length > 0, length, 1.0)) @ matrix


def _axes(matrix: Any) -> NDArray[np.float64]:
    """The directions in which the documents vary most, a column for each.

    By subspace iteration from a fixed start (Halko, Martinsson and Tropp 2011, doi:10.1137/090771806): a few
    large products, where an iterative solver makes thousands of small ones that threads wait on.
    """
    dimensions = min(DIMENSIONS, *matrix.shape)
    basis = np.random.default_rng(0).standard_normal((matrix.shape[1], min(dimensions + 20, *matrix.shape)))
    for _ in range(ROUNDS):
        basis = np.linalg.qr(matrix.T @ (matrix @ basis))[0]
    rotation = np.linalg.svd(matrix @ basis, full_matrices=False)[2]
    axes: NDArray[np.float64] = basis @ rotation[:dimensions].T
    return axes


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1.0)
