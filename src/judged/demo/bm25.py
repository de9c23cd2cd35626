"""BM25 by the library bm25s: documents are found by the words they share with the query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from judged._optional import need
from judged.demo.retrieved import Retrieved, best

__all__ = ["engine", "retrieve"]


def retrieve(documents: Sequence[str], queries: Sequence[str]) -> Retrieved:
    """The best documents of every query by BM25 (Lucene's variant, k1 = 1.5, b = 0.75)."""
    library = engine()
    index = library.BM25(method="lucene", k1=1.5, b=0.75, backend="numpy")
    index.index(_words(library, documents), show_progress=False)
    asked = _words(library, queries)
    return best("bm25", np.stack([index.get_scores(words) for words in asked]))


def engine() -> Any:
    """The library bm25s, or an error that says how to install it."""
    return need("bm25s", extra="demo", needed_by="`judged demo`")


def _words(library: Any, texts: Sequence[str]) -> list[list[str]]:
    words: list[list[str]] = library.tokenize(
        list(texts), stopwords="en", return_ids=False, show_progress=False
    )
    return words
