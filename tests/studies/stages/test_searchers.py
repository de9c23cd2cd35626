"""Searchers against slow definitions: brute force, BM25 term by term, PageRank by a linear system."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st

from judged.errors import EngineFailed, JudgedError
from judged.index.engine import find_engine
from judged.studies.stages.searchers.graph import GraphWalk
from judged.studies.stages.searchers.index import VectorIndex
from judged.studies.stages.searchers.lexical import Bm25, Tantivy
from judged.studies.stages.searchers.searcher import pick_best
from judged.studies.stages.spares import Spares
from judged.studies.stages.stage import StageFailed
from judged.studies.stages.vectors import VectorSpace
from support.pipelines import TEXTS, ask, make_collection, make_space, make_workshop, read_spec

ROWS = 60
COLLECTION = make_collection([f"document {row}" for row in range(ROWS)])


@pytest.fixture
def space() -> VectorSpace:
    """Return 60 documents in 8 dimensions, some of them equal, and three queries."""
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(ROWS, 8))
    vectors[10:14] = vectors[3]  # ties
    return make_space(COLLECTION, vectors, {f"query {at}": rng.normal(size=8).tolist() for at in range(3)})


def find_by_brute_force(space: VectorSpace, text: str, metric: str) -> dict[str, float]:
    """Return the score of every document, in float64."""
    rows, asked = space.documents.astype(np.float64), space.encode(text).astype(np.float64)
    if metric == "cosine":
        scores = rows @ asked / np.linalg.norm(rows, axis=1) / np.linalg.norm(asked)
    elif metric == "ip":
        scores = rows @ asked
    else:
        scores = -np.linalg.norm(rows - asked, axis=1)
    return dict(zip(COLLECTION.documents, scores.tolist(), strict=True))


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
@pytest.mark.parametrize("depth", [1, 7, ROWS, 1000])
def test_exact_search_is_brute_force(metric: Any, depth: int, space: VectorSpace, tmp_path: Path) -> None:
    """The highest scores in descending order, each that of its document, equal ones by row; at any depth."""
    searcher = VectorIndex(metric=metric).build(make_workshop(tmp_path, COLLECTION), space)
    for at in range(3):
        scores = find_by_brute_force(space, f"query {at}", metric)
        expected = sorted(COLLECTION.documents, key=lambda one: (-round(scores[one], 5), int(one[1:])))[
            :depth
        ]
        found = ask(searcher, f"query {at}", depth)

        assert list(found.documents) == expected
        assert found.scores == pytest.approx([scores[one] for one in expected], abs=1e-5)


def test_a_query_without_a_direction_finds_nothing(tmp_path: Path) -> None:
    """The cosine with the vector 0 is nobody's; inner products and distances are 0 and defined."""
    collection = make_collection(["one", "two"])
    space = make_space(collection, [[1, 0], [0, 0]], {"nothing": [0, 0], "query": [1, 1]})
    found = {
        metric: ask(
            read_spec(VectorIndex, metric=metric).build(make_workshop(tmp_path, collection), space), "nothing"
        )
        for metric in ("cosine", "ip", "l2")
    }

    assert found["cosine"].documents == ()
    assert dict(found["ip"]) == {"d0": 0.0, "d1": 0.0}
    assert list(found["l2"]) == [("d1", 0.0), ("d0", -1.0)]


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_vectors_of_any_length_have_a_direction(size: float, tmp_path: Path) -> None:
    """Those too whose squares float32 cannot hold."""
    collection = make_collection(["one", "two"])
    space = make_space(collection, [[size, 0], [size, size]], {"query": [0, size]})
    found = ask(VectorIndex().build(make_workshop(tmp_path, collection), space), "query")

    assert dict(found) == pytest.approx({"d1": 0.5**0.5, "d0": 0.0}, abs=1e-6)


