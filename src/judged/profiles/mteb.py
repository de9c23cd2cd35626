"""MTEB: the scores of a retrieval task, by `calculate_retrieval_scores`."""

from __future__ import annotations

from judged.profiles.profile import Profile, Spelling
from judged.protocol import Protocol


def _at(name: str, measure: str) -> Spelling:
    return Spelling(name, measure, takes=(), number=True, shown=f"{name}_at_k")


PROFILE = Profile(
    "mteb",
    tool="mteb",
    version="2.26.24",
    about="`calculate_retrieval_scores(results, qrels, k_values)`: what a retrieval task reports",
    protocol=Protocol(missing="skip"),
    default_measures=(
        "ndcg_at_10",
        "map_at_10",
        "recall_at_10",
        "precision_at_10",
        "mrr_at_10",
        "hit_rate_at_10",
    ),
    digits=5,
    spellings=(
        _at("ndcg", "nDCG"),
        _at("map", "AP"),
        _at("recall", "R"),
        _at("precision", "P"),
        _at("hit_rate", "Success"),
        Spelling(
            "mrr",
            "RR",
            takes=(),
            number=True,
            conventions={"precision": "float64"},
            digits=17,
            shown="mrr_at_k",
        ),
        Spelling("accuracy", "R", {"cutoff": 1}, takes=(), number=False),
    ),
    caveats=(
        "Abstention (`nauc_…`), p-MRR, robustness and paired accuracy are not supported.",
        "A query of the run without judgments makes it raise KeyError.",
        "Before version 2.18.19 `mrr` ordered documents with equal scores as in the dict.",
    ),
)
