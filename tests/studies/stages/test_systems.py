"""Systems: stages put together, live, timed, equal to the same steps in plain code, with errors that name their place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import judged
from judged.errors import JudgedError
from judged.studies.stages.stage import Query, Ranked, StageFailed
from judged.studies.systems.building import Learned, Systems
from judged.studies.systems.declared import SystemSpec
from judged.studies.systems.system import SystemFailed
from support.pipelines import QUERIES, TEXTS, make_collection, make_workshop, open_systems

pytest.importorskip("bm25s", reason="bm25s is not installed")

MODULE = '''
import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"

def letters(texts):
    """Count letters: a vector that anyone can check."""
    return [[text.lower().count(letter) + 0.01 for letter in LETTERS] for text in texts]

class Random:
    untrained = True
    def encode(self, texts): return letters(texts)

def lengths(query, texts): return [len(text) for text in texts]
def no_stop_word(text): return text != "stop"
def broken_policy(text): raise OSError("jammed")
def broken_reranker(query, texts): raise OSError("out of order")
def choose(text): return "words" if "fell" in text else "letters"

class BadQueries:
    def encode_documents(self, texts): return letters(texts)
    def encode_query(self, text): return np.full(26, np.nan)

class Noted:
    def __call__(self, query): return ["d1", "d1", "d0", "elsewhere"]
'''
LETTERS = {"type": "function", "function": "own_systems:letters"}
WORDS_SYSTEM = {"name": "words", "search": "bm25"}
LETTERS_SYSTEM = {"name": "letters", "encoder": LETTERS, "search": "exact"}


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_systems.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    sys.modules.pop("own_systems", None)


def find_by_letters(text: str) -> list[tuple[str, float]]:
    """Return the documents by the cosine of letters, in plain code."""
    import string

    def count(one: str) -> Any:
        vector = np.array([one.lower().count(letter) + 0.01 for letter in string.ascii_lowercase])
        return vector / np.linalg.norm(vector)

    scores = {f"d{row}": float(count(one) @ count(text)) for row, one in enumerate(TEXTS)}
    return sorted(scores.items(), key=lambda pair: -pair[1])


def test_a_system_is_the_same_steps_in_plain_code(tmp_path: Path) -> None:
    """Encode, search, rerank the first three by length, keep five: the same run, document by document."""
    system = {
        **LETTERS_SYSTEM,
        "rerank": {"type": "function", "function": "own_systems:lengths", "depth": 3},
        "depth": 5,
    }
    with open_systems(tmp_path, [system]) as ask:
        for text in QUERIES.values():
            found = find_by_letters(text)
            head = sorted(found[:3], key=lambda pair: -len(TEXTS[int(pair[0][1:])]))
            answer = ask("letters", text)

            assert answer.ranked.documents == tuple(one for one, _ in [*head, *found[3:5]])
            assert answer.before is not None
            assert answer.before.documents == tuple(one for one, _ in found[:5])
            assert answer.before.scores == pytest.approx([score for _, score in found[:5]], abs=1e-5)


def test_a_search_is_as_deep_as_its_deepest_reranker(tmp_path: Path) -> None:
    """A system of depth 2 whose reranker reads 10 finds the longest of all documents."""
    rerank = {"type": "function", "function": "own_systems:lengths", "depth": 10}
    with open_systems(tmp_path, [{**LETTERS_SYSTEM, "rerank": rerank, "depth": 2}]) as ask:
        found = ask("letters", "cats").ranked.documents
    longest = sorted(range(len(TEXTS)), key=lambda row: -len(TEXTS[row]))[:2]

    assert [len(TEXTS[int(one[1:])]) for one in found] == [len(TEXTS[row]) for row in longest]


def read_run(run: Any) -> dict[str, float]:
    """Return the scores of a run of one query."""
    columns = run.as_columns().source
    return dict(zip(columns.document.to_pylist(), columns.score.tolist(), strict=True))


def fuse_by_rrf(lists: list[tuple[str, ...]], k: int = 60) -> dict[str, float]:
    """Return reciprocal rank fusion by its definition (Cormack et al. 2009)."""
    documents = {document for some in lists for document in some}
    return {one: sum(1 / (k + some.index(one) + 1) for some in lists if one in some) for one in documents}


def test_fusion_is_that_of_runs_and_of_its_definition(tmp_path: Path) -> None:
    """Live in a pipeline, by `judged.fuse` on the runs of its parts, and by an independent implementation."""
    fused = {"name": "fused", "fuse": {"of": ["words", "letters"], "method": "rrf"}}
    with open_systems(tmp_path, [WORDS_SYSTEM, LETTERS_SYSTEM, fused], depth=20) as ask:
        for query, text in QUERIES.items():
            parts = {name: ask(name, text).ranked for name in ("words", "letters")}
            live = ask("fused", text).ranked
            offline = judged.fuse({name: {query: dict(ranked)} for name, ranked in parts.items()})
            slow = fuse_by_rrf([ranked.documents for ranked in parts.values()])

            assert dict(live) == pytest.approx(slow)
            assert dict(live) == pytest.approx(read_run(offline))
            by_id = sorted(slow, reverse=True)
            assert live.documents == tuple(sorted(by_id, key=lambda one: -round(slow[one], 12)))


@pytest.mark.parametrize("settings", [
    {"method": "sum", "normalisation": "min-max", "weights": {"words": 0.7, "letters": 0.3}},
    {"method": "mnz", "normalisation": "z-score"},
    {"method": "borda"},
    {"method": "isr"},
    {"method": "rrf", "parameters": {"k": 5}},
])  # fmt: skip
def test_every_fusion_is_that_of_runs(settings: dict[str, Any], tmp_path: Path) -> None:
    """`judged.fuse` on the runs of the parts gives the scores of the pipeline."""
    fused = {"name": "fused", "fuse": {"of": ["words", "letters"], **settings}}
    with open_systems(tmp_path, [WORDS_SYSTEM, LETTERS_SYSTEM, fused], depth=20) as ask:
        parts = {name: {"q": dict(ask(name, QUERIES["q2"]).ranked)} for name in ("words", "letters")}
        live = dict(ask("fused", QUERIES["q2"]).ranked)
    options = {key: value for key, value in settings.items() if key != "parameters"}

    assert live == pytest.approx(read_run(judged.fuse(parts, **options, **settings.get("parameters", {}))))


def test_a_skip_policy_skips_and_is_passed_over_on_demand(tmp_path: Path) -> None:
    """A query that is skipped has no results, and its time is the policy's."""
    spec = msgspec.convert({**WORDS_SYSTEM, "skip": {"type": "words", "fewest": 2}}, SystemSpec)
    systems = Systems({"words": spec}, make_workshop(tmp_path), depth=5)
    system = systems.build("words")
    query = Query("q", "cat")
    skipped = system.answer(query)

    assert not skipped.retrieved
    assert skipped.ranked == Ranked()
    assert set(query.clock.stop()) == {"skipping", "total"}
    assert system.answer(Query("q", "cat"), skipping=False).ranked.documents == ("d0", "d1")
    assert system.answer(Query("q", "cat mat")).retrieved