@pytest.mark.parametrize("engine", ["faiss-hnsw", "faiss-flat", "usearch", "hnswlib"])
def test_an_index_finds_what_brute_force_finds(engine: str, space: VectorSpace, tmp_path: Path) -> None:
    """With 60 documents a graph visits all of them; scores are those of the vectors, whatever the index computes."""
    if find_engine(engine).missing_packages():
        pytest.skip(f"{engine} is not installed")
    searcher = VectorIndex(engine=engine).build(make_workshop(tmp_path, COLLECTION), space)
    scores = find_by_brute_force(space, "query 0", "cosine")
    found = ask(searcher, "query 0", 10)
    best = sorted(scores.values(), reverse=True)[:10]
    searcher.close()  # type: ignore[attr-defined]

    assert found.scores == pytest.approx(best, abs=1e-5)
    assert [scores[one] for one in found.documents] == pytest.approx(best, abs=1e-5)
    assert len(set(found.documents)) == 10


@pytest.mark.parametrize("engine", ["pgvector-exact", "pgvector-hnsw"])
def test_pgvector_is_searched_on_a_real_server(
    engine: str, space: VectorSpace, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """What brute force finds; the table is gone when the searcher is closed."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    dsn = request.getfixturevalue("postgres")
    searcher: Any = VectorIndex(engine=engine, url=dsn).build(make_workshop(tmp_path, COLLECTION), space)
    best = sorted(find_by_brute_force(space, "query 1", "cosine").values(), reverse=True)[:10]
    found = ask(searcher, "query 1", 10)
    searcher.close()
    with psycopg.connect(dsn) as connection:
        tables = connection.execute(
            "SELECT count(*) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchone()

    assert found.scores == pytest.approx(best, abs=1e-5)
    assert tables == (0,)


def test_a_server_that_is_down_is_an_error_in_words(space: VectorSpace, tmp_path: Path) -> None:
    """PostgreSQL at an address where nothing listens."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    spec = VectorIndex(engine="pgvector-exact", url=f"host={tmp_path} user=x connect_timeout=2")

    with pytest.raises(JudgedError):
        spec.build(make_workshop(tmp_path, COLLECTION), space)


def test_an_index_that_fails_to_be_built_is_released(
    space: VectorSpace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it made on a server or on disk; the first error is the one that is raised."""
    kind = find_engine("exact")
    closed = []
    monkeypatch.setattr(kind, "finish", lambda _self: 1 / 0)
    monkeypatch.setattr(kind, "close", lambda _self: closed.append(True))

    with pytest.raises(ZeroDivisionError):
        VectorIndex().build(make_workshop(tmp_path, COLLECTION), space)
    assert closed == [True]


@pytest.mark.parametrize(
    ("rows", "message"),
    [([0, 0], "returned a document twice"), ([0, 60], "returned row 60, and there are 60 documents")],
)
def test_what_an_index_returns_is_checked(
    rows: list[int], message: str, space: VectorSpace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document twice, or one that does not exist; −1 stands for fewer results."""
    searcher: Any = VectorIndex().build(make_workshop(tmp_path, COLLECTION), space)
    monkeypatch.setattr(searcher, "open", lambda _depth: Spares(lambda: lambda _vector: np.array(rows)))
    with pytest.raises(EngineFailed, match=message):
        ask(searcher, "query 0", 2)
    monkeypatch.setattr(
        searcher, "open", lambda _depth: Spares(lambda: lambda _vector: np.array([5, -1, -1]))
    )

    assert ask(searcher, "query 0", 3).documents == ("d5",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "no-such"}, "no-such"),
        ({"engine": "exact", "build": {"m": 5}}, "`m`"),
        ({"engine": "exact", "query": {"ef": 5}}, "`ef`"),
    ],
)
def test_settings_that_an_engine_does_not_have_are_errors(
    settings: dict[str, Any], message: str, space: VectorSpace, tmp_path: Path
) -> None:
    """With the engine's or the setting's name."""
    with pytest.raises(JudgedError, match=message):
        read_spec(VectorIndex, **settings).build(make_workshop(tmp_path, COLLECTION), space)


@pytest.mark.parametrize("kind", [VectorIndex, GraphWalk])
def test_a_search_of_vectors_needs_an_encoder(kind: Any, tmp_path: Path) -> None:
    """Of the system."""
    with pytest.raises(StageFailed, match="the system has no encoder"):
        kind().build(make_workshop(tmp_path), None)


