"""The systems of the demonstration: each finds what it should, and the same each time."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from judged.demo.systems import fuse, keep_best, score_by_bm25, score_by_lsa
from judged.errors import MissingExtra

DOCUMENTS = [
    "the cat sat on the mat near the door",
    "dogs bark loudly in the night garden",
    "stars shine in the night sky above",
    "bread is baked in a hot oven every day",
]


def test_bm25_finds_the_document_that_shares_rare_words() -> None:
    """One document has both words of the query and scores highest; one without any is not returned."""
    pytest.importorskip("bm25s")
    scores = score_by_bm25(DOCUMENTS, ["night stars", "oven"])

    assert np.argsort(-scores[0], kind="stable")[:2].tolist() == [2, 1]
    assert (scores[0] > 0).tolist() == [False, True, True, False]
    assert (scores[1] > 0).tolist() == [False, False, False, True]


def test_lsa_finds_the_nearest_document_and_repeats_itself() -> None:
    """The vector of a query that quotes a document is nearest to it, in every run alike."""
    first, second = (score_by_lsa(DOCUMENTS, ["dogs bark in the garden", "bread oven"]) for _ in range(2))

    assert first.argmax(axis=1).tolist() == [1, 3]
    assert np.array_equal(first, second)


def test_lsa_answers_nothing_to_words_it_has_never_seen() -> None:
    """A query without a known word has no direction and no answers."""
    assert not score_by_lsa(DOCUMENTS, ["dogs", "xylophone"])[1].any()


def test_fusion_adds_reciprocal_ranks() -> None:
    """Ranks 1 and 2 give 1/61 + 1/62 = 0.032522; a document that one system has gets its part alone."""
    one, two = np.array([[9.0, 8.0, 0.0, 0.0]]), np.array([[4.0, 0.0, 5.0, 0.0]])

    assert fuse(one, two).tolist() == [[0.032522, 0.016129, 0.016393, 0.0]]


def test_fusion_ignores_documents_that_a_system_does_not_return() -> None:
    """A score of 0 adds nothing, whatever its rank would be."""
    one = np.array([[0.0, 9.0]])

    assert fuse(one, one)[0, 0] == 0


def test_the_best_are_cut_at_the_depth() -> None:
    """Only the given number of documents is kept, the highest scores first, equal ones in their order."""
    assert keep_best(np.array([[0.1, 0.3, 0.3, 0.2]]), depth=3).tolist() == [[0.0, 0.3, 0.3, 0.2]]
    assert keep_best(np.array([[0.1, 0.3, 0.3, 0.3]]), depth=2).tolist() == [[0.0, 0.3, 0.3, 0.0]]


def test_without_bm25s_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "bm25s", None)

    with pytest.raises(MissingExtra, match="install the extra `demo`"):
        score_by_bm25(DOCUMENTS, ["night"])
