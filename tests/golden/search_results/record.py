"""Record what vector stores and RAG frameworks return for three vectors and two queries.

    python record.py

in an environment with `tests/rag.txt`. Every file has the tool and its version. Not recorded are `elasticsearch.json` and
`weaviate.json`, which servers return, and the matches in `pinecone.json`, which a hosted service returns.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["ANONYMIZED_TELEMETRY"] = "False"
FOLDER = Path(__file__).parent
VECTORS = {"a": [1.0, 0.0], "b": [0.8, 0.6], "c": [0.0, 1.0]}
QUERIES = {"q1": [1.0, 0.0], "q2": [0.0, 1.0]}
TEXTS = {name: f"text of {name}" for name in VECTORS}


def save(name: str, package: str, how: str, answers: Mapping[str, Any]) -> None:
    """Write the answers by query, with their provenance."""
    content = {"made by": f"{package} {version(package)}: {how}", "answers": answers}
    (FOLDER / f"{name}.json").write_text(json.dumps(content, indent=1, default=str))


def embed(text: str) -> list[float]:
    """Return the vector of a query or of a text."""
    return next(
        vector for known in (QUERIES, VECTORS) for name, vector in known.items() if text.endswith(name)
    )


def record_chroma() -> None:
    """Record Chroma in memory."""
    import chromadb

    collection = chromadb.EphemeralClient().create_collection(
        "vectors", embedding_function=None, metadata={"hnsw:space": "cosine"}
    )
    collection.add(
        ids=list(VECTORS),
        embeddings=list(VECTORS.values()),
        documents=list(TEXTS.values()),
        metadatas=[{"source": f"{name}.md"} for name in VECTORS],
    )
    answers = {
        query: collection.query(query_embeddings=[vector], n_results=3) for query, vector in QUERIES.items()
    }
    save("chroma", "chromadb", "collection.query of one vector, cosine distance", answers)


def record_qdrant() -> None:
    """Record Qdrant's local mode."""
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    size = models.VectorParams(size=2, distance=models.Distance.COSINE)
    client.create_collection("vectors", vectors_config=size)
    points = [
        models.PointStruct(id=number, vector=vector, payload={"doc": name, "text": TEXTS[name]})
        for number, (name, vector) in enumerate(VECTORS.items(), 1)
    ]
    client.upsert("vectors", points)
    answers = {
        query: client.query_points("vectors", query=vector, limit=3).model_dump(mode="json")
        for query, vector in QUERIES.items()
    }
    save("qdrant", "qdrant-client", "query_points, then model_dump(mode='json')", answers)


def record_milvus(metric: str) -> None:
    """Record Milvus Lite."""
    from pymilvus import MilvusClient

    client = MilvusClient(str(Path(tempfile.mkdtemp()) / "milvus.db"))
    client.create_collection("vectors", dimension=2, metric_type=metric, id_type="string", max_length=8)
    rows = [{"id": name, "vector": vector, "text": TEXTS[name]} for name, vector in VECTORS.items()]
    client.insert("vectors", rows)
    answers = {}
    for query, vector in QUERIES.items():
        (hits,) = client.search("vectors", data=[vector], limit=3, output_fields=["text"])
        answers[query] = [[dict(hit) for hit in hits]]
    lite = version("milvus-lite")
    save(
        f"milvus-{metric.lower()}",
        "pymilvus",
        f"MilvusClient.search with milvus-lite {lite}, metric {metric}",
        answers,
    )


def record_pinecone() -> None:
    """Record the response class of Pinecone."""
    from pinecone import QueryResponse, ScoredVector

    def rank(query: list[float]) -> list[tuple[float, str]]:
        scores = (
            (sum(x * y for x, y in zip(query, vector, strict=True)), name) for name, vector in VECTORS.items()
        )
        return sorted(scores, reverse=True)

    answers = {
        query: QueryResponse(
            matches=[
                ScoredVector(id=name, score=score, metadata={"text": TEXTS[name]})
                for score, name in rank(vector)
            ]
        ).to_dict()
        for query, vector in QUERIES.items()
    }
    how = "QueryResponse.to_dict of matches made by hand, since it is a hosted service"
    save("pinecone", "pinecone", how, answers)


def record_langchain() -> None:
    """Record a retriever of LangChain, and a vector store with scores."""
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
    retriever = store.as_retriever()
    save(
        "langchain",
        "langchain-core",
        "InMemoryVectorStore.as_retriever().invoke, then Document.model_dump",
        {query: [document.model_dump() for document in retriever.invoke(query)] for query in QUERIES},
    )
    save(
        "langchain-scores",
        "langchain-core",
        "InMemoryVectorStore.similarity_search_with_score, then Document.model_dump",
        {
            query: [
                [document.model_dump(), score]
                for document, score in store.similarity_search_with_score(query)
            ]
            for query in QUERIES
        },
    )


def record_llamaindex() -> None:
    """Record a retriever of LlamaIndex."""
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.schema import TextNode

    class Known(BaseEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            return embed(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return embed(query)

        def _get_text_embedding(self, text: str) -> list[float]:
            return embed(text)

    nodes = [TextNode(id_=name, text=TEXTS[name], metadata={"source": f"{name}.md"}) for name in VECTORS]
    retriever = VectorStoreIndex(nodes, embed_model=Known()).as_retriever(similarity_top_k=3)
    answers = {query: [node.to_dict() for node in retriever.retrieve(query)] for query in QUERIES}
    save(
        "llamaindex",
        "llama-index-core",
        "VectorStoreIndex.as_retriever().retrieve, then NodeWithScore.to_dict",
        answers,
    )


def record_haystack() -> None:
    """Record a pipeline of Haystack."""
    from haystack import Document, Pipeline
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(
        [
            Document(id=name, content=TEXTS[name], embedding=vector, meta={"source": f"{name}.md"})
            for name, vector in VECTORS.items()
        ]
    )
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store))
    answers = {}
    for query, vector in QUERIES.items():
        documents = pipeline.run({"retriever": {"query_embedding": vector}})["retriever"]["documents"]
        answers[query] = {
            "retriever": {"documents": [document.to_dict(flatten=False) for document in documents]}
        }
    save("haystack", "haystack-ai", "Pipeline.run, then Document.to_dict(flatten=False)", answers)


if __name__ == "__main__":
    record_chroma()
    record_qdrant()
    record_milvus("COSINE")
    record_milvus("L2")
    record_pinecone()
    record_langchain()
    record_llamaindex()
    record_haystack()