@given(scores=st.lists(st.integers(0, 5), min_size=1, max_size=30), depth=st.integers(1, 35))
def test_the_best_rows_are_those_of_a_stable_sort(scores: list[int], depth: int) -> None:
    """Ties go to the first row, at the cut too."""
    expected = sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:depth]

    assert pick_best(np.array(scores, dtype=float), depth).tolist() == expected


# --- words


def split_words(text: str) -> list[str]:
    """Return the words that bm25s finds without stop words: two letters or more, in lower case."""
    return re.findall(r"(?u)\b\w\w+\b", text.lower())


def score_bm25(query: str, texts: list[str], k1: float, b: float, method: str) -> list[float]:
    """Return BM25 by its definition, document by document and term by term (Lù 2024, table 1)."""
    split = [split_words(text) for text in texts]
    average = sum(map(len, split)) / len(split)
    scores = []
    for words in split:
        counts, total = Counter(words), 0.0
        length = 1 - b + b * len(words) / average
        for term in split_words(query):
            df = sum(term in other for other in split)
            tf = counts[term]
            if not tf:
                continue
            if method == "lucene":
                total += math.log(1 + (len(texts) - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * length)
            elif method == "atire":
                total += math.log(len(texts) / df) * tf * (k1 + 1) / (tf + k1 * length)
            else:
                idf = max(0.0, math.log((len(texts) - df + 0.5) / (df + 0.5)))
                total += idf * tf / (tf + k1 * length)
        scores.append(total)
    return scores


@pytest.mark.parametrize("query", ["the cat", "bank fell fell", "apple pie for dogs", "数据", "Hund über"])
@pytest.mark.parametrize("method", ["lucene", "atire", "robertson"])
def test_bm25_is_its_definition(query: str, method: Any, tmp_path: Path) -> None:
    """Scores of every document that shares a word with the query, a repeated word counting twice."""
    pytest.importorskip("bm25s", reason="bm25s is not installed")
    spec = Bm25(k1=1.2, b=0.6, method=method, stopwords="none")
    found = ask(spec.build(make_workshop(tmp_path), None), query)
    expected = score_bm25(query, list(TEXTS), 1.2, 0.6, method)
    positive = {f"d{row}": score for row, score in enumerate(expected) if score > 0}

    assert dict(found) == pytest.approx(positive, abs=1e-5)
    assert list(found.scores) == sorted(found.scores, reverse=True)


@pytest.mark.parametrize("method", ["lucene", "robertson", "atire", "bm25l", "bm25+"])
def test_documents_without_a_word_of_the_query_are_not_returned(method: Any, tmp_path: Path) -> None:
    """Whatever the method says about them: two of its variants give every document a score."""
    pytest.importorskip("bm25s", reason="bm25s is not installed")
    searcher = Bm25(method=method).build(make_workshop(tmp_path), None)

    assert set(ask(searcher, "apple").documents) == {"d5", "d6"}
    assert len(ask(searcher, "apple", 1)) == 1
    assert ask(searcher, "zebra").documents == ()
    assert ask(searcher, "the of and").documents == ()
    assert ask(searcher, "?!").documents == ()
    assert ask(searcher, "").documents == ()


@pytest.mark.parametrize("kind", [Bm25, Tantivy])
@pytest.mark.parametrize("texts", [["a", "?"], ["the of"], ["cat"], ["", "cat"]])
def test_collections_with_hardly_a_word_are_searched(kind: Any, texts: list[str], tmp_path: Path) -> None:
    """One without a word returns nothing."""
    pytest.importorskip("bm25s" if kind is Bm25 else "tantivy", reason="not installed")
    searcher = kind().build(make_workshop(tmp_path, make_collection(texts)), None)
    expected = [f"d{row}" for row, text in enumerate(texts) if "cat" in text]

    assert list(ask(searcher, "cat").documents) == expected


def score_tantivy(query: list[str], split: list[list[str]]) -> list[float]:
    """Return BM25 with k1 = 1.2 and b = 0.75 and Lucene's idf, times k1 + 1; lengths as Lucene stores them.

    Lengths up to 40 words are stored exactly (Lucene's SmallFloat), and no document here is longer.
    """
    average = sum(map(len, split)) / len(split)
    scores = []
    for words in split:
        total = 0.0
        for term in query:
            tf, df = words.count(term), sum(term in other for other in split)
            idf = math.log(1 + (len(split) - df + 0.5) / (df + 0.5))
            total += idf * 2.2 * tf / (tf + 1.2 * (0.25 + 0.75 * len(words) / average)) if tf else 0.0
        scores.append(total)
    return scores


@pytest.mark.parametrize(
    "query", ["the cat", "bank fell", "apple pie", "Hund Brücke", "检索 search", "bank fell fell"]
)
def test_tantivy_is_bm25_by_definition(query: str, tmp_path: Path) -> None:
    """With its fixed parameters, over words in lower case."""
    pytest.importorskip("tantivy", reason="tantivy is not installed")
    found = ask(Tantivy().build(make_workshop(tmp_path), None), query)
    split = [re.findall(r"\w+", text.lower()) for text in TEXTS]
    expected = score_tantivy(re.findall(r"\w+", query.lower()), split)

    assert dict(found) == pytest.approx(
        {f"d{row}": score for row, score in enumerate(expected) if score > 0}, rel=1e-4
    )


@pytest.mark.parametrize(
    "query",
    [
        'cat AND "dog', "NOT cat", "text:cat", "cat^5", "cat~2", "(cat", "[a TO z]", "cat* +dog -mat", "/c.t/",
        "\\", "cat \\", "*", "row:1 cat", "IN [cat]", "cat\x00", "\ud800 cat",
    ],
)  # fmt: skip
def test_tantivys_query_language_means_nothing(query: str, tmp_path: Path) -> None:
    """Signs are no words; those that are there count as in any other query."""
    pytest.importorskip("tantivy", reason="tantivy is not installed")
    searcher = Tantivy().build(make_workshop(tmp_path), None)
    plain = " ".join(re.findall(r"[a-zA-Z0-9]+", query.lower()))

    assert dict(ask(searcher, query)) == pytest.approx(dict(ask(searcher, plain)))
    assert ("d0" in ask(searcher, query).documents) == ("cat" in plain)


def test_tantivys_tokenisers_split_queries_as_documents(tmp_path: Path) -> None:
    """Stems, whatever stands between blanks, and languages whose signs Python counts as no letters."""
    pytest.importorskip("tantivy", reason="tantivy is not installed")
    collection = make_collection(["Running-shoes C++", "runs", "हिन्दी भाषा", "foo_bar"])
    workshop = make_workshop(tmp_path, collection)
    default, stems, blanks = (
        Tantivy(tokeniser=name).build(workshop, None)  # type: ignore[arg-type]
        for name in ("default", "en_stem", "whitespace")
    )

    assert set(ask(stems, "run").documents) == {"d0", "d1"}
    assert ask(default, "run").documents == ()
    assert ask(default, "SHOES").documents == ("d0",)
    assert ask(default, "हिन्दी").documents == ("d2",)
    assert ask(default, "foo").documents == ("d3",)
    assert ask(blanks, "C++").documents == ("d0",)
    assert ask(blanks, "c").documents == ()


# --- the graph


def solve_pagerank(vectors: Any, asked: Any, spec: GraphWalk) -> dict[str, float]:
    """Return personalised PageRank by a dense linear system: (I − α Wᵀ) p = (1 − α) s, sinks joined to s."""
    rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines, similar = rows @ rows.T, np.maximum(rows @ (asked / np.linalg.norm(asked)), 0)
    start = np.zeros(len(rows))
    first = np.argsort(-similar, kind="stable")[: spec.seeds]
    start[first] = similar[first]
    start /= start.sum()
    steps = np.zeros_like(cosines)
    for row in range(len(rows)):
        near = [at for at in np.argsort(-cosines[row], kind="stable") if at != row][: spec.neighbours]
        steps[row, near] = np.maximum(cosines[row, near], 0)
        total = steps[row].sum()
        steps[row] = steps[row] / total if total > 0 else start
    found = np.linalg.solve(np.eye(len(rows)) - spec.damping * steps.T, (1 - spec.damping) * start)
    return {f"d{row}": score for row, score in enumerate(found) if score > 1e-12}


@pytest.mark.parametrize(
    "spec",
    [
        GraphWalk(),
        GraphWalk(neighbours=3, seeds=2, damping=0.5),
        GraphWalk(damping=0.0),
        GraphWalk(neighbours=1),
    ],
)
def test_the_walk_is_personalised_pagerank(spec: GraphWalk, tmp_path: Path) -> None:
    """Within the tolerance, for every document that the walk reaches."""
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(40, 5))
    collection = make_collection([f"document {row}" for row in range(40)])
    space = make_space(collection, vectors, {"query": rng.normal(size=5).tolist()})
    found = ask(spec.build(make_workshop(tmp_path, collection), space), "query")
    expected = solve_pagerank(
        space.documents.astype(np.float64), space.encode("query").astype(np.float64), spec
    )

    assert dict(found) == pytest.approx(expected, abs=1e-6)
    assert list(found.scores) == sorted(found.scores, reverse=True)


