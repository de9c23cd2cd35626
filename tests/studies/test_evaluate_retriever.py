"""A retriever in memory: asked every judged question once more than is timed, scored, and refused in words."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from judged import Evaluation, compare, evaluate, evaluate_retriever, gate, load
from judged.errors import BadInput, BadProtocol, JudgedError, UnknownName, WrongKind
from judged.studies.stages.stage import StageFailed

QUESTIONS = {"q1": "what does a seat cost", "q2": "when are you open", "q3": "how do I return it"}
JUDGED = {"q1": {"price.md": 1}, "q2": {"hours.md": 1}, "q3": {"return.md": 2, "price.md": 1}}
TEXTS = {
    "price.md": "a seat does cost 10",
    "hours.md": "when open: from 9",
    "return.md": "how to return it, and what that does cost",
}


def search(text: str) -> list[tuple[str, float]]:
    """Return documents by the number of words that they share with the question."""
    words = set(text.split())
    scores = {name: float(len(words & set(content.split()))) for name, content in TEXTS.items()}
    return sorted(((name, score) for name, score in scores.items() if score), key=lambda pair: -pair[1])


def as_chunks(text: str) -> list[Any]:
    """Return the same as objects with the id in their metadata, and their texts."""
    return [
        SimpleNamespace(id=None, page_content=TEXTS[name], metadata={"source": name})
        for name, _ in search(text)
    ]


class Invoke:
    """As a retriever of LangChain."""

    def invoke(self, text: str) -> Any:
        """Return results."""
        return search(text)


class Old:
    """As a retriever of LangChain before 0.1."""

    def get_relevant_documents(self, text: str) -> Any:
        """Return results."""
        return search(text)


class Store:
    """As a vector store of LangChain, whose `search` needs a second argument."""

    def search(self, text: str, search_type: str) -> Any:
        """Return nothing: it is not called."""
        raise AssertionError(text, search_type)

    def similarity_search(self, text: str, k: int = 1) -> Any:
        """Return results."""
        return search(text)[:k]


class Retrieve:
    """As a retriever of LlamaIndex."""

    def retrieve(self, text: str) -> Any:
        """Return results."""
        return SimpleNamespace(source_nodes=[{"id": name, "score": score} for name, score in search(text)])


class Component:
    """As a component of Haystack."""

    def run(self, query: str, top_k: int = 1) -> Any:
        """Return results."""
        return {"documents": [{"id": name, "score": score} for name, score in search(query)[:top_k]]}


class Pipeline:
    """As a pipeline of Haystack."""

    def inputs(self) -> Any:
        """Return the sockets of its component."""
        return {"retriever": {"query": {}, "top_k": {}}}

    def run(self, data: Any) -> Any:
        """Return results by component."""
        return {"retriever": Component().run(**data["retriever"])}


class Search:
    """As many a search client."""

    def search(self, text: str, limit: int) -> Any:
        """Return results."""
        return search(text)[:limit]


class Query:
    """As a query engine of LlamaIndex."""

    def query(self, text: str) -> Any:
        """Return results."""
        return Retrieve().retrieve(text)


async def search_later(text: str, k: int) -> Any:
    """Return results, if awaited."""
    await asyncio.sleep(0.001)
    return search(text)[:k]


async def stream(text: str) -> AsyncIterator[Any]:
    """Yield results, if awaited."""
    for pair in search(text):
        await asyncio.sleep(0)
        yield pair


class Later:
    """As a retriever whose method is asynchronous."""

    async def retrieve(self, text: str) -> Any:
        """Return results, if awaited."""
        return await search_later(text, 9)


def generate(text: str) -> Iterator[Any]:
    """Yield results."""
    yield from search(text)


RETRIEVERS: dict[str, Any] = {
    "invoke": Invoke(),
    "get_relevant_documents": Old(),
    "similarity_search": Store(),
    "retrieve": Retrieve(),
    "component": Component(),
    "pipeline": Pipeline(),
    "search": Search(),
    "query": Query(),
    "function": search,
    "list": lambda text: list(search(text)),
    "coroutine": search_later,
    "stream": stream,
    "method": Later(),
    "generator": generate,
}


@pytest.mark.parametrize("kind", RETRIEVERS)
@pytest.mark.parametrize("concurrency", [1, 3])
def test_every_kind_of_retriever_scores_the_same(kind: str, concurrency: int) -> None:
    """As its results do when they are given to `evaluate`; how many are asked at a time changes no score."""
    expected = evaluate(JUDGED, {query: search(text) for query, text in QUESTIONS.items()}, "nDCG@10 RR")
    study = evaluate_retriever(
        RETRIEVERS[kind], JUDGED, "nDCG@10 RR", queries=QUESTIONS, name="mine", concurrency=concurrency
    )

    assert study["mine"].mean() == expected.mean()
    assert study["mine"].scores.by_query("RR") == expected.scores.by_query("RR")
    assert any(note.code == "concurrency" for note in study.notes) == (concurrency > 1)


def test_it_can_be_called_where_a_loop_is_running() -> None:
    """As in a notebook, whose cells run in one."""

    async def cell() -> Any:
        return evaluate_retriever(search_later, JUDGED, "RR", queries=QUESTIONS)

    assert asyncio.run(cell())["search_later"]["RR"] == 1.0


def test_one_loop_serves_all_calls() -> None:
    """Clients of networks belong to the loop that first used them; it ends with the evaluation."""
    loops = []
    # a search that takes too long, in another test, goes on in a thread that nobody waits for
    before = set(threading.enumerate())

    async def remember(text: str) -> Any:
        loops.append(asyncio.get_running_loop())
        return search(text)

    evaluate_retriever(remember, JUDGED, "RR", queries=QUESTIONS, concurrency=3)

    assert len(set(map(id, loops))) == 1
    assert loops[0].is_closed()
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name.startswith("judged")]


def test_every_call_is_timed_but_the_first() -> None:
    """The first may load a model; a generator works while it is read."""
    calls = []

    def slow(text: str) -> Iterator[Any]:
        calls.append(text)
        time.sleep(0.2 if len(calls) == 1 else 0.01)
        yield from search(text)

    study = evaluate_retriever(slow, JUDGED, "RR", queries=QUESTIONS, name="slow")
    seconds = study.timings.samples("slow")

    assert calls == [QUESTIONS["q1"], *QUESTIONS.values()]
    assert study.timings.table["query"].to_pylist() == ["q1", "q2", "q3"]
    assert ((seconds >= 0.01) & (seconds < 0.2)).all()
    assert "ms a query" in str(study)


@pytest.mark.parametrize(
    ("measures", "depth", "expected"),
    [
        ("RR@3", None, 10),
        ("nDCG@20 P@5", None, 20),
        ("RR", None, 100),
        ("nDCG@20", 7, 7),
        (None, None, 100),
    ],
)
def test_it_asks_for_as_many_results_as_the_measures_look_at(
    measures: str | None, depth: int | None, expected: int
) -> None:
    """Ten at least; a hundred where a measure looks at all of them."""
    asked = []

    def remember(text: str, top_k: int) -> Any:
        asked.append(top_k)
        return search(text)

    evaluate_retriever(remember, JUDGED, measures, queries=QUESTIONS, depth=depth)

    assert set(asked) == {expected}


def test_a_retriever_that_returns_few_is_noted() -> None:
    """`R@20` of lists of one is not what its name says: a default of the retriever may be the reason."""
    study = evaluate_retriever(lambda text: search(text)[:1], JUDGED, "R@20", queries=QUESTIONS)
    found = {note.code: note.message for note in study.notes}

    assert found["few-results"] == "no query has more than 1 result, and measures look at the first 20"


def test_texts_of_results_and_questions_are_in_the_report(tmp_path: Path) -> None:
    """Without a file of documents; nothing of them is saved elsewhere."""
    study = evaluate_retriever(
        as_chunks, JUDGED, "RR", queries=QUESTIONS, id_field="metadata.source", name="chunks"
    )
    study.save(tmp_path / "study.json")

    assert study.document_texts == TEXTS
    assert study.query_texts == QUESTIONS
    loaded = load(tmp_path / "study.json")
    assert loaded.document_texts == {}
    assert str(loaded) == str(study)
    assert "seat does cost" not in (tmp_path / "study.json").read_text()


def test_the_report_shows_the_texts() -> None:
    """On the page of a query."""
    from judged.report.entry import make_entries
    from judged.report.pages.query import PAGE

    study = evaluate_retriever(as_chunks, JUDGED, "RR", queries=QUESTIONS, id_field="source", name="chunks")
    (entry,) = make_entries([study])
    data = PAGE.data(entry)

    assert entry.queries == QUESTIONS
    assert "a seat does cost 10" in str(data.blocks)


def test_the_result_is_compared_gated_and_saved_like_any_other(tmp_path: Path) -> None:
    """Against one of another day."""
    worse = evaluate_retriever(
        lambda text: search(text)[::-1], JUDGED, "nDCG@10", queries=QUESTIONS, name="worse"
    )
    better = evaluate_retriever(search, JUDGED, "nDCG@10", queries=QUESTIONS, name="better")
    better.save(tmp_path / "better.json")

    assert isinstance(better["better"], Evaluation)
    assert compare([worse, better]).mean("better", "nDCG@10").mean > 0.9
    assert gate(better, baseline=tmp_path / "better.json").verdict == "pass"
    settings = better.provenance.to_dict()["settings"]
    assert settings == {"depth": 10, "concurrency": 1, "on_error": "fail", "id_field": None}


def test_questions_are_read_from_the_judgments(tmp_path: Path) -> None:
    """From their file where it has them, from a file of their own, or from a folder in BEIR's layout."""
    path = tmp_path / "questions.csv"
    lines = [
        f"{query},{QUESTIONS[query]},{document},{grade}"
        for query, grades in JUDGED.items()
        for document, grade in grades.items()
    ]
    path.write_text("\n".join(["query_id,question,doc_id,grade", *lines]))
    (tmp_path / "texts.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in QUESTIONS.items()))
    studies = [
        evaluate_retriever(search, path, "RR", name="mine"),
        evaluate_retriever(search, path, "RR", name="mine", queries=tmp_path / "texts.tsv"),
        evaluate_retriever(search, str(path), "RR", name="mine", queries={**QUESTIONS, "q9": "not judged"}),
    ]

    assert [study["mine"]["RR"] for study in studies] == [1.0] * 3
    assert [study.queries for study in studies] == [3] * 3
    assert [file.role for file in studies[1].provenance.inputs] == ["judgments", "queries"]


def test_a_text_next_to_judgments_is_not_taken_for_a_question() -> None:
    """It may be that of the document."""
    rows = [{"query_id": "q1", "doc_id": "price.md", "text": "a seat", "title": "Price", "grade": 1}]

    with pytest.raises(BadInput, match="have no texts, expected questions to ask"):
        evaluate_retriever(search, rows, "RR")


def fail_on(word: str, error: Exception) -> Callable[[str], Any]:
    """Return a retriever that fails on questions with a word."""

    def retrieve(text: str) -> Any:
        if word in text:
            raise error
        return search(text)

    return retrieve


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_failure_stops_or_is_counted(concurrency: int) -> None:
    """The query is named; scored without results, it is noted, and its time does not count."""
    broken = fail_on("open", ConnectionError("no database"))
    with pytest.raises(
        StageFailed, match="`retrieve` failed on query `q2`: ConnectionError: no database"
    ) as caught:
        evaluate_retriever(broken, JUDGED, "RR", queries=QUESTIONS, concurrency=concurrency)
    study = evaluate_retriever(
        broken, JUDGED, "RR", queries=QUESTIONS, on_error="empty", name="mine", concurrency=concurrency
    )
    found = {note.code: note for note in study.notes}

    assert 'on_error="empty"' in str(caught.value.hint)
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert study["mine"].scores.by_query("RR") == {"q1": 1.0, "q2": 0.0, "q3": 1.0}
    assert found["failed-queries"].severity == "warning"
    assert "(q2: ConnectionError: no database)" in found["failed-queries"].message
    assert study.timings.table["query"].to_pylist() == ["q1", "q3"]


def test_a_retriever_that_always_fails_is_an_error() -> None:
    """Nobody wants a table of zeros."""
    with pytest.raises(StageFailed, match="failed on every query, first on `q1`: ValueError: x"):
        evaluate_retriever(fail_on("", ValueError("x")), JUDGED, "RR", queries=QUESTIONS, on_error="empty")


def test_an_answer_that_cannot_be_read_is_an_error_even_if_failures_are_counted() -> None:
    """It is not the network: it would be so again."""
    for answer, message in (
        (None, "answer of `retriever` to query `q1`: is None, expected a list of results"),
        ([SimpleNamespace(id=None, metadata={"source": "x"})], "result 1 has no id; its fields are id"),
    ):
        with pytest.raises(StageFailed, match=message):
            evaluate_retriever(lambda _, a=answer: a, JUDGED, "RR", queries=QUESTIONS, on_error="empty")


def test_ids_of_another_kind_are_an_error() -> None:
    """Chunks have ids of their own; every measure would be 0."""
    chunk = SimpleNamespace(id="7f3a", metadata={"source": "price.md"})
    with pytest.raises(
        BadInput, match="none of 1 document is judged: returned were 7f3a, judged are"
    ) as caught:
        evaluate_retriever(lambda _: [chunk], JUDGED, "RR", queries=QUESTIONS)

    assert "such as `metadata.source`" in str(caught.value.hint)
    by_source = evaluate_retriever(
        lambda _: [chunk], JUDGED, "RR", queries=QUESTIONS, id_field="source", name="x"
    )
    assert by_source["x"]["RR"] == pytest.approx(2 / 3)


def test_a_retriever_that_finds_nothing_scores_0() -> None:
    """Which is an answer."""
    study = evaluate_retriever(lambda _: [], JUDGED, "RR", queries=QUESTIONS, name="nothing")

    assert study["nothing"]["RR"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"retriever": 5},
            WrongKind,
            "the retriever is of type `int`, expected a callable, or an object with",
        ),
        ({"retriever": Invoke}, WrongKind, "of type `type`"),
        ({"queries": None}, BadInput, "have no texts, expected questions to ask"),
        ({"queries": {"q1": "x"}}, BadInput, r"2 judged queries of 3 without a text \(q2 and q3\)"),
        ({"queries": {**QUESTIONS, "q3": " "}}, BadInput, r"1 judged query of 3 without a text \(q3\)"),
        ({"depth": 0}, BadProtocol, "`depth` is 0, expected a whole number from 1"),
        ({"depth": "10"}, WrongKind, "`depth` is '10'"),
        ({"concurrency": 0}, BadProtocol, "`concurrency` is 0"),
        ({"on_error": "ignore"}, UnknownName, "no treatment of errors is called `ignore`"),
        ({"measures": "nDGC@5"}, UnknownName, "nDGC"),
    ],
)
def test_wrong_arguments_are_answered_in_words(
    arguments: dict[str, Any], error: type[JudgedError], message: str
) -> None:
    """Before anything is asked."""
    asked = []
    given_ = {
        "retriever": asked.append,
        "judgments": JUDGED,
        "measures": "RR",
        "queries": QUESTIONS,
        **arguments,
    }
    with pytest.raises(error, match=message):
        evaluate_retriever(**given_)

    assert asked == []


@given(
    found=st.dictionaries(
        st.sampled_from(list(QUESTIONS)), st.lists(st.sampled_from([*TEXTS, "x", "y"]), unique=True)
    ),
    concurrency=st.integers(1, 4),
)
def test_what_was_returned_is_what_is_scored(found: dict[str, list[str]], concurrency: int) -> None:
    """Any lists, in any form of calling; only lists of unknown documents are refused."""
    ids = {text: found.get(query, []) for query, text in QUESTIONS.items()}
    judged = {document for listed in ids.values() for document in listed if document in TEXTS}
    measures = ["nDCG@3", "RR", "P@2"]
    if not judged and any(ids.values()):
        with pytest.raises(BadInput, match="is judged"):
            evaluate_retriever(ids.__getitem__, JUDGED, measures, queries=QUESTIONS)
        return
    study = evaluate_retriever(
        ids.__getitem__, JUDGED, measures, queries=QUESTIONS, name="x", concurrency=concurrency
    )
    run = {query: ids[text] for query, text in QUESTIONS.items()}

    assert study["x"].mean() == evaluate(JUDGED, run, measures).mean()
