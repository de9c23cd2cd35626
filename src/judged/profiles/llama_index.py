"""LlamaIndex: the metrics of `RetrieverEvaluator`, over whole lists."""

from __future__ import annotations

from judged.profiles.profile import Profile, Spelling
from judged.profiles.sentence_transformers import BINARY
from judged.protocol import Protocol

WHOLE = 1_000_000
"""Cutoff beyond every list."""

PROFILE = Profile(
    "llama-index",
    tool="llama-index-core",
    version="0.14.25",
    about='`resolve_metrics(["mrr", "ndcg", …])`, each computed from `expected_ids` and `retrieved_ids`',
    protocol=Protocol(ties="input-order", precision="float64", no_relevant="skip"),
    default_measures=("hit_rate", "mrr", "precision", "recall", "ap", "ndcg"),
    spellings=(
        Spelling("hit_rate", "Success", {"cutoff": WHOLE}, takes=(), number=False),
        Spelling("mrr", "RR", takes=(), number=False),
        Spelling("precision", "SetP", takes=(), number=False),
        Spelling("recall", "SetR", takes=(), number=False),
        Spelling("ap", "AP", takes=(), number=False),
        Spelling("ndcg", "nDCG", {"gains": BINARY}, takes=(), number=False),
    ),
    caveats=(
        "Version 0.12.1 took every result of the list as relevant for the ideal order (issue 17070).",
        "Expected ids are a list there: here documents of grade 1 and above, and nDCG is binary up to grade 4.",
        "An empty list of results, or of expected ids, raises ValueError.",
        "An id that is retrieved twice counts twice in its average precision and nDCG; here it is refused.",
        "`use_granular_hit_rate`, `use_granular_mrr` and `cohere_rerank_relevancy` are not supported.",
    ),
)