def test_a_router_asks_one_expert(tmp_path: Path) -> None:
    """The answer is that expert's, and the order of experts is kept."""
    routed = {
        "name": "routed",
        "router": {"type": "function", "function": "own_systems:choose", "experts": ["words", "letters"]},
    }
    with open_systems(tmp_path, [WORDS_SYSTEM, LETTERS_SYSTEM, routed]) as ask:
        by_words, by_letters = ask("routed", "bank shares fell"), ask("routed", "cats")

        assert by_words.experts == ("words",)
        assert by_words.ranked == ask("words", "bank shares fell").ranked
        assert by_letters.experts == ("letters",)
        assert by_letters.ranked == ask("letters", "cats").ranked


def test_a_router_learns_from_what_the_study_learned(tmp_path: Path) -> None:
    """The best expert of training queries; the weights of a fusion."""
    routed = {
        "name": "routed",
        "encoder": LETTERS,
        "router": {"type": "centroids", "experts": ["words", "letters"]},
    }
    tuned = {"name": "tuned", "fuse": {"of": ["words", "letters"], "method": "sum", "tune": {}}}
    learned = {
        "routed": Learned(best_expert={"q1": "letters", "q2": "words"}),
        "tuned": Learned(weights={"words": 1.0, "letters": 0.0}),
    }
    systems = [WORDS_SYSTEM, LETTERS_SYSTEM, routed, tuned]
    with open_systems(tmp_path, systems, learned=lambda spec, _build: learned[spec.name]) as ask:
        assert ask("routed", QUERIES["q1"]).experts[0] == "letters"
        assert ask("routed", QUERIES["q2"]).experts[0] == "words"
        found, alone = ask("tuned", QUERIES["q2"]).ranked, ask("words", QUERIES["q2"]).ranked
        assert (
            found.documents[:2] == alone.documents[:2]
        )  # its last one is scaled to 0, as are those of no weight


