"""Objects of the libraries themselves, where they are installed (`make test-rag`): read as they are, asked as they are."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from judged import evaluate_retriever, read_run

VECTORS = {"a": [1.0, 0.0], "b": [0.8, 0.6], "c": [0.0, 1.0]}
QUERIES = {"q1": [1.0, 0.0], "q2": [0.0, 1.0]}
ORDER = {"q1": ["a", "b", "c"], "q2": ["c", "b", "a"]}
SOURCES = {query: [f"{document}.md" for document in documents] for query, documents in ORDER.items()}
TEXTS = {name: f"text of {name}" for name in VECTORS}

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(autouse=True)
def _no_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HAYSTACK_TELEMETRY_ENABLED", "ANONYMIZED_TELEMETRY"):
        monkeypatch.setenv(name, "False")


def embed(text: str) -> list[float]:
    """Return the vector of a query or of a text."""
    return next(
        vector for known in (QUERIES, VECTORS) for name, vector in known.items() if text.endswith(name)
    )


def langchain() -> Any:
    """Return a vector store of LangChain."""
    pytest.importorskip("langchain_core.vectorstores", reason="langchain-core is not installed")
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    class Known(Embeddings):
        def embed_query(self, text: str) -> list[float]:
            return embed(text)

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [embed(text) for text in texts]

    store = InMemoryVectorStore(Known())
    store.add_documents(
        [Document(id=name, page_content=TEXTS[name], metadata={"source": f"{name}.md"}) for name in VECTORS]
    )
    return store


def llama_index() -> Any:
    """Return a retriever of LlamaIndex."""
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

    class Known(BaseEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            return embed(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return embed(query)

        def _get_text_embedding(self, text: str) -> list[float]:
            return embed(text)

    nodes = [
        TextNode(
            id_=name,
            text=TEXTS[name],
            metadata={"source": f"{name}.md"},
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"{name}.md")},
        )
        for name in VECTORS
    ]
    return VectorStoreIndex(nodes, embed_model=Known()).as_retriever(similarity_top_k=3)


def haystack() -> Any:
    """Return a retriever of Haystack by embeddings."""
    pytest.importorskip("haystack", reason="haystack-ai is not installed")
    from haystack import Document
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(
        [
            Document(id=name, content=TEXTS[name], embedding=vector, meta={"source": f"{name}.md"})
            for name, vector in VECTORS.items()
        ]
    )
    return InMemoryEmbeddingRetriever(store)


def qdrant(distance: str) -> Callable[[list[float]], Any]:
    """Return a search of Qdrant's local mode."""
    pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    size = models.VectorParams(size=2, distance=models.Distance[distance])
    client.create_collection("vectors", vectors_config=size)
    client.upsert(
        "vectors",
        [
            models.PointStruct(id=number, vector=vector, payload={"source": f"{name}.md"})
            for number, (name, vector) in enumerate(VECTORS.items())
        ],
    )
    return lambda vector: client.query_points("vectors", query=vector, limit=3)


def rows(run: Any) -> dict[str, list[str]]:
    """The documents of each query, by descending score."""
    found: dict[str, list[str]] = {}
    for row in sorted(run.to_arrow().to_pylist(), key=lambda row: -row["score"]):
        found.setdefault(row["query"], []).append(row["document"])
    return found


def test_documents_of_langchain() -> None:
    """With and without scores, by their ids and by their metadata."""
    store = langchain()
    plain = {query: store.similarity_search(query) for query in QUERIES}
    scored = {query: store.similarity_search_with_score(query) for query in QUERIES}

    for results in (plain, scored):
        assert rows(read_run(results)) == ORDER
        assert rows(read_run(results, id_field="metadata.source")) == SOURCES
    assert read_run(scored).to_arrow()["score"].to_pylist()[:3] == pytest.approx([1.0, 0.8, 0.0])


def test_nodes_of_llamaindex() -> None:
    """As lists and as the sources of a response; the document of a node is `ref_doc_id`."""
    retriever = llama_index()
    from llama_index.core.base.response.schema import Response

    nodes = {query: retriever.retrieve(query) for query in QUERIES}
    responses = {query: Response("answer", source_nodes=found) for query, found in nodes.items()}

    assert rows(read_run(nodes)) == rows(read_run(responses)) == ORDER
    assert rows(read_run(nodes, id_field="ref_doc_id")) == SOURCES
    assert rows(read_run(nodes, id_field="metadata.source")) == SOURCES


def test_documents_of_haystack() -> None:
    """As lists, as what a component returns, and as what a pipeline returns."""
    retriever = haystack()
    from haystack import Pipeline

    pipeline = Pipeline()
    pipeline.add_component("retriever", haystack())
    components = {query: retriever.run(query_embedding=vector) for query, vector in QUERIES.items()}
    pipelines = {
        query: pipeline.run({"retriever": {"query_embedding": vector}}) for query, vector in QUERIES.items()
    }
    lists = {query: answer["documents"] for query, answer in components.items()}

    for results in (components, pipelines, lists):
        assert rows(read_run(results)) == ORDER
        assert rows(read_run(results, id_field="meta.source")) == SOURCES


