"""Existing systems that are Python objects: the libraries themselves where they are installed, and their likenesses."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judged.studies.stages.retrievers.objects import PythonObject
from judged.studies.stages.stage import Ranked, StageFailed
from support.pipelines import ask, make_workshop

LIBRARIES = """
import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
TEXTS = {"d0": "the cat sat on the mat", "d1": "a dog chased the cat", "d2": "dogs and cats are pets"}
FOUND = [(name, text) for name, text in TEXTS.items() if " cat" in text]

def langchain():
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Retriever(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(id=name, page_content=text) for name, text in FOUND if query in text]

    return Retriever()

def langchain_metadata():
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    return RunnableLambda(
        lambda query: [Document(page_content=text, metadata={"doc_id": name, "score": 1.5}) for name, text in FOUND]
    )

def llama_index():
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Retriever(BaseRetriever):
        def _retrieve(self, bundle):
            nodes = [TextNode(id_=name, text=text) for name, text in FOUND if bundle.query_str in text]
            return [NodeWithScore(node=node, score=1 / at) for at, node in enumerate(nodes, 1)]

    return Retriever()

def llama_index_passages():
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

    def make(name, text, score):
        node = TextNode(text=text, relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=name)})
        return NodeWithScore(node=node, score=score)

    class Retriever(BaseRetriever):
        def _retrieve(self, bundle):
            return [make("d0", "the cat", 3.0), make("d1", "a dog", 2.0), make("d0", "the mat", 1.0)]

    return Retriever()

def make_store():
    from haystack import Document
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents([Document(id=name, content=text) for name, text in TEXTS.items()])
    return InMemoryBM25Retriever(store)

def haystack():
    return make_store()

def haystack_pipeline():
    from haystack import Pipeline

    pipeline = Pipeline()
    pipeline.add_component("retriever", make_store())
    return pipeline

def pyterrier():
    import pandas
    import pyterrier

    class Lengths(pyterrier.Transformer):
        def transform(self, topics):
            rows = [
                {"qid": topic["qid"], "query": topic["query"], "docno": name, "score": float(len(text))}
                for topic in topics.to_dict("records")
                for name, text in TEXTS.items()
            ]
            return pyterrier.model.add_ranks(pandas.DataFrame(rows))

    return Lengths() % 2
"""
LIKENESSES = '''
class Thing:
    def __init__(self, **fields): self.__dict__ |= fields

class LangChain:
    def invoke(self, query):
        return [Thing(id="d1", metadata={}), Thing(id=None, metadata={"doc_id": "d0"})]

class LlamaIndex:
    def retrieve(self, query): return [Thing(node=Thing(node_id="d1", metadata={}), score=0.5)]

class Haystack:
    def run(self, query, top_k=None):
        return {"documents": [Thing(id=f"d{at}", score=1.0 - at / 10, meta={}) for at in range(top_k or 1)]}

class Frame:
    """As much of a data frame as is read."""
    def __init__(self, rows): self.rows, self.columns = rows, list(rows[0]) if rows else ["docno", "score"]
    def to_dict(self, _): return list(self.rows)

class PyTerrier:
    def transform(self, topics): raise AssertionError
    def search(self, query):
        return Frame([{"docno": "d1", "score": 1.0, "rank": 1}, {"docno": "d0", "score": 2.0, "rank": 0}])

def unranked(query): return Frame([{"docno": "d1", "score": 1.0}, {"docno": "d0", "score": 2.0}])
def ids(query): return ["d2", "d0"]
def numbered(query):
    import numpy as np
    return [np.int64(7), 8]
def pairs(query, k): return [(f"d{at}", 10 - at) for at in range(k)]
def scores(query): return {"d0": 1.0, "d1": 3.0}
def documents_with_scores(query): return [(Thing(id="d1", metadata={}), 0.9), (Thing(id="d0", metadata={}), 0.1)]
def dicts(query): return [{"_id": "d1", "_score": 2}, {"_id": "d0", "_score": 1}]
def generator(query): yield from ["d1", "d0"]
def nothing(query): return None
def empty(query): return []
def make(): return LangChain()
class Deep:
    def __init__(self, first="d1"): self.first = first
    def __call__(self, query, limit): return [self.first, "d0", "d2"][:limit]

def fails(query): raise ConnectionError("no database")
def number(query): return 5
def text(query): return "d0"
def no_ids(query): return [Thing(content="x", metadata={})]
def nan(query): return [("d0", float("nan"))]
def words(query): return [("d0", "high")]
def foreign(query): return ["x1", "x2"]
def mixed(query): return ["d0", "x1", "d0"]
def sometimes(query): return ["d0"] if "cat" in query else ["x1"]
def rising(query): return [("d0", 1.0), ("d1", 2.0)]
def partly(query): return [("d0", 1.0), ("d1", None)]
def no_docno(query): return Frame([{"name": "d0"}])
thing = Thing()
'''


@pytest.fixture(autouse=True)
def _modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_libraries.py").write_text(LIBRARIES)
    (tmp_path / "own_likenesses.py").write_text(LIKENESSES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name in ("own_libraries", "own_likenesses"):
        sys.modules.pop(name, None)


def build(name: str, folder: Path, module: str = "own_likenesses", **more: Any) -> Any:
    """Return the searcher of an object."""
    return PythonObject(object=f"{module}:{name}", **more).build(make_workshop(folder))


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("name", "package", "settings", "expected"),
    [
        ("langchain", "langchain_core.runnables", {}, Ranked(("d0", "d1"), (-1.0, -2.0))),
        (
            "langchain_metadata",
            "langchain_core.runnables",
            {},
            Ranked(("d0", "d1"), (1.5, 1.4999998807907104)),
        ),
        ("llama_index", "llama_index.core", {}, Ranked(("d0", "d1"), (1.0, 0.5))),
        (
            "llama_index_passages",
            "llama_index.core",
            {"id_field": "ref_doc_id"},
            Ranked(("d0", "d1"), (3.0, 2.0)),
        ),
        ("pyterrier", "pyterrier", {}, Ranked(("d0", "d2"), (22.0, 21.999998092651367))),
    ],
)
def test_a_retriever_of_a_library_is_asked_as_it_is(
    name: str, package: str, settings: dict[str, Any], expected: Ranked, tmp_path: Path
) -> None:
    """The library's own classes, in its own way; PyTerrier's transformers in Python need no Java."""
    pytest.importorskip(package, reason=f"{package} is not installed")

    assert ask(build(name, tmp_path, "own_libraries", **settings), "cat", 2) == expected


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", ["haystack", "haystack_pipeline"])
def test_a_retriever_of_haystack_returns_as_many_as_are_asked_for(name: str, tmp_path: Path) -> None:
    """A component, and a pipeline of one; the scores are Haystack's own."""
    pytest.importorskip("haystack", reason="haystack-ai is not installed")
    searcher = build(name, tmp_path, "own_libraries")
    one, two = ask(searcher, "cat", 1), ask(searcher, "cat", 2)

    assert (len(one), len(two)) == (1, 2)
    assert set(two.documents) == {"d0", "d1"}
    assert two.scores[0] >= two.scores[1] > 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LangChain", Ranked(("d1", "d0"), (-1.0, -2.0))),
        ("make", Ranked(("d1", "d0"), (-1.0, -2.0))),
        ("LlamaIndex", Ranked(("d1",), (0.5,))),
        ("Haystack", Ranked(("d0", "d1"), (1.0, 0.9))),
        ("PyTerrier", Ranked(("d0", "d1"), (2.0, 1.0))),
        ("unranked", Ranked(("d0", "d1"), (2.0, 1.0))),
        ("ids", Ranked(("d2", "d0"), (-1.0, -2.0))),
        ("pairs", Ranked(("d0", "d1"), (10.0, 9.0))),
        ("scores", Ranked(("d1", "d0"), (3.0, 1.0))),
        ("documents_with_scores", Ranked(("d1", "d0"), (0.9, 0.1))),
        ("dicts", Ranked(("d1", "d0"), (2.0, 1.0))),
        ("generator", Ranked(("d1", "d0"), (-1.0, -2.0))),
        ("empty", Ranked()),
        ("Deep", Ranked(("d1", "d0"), (-1.0, -2.0))),
        ("rising", Ranked(("d0", "d1"), (-1.0, -2.0))),
        ("partly", Ranked(("d0", "d1"), (-1.0, -2.0))),
    ],
)
def test_results_of_many_forms_are_read(name: str, expected: Ranked, tmp_path: Path) -> None:
    """Ids, pairs, scores by id, data frames, objects and dicts; ranks take the place of scores that leave no order."""
    assert ask(build(name, tmp_path), "cat", 2) == expected