def test_a_base_is_reranked_without_searching_again(tmp_path: Path) -> None:
    """The stages of a query are those of the base and then its own; before is what the base found."""
    longest = {
        "name": "longest",
        "base": "words",
        "rerank": {"type": "function", "function": "own_systems:lengths", "stage": "by length"},
    }
    specs = msgspec.convert([WORDS_SYSTEM, longest], list[SystemSpec])
    systems = Systems({spec.name: spec for spec in specs}, make_workshop(tmp_path), depth=5)
    query = Query("q", "the cat")
    answer = systems.build("longest").answer(query)

    assert answer.before == systems.build("words").answer(Query("q", "the cat")).ranked
    assert set(query.clock.stop()) == {"retrieval", "by length", "total"}
    lengths = [len(TEXTS[int(one[1:])]) for one in answer.ranked.documents]
    assert lengths == sorted(lengths, reverse=True)


def test_stages_of_a_system_add_up_to_its_total(tmp_path: Path) -> None:
    """Over 200 queries: what no stage has is the clock's and the system's own, a few microseconds each."""
    fused = {"name": "fused", "fuse": {"of": ["words", "letters"]}, "encoder": LETTERS, "rerank": "mmr"}
    specs = msgspec.convert([WORDS_SYSTEM, LETTERS_SYSTEM, fused], list[SystemSpec])
    systems = Systems({spec.name: spec for spec in specs}, make_workshop(tmp_path), depth=5)
    system = systems.build("fused")
    rests = []
    for at in range(200):
        query = Query("q", f"cats and dogs {at}")
        system.answer(query)
        times = query.clock.stop()
        total = times.pop("total")
        assert set(times) == {"embedding", "retrieval", "fusion", "reranking"}
        rests.append(total - sum(times.values()))

    assert min(rests) >= 0
    assert np.median(rests) < 200_000


def test_a_query_is_encoded_once_for_all_stages_of_a_system(tmp_path: Path) -> None:
    """The search, the router, the skip policy and the reranker share its vector."""
    system = {
        **LETTERS_SYSTEM,
        "skip": {"type": "similarity", "retrieve": ["cats"], "skip": ["xylophone"]},
        "rerank": {"type": "mmr", "relevance": "similarity"},
    }
    specs = msgspec.convert([system], list[SystemSpec])
    built = Systems({"letters": specs[0]}, make_workshop(tmp_path), depth=5).build("letters")
    built.answer(Query("q", "cats and dogs"))

    assert len(built.spaces) == 1
    assert built.spaces[0].encoded_queries == 1


def test_encoders_of_stages_count_among_those_of_the_system(tmp_path: Path) -> None:
    """Their vectors are saved with the others, and an untrained one makes the system untrained."""
    untrained = {"type": "function", "function": "own_systems:Random"}
    base = {"name": "diverse", "base": "words", "rerank": {"type": "mmr", "encoder": untrained}}
    skipping = {
        "name": "skipping",
        "search": "bm25",
        "skip": {"type": "similarity", "retrieve": ["cat"], "skip": ["pie"], "encoder": untrained},
    }
    fused = {"name": "fused", "fuse": {"of": ["words", "skipping"]}}
    specs = msgspec.convert([WORDS_SYSTEM, base, skipping, fused], list[SystemSpec])
    systems = Systems({spec.name: spec for spec in specs}, make_workshop(tmp_path), depth=5)

    assert not systems.build("words").untrained
    for name in ("diverse", "skipping", "fused"):
        assert systems.build(name).untrained
        assert len(systems.build(name).spaces) == 1