@pytest.mark.parametrize("distance", ["COSINE", "EUCLID"])
def test_points_of_qdrant(distance: str) -> None:
    """Responses and lists of points, whose score may be a distance."""
    search = qdrant(distance)
    responses = {query: search(vector) for query, vector in QUERIES.items()}
    points = {query: response.points for query, response in responses.items()}

    for results in (responses, points):
        run = read_run(results, id_field="payload.source")
        assert rows(run) == SOURCES
        assert any("as distances do" in note for note in run.notes) == (distance == "EUCLID")
    assert (
        rows(read_run([search(vector) for vector in QUERIES.values()], queries=QUERIES, id_field="source"))
        == SOURCES
    )


def test_results_of_chroma() -> None:
    """Of one query, and of a batch; distances are the lower the better."""
    chromadb = pytest.importorskip("chromadb", reason="chromadb is not installed")
    collection = chromadb.EphemeralClient().create_collection("test_results", embedding_function=None)
    collection.add(ids=list(VECTORS), embeddings=list(VECTORS.values()))
    single = {query: collection.query(query_embeddings=[vector]) for query, vector in QUERIES.items()}
    batch = collection.query(query_embeddings=list(QUERIES.values()), include=["distances"])

    assert rows(read_run(single)) == rows(read_run(batch, queries=QUERIES)) == ORDER
    assert read_run(single).notes == ()


def test_hits_of_milvus() -> None:
    """Of a similarity and of a distance, which have one name; the result of a search is a batch."""
    pymilvus = pytest.importorskip("pymilvus", reason="pymilvus is not installed")
    pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
    client = pymilvus.MilvusClient(str(Path(tempfile.mkdtemp()) / "milvus.db"))
    for metric in ("COSINE", "L2"):
        client.create_collection(
            metric, 2, metric_type=metric, id_type="string", max_length=9, primary_field_name="key"
        )
        client.insert(metric, [{"key": name, "vector": vector} for name, vector in VECTORS.items()])
        single = {query: client.search(metric, data=[vector], limit=3) for query, vector in QUERIES.items()}
        batch = client.search(metric, data=list(QUERIES.values()), limit=3)

        assert rows(read_run(single)) == rows(read_run(batch, queries=QUERIES)) == ORDER


def test_objects_of_weaviate() -> None:
    """Of the client's classes, made here, since a server returns them."""
    internal = pytest.importorskip(
        "weaviate.collections.classes.internal", reason="weaviate-client is not installed"
    )
    objects = [
        internal.Object(
            uuid=UUID(int=number),
            metadata=internal.MetadataReturn(distance=number / 10),
            properties={"source": f"{name}.md"},
            references=None,
            vector={},
            collection="Passage",
        )
        for number, name in enumerate(VECTORS)
    ]
    answer = {"q1": internal.QueryReturn(objects=objects)}

    assert rows(read_run(answer, id_field="properties.source")) == {"q1": SOURCES["q1"]}
    assert read_run(answer).to_arrow().to_pylist()[1] == {
        "query": "q1",
        "document": str(UUID(int=1)),
        "score": -0.1,
    }


def test_the_response_of_elasticsearch() -> None:
    """The client's own class is not a mapping."""
    transport = pytest.importorskip("elastic_transport", reason="elasticsearch is not installed")
    hits = [{"_id": name, "_score": 3.0 - at, "_source": {"id": 7}} for at, name in enumerate(VECTORS)]
    meta = transport.ApiResponseMeta(
        status=200,
        http_version="1.1",
        headers=transport.HttpHeaders(),
        duration=0.1,
        node=transport.NodeConfig("http", "localhost", 9200),
    )
    response = transport.ObjectApiResponse(body={"timed_out": False, "hits": {"hits": hits}}, meta=meta)

    assert rows(read_run({"q1": response})) == {"q1": ORDER["q1"]}


def test_matches_of_pinecone() -> None:
    """Of the client's classes, made here, since a service returns them."""
    pinecone = pytest.importorskip("pinecone", reason="pinecone is not installed")
    matches = [pinecone.ScoredVector(id=name, score=1.0 - at / 10) for at, name in enumerate(VECTORS)]

    assert rows(read_run({"q1": pinecone.QueryResponse(matches=matches)})) == {"q1": ORDER["q1"]}


@pytest.mark.parametrize("make", [langchain, lambda: langchain().as_retriever(), llama_index])
def test_retrievers_are_asked_as_they_are(make: Callable[[], Any]) -> None:
    """A vector store, a retriever of LangChain, and one of LlamaIndex; texts are kept."""
    judged = {query: {documents[1]: 1} for query, documents in SOURCES.items()}
    study = evaluate_retriever(
        make(),
        judged,
        "RR P@1",
        queries={query: query for query in QUERIES},
        id_field="metadata.source",
        name="library",
    )

    assert study["library"].mean() == {"RR": 0.5, "P@1": 0.0}
    assert study.document_texts == {f"{name}.md": text for name, text in TEXTS.items()}


def test_an_asynchronous_retriever_of_langchain() -> None:
    """Its method `ainvoke`, as a function."""
    retriever = langchain().as_retriever()
    judged = {query: {documents[0]: 1} for query, documents in ORDER.items()}
    study = evaluate_retriever(retriever.ainvoke, judged, "RR", queries={q: q for q in QUERIES}, name="later")

    assert study["later"]["RR"] == 1.0
