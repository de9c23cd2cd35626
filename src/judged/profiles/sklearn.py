"""scikit-learn: `ndcg_score` and `dcg_score`, which average over the orders of equal scores."""

from __future__ import annotations

from judged.profiles.profile import Choices, Profile, Spelling
from judged.protocol import Protocol


def _gain(name: str, measure: str) -> Spelling:
    averaged: Choices = {("ignore_ties", False): {}}
    return Spelling(name, measure, takes=(), renamed={"k": "cutoff"}, switches=averaged, shown=f"{name}(k=k)")


PROFILE = Profile(
    "sklearn",
    tool="scikit-learn",
    version="1.9.1",
    about="`sklearn.metrics.ndcg_score(y_true, y_score, k=k)`, a row of the matrices for each query",
    protocol=Protocol(ties="expected", precision="float64"),
    default_measures=("ndcg_score(k=10)",),
    spellings=(_gain("ndcg_score", "nDCG"), _gain("dcg_score", "DCG")),
    caveats=(
        "`ndcg_score` of one query with a single document raises ValueError.",
        "A negative grade raises ValueError in `ndcg_score`, and means unjudged here.",
        "`ignore_ties=True` takes equal scores in no defined order, and `log_base` is not supported.",
        "Columns that fill up a matrix count as documents; `mask` of `judged.evaluate_arrays` leaves them out.",
        "`label_ranking_average_precision_score`, `coverage_error` and others of labels are not supported.",
    ),
)
