"""Search results of RAG frameworks, vector stores and search engines are one run, whatever holds them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, strategies as st

from judged import compare, evaluate, evaluate_many, evaluate_retriever
from judged.errors import BadInput, JudgedError, MissingQueries, WrongKind
from judged.io.answer_shapes import SHAPES, open_answer
from judged.io.read import read_run
from judged.tables.judgments import NUMBERED
from judged.tables.timings import Timings

GOLDEN = Path(__file__).parents[1] / "golden" / "search_results"
RECORDED = sorted(path.stem for path in GOLDEN.glob("*.json"))
ORDER = {"q1": ["a", "b", "c"], "q2": ["c", "b", "a"]}
"""The documents of every recorded answer, which are known from the vectors in `record.py`."""
REPEATED = "1 result repeated a document of the same query, which counts where it came first"
RISING = "numbers that rise along the list, as distances do: ranks take their place"


@dataclass
class Document:
    """As LangChain's."""

    page_content: str
    id: str | None = None
    metadata: dict[str, object] = field(default_factory=dict)


class ScoredDoc(NamedTuple):
    """As declared by ir_measures, without its query."""

    doc_id: str
    score: float


class Response:
    """As the response object of Elasticsearch's client: keys, and not a mapping."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body

    def keys(self) -> Any:
        """Return the keys of the body."""
        return self.body.keys()

    def __contains__(self, key: object) -> bool:
        return key in self.body

    def __getitem__(self, key: str) -> Any:
        return self.body[key]


def rows(run: Any) -> dict[str, list[str]]:
    """The documents of each query, by descending score."""
    table = sorted(run.to_arrow().to_pylist(), key=lambda row: -row["score"])
    found: dict[str, list[str]] = {}
    for row in table:
        found.setdefault(row["query"], []).append(row["document"])
    return found


def recorded(name: str) -> Any:
    """The answers in a recorded file, by query."""
    return json.loads((GOLDEN / f"{name}.json").read_text())["answers"]


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_answers_are_read_in_their_order(name: str) -> None:
    """Of the libraries themselves, and of the references of servers; Qdrant's ids are numbers."""
    id_field = "doc" if name == "qdrant" else None

    assert rows(read_run(recorded(name), id_field=id_field)) == ORDER


@pytest.mark.parametrize("name", sorted(set(RECORDED) - {"qdrant"}))
def test_a_json_file_of_answers_is_the_same_run(name: str, tmp_path: Path) -> None:
    """Answers that were dumped are read from the file as from memory."""
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(recorded(name)))

    assert rows(read_run(path)) == ORDER


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("langchain", "metadata.source"),
        ("langchain", "source"),
        ("langchain-scores", "metadata.source"),
        ("llamaindex", "metadata.source"),
        ("llamaindex", "node.metadata.source"),
        ("haystack", "meta.source"),
        ("chroma", "metadata.source"),
        ("elasticsearch", "_source.source"),
        ("weaviate", "properties.doc_id"),
        ("weaviate", "doc_id"),
    ],
)
def test_the_field_of_the_id_is_named_by_a_path(name: str, path: str) -> None:
    """With dots, or by the name alone."""
    expected = {query: [f"{document}.md" for document in documents] for query, documents in ORDER.items()}

    assert rows(read_run(recorded(name), id_field=path)) == expected


@pytest.mark.parametrize(
    ("name", "scores"),
    [
        ("chroma", [0.0, -0.2, -1.0]),  # cosine distances
        ("weaviate", [0.0, -0.2, -1.0]),
        ("milvus-cosine", [1.0, 0.8, 0.0]),  # similarities that are called distance
        ("milvus-l2", [-1.0, -2.0, -3.0]),  # distances of the same name
        ("qdrant", [1.0, 0.8, 0.0]),
        ("langchain", [-1.0, -2.0, -3.0]),
        ("langchain-scores", [1.0, 0.8, 0.0]),
        ("elasticsearch", [1.0, 0.8, 0.0]),
    ],
)
def test_distances_are_known_by_their_owner_or_by_the_order(name: str, scores: list[float]) -> None:
    """Chroma and Weaviate mean distances; Milvus uses one name for both, so the order decides, with a note."""
    run = read_run(recorded(name))
    found = [row["score"] for row in run.to_arrow().to_pylist() if row["query"] == "q1"]

    assert found == pytest.approx(scores, abs=1e-6)
    assert any(RISING in note for note in run.notes) == (name == "milvus-l2")


