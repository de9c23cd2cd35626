"""Rerankers against slow definitions and the libraries that they use; what holds for the results of all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from judged.studies.stages.rerankers.cross_encoder import CrossEncoder
from judged.studies.stages.rerankers.function import FunctionReranking
from judged.studies.stages.rerankers.maxsim import MaxSim
from judged.studies.stages.rerankers.mmr import MaximalMarginalRelevance, choose_greedily
from judged.studies.stages.rerankers.reranker import HeadReranker, join_rankings
from judged.studies.stages.stage import Query, Ranked, StageFailed
from support.pipelines import TEXTS, make_collection, make_space, make_workshop

ALL = Ranked(tuple(f"d{row}" for row in range(len(TEXTS))), tuple(10.0 - row for row in range(len(TEXTS))))
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def rerank(stage: Any, ranked: Ranked = ALL, text: str = "cats and dogs") -> Ranked:
    """Return what a reranker makes of a ranking."""
    found: Ranked = stage.rerank(Query("q", text), ranked)
    return found


# --- what holds for all


@given(
    head=st.lists(FINITE, min_size=1, max_size=8),
    tail=st.lists(FINITE, max_size=8),
)
@example(head=[0.0], tail=[3.402823364973241e38, 0.0, 0.0])
@example(head=[-3.4028234e38], tail=[-3.4028234e38])
def test_every_score_is_lower_than_the_one_before_as_float32_too(
    head: list[float], tail: list[float]
) -> None:
    """trec_eval compares scores as float32 and breaks ties by id: the order of a run must not depend on it."""
    head, tail = sorted(head, reverse=True), sorted(tail, reverse=True)
    names = [f"d{at}" for at in range(len(head) + len(tail))]
    joined = join_rankings(
        Ranked(tuple(names[: len(head)]), tuple(head)), Ranked(tuple(names[len(head) :]), tuple(tail))
    )
    single = np.array(joined.scores, dtype=np.float32)

    assert list(joined.documents) == names
    assert np.isfinite(single).all()
    assert (single[1:] < single[:-1]).all()


def test_scores_that_fall_already_stay_as_they_are() -> None:
    """To the last digit."""
    ranked = Ranked(("a", "b", "c"), (0.1234567890123, 0.1, -5.5))

    assert join_rankings(ranked, Ranked()) == ranked


def test_scores_that_float32_cannot_hold_become_ranks() -> None:
    """Those below its range, where there is no lower number."""
    assert join_rankings(Ranked(("a", "b"), (1.0, -1e300)), Ranked()).scores == (-1.0, -2.0)


def test_the_tail_keeps_its_order_below_the_head() -> None:
    """Only the first `depth` results are reranked."""

    class Reverse:
        def order(self, _query: Query, head: Ranked) -> Ranked:
            return Ranked.sort((document, -score) for document, score in head)

    found = rerank(HeadReranker("reverse", Reverse(), 3))

    assert found.documents == ("d2", "d1", "d0", *ALL.documents[3:])
    assert (np.diff(found.scores) < 0).all()
    assert rerank(HeadReranker("reverse", Reverse(), 3), Ranked()) == Ranked()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Ranked(("d0", "d9"), (2.0, 1.0)), "`bad` returned document `d9`, which is not among the results"),
        (Ranked(("d0", "d0"), (2.0, 1.0)), "`bad` returned document `d0` twice"),
        (Ranked(("d1", "d0"), (2.0, float("nan"))), "`bad` returned NaN as the score of document `d0`"),
        (Ranked(("d1", "d0"), (float("inf"), 1.0)), "`bad` returned infinity as the score of document `d1`"),
    ],
)
def test_what_a_reranker_returns_is_checked(answer: Ranked, message: str) -> None:
    """Documents of its own, documents twice, and scores that leave no order."""

    class Bad:
        def order(self, _query: Query, _head: Ranked) -> Ranked:
            return answer

    with pytest.raises(StageFailed, match=message):
        rerank(HeadReranker("bad", Bad(), 3))


# --- maximal marginal relevance


def choose_slowly(relevance: list[float], similarity: Any, diversity: float) -> list[int]:
    """Return the order by the formula of Carbonell and Goldstein, computed anew for every choice."""
    chosen: list[int] = []
    while len(chosen) < len(relevance):
        left = [at for at in range(len(relevance)) if at not in chosen]
        worth = {
            at: (1 - diversity) * relevance[at]
            - diversity * (max(similarity[at][other] for other in chosen) if chosen else 0.0)
            for at in left
        }
        chosen.append(max(left, key=lambda at: (worth[at], -at)))
    return chosen


@given(data=st.data(), size=st.integers(1, 8), diversity=st.integers(0, 8).map(lambda part: part / 8))
def test_mmr_is_its_formula(data: st.DataObject, size: int, diversity: float) -> None:
    """Choice by choice, for any similarities; eighths, so that ties are exact."""
    eighths = st.integers(-8, 8).map(lambda part: part / 8)
    relevance = data.draw(st.lists(eighths, min_size=size, max_size=size))
    upper = np.array(data.draw(st.lists(eighths, min_size=size * size, max_size=size * size)))
    similarity = np.triu(upper.reshape(size, size), 1)
    similarity = similarity + similarity.T + np.eye(size)
    chosen, values = choose_greedily(np.array(relevance), similarity, diversity)

    assert chosen == choose_slowly(relevance, similarity.tolist(), diversity)
    assert len(values) == size


@pytest.mark.parametrize("relevance", ["scores", "similarity"])
def test_mmr_compares_the_vectors_of_the_system(relevance: Any, tmp_path: Path) -> None:
    """By hand: d1 is a copy of d0 and moves down; relevance is the ranking's, or the cosine with the query."""
    collection = make_collection(["one", "two", "three"])
    space = make_space(collection, [[1, 0], [1, 0], [0, 1]], {"query": [0.6, 0.8]})
    spec = MaximalMarginalRelevance(diversity=0.5, relevance=relevance)
    found = rerank(
        spec.build(make_workshop(tmp_path, collection), space),
        Ranked(("d0", "d1", "d2"), (4.0, 3.0, 2.0)),
        "query",
    )

    if relevance == "scores":  # 1, ½, 0 after scaling: ½·1; then ½·½ − ½·1 < ½·0 − ½·0
        assert found.documents == ("d0", "d2", "d1")
        assert found.scores == pytest.approx((0.5, 0.0, -0.25))
    else:  # 0.6, 0.6, 0.8: d2 first; then ½·0.6; then ½·0.6 − ½·1
        assert found.documents == ("d2", "d0", "d1")
        assert found.scores == pytest.approx((0.4, 0.3, -0.2))


