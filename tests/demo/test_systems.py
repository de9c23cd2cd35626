"""The systems of the demonstration: each finds what it should, and the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from judged.demo import bm25, fusion, lsa
from judged.demo.retrieved import Retrieved, best
from judged.errors import MissingExtra

DOCUMENTS = [
    "the cat sat on the mat near the door",
    "dogs bark loudly in the night garden",
    "stars shine in the night sky above",
    "bread is baked in a hot oven every day",
]


def test_bm25_finds_the_document_that_shares_rare_words() -> None:
    """One document has both words of the query and comes first; one without any is not returned."""
    pytest.importorskip("bm25s")
    found = bm25.retrieve(DOCUMENTS, ["night stars", "oven"])

    assert found.places[0, :3].tolist() == [2, 1, -1]
    assert found.places[1, :2].tolist() == [3, -1]


def test_lsa_finds_the_nearest_document_and_repeats_itself() -> None:
    """The vector of a query that quotes a document is nearest to it, in every run alike."""
    first, second = (lsa.retrieve(DOCUMENTS, ["dogs bark in the garden", "bread oven"]) for _ in range(2))

    assert first.places[:, 0].tolist() == [1, 3]
    assert np.array_equal(first.scores, second.scores)


def test_lsa_answers_nothing_to_words_it_has_never_seen() -> None:
    """A query without a known word has no direction and no answers."""
    found = lsa.retrieve(DOCUMENTS, ["dogs", "xylophone"])

    assert (found.places[1] == -1).all()


def test_fusion_adds_reciprocal_ranks() -> None:
    """Ranks 1 and 2 give 1/61 + 1/62 = 0.032522; a document that one system has gets its part alone."""
    one = Retrieved("one", np.array([[0, 1]]), np.array([[9.0, 8.0]]))
    two = Retrieved("two", np.array([[2, 0]]), np.array([[5.0, 4.0]]))
    found = fusion.fuse([one, two], documents=4)

    assert found.places[0].tolist() == [0, 2, 1, -1]
    assert found.scores[0, :3].tolist() == [0.032522, 0.016393, 0.016129]


def test_fusion_takes_nothing_for_nothing() -> None:
    """A place that stands for no answer adds to no document."""
    one = Retrieved("one", np.array([[1, -1]]), np.array([[9.0, 0.0]]))
    found = fusion.fuse([one, one], documents=2)

    assert found.places[0].tolist() == [1, -1]


def test_the_best_are_cut_at_the_depth() -> None:
    """Only so many documents are kept, the highest scores first, equal ones in their order."""
    found = best("any", np.array([[0.1, 0.3, 0.3, 0.2]]), depth=3)

    assert found.places.tolist() == [[1, 2, 3]]


def test_without_bm25s_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(__import__("sys").modules, "bm25s", None)

    with pytest.raises(MissingExtra, match=r"judged\[demo\]"):
        bm25.retrieve(DOCUMENTS, ["night"])
