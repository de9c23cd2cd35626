"""sentence-transformers: what `InformationRetrievalEvaluator` reports during training."""

from __future__ import annotations

from judged.profiles.profile import Profile, Spelling
from judged.protocol import Protocol

BINARY = {2: 1, 3: 1, 4: 1}
"""Gains of grades where every relevant document is worth the same."""


def _at(name: str, measure: str, **given: object) -> Spelling:
    return Spelling(name, measure, given, takes=(), number=True, shown=f"{name}@k")


PROFILE = Profile(
    "sentence-transformers",
    tool="sentence-transformers",
    version="6.2.0",
    about="`InformationRetrievalEvaluator(queries, corpus, relevant_docs)`, one score function",
    protocol=Protocol(ties="document-ascending", precision="float64", no_relevant="skip"),
    default_measures=("accuracy@10", "precision@10", "recall@10", "ndcg@10", "mrr@10", "map@10"),
    spellings=(
        _at("accuracy", "Success"),
        _at("precision", "P"),
        _at("recall", "R"),
        Spelling("ndcg", "nDCG", {"gains": BINARY}, takes=(), number=True, shown="ndcg@k"),
        _at("mrr", "RR"),
        _at("map", "AP", over="cutoff"),
    ),
    caveats=(
        "Relevant documents are a set there: here those of grade 1 and above, and nDCG is binary up to grade 4.",
        "Scores are those of its own search, which keeps the best `k` of each block of the corpus.",
        "`RerankingEvaluator` and `NanoBEIREvaluator` are not supported.",
    ),
)