def test_mmr_without_diversity_keeps_the_order(tmp_path: Path) -> None:
    """Equal scores too: of equal ones the first stays first."""
    collection = make_collection(["one", "two", "three"])
    space = make_space(collection, [[1, 0], [0, 1], [1, 1]], {})
    stage = MaximalMarginalRelevance(diversity=0).build(make_workshop(tmp_path, collection), space)

    assert rerank(stage, Ranked(("d2", "d0", "d1"), (1.0, 1.0, 1.0))).documents == ("d2", "d0", "d1")


def test_mmr_says_what_it_needs(tmp_path: Path) -> None:
    """An encoder, and documents of the collection."""
    collection = make_collection(["one"])
    workshop = make_workshop(tmp_path, collection)
    with pytest.raises(StageFailed, match="neither it nor the system has an encoder"):
        MaximalMarginalRelevance().build(workshop, None)
    stage = MaximalMarginalRelevance().build(workshop, make_space(collection, [[1, 0]], {}))

    with pytest.raises(StageFailed, match="document `elsewhere` is not in the collection"):
        rerank(stage, Ranked(("elsewhere",), (1.0,)))


# --- cross-encoders


def test_a_cross_encoder_scores_as_its_library(models: Path, tmp_path: Path) -> None:
    """`CrossEncoder.predict` without an activation, pair by pair."""
    library = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    torch = pytest.importorskip("torch")
    model = library.CrossEncoder(str(models / "cross"), device="cpu")
    pairs = [("cats and dogs", text) for text in TEXTS]
    expected = [float(model.predict([pair], activation_fn=torch.nn.Identity())[0]) for pair in pairs]
    stage = CrossEncoder(model=str(models / "cross"), batch=3).build(make_workshop(tmp_path))
    found = rerank(stage)

    assert dict(found) == pytest.approx({f"d{row}": score for row, score in enumerate(expected)}, abs=1e-5)
    assert not stage.untrained  # type: ignore[attr-defined]


