"""The manifest of retrieval studies, fusion and routing."""

from judged.subject import Command, Subject

SUBJECT = Subject(
    name="studies",
    title="Studies",
    families={
        "routing": "judged.studies.family:ROUTING",
        "skipping": "judged.studies.family:SKIPPING",
        "reranking": "judged.studies.family:RERANKING",
    },
    measures="judged.studies._index",
    tables={"decisions": "judged.studies.tables:DECISIONS", "spans": "judged.studies.tables:SPANS"},
    results={
        "fusion": "judged.studies.fusion.tuning:FusionTuning",
        "routing": "judged.studies.routing:RoutingReport",
        "study": "judged.studies.result:Study",
        "studies": "judged.studies.several:Studies",
    },
    pages={"study": "judged.studies.page:PAGE"},
    commands={
        "run": Command(
            "judged.studies.commands.run:command",
            "Run a retrieval experiment: encode, search, fuse, rerank, score, compare, time",
        ),
        "fuse": Command("judged.studies.commands.fuse:command", "Fuse runs into one, and tune the weights"),
        "routing": Command(
            "judged.studies.commands.routing:command",
            "Score a router, a skip policy or a reranker by its decisions",
        ),
        "demo": Command(
            "judged.studies.commands.demo:command",
            "Build a small test collection, retrieve, score and compare",
        ),
    },
)
