"""BEIR: `EvaluateRetrieval.evaluate`, then `evaluate_custom` on the same results."""

from __future__ import annotations

from judged.profiles.profile import Profile, Spelling
from judged.protocol import Protocol

_CUSTOM = {"ties": "input-order", "precision": "float64", "missing": "zero"}
"""Sort order of its own measures, which divide by the number of judged queries."""


def _own(name: str, measure: str, **given: str) -> Spelling:
    return Spelling(name, measure, given, takes=(), conventions=_CUSTOM, number=True)


PROFILE = Profile(
    "beir",
    tool="beir",
    version="2.2.0",
    about="`EvaluateRetrieval.evaluate(qrels, results, k_values)`, and `evaluate_custom` after it",
    protocol=Protocol(missing="skip", self_matches="removed"),
    default_measures=("NDCG@10", "MAP@10", "Recall@10", "P@10", "MRR@10"),
    digits=5,
    spellings=(
        Spelling("NDCG", "nDCG", takes=(), number=True),
        Spelling("MAP", "AP", takes=(), number=True),
        Spelling("Recall", "R", takes=(), number=True),
        Spelling("P", "P", takes=(), number=True),
        _own("MRR", "RR"),
        _own("R_cap", "R", over="cutoff"),
        _own("Accuracy", "Success"),
    ),
    caveats=(
        "`Hole@k`, which looks for a document in the judgments of all queries, is not supported.",
        "A query of the run without judgments makes `evaluate_custom` raise KeyError.",
        "`R_cap@k` of a query without relevant documents divides by 0.",
        "`evaluate` deletes documents with their query's id from the dict that it is given.",
    ),
)