def test_an_untrained_cross_encoder_is_built_when_asked_for(models: Path, tmp_path: Path) -> None:
    """From the configuration of a model without a head; the seed decides the scores."""
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    stages = []
    for number, seed in enumerate((0, 0, 1)):
        (tmp_path / str(number)).mkdir()
        spec = CrossEncoder(model=str(models / "bert"), weights="random", seed=seed)
        stages.append(spec.build(make_workshop(tmp_path / str(number))))
    first, again, other = (dict(rerank(stage)) for stage in stages)

    assert first == again
    assert first != other
    assert stages[0].untrained  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("{models}/bert", "is not a trained cross-encoder: weights for `classifier"),
        ("{models}/nowhere", "is not a folder on this machine"),
        ("{labels}", "returns 3 numbers, expected one score"),
    ],
)
def test_what_is_no_cross_encoder_is_an_error(model: str, message: str, models: Path, tmp_path: Path) -> None:
    """A model without a trained head would score at random; one with several labels does not rank."""
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    transformers = pytest.importorskip("transformers")
    labels = tmp_path / "labels"
    config = transformers.AutoConfig.from_pretrained(models / "cross", num_labels=3)
    transformers.BertForSequenceClassification(config).save_pretrained(labels)
    transformers.AutoTokenizer.from_pretrained(models / "cross").save_pretrained(labels)

    with pytest.raises(StageFailed, match=message):
        CrossEncoder(model=model.format(models=models, labels=labels)).build(make_workshop(tmp_path))


# --- late interaction


def test_maxsim_is_its_loop(models: Path, tmp_path: Path) -> None:
    """For every token of the query the largest cosine with a token of the document, summed, by plain `transformers`."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch = pytest.importorskip("torch")
    network = transformers.BertModel.from_pretrained(models / "bert").eval()
    tokenizer = transformers.BertTokenizer.from_pretrained(models / "bert")

    def embed(text: str) -> Any:
        with torch.no_grad():
            states = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].numpy()
        return states / np.linalg.norm(states, axis=1, keepdims=True)

    asked = embed("cats and dogs")
    expected = {
        f"d{row}": sum(max(float(one @ other) for other in embed(text)) for one in asked)
        for row, text in enumerate(TEXTS)
    }
    stage: Any = MaxSim(model=str(models / "bert"), batch=2).build(make_workshop(tmp_path))
    found = rerank(stage)

    assert dict(found) == pytest.approx(expected, abs=0.01)  # vectors of documents are float16
    assert "float16" in stage.notes()[0]
    assert not stage.untrained


def test_maxsim_says_what_it_cannot_rank(models: Path, tmp_path: Path) -> None:
    """A document that is not in the collection; untrained models say that they are."""
    stage: Any = MaxSim(model=str(models / "bert"), weights="random").build(make_workshop(tmp_path))

    assert stage.untrained
    with pytest.raises(StageFailed, match="document `elsewhere` is not in the collection"):
        rerank(stage, Ranked(("elsewhere",), (1.0,)))


# --- functions

MODULE = """
def count(query, texts):
    return [sum(word in text.split() for word in query.split()) for text in texts]

class Weighted:
    def __init__(self, weight):
        self.weight = weight
    def rerank(self, query, texts):
        return (self.weight * score for score in count(query, texts))

def fails(query, texts): raise OSError("disk on fire")
def short(query, texts): return [1.0]
def words(query, texts): return ["high"] * len(texts)
def nothing(query, texts): return None
def table(query, texts): return [[1.0]] * len(texts)
def nan(query, texts): return [float("nan")] * len(texts)
def gradients(query, texts):
    import torch
    return torch.ones(len(texts), requires_grad=True)
number = 5
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return what builds a reranker of a function in a module of the current folder."""
    (tmp_path / "own_rerankers.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def build(name: str, **settings: Any) -> Any:
        spec = FunctionReranking(function=f"own_rerankers:{name}", settings=settings)
        return spec.build(make_workshop(tmp_path))

    yield build
    sys.modules.pop("own_rerankers", None)


def test_a_function_scores_texts(own: Any) -> None:
    """By hand: `cats and dogs` shares three words with d2 and none with others, which keep their order."""
    for stage in (own("count"), own("Weighted", weight=2.0)):
        assert rerank(stage).documents == ("d2", "d0", "d1", *ALL.documents[3:])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fails", "`own_rerankers:fails` failed: OSError: disk on fire"),
        ("short", r"returned scores of shape \(1,\), expected a number for each of 10 texts"),
        ("table", r"returned scores of shape \(10, 1\)"),
        ("words", "returned list, expected a number for each of 10 texts"),
        ("nothing", "returned NoneType"),
        ("nan", "returned NaN as the score of document `d0`"),
        ("gradients", "returned Tensor, expected a number"),
    ],
)
def test_what_is_wrong_with_a_function_is_said(name: str, message: str, own: Any) -> None:
    """With its name."""
    if name == "gradients":
        pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises(StageFailed, match=message):
        rerank(own(name))


def test_what_cannot_be_called_is_no_reranker(own: Any) -> None:
    """When the system is built; a class without its settings too."""
    with pytest.raises(StageFailed, match="expected a callable or an object with `rerank`"):
        own("number")
    with pytest.raises(StageFailed, match="`own_rerankers:Weighted` failed: TypeError"):
        own("Weighted")
