"""Routers and skip policies: centroids by hand, functions, and what is said when they cannot decide."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from judged.errors import JudgedError, UnknownName
from judged.studies.stages.cosine import find_centroid
from judged.studies.stages.routers import CentroidRouting, Expert, FunctionRouting
from judged.studies.stages.skip_policies import FunctionPolicy, PatternPolicy, SimilarityPolicy, WordPolicy
from judged.studies.stages.stage import Query, StageFailed
from judged.studies.stages.vectors import VectorSpace
from support.pipelines import make_collection, make_space, make_workshop, read_spec

VECTORS: dict[str, list[float]] = {
    "east": [5, 0],
    "northeast": [1, 1],
    "north": [0, 2],
    "west": [-1, 0],
    "nearly east": [0.9, 0.1],
    "nearly north": [0.2, 0.9],
    "nowhere": [0, 0],
}
COLLECTION = make_collection(["one", "two"], {name: name for name in VECTORS})


@pytest.fixture
def space() -> VectorSpace:
    """Return a space of two dimensions in which queries are directions."""
    return make_space(COLLECTION, [[1, 0], [0, 1]], VECTORS)


# --- routers


def route(router: Any, text: str) -> tuple[str, ...]:
    """Return the experts for a query."""
    found: tuple[str, ...] = router.route(Query("q", text))
    return found


def test_a_centroid_is_the_mean_of_directions(space: VectorSpace) -> None:
    """By hand: east (5, 0) and north (0, 2) count alike, however long they are: (1, 1) / √2."""
    assert find_centroid(space, ["east", "north"]) == pytest.approx([2**-0.5, 2**-0.5])
    assert find_centroid(space, ["east"]) == pytest.approx([1, 0])


def test_experts_are_ordered_by_the_cosine_of_their_centroid(space: VectorSpace, tmp_path: Path) -> None:
    """By hand: of (0.9, 0.1), the cosine with east is 0.994, with northeast 0.781, with north 0.110."""
    spec = CentroidRouting(
        experts=(
            Expert(system="n", examples=("north",)),
            Expert(system="ne", examples=("east", "north")),
            Expert(system="e", examples=("east",)),
        )
    )
    router = spec.build(make_workshop(tmp_path, COLLECTION), space)

    assert route(router, "nearly east") == ("e", "ne", "n")
    assert route(router, "nearly north") == ("n", "ne", "e")
    assert route(router, "nowhere") == ("n", "ne", "e")  # all cosines are 0: the first stays first


def test_experts_without_examples_learn_from_training_queries(space: VectorSpace, tmp_path: Path) -> None:
    """Those on which they are the best; one that is never the best comes last, and the notes say so."""
    spec = CentroidRouting(experts=("e", "n", "w"))
    router: Any = spec.build(
        make_workshop(tmp_path, COLLECTION), space, {"east": "e", "northeast": "n", "north": "n"}
    )

    assert spec.needs_training
    assert route(router, "nearly north") == ("n", "e", "w")
    assert router.notes() == ["the expert `w` is the best on no training query: it comes last"]


@pytest.mark.parametrize(
    ("training", "message"),
    [
        ({}, "the expert `e` has no examples, and there are no training queries to learn from"),
        ({"east": "x"}, "no expert is called `x`"),
        ({"no-such": "e"}, "no query of the collection is called `no-such`"),
    ],
)
def test_what_routers_cannot_learn_from_is_said(
    training: dict[str, str], message: str, space: VectorSpace, tmp_path: Path
) -> None:
    """No training, an expert or a query that does not exist."""
    with pytest.raises(JudgedError, match=message):
        CentroidRouting(experts=("e", "n")).build(make_workshop(tmp_path, COLLECTION), space, training)


def test_examples_that_cancel_out_have_no_centroid(space: VectorSpace) -> None:
    """East and west; the error shows the first."""
    with pytest.raises(
        StageFailed, match="the vectors of 2 examples, such as `east`, have no mean direction"
    ):
        find_centroid(space, ["east", "west"])


def test_an_example_that_cannot_be_encoded_names_itself(space: VectorSpace) -> None:
    """The encoder's error, or a vector that is not finite."""
    space.encoder.vectors["broken"] = [float("nan"), 0]  # type: ignore[attr-defined]
    with pytest.raises(StageFailed, match="returned NaN for the query `broken`"):
        find_centroid(space, ["east", "broken"])
    with pytest.raises(StageFailed, match="the encoder failed: KeyError"):
        find_centroid(space, ["unknown"])


def test_similarity_needs_an_encoder(tmp_path: Path) -> None:
    """The stage's own, or the system's."""
    workshop = make_workshop(tmp_path, COLLECTION)
    with pytest.raises(StageFailed, match="`centroids` compares vectors"):
        CentroidRouting(experts=("a", "b")).build(workshop, None)
    with pytest.raises(StageFailed, match="`similarity` compares vectors"):
        SimilarityPolicy(retrieve=("a",), skip=("b",)).build(workshop, None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"experts": ["a"]}, "at least two experts, got 1"),
        ({"experts": ["a", "b", "a"]}, "the expert `a` is listed 2 times"),
        ({"experts": [{"system": "a", "example": ["x"]}, "b"]}, "unknown field `example`"),
    ],
)
def test_experts_are_checked_when_the_study_is_read(settings: dict[str, Any], message: str) -> None:
    """There is nothing to choose among fewer than two."""
    with pytest.raises(msgspec.ValidationError, match=message):
        read_spec(CentroidRouting, **settings)


