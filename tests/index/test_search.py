"""`search_exact`: the run that a search by hand gives, whatever the blocks, without what is excluded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.datasets import load_digits

import judged
from judged.errors import JudgedError
from judged.index.embeddings import search

POINTS = [[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.2]]


def test_metric_learning_gets_the_same_numbers_of_digits() -> None:
    """Equal to pytorch-metric-learning 2.9.0, which adds up in float32.

    `AccuracyCalculator(k=499, knn_func=CustomKNN(LpDistance(normalize_embeddings=False)))`, and
    `get_accuracy(x, y, x, y, ref_includes_query=True)` of the first 500 digits.
    """
    digits = load_digits()
    points, labels = digits.data[:500].astype(np.float32), digits.target[:500]
    run = judged.search_exact(points, points, 499, "l2", exclude="self")
    qrels = {
        str(i): {str(j): 1 for j in np.flatnonzero(labels == label).tolist() if j != i}
        for i, label in enumerate(labels)
    }
    found = judged.evaluate(qrels, run, "P@1 Rprec AP AP_R RR").mean()

    assert found["P@1"] == 0.988
    assert found["Rprec"] == pytest.approx(0.6644068032974237, abs=1e-12)
    assert found["AP"] == pytest.approx(0.7260961372262882, abs=2e-6)
    assert found["AP_R"] == pytest.approx(0.6151850328382591, abs=2e-6)
    assert found["RR"] == pytest.approx(0.9909203052520752, abs=2e-6)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 999), k=st.integers(1, 7), cells=st.integers(1, 40), labelled=st.booleans())
def test_results_are_those_of_a_search_by_hand(seed: int, k: int, cells: int, *, labelled: bool) -> None:
    """The least distances of documents that may be returned, ties by row, in blocks of any size."""
    rng = np.random.default_rng(seed)
    queries, documents = rng.integers(-2, 3, (4, 3)), rng.integers(-2, 3, (6, 3))
    labels = rng.integers(0, 3, 4), rng.integers(0, 3, 6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "CELLS", cells)
        run = judged.search_exact(queries, documents, k, "l2", exclude=labels if labelled else None)

    expected = []
    for number, query in enumerate(queries):
        allowed = [row for row in range(6) if not labelled or labels[1][row] != labels[0][number]]
        near = sorted(allowed, key=lambda row: (float(((documents[row] - query) ** 2).sum()), row))[:k]
        expected += [(str(number), str(row)) for row in near]
    rows = run.to_arrow()
    assert list(zip(rows["query"].to_pylist(), rows["document"].to_pylist(), strict=True)) == expected


def test_ids_name_the_rows_and_say_what_is_the_query_itself() -> None:
    """A document with the id of the query is left out, wherever it is."""
    run = judged.search_exact(
        POINTS[:2], POINTS, 2, exclude="self", query_ids=["c", "a"], document_ids=list("abcd")
    )

    assert run.to_arrow().to_pydict()["document"] == ["a", "b", "b", "d"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, "`k` is 0, expected a whole number from 1"),
        ({"k": True}, "`k` is True"),
        ({"metric": "euclid"}, "euclid"),
        ({"queries": [[1.0, 2.0, 3.0]]}, "3 dimensions, expected 2"),
        ({"queries": [[0.0, 0.0]]}, "all zeros"),
        ({"queries": [[float("nan"), 0.0]]}, "nan"),
        ({"queries": POINTS[:2], "exclude": "self"}, "2 queries and 4 documents without ids"),
        ({"exclude": "labels"}, "`exclude` is `labels`"),
        ({"exclude": [1, 2]}, "expected 4 for queries and 4 for documents"),
        ({"document_ids": ["a", "a", "b", "c"]}, "`a` names several rows"),
        ({"query_ids": ["a"]}, "expected 4 ids"),
    ],
)
def test_wrong_input_is_refused_in_words(settings: dict[str, Any], message: str) -> None:
    """No traceback of NumPy, and no run of something else."""
    with pytest.raises(JudgedError, match="(?s)" + message.replace("(", r"\(")):
        judged.search_exact(**{"queries": POINTS, "documents": POINTS, "k": 2, **settings})