SHAPED: dict[str, Callable[[list[tuple[str, float]]], Any]] = {
    "pairs": list,
    "lists": lambda pairs: [list(pair) for pair in pairs],
    "generator": lambda pairs: (pair for pair in pairs),
    "named tuples": lambda pairs: [ScoredDoc(*pair) for pair in pairs],
    "dicts": lambda pairs: [{"id": document, "score": score} for document, score in pairs],
    "LangChain": lambda pairs: [(Document("text", document), score) for document, score in pairs],
    "LlamaIndex": lambda pairs: SimpleNamespace(
        source_nodes=[
            SimpleNamespace(node=SimpleNamespace(node_id=document, metadata={"id": 7}), score=score)
            for document, score in pairs
        ]
    ),
    "vector store of LlamaIndex": lambda pairs: SimpleNamespace(
        nodes=None, ids=[document for document, _ in pairs], similarities=[score for _, score in pairs]
    ),
    "Haystack": lambda pairs: {
        "documents": [{"id": name, "score": score, "meta": {}} for name, score in pairs]
    },
    "Elasticsearch": lambda pairs: Response(
        {"took": 1, "hits": {"hits": [{"_id": name, "_score": score} for name, score in pairs]}}
    ),
    "Qdrant": lambda pairs: SimpleNamespace(
        points=[SimpleNamespace(id=name, score=score, payload={"score": 3}) for name, score in pairs]
    ),
    "Pinecone": lambda pairs: {"matches": [{"id": name, "score": score} for name, score in pairs]},
    "Pinecone's search": lambda pairs: {
        "result": {"hits": [{"_id": name, "_score": score, "fields": {"id": "x"}} for name, score in pairs]}
    },
    "Weaviate": lambda pairs: SimpleNamespace(
        objects=[
            SimpleNamespace(uuid=name, metadata=SimpleNamespace(distance=-score, score=None), properties={})
            for name, score in pairs
        ]
    ),
    "Chroma": lambda pairs: {
        "ids": [[name for name, _ in pairs]],
        "distances": [[-score for _, score in pairs]],
    },
    "Milvus": lambda pairs: [[{"id": name, "distance": score, "entity": {}} for name, score in pairs]],
    "pandas": lambda pairs: pytest.importorskip("pandas").DataFrame(pairs, columns=["docno", "score"]),
}
"""The same results as each kind of system holds them."""

results = st.lists(
    st.tuples(
        st.text(min_size=1, max_size=5).filter(lambda text: text.encode("utf-8", "ignore").decode() == text),
        st.integers(-1000, 1000).map(lambda number: number / 8),
    ),
    unique_by=(lambda pair: pair[0], lambda pair: pair[1]),
    min_size=1,
    max_size=8,
).map(lambda pairs: sorted(pairs, key=lambda pair: -pair[1]))


@pytest.mark.parametrize("kind", SHAPED)
@given(pairs=results)
def test_every_shape_of_the_same_results_is_the_same_run(kind: str, pairs: list[tuple[str, float]]) -> None:
    """As a dict of dicts, which has always been read: documents, scores, and nothing to note."""
    expected = read_run({"q": dict(pairs)}).to_arrow().to_pylist()
    run = read_run({"q": SHAPED[kind](pairs)})

    assert run.to_arrow().to_pylist() == expected
    assert run.notes == ()


def test_no_shape_goes_without_a_test() -> None:
    """Every entry of the table opens something here."""
    answers = [make([("a", 1.0)]) for make in SHAPED.values()]
    answers += [recorded(name)["q1"] for name in RECORDED]
    answers += [
        {"result": {"points": [{"id": "a"}]}},
        {"result": [{"id": "a", "score": 1.0}]},
        SimpleNamespace(groups=[SimpleNamespace(id="a", hits=[])]),
        {"query": "x", "result": "an answer", "source_documents": [Document("x", "a")]},
        {"input": "x", "context": [Document("x", "a")], "answer": "y"},
    ]
    opened = {id(found[0]) for answer in answers if (found := open_answer(answer)) is not None}

    assert [shape.name for shape in SHAPES if id(shape) not in opened] == []