# --- skip policies


def decides(policy: Any, text: str) -> bool:
    """Return whether a policy retrieves."""
    found: bool = policy.decide(Query("q", text))
    return found


def test_a_pattern_skips_what_matches(tmp_path: Path) -> None:
    """Anywhere, in any case by default."""
    workshop = make_workshop(tmp_path)
    policy = PatternPolicy(skip=r"^(hi|thanks)\b").build(workshop)
    strict = PatternPolicy(skip="^hi", ignore_case=False).build(workshop)

    assert [decides(policy, text) for text in ("Hi there", "thanks", "history", "oh hi", "")] == [
        False,
        False,
        True,
        True,
        True,
    ]
    assert decides(strict, "Hi there")
    assert decides(policy, "\ud800 half a pair")


def test_a_hostile_pattern_takes_no_longer_than_the_query(tmp_path: Path) -> None:
    """One that takes a backtracking matcher 2^40 steps."""
    policy = PatternPolicy(skip="^(a+)+$").build(make_workshop(tmp_path))

    assert decides(policy, "a" * 40 + "!")


@pytest.mark.parametrize("pattern", ["(", "a(?=b)", "[z-a]"])
def test_a_pattern_that_is_none_is_refused_when_the_study_is_read(pattern: str) -> None:
    """With the reason, and the place."""
    with pytest.raises(msgspec.ValidationError, match=r"`skip` is not a regular expression of RE2"):
        read_spec(PatternPolicy, skip=pattern)


@pytest.mark.parametrize(
    ("text", "expected"), [("", False), ("one", False), (" one  two ", True), ("a b c", True)]
)
def test_few_words_need_no_retrieval(text: str, expected: bool, tmp_path: Path) -> None:
    """Words are what stands between blanks."""
    assert decides(WordPolicy(fewest=2).build(make_workshop(tmp_path)), text) is expected


@pytest.mark.parametrize(
    ("margin", "text", "expected"),
    [
        (0.0, "nearly east", True),
        (0.0, "nearly north", False),
        (0.0, "northeast", True),  # equal: retrieve
        (0.9, "nearly north", True),  # 0.976 − 0.217 = 0.759
        (0.7, "nearly north", False),
        (0.0, "nowhere", True),
    ],
)
def test_a_gate_by_similarity_compares_two_centroids(
    margin: float, text: str, expected: bool, space: VectorSpace, tmp_path: Path
) -> None:
    """By hand: east needs retrieval, north does not."""
    spec = SimilarityPolicy(retrieve=("east",), skip=("north",), margin=margin)

    assert decides(spec.build(make_workshop(tmp_path, COLLECTION), space), text) is expected


# --- functions

MODULE = """
def first(text): return text.split()[0]
def listed(text): return ["b", "a"]
def scored(text): return {"a": 0.1, "b": 0.7}
class Fixed:
    def __init__(self, name): self.name = name
    def __call__(self, text): return self.name
def unknown(text): return "x"
def twice(text): return ["a", "a"]
def none(text): return []
def number(text): return 5
def nan(text): return {"a": float("nan")}
def fails(text): raise ValueError("no idea")
def long(text): return len(text) > 3
def word(text): return "yes"
thing = 5
"""


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a workshop in a folder with functions."""
    (tmp_path / "own_choices.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield make_workshop(tmp_path)
    sys.modules.pop("own_choices", None)


def make_router(name: str, /, **settings: Any) -> FunctionRouting:
    """Return the declaration of a router of the module."""
    return FunctionRouting(function=f"own_choices:{name}", experts=("a", "b"), settings=settings)


def test_a_function_names_experts(workshop: Any) -> None:
    """One, several with the best first, or scores by name."""
    assert route(make_router("first").build(workshop), "b or not") == ("b",)
    assert route(make_router("listed").build(workshop), "x") == ("b", "a")
    assert route(make_router("scored").build(workshop), "x") == ("b", "a")
    assert route(make_router("Fixed", name="a").build(workshop), "x") == ("a",)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("unknown", "no expert is called `x`"),
        ("twice", r"returned the experts \['a', 'a'\], expected at least one, each once"),
        ("none", r"returned the experts \[\]"),
        ("number", "returned int, expected a name"),
        ("nan", "returned nan as the score of an expert"),
        ("fails", "`own_choices:fails` failed: ValueError: no idea"),
    ],
)
def test_what_is_wrong_with_a_router_is_said(name: str, message: str, workshop: Any) -> None:
    """With its name."""
    with pytest.raises((StageFailed, UnknownName), match=message):
        route(make_router(name).build(workshop), "x")


def test_a_function_decides_whether_to_retrieve(workshop: Any) -> None:
    """True or False, and nothing else: a word that happens to be true is a mistake."""
    policy = FunctionPolicy(function="own_choices:long").build(workshop)

    assert decides(policy, "long enough")
    assert not decides(policy, "no")
    with pytest.raises(StageFailed, match=r"returned 'yes', expected True \(retrieve\) or False"):
        decides(FunctionPolicy(function="own_choices:word").build(workshop), "x")
    with pytest.raises(StageFailed, match="failed: ValueError: no idea"):
        decides(FunctionPolicy(function="own_choices:fails").build(workshop), "x")
    with pytest.raises(StageFailed, match="is an object of type int, expected a callable"):
        FunctionPolicy(function="own_choices:thing").build(workshop)
