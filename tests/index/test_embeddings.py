"""`evaluate_embeddings`: both directions as published code ranks them, ties against the model, folds searched alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged.errors import JudgedError
from judged.index.embeddings import matching

SIMILARITIES = [[0.9, 0.2, 0.8, 0.1], [0.7, 0.3, 0.6, 0.5]]
PAIRS = [0, 0, 1, 1]
THERE, BACK = matching.DIRECTIONS


def test_two_images_and_four_captions() -> None:
    """By hand: image 1 has its best caption second; captions 1 and 2 have their image second."""
    found = judged.evaluate_embeddings(similarities=SIMILARITIES, pairs=PAIRS)

    assert found.rows("ranks") == [
        {"direction": name, "item": item, "fold": 0, "rank": rank}
        for name, ranks in ((THERE, [1, 2]), (BACK, [1, 2, 2, 1]))
        for item, rank in enumerate(ranks)
    ]
    assert found.mean()[THERE] == {"Success@1": 0.5, "Success@5": 1, "Success@10": 1, "MedR": 1, "MeanR": 1.5}
    assert found.rsum == 100 * (0.5 + 1 + 1) * 2
    assert "Success@10 is 1 whatever the model" in found.notes[0].message


def test_recall_of_papers_is_success() -> None:
    """One of two captions among the first is all of R@1, and half of the recall."""
    qrels, run = {"image": {"one": 1, "other": 1}}, {"image": ["one", "wrong", "other"]}

    assert judged.evaluate(qrels, run, "R@1", protocol="cross-modal").mean() == {"R@1": 1.0}
    assert judged.evaluate(qrels, run, "R@1").mean() == {"R@1": 0.5}


def published(similarities: np.ndarray[Any, Any], captions: int) -> tuple[list[float], list[float]]:
    """Return R@1, R@5, R@10, median and mean rank of both directions as `i2t` and `t2i` of VSE++ compute them."""

    def summarise(ranks: list[int]) -> list[float]:
        zero = np.array(ranks)
        shares = [100.0 * len(np.where(zero < k)[0]) / len(zero) for k in (1, 5, 10)]
        return [*shares, float(np.floor(np.median(zero)) + 1), float(zero.mean() + 1)]

    there, back = [], []
    for image, row in enumerate(similarities):
        order = np.argsort(row)[::-1]
        there.append(
            min(int(np.where(order == c)[0][0]) for c in range(captions * image, captions * image + captions))
        )
    for caption, column in enumerate(similarities.T):
        back.append(int(np.where(np.argsort(column)[::-1] == caption // captions)[0][0]))
    return summarise(there), summarise(back)


@pytest.mark.parametrize("folds", [1, 5])
def test_published_code_gives_the_same_numbers(folds: int) -> None:
    """Of random similarities without ties; five folds are the mean of five calls on 20 images with 100 captions."""
    matrix = np.random.default_rng(5).permutation(100 * 500).reshape(100, 500) / (100 * 500)
    matrix[np.repeat(np.arange(100), 5), np.arange(500)] += 0.3
    found = judged.evaluate_embeddings(similarities=matrix, pairs=np.repeat(np.arange(100), 5), folds=folds)
    size = 100 // folds
    parts = [
        published(matrix[size * i : size * (i + 1), 5 * size * i : 5 * size * (i + 1)], 5)
        for i in range(folds)
    ]
    for side, name in enumerate((THERE, BACK)):
        values = list(found.mean()[name].values())
        expected = np.mean([part[side] for part in parts], axis=0)

        assert [100 * value for value in values[:3]] + values[3:] == pytest.approx(expected.tolist())


def test_a_constant_model_finds_nothing() -> None:
    """Equal similarities count against it, in both directions."""
    found = judged.evaluate_embeddings(np.ones((20, 3)), np.ones((20, 3)), np.arange(20))

    assert found.rsum == 0
    assert found.mean()[THERE]["MedR"] == 20


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 9999), cells=st.integers(1, 30), metric=st.sampled_from(["cosine", "ip", "l2"]))
def test_values_are_those_of_rankings(seed: int, cells: int, metric: Any) -> None:
    """`Success@k` of the run of an exact search, ties by grade ascending, whatever the blocks and the pairs."""
    rng = np.random.default_rng(seed)
    queries, documents = rng.integers(1, 4, (4, 2)), rng.integers(1, 4, (6, 2))
    pairs = np.argwhere(rng.random((4, 6)) < 0.4)
    if not len(pairs):
        pairs = np.array([[0, 0]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "CELLS", cells)
        found = judged.evaluate_embeddings(queries, documents, pairs, metric=metric)
    for name, left, right, columns in (
        (THERE, queries, documents, (0, 1)),
        (BACK, documents, queries, (1, 0)),
    ):
        qrels: dict[str, dict[str, int]] = {}
        for pair in pairs[:, columns].tolist():
            qrels.setdefault(str(pair[0]), {})[str(pair[1])] = 1
        run = judged.search_exact(left, right, 6, metric)
        expected = judged.evaluate(qrels, run, "Success@1 Success@5", protocol={"ties": "pessimistic"}).mean()

        assert {at: found.mean()[name][at] for at in expected} == pytest.approx(expected)


def test_it_is_saved_and_loaded(tmp_path: Any) -> None:
    """With its ranks."""
    found = judged.evaluate_embeddings(similarities=SIMILARITIES, pairs=PAIRS)
    found.save(tmp_path / "found.json")

    loaded = judged.load(tmp_path / "found.json")
    assert loaded.rows("ranks") == found.rows("ranks")
    assert repr(loaded) == repr(found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pairs": None}, "`pairs` is missing"),
        ({"pairs": [0, 0, 1]}, "expected a query for each of 4 documents"),
        ({"pairs": [0, 0, 1, 2]}, "query 2 and document 3, expected rows below 2 and 4"),
        ({"pairs": [0.0, 0.0, 1.0, 1.0]}, "float64"),
        ({"similarities": [[0.1, float("nan")]]}, "nan, expected a number"),
        ({"similarities": [0.1, 0.2]}, "expected numbers, with a row for each query"),
        ({"queries": [[1.0]]}, "both given"),
        ({"similarities": None}, "embeddings are missing"),
        ({"folds": 0}, "`folds` is 0"),
        ({"folds": 3}, "2 queries cannot be cut into 3 equal folds"),
        (
            {"folds": 2, "pairs": [[0, 0], [1, 0], [0, 1], [1, 2], [1, 3]]},
            "document 0 belongs to queries of two",
        ),
        ({"folds": 2, "pairs": [[0, 0], [1, 1]]}, "document 2 belongs to no query"),
        ({"similarities": None, "queries": [[1.0]], "documents": [[1.0]], "metric": "jaccard"}, "jaccard"),
    ],
)
def test_wrong_input_is_refused_in_words(changes: dict[str, Any], message: str) -> None:
    """What is wrong, and what was expected."""
    with pytest.raises(JudgedError, match=message):
        judged.evaluate_embeddings(**{"similarities": SIMILARITIES, "pairs": PAIRS, **changes})


def test_items_without_a_match_are_counted() -> None:
    """They are in no mean, and in a note."""
    found = judged.evaluate_embeddings(similarities=SIMILARITIES, pairs=[[0, 0]])

    assert [note.message for note in found.notes][:2] == [
        "1 query without a match: left out",
        "3 documents without a match: left out",
    ]