def test_settings_make_the_object(tmp_path: Path) -> None:
    """Of a class, or of a function that returns a retriever."""
    assert ask(build("Deep", tmp_path, settings={"first": "d5"}), "cat", 1).documents == ("d5",)


def test_what_was_changed_is_counted(tmp_path: Path) -> None:
    """Documents that are repeated or unknown, and scores that rise."""
    mixed, rising = build("mixed", tmp_path), build("rising", tmp_path)
    assert ask(mixed, "cat").documents == ("d0", "x1")
    ask(rising, "cat")

    assert [note.split()[0] for note in mixed.notes()] == ["1", "1"]
    assert any("repeated a document" in note for note in mixed.notes())
    assert any("numbers that rise" in note for note in rising.notes())


def test_a_system_that_has_shown_known_documents_may_return_others(tmp_path: Path) -> None:
    """Its index may hold more than the collection; ids of another kind show with the first query."""
    searcher = build("sometimes", tmp_path)
    with pytest.raises(StageFailed, match="does not have, such as `x1`"):
        ask(searcher, "dog")
    ask(searcher, "cat")

    assert ask(searcher, "dog").documents == ("x1",)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fails", "`own_likenesses:fails` failed: ConnectionError: no database"),
        ("number", "is an int, expected a list of results"),
        ("nothing", "is None, expected a list of results, which is empty if there are none"),
        ("text", "is a str, expected a list of results"),
        ("no_ids", "result 1 has no id; its fields are content and metadata"),
        ("nan", "result 1 has `nan` as its score, expected a finite number"),
        ("words", "result 1 has `'high'` as its score"),
        ("foreign", "returned documents that the collection does not have, such as `x1`"),
        ("numbered", "returned documents that the collection does not have, such as `7`"),
        ("no_docno", "result 1 has no id; its fields are name"),
    ],
)
def test_what_is_wrong_with_results_is_said(name: str, message: str, tmp_path: Path) -> None:
    """With the object's name, and what came back."""
    with pytest.raises(StageFailed, match=message):
        ask(build(name, tmp_path), "cat")


def test_what_is_no_retriever_is_an_error_when_the_system_is_built(tmp_path: Path) -> None:
    """With the methods that it might have."""
    with pytest.raises(StageFailed, match="expected a retriever or a callable") as caught:
        build("thing", tmp_path)
    assert "`invoke`" in str(caught.value.hint)