@pytest.mark.parametrize(
    "answer",
    [
        SimpleNamespace(groups=[SimpleNamespace(id="a", hits=[]), SimpleNamespace(id="b", hits=[])]),
        {"query": "x", "result": "an answer", "source_documents": [Document("x", "a"), Document("y", "b")]},
        {"input": "x", "context": [Document("x", "a"), Document("y", "b")], "answer": "y"},
        {"llm": {"replies": []}, "retriever": {"documents": [{"id": "a"}, {"id": "b"}]}},
        {"result": [{"id": "a", "score": 2}, {"id": "b", "score": 1}], "status": "ok"},
        iter([{"id": "a"}, {"id": "b"}]),
        np.array(["a", "b"]),
        [UUID(int=1), UUID(int=2)],
    ],
)
def test_other_answers_are_read(answer: Any) -> None:
    """Groups, chains, pipelines, responses of REST, iterators and arrays."""
    found = rows(read_run({"q": answer}))["q"]

    assert found in (["a", "b"], [str(UUID(int=1)), str(UUID(int=2))])


def test_ids_are_the_results_own_and_then_those_of_metadata() -> None:
    """What was stored with a result is not looked at: a field `id` there may be another thing."""
    hit = {"_id": "a", "_score": 1.0, "_source": {"id": "internal"}, "payload": {"id": "x"}}
    run = read_run({"q1": [hit], "q2": [Document("text", None, {"doc_id": "d7"})]})

    assert rows(run) == {"q1": ["a"], "q2": ["d7"]}


def test_whole_numbers_are_ids_with_a_note() -> None:
    """As in every other input."""
    run = read_run({"q": [{"id": 7, "score": 0.5}]})

    assert rows(run) == {"q": ["7"]}
    assert run.notes == (NUMBERED,)


def test_the_order_of_a_list_counts_and_not_its_scores() -> None:
    """Rerankers keep the scores of the first stage: what was returned is what is scored, with a note."""
    run = read_run(
        {
            "q1": [("a", 0.1), ("b", 0.9), ("c", 0.5)],
            "q2": [("a", 1.0), ("b", None)],
            "q3": [("a", 0.1), ("b", 0.2)],
        }
    )

    assert rows(run) == {"q1": ["a", "b", "c"], "q2": ["a", "b"], "q3": ["a", "b"]}
    assert [note.partition(":")[0] for note in run.notes] == [
        "1 ranking had scores for some results only",
        "1 ranking had numbers that rise along the list, as distances do",
        "1 ranking had scores that do not fall along the list",
    ]


def test_equal_scores_keep_their_order() -> None:
    """The rule of every list (`keep_order`)."""
    run = read_run({"q": [("b", 1.5), ("a", 1.5)]})

    assert rows(run) == {"q": ["b", "a"]}


def test_a_document_that_a_list_repeats_counts_once_where_it_comes_first() -> None:
    """One rule for chunks of a document, bare ids and pairs, in memory and in files; what follows moves up."""
    chunks = [Document("x", "1", {"source": "a"}), Document("y", "2", {"source": "a"})]
    run = read_run({"q": chunks}, id_field="metadata.source")

    assert rows(run) == {"q": ["a"]}
    assert run.notes == (REPEATED,)
    listed = [
        {"q": ["x", "x", "a"]},
        {"q": [7, "7", "a"]},
        {"q": [("x", 3.0), ("x", 2.0), ("a", 1.0)]},
        {"q": [{"id": "x"}, {"id": "x"}, {"id": "a"}]},
        [{"query": "q", "retrieved_ids": ["x", "x", "a"]}],
        [
            {
                "query": "q",
                "hits": [{"_id": "x", "_score": 3}, {"_id": "x", "_score": 2}, {"_id": "a", "_score": 1}],
            }
        ],
        b'{"query": "q", "retrieved_ids": ["x", "x", "a"]}\n',
    ]
    for source in listed:
        evaluation = evaluate({"q": {"a": 1}}, source, ["RR", "P@2"])
        assert (evaluation["RR"], evaluation["P@2"]) == (0.5, 0.5)
        assert REPEATED in [note.message for note in evaluation.notes]
    retrieved = evaluate_retriever(
        lambda _: ["x", "x", "a"], {"q": {"a": 1}}, "RR", queries={"q": "?"}, name="own"
    )
    assert retrieved["own"]["RR"] == 0.5