def test_a_document_without_neighbours_sends_the_walk_back(tmp_path: Path) -> None:
    """Opposite vectors have no edges: all visits stay at the beginning, and sum to 1."""
    collection = make_collection(["one", "two"])
    space = make_space(collection, [[1, 0], [-1, 0]], {"query": [1, 0]})
    found = ask(GraphWalk().build(make_workshop(tmp_path, collection), space), "query")

    assert dict(found) == pytest.approx({"d0": 1.0})


def test_copies_of_a_document_are_neighbours_like_others(tmp_path: Path) -> None:
    """Each has as many edges as `neighbours` says, though it is not among its own nearest ones."""
    collection = make_collection([f"copy {row}" for row in range(5)])
    space = make_space(collection, [[1, 0]] * 5, {"query": [1, 0]})
    walker: Any = GraphWalk(neighbours=2).build(make_workshop(tmp_path, collection), space)

    assert [walker._steps[:, row].nnz for row in range(5)] == [2] * 5
    assert all(walker._steps[row, row] == 0 for row in range(5))


def test_a_query_unlike_everything_finds_nothing(tmp_path: Path) -> None:
    """No document is a beginning; neither is the vector 0."""
    collection = make_collection(["one", "two"])
    space = make_space(collection, [[1, 0], [1, 0]], {"opposite": [-1, 0], "nothing": [0, 0]})
    searcher = GraphWalk().build(make_workshop(tmp_path, collection), space)

    assert ask(searcher, "opposite").documents == ()
    assert ask(searcher, "nothing").documents == ()


def test_a_walk_ends_whatever_the_tolerance(tmp_path: Path) -> None:
    """One below what float64 can tell apart."""
    collection = make_collection(["one", "two", "three"])
    space = make_space(collection, [[1, 0], [1, 1], [0, 1]], {"query": [1, 0.3]})
    searcher = GraphWalk(tolerance=1e-300).build(make_workshop(tmp_path, collection), space)

    assert sum(ask(searcher, "query").scores) == pytest.approx(1)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (GraphWalk, {"damping": 1.0}), (GraphWalk, {"damping": -0.1}), (GraphWalk, {"neighbours": 0}),
        (GraphWalk, {"seeds": 0}), (GraphWalk, {"tolerance": 0}), (Bm25, {"b": 2}), (Bm25, {"k1": -1}),
        (Bm25, {"method": "tf"}), (VectorIndex, {"threads": 0}), (VectorIndex, {"metric": "dot"}),
    ],
)  # fmt: skip
def test_settings_that_mean_nothing_are_refused(kind: Any, settings: dict[str, Any]) -> None:
    """When the study is read, with the place."""
    with pytest.raises(msgspec.ValidationError, match=rf"\$\.{next(iter(settings))}"):
        read_spec(kind, **settings)
