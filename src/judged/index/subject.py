"""The manifest of vector indexes and their benchmark."""

from judged.subject import Command, Subject

SUBJECT = Subject(
    name="index",
    title="Vector indexes",
    families={"neighbour": "judged.index.family:NEIGHBOUR"},
    measures="judged.index._index",
    results={
        "index": "judged.index.result:IndexBenchmark",
        "index-diff": "judged.index.diff:IndexDiff",
        "embeddings": "judged.index.embeddings.matching:EmbeddingReport",
    },
    pages={"index": "judged.index.page:PAGE"},
    commands={
        "index": Command(
            "judged.index.commands:command",
            "Benchmark vector indexes: recall, latency, throughput and cost",
        )
    },
)