def test_rows_that_repeat_a_document_are_refused() -> None:
    """Each row names its query and has a score of its own: which one counts is not known."""
    rows = [{"query": "q", "document": "a", "score": score} for score in (2, 1)]
    with pytest.raises(BadInput, match="retrieved again, first at row 1"):
        evaluate({"q": {"a": 1}}, rows, "P@1")
    with pytest.raises(BadInput, match="document `7` of query `q` is retrieved twice"):
        evaluate({"q": {"7": 1}}, {"q": {7: 2.0, "7": 1.0}}, "P@1")


def test_queries_named_by_texts_and_by_ids_are_not_called_the_wrong_judgments() -> None:
    """Both are named, and how one becomes the other."""
    by_id, by_text = {"q1": {"a": 1}}, {"what is it?": {"a": 1}}
    with pytest.raises(MissingQueries) as caught:
        evaluate(by_id, by_text, "RR")
    assert caught.value.hint == (
        "its own queries are what is it?: the judgments name queries by ids and the run by texts; "
        "name them alike, as by `{ids[text]: found for text, found in run.items()}`"
    )
    with pytest.raises(MissingQueries, match="judgments name queries by texts and the run by ids"):
        evaluate(by_text, by_id, "RR")


def test_a_query_without_results_stays_in_the_run() -> None:
    """It is scored 0 and counted; a query that is not judged is noted, and one that is missing too."""
    answers = {"q1": [], "q2": [{"id": "a"}], "q4": [{"id": "a"}]}
    evaluation = evaluate({"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}, answers, "P@1")
    notes = {note.code: note.message for note in evaluation.notes}

    assert evaluation.scores.by_query("P@1") == {"q1": 0.0, "q2": 1.0, "q3": 0.0}
    assert {"empty-results", "unjudged-queries", "missing-queries"} <= notes.keys()
    with pytest.raises(MissingQueries, match="its own queries are other"):
        evaluate({"q1": {"a": 1}}, {"other": [{"id": "a"}]}, "P@1")


def exhausted() -> Iterator[str]:
    """A generator that was consumed."""
    made = (document for document in ["a"])
    list(made)
    return made


async def retrieve() -> list[str]:
    """Return results, if awaited."""
    return ["a"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            lambda: [Document("x", None, {"source": "s", "page": 1})],
            "has no id; its fields are page_content, id (None), metadata.source and metadata.page",
        ),
        (lambda: [{"id": None, "text": "x"}], "result 1 has no id; its fields are id (None) and text"),
        (lambda: [{"id": "a"}, {"text": "x"}], "result 2 has no id; its fields are text"),
        (lambda: [{"id": 1.5}], "result 1 has `1.5` as its id, expected text or a whole number"),
        (lambda: [{"id": ""}], "result 1 has `''` as its id"),
        (lambda: [{"id": ["a"]}], "result 1 has `['a']` as its id"),
        (lambda: [{"id": True}], "result 1 has `True` as its id"),
        (lambda: ["a", Document("x", "b")], "mixes ids and Document, expected results of one kind"),
        (lambda: [Document("x", "b"), ("a", 0.5)], "mixes Document and pairs of id and score"),
        (lambda: [("a", "b")], "result 1 has `'b'` as its score, expected a finite number"),
        (lambda: [("a", float("nan"))], "result 1 has `nan` as its score"),
        (lambda: [{"id": "a", "score": float("inf")}], "result 1 has `inf` as its score"),
        (lambda: [("a", True)], "result 1 has `True` as its score"),
        (
            lambda: [(0.5, "a")],
            "result 1 is `(0.5, 'a')`, expected an id, a pair of id and score, or an object",
        ),
        (lambda: [("a", 0.5, "text")], "result 1 is `('a', 0.5, 'text')`, expected an id"),
        (lambda: [None], "result 1 is `None`, expected an id"),
        (lambda: None, "is None, expected a list of results, which is empty if there are none"),
        (lambda: 5, "is an int, expected a list of results, best first"),
        (retrieve, "is a coroutine that was not awaited"),
        (exhausted, "is a generator that was consumed already"),
        (lambda: iter(()), "is a tuple_iterator that yields nothing, and may have been consumed"),
        (
            lambda: {"ids": [["a"], ["b"]], "distances": None},
            "has the results of 2 queries, expected those of one",
        ),
        (lambda: [[{"id": "a"}], [{"id": "b"}]], "has the results of 2 queries"),
        (lambda: {"ids": ["a"], "included": [], "documents": ["x"]}, "Chroma's `get`, which has no order"),
        (lambda: {"ids": [["a", "b"]], "distances": [[0.5]]}, "has columns of 1 and 2 results"),
        (
            lambda: {"timed_out": True, "hits": {"hits": []}},
            "covers part of the index only: it ran out of time",
        ),
        (lambda: {"_shards": {"failed": 2}, "hits": {"hits": []}}, "2 of its shards failed"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(answer: Callable[[], Any], message: str) -> None:
    """With the query, the result and its fields; all queries at once."""
    with pytest.raises(BadInput) as caught:
        read_run({"fine": [{"id": "a"}], "q": answer(), "also": [{"x": 1}]}, name="mine")
    words = str(caught.value)

    assert message in words
    assert "query `q`: " in words
    assert "query `also`: result 1 has no id; its fields are x" in words


def test_a_missing_id_suggests_a_field() -> None:
    """One that is there, and looks like the name of a document."""
    with pytest.raises(BadInput) as caught:
        evaluate({"q": ["a.pdf"]}, {"q": [Document("x", None, {"page": 1, "file_name": "a.pdf"})]}, "RR")

    assert "such as `metadata.file_name`" in str(caught.value.hint)


def test_a_field_that_is_not_there_is_refused() -> None:
    """Also of ids and of dicts from documents to scores, which have no fields."""
    for answer, message in (
        ([{"id": "a"}], "result 1 has nothing at `metadata.source`; its fields are id"),
        (["a"], "result 1 is `'a'`, which has no field `metadata.source`"),
        ({"a": 1.0}, "is a dict, expected a list of results"),
    ):
        with pytest.raises(BadInput, match=r"metadata\.source|is a dict") as caught:
            read_run({"q": answer}, id_field="metadata.source")
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ([Document("x", "a")], "a list of Document"),
        (lambda: recorded("elasticsearch")["q1"], "a response of Elasticsearch or OpenSearch"),
        (lambda: recorded("chroma")["q1"], "a result of Chroma"),
        (lambda: recorded("qdrant")["q1"], "a response of Qdrant"),
        ({"ids": [["a"], ["b"]], "distances": None}, "an answer that has the results of 2 queries"),
    ],
)
def test_an_answer_without_its_query_is_refused(answer: Any, what: str) -> None:
    """It would otherwise be a run whose queries are called `took` and `hits`."""
    with pytest.raises(WrongKind, match="does not say its query") as caught:
        read_run(answer() if callable(answer) else answer)

    assert what in str(caught.value)


def test_a_run_whose_only_query_is_called_like_a_key_is_read() -> None:
    """Ids and scores under such a name are no answer."""
    assert rows(read_run({"documents": ["a", "b"]})) == {"documents": ["a", "b"]}
    assert rows(read_run({"hits": {"a": 1.0}})) == {"hits": ["a"]}


@pytest.mark.parametrize(
    "batch",
    [
        {
            "ids": [["a", "b"], ["c"]],
            "distances": [[0.1, 0.2], [0.3]],
            "included": ["distances"],
            "metadatas": None,
        },
        [[{"id": "a"}, {"id": "b"}], [{"id": "c"}]],
        [SimpleNamespace(points=[{"id": "a"}, {"id": "b"}]), SimpleNamespace(points=[{"id": "c"}])],
        {"responses": [{"hits": {"hits": [{"_id": "a"}, {"_id": "b"}]}}, {"hits": {"hits": [{"_id": "c"}]}}]},
    ],
)
def test_a_batch_is_split_by_the_queries_named(batch: Any) -> None:
    """Chroma, Milvus, Qdrant and `_msearch` return one answer to several queries; as many must be named."""
    assert rows(read_run(batch, queries=["x", "y"])) == {"x": ["a", "b"], "y": ["c"]}
    with pytest.raises(WrongKind, match="`queries` names 1 query, and there are the results of 2"):
        read_run(batch, queries=["x"])


def test_a_field_is_of_objects_in_memory() -> None:
    """A file has columns, and a run has been read already."""
    for source in ("a.run", read_run({"q": ["a"]}), 5):
        with pytest.raises(WrongKind, match="`id_field` is for search results in memory"):
            read_run(source, id_field="x")  # type: ignore[arg-type]


def test_the_verbs_take_results_and_their_field() -> None:
    """`evaluate`, `evaluate_many` and `compare` alike; other families refuse the field."""
    qrels = {"q1": {"a.md": 1}, "q2": {"c.md": 1}}
    old, new = recorded("langchain"), {"q1": [Document("x", None, {"source": "a.md"})], "q2": []}
    named = {"old": old, "new": new}

    assert evaluate(qrels, old, "P@1", id_field="metadata.source")["P@1"] == 1.0
    many = evaluate_many(qrels, named, "P@1", id_field="metadata.source")
    assert {name: found["P@1"] for name, found in many.items()} == {"old": 1.0, "new": 0.5}
    compared = compare(qrels, named, "P@1", id_field="metadata.source")
    assert compared.mean("new", "P@1").mean == 0.5
    with pytest.raises(WrongKind, match="`id_field` is for runs"):
        evaluate(None, Timings.from_mapping({"bm25": [0.1]}), "Latency", id_field="x")


TEXT, OTHER = "Cats purr and sleep.", "Dogs bark at cats."


def test_results_without_ids_meet_judgments_without_ids() -> None:
    """By their texts, as question sets of ragas have them; of results with ids, too."""
    judgments = [{"query": "q1", "reference_contexts": ["cats PURR, and sleep"]}]
    unnamed = {"q1": [{"text": OTHER}, {"page_content": TEXT, "metadata": {"source": "a.md"}, "id": None}]}
    named = {"q1": [{"id": "x", "text": OTHER}, {"id": "y", "text": TEXT}]}

    evaluation = evaluate(judgments, {"q1": [unnamed["q1"][1]]}, "RR")
    assert evaluation["RR"] == 1.0
    assert "results have no ids: documents are identified by their texts" in str(evaluation.notes)
    assert evaluate(judgments, {"q1": [{"text": OTHER}, {"text": TEXT}]}, "RR")["RR"] == 0.5
    assert evaluate(judgments, named, "RR")["RR"] == 0.5


def test_results_without_ids_are_refused_where_judgments_have_ids() -> None:
    """With the fields that are there; so are results of which only some have ids."""
    for run in (
        {"q1": [{"text": TEXT}, {"text": OTHER}]},
        {"q1": [{"id": "d1", "text": TEXT}, {"text": OTHER}]},
    ):
        with pytest.raises(BadInput, match="has no id; its fields are text") as caught:
            evaluate({"q1": ["d1"]}, run, "RR")
        assert "`id_field` names the field" in (caught.value.hint or "")
    both = [{"query": "q1", "reference_contexts": [TEXT]}]
    with pytest.raises(BadInput, match="result 2 has no id"):
        evaluate(both, {"q1": [{"id": "d1", "text": TEXT}, {"text": OTHER}]}, "RR")


def test_a_retriever_is_judged_by_texts() -> None:
    """Where the questions have texts and no ids; a retriever of ids alone is refused."""
    questions = [{"question": "what purrs?", "reference_contexts": [TEXT]}]
    found = evaluate_retriever(
        lambda _: [{"text": OTHER}, {"id": "x", "text": TEXT}], questions, "RR", name="r"
    )

    assert found["r"]["RR"] == 0.5
    with pytest.raises(JudgedError, match="the judged documents are texts without ids"):
        evaluate_retriever(lambda _: ["x"], questions, "RR")