def test_searchers_are_built_once_for_systems_that_share_them(tmp_path: Path) -> None:
    """With the same settings over the same vectors."""
    deeper = {**LETTERS_SYSTEM, "name": "deeper", "depth": 9}
    specs = msgspec.convert([LETTERS_SYSTEM, deeper, WORDS_SYSTEM], list[SystemSpec])
    systems = Systems({spec.name: spec for spec in specs}, make_workshop(tmp_path), depth=5)

    assert systems.build("letters").source is systems.build("deeper").source
    assert systems.build("letters").source is not systems.build("words").source
    assert systems.build("letters") is systems.build("letters")


def test_everything_is_released_though_one_cannot_be(tmp_path: Path) -> None:
    """The error is raised after the others are closed."""
    specs = msgspec.convert([LETTERS_SYSTEM, WORDS_SYSTEM], list[SystemSpec])
    systems = Systems({spec.name: spec for spec in specs}, make_workshop(tmp_path), depth=5)
    closed = []
    for name in ("letters", "words"):
        systems.build(name).source.close = lambda name=name: closed.append(name)  # type: ignore[union-attr, misc]
    systems.build("words").source.close = lambda: 1 / 0  # type: ignore[union-attr]

    with pytest.raises(ZeroDivisionError):
        systems.close()
    assert closed == ["letters"]


def test_notes_of_all_stages_are_those_of_the_system(tmp_path: Path) -> None:
    """Of what finds documents and of rerankers; stages without notes have none."""
    system = {"name": "noted", "retriever": {"type": "object", "object": "own_systems:Noted"}}
    specs = msgspec.convert([system, WORDS_SYSTEM], list[SystemSpec])
    systems = Systems({spec.name: spec for spec in specs}, make_workshop(tmp_path), depth=5)
    built = systems.build("noted")
    assert built.notes() == []
    built.answer(Query("q", "x"))
    said = " / ".join(built.notes())

    assert "1 result repeated a document" in said
    assert "1 result named a document that the collection does not have" in said
    assert systems.build("words").notes() == []


# --- errors


@pytest.mark.parametrize(
    ("changes", "stage", "message"),
    [
        (
            {"skip": {"type": "function", "function": "own_systems:broken_policy"}},
            "skipping",
            "OSError: jammed",
        ),
        (
            {"rerank": {"type": "function", "function": "own_systems:broken_reranker", "stage": "second"}},
            "second",
            "OSError: out of order",
        ),
        (
            {"encoder": {"type": "function", "function": "own_systems:BadQueries"}},
            "embedding",
            "returned NaN for the query `cats`",
        ),
    ],
)
def test_a_stage_that_fails_names_system_stage_and_query(
    changes: dict[str, Any], stage: str, message: str, tmp_path: Path
) -> None:
    """Also where the stage is one inside another, and where the system is part of a second one."""
    systems = [{**LETTERS_SYSTEM, **changes}, {"name": "outer", "base": "letters"}]
    for name in ("letters", "outer"):
        with open_systems(tmp_path, systems) as ask, pytest.raises(SystemFailed) as caught:
            ask(name, "cats")
        assert f"system `letters`, stage `{stage}`, query `cats`: " in caught.value.message
        assert message in caught.value.message
        assert (caught.value.system, caught.value.stage, caught.value.query) == ("letters", stage, "cats")


@pytest.mark.parametrize(
    ("system", "stage", "message"),
    [
        (
            {"search": "exact", "encoder": {"type": "transformers", "model": "/nowhere"}},
            "encoder",
            "not a folder",
        ),
        ({"search": {"type": "index", "engine": "no-such"}, "encoder": LETTERS}, "retrieval", "no-such"),
        (
            {"search": "bm25", "rerank": {"type": "function", "function": "no_such:x"}},
            "reranking",
            "cannot be imported",
        ),
        (
            {"search": "bm25", "skip": {"type": "function", "function": "no_such:x"}},
            "skipping",
            "cannot be imported",
        ),
        (
            {"retriever": {"type": "object", "object": "own_systems:LETTERS"}},
            "retrieval",
            "expected a retriever",
        ),
    ],
)
def test_a_stage_that_cannot_be_built_names_system_and_stage(
    system: dict[str, Any], stage: str, message: str, tmp_path: Path
) -> None:
    """No query is to blame."""
    with open_systems(tmp_path, [{"name": "broken", **system}]) as ask, pytest.raises(SystemFailed) as caught:
        ask("broken", "cats")
    assert caught.value.message.startswith(f"system `broken`, stage `{stage}`: ")
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ({}, "it has none of the ways to find documents, expected one"),
        ({"search": "bm25", "base": "words"}, "it has `search` and `base` of the ways"),
        ({"search": "bm26"}, "no searcher is called `bm26`"),
        ({"search": "exact"}, "`search` is `index`, which compares vectors, and there is no `encoder`"),
        ({"search": "bm25", "rerank": "mmr"}, "`rerank` is `mmr`, which compares vectors"),
        ({"search": "bm25", "rerank": ["mmr"]}, "`rerank` is `mmr`, which compares vectors"),
        (
            {"search": "bm25", "skip": {"type": "similarity", "retrieve": ["a"], "skip": ["b"]}},
            "`skip` is `similarity`, which compares vectors",
        ),
        ({"router": {"type": "centroids", "experts": ["a", "b"]}}, "`router` is `centroids`, which compares"),
        ({"search": "exact", "encoder": "byte5"}, "no encoder is called `byte5`"),
        ({"search": "exact", "encoder": "model2vec"}, "`model2vec` needs settings"),
        ({"search": "bm25", "rerank": "llms"}, "no reranker is called `llms`"),
        ({"search": "bm25", "skip": "word"}, "no skip policy is called `word`"),
        ({"search": "bm25", "depth": 0}, "`depth` is 0"),
        ({"fuse": {"of": ["a"]}}, "expected two or more different systems"),
        ({"fuse": {"of": ["a", "a"]}}, "expected two or more different systems"),
        ({"fuse": {"of": ["a", "b"], "method": "magic"}}, "magic"),
        ({"fuse": {"of": ["a", "b"], "tune": {}, "weights": {"a": 1}}}, "both `weights` and `tune`"),
        ({"search": "bm25", "name": "../up"}, "`name` is `../up`"),
    ],
)
def test_settings_that_contradict_each_other_are_refused_early(system: dict[str, Any], message: str) -> None:
    """Before anything is loaded or built."""
    spec = msgspec.convert({"name": "x", **system}, SystemSpec)

    with pytest.raises(JudgedError) as caught:
        spec.check()
    assert message in caught.value.message


def test_a_stage_may_be_named_by_its_type_alone() -> None:
    """Wherever it needs no settings; a list of rerankers too. The settings are those of the long form."""
    short = msgspec.convert(
        {"name": "x", "search": "exact", "encoder": "wordllama", "skip": "words", "rerank": ["mmr"]},
        SystemSpec,
    )
    long = msgspec.convert(
        {
            "name": "x",
            "search": {"type": "index", "engine": "exact"},
            "encoder": {"type": "wordllama"},
            "skip": {"type": "words"},
            "rerank": {"type": "mmr"},
        },
        SystemSpec,
    )

    assert short.to_dict() == long.to_dict()


def test_an_error_of_judged_keeps_its_hint(tmp_path: Path) -> None:
    """With the place before it."""
    with open_systems(
        tmp_path, [LETTERS_SYSTEM], workshop=make_workshop(tmp_path, make_collection(["a"]))
    ) as ask:
        assert len(ask("letters", "cats").ranked) == 1
    failed = SystemFailed("s", "t", StageFailed("went wrong", hint="try again"), "q")

    assert str(failed) == "system `s`, stage `t`, query `q`: went wrong\n\nhint: try again"
