"""LightGBM: the metrics `ndcg` and `map` that training reports at each of `eval_at`."""

from __future__ import annotations

from judged.profiles.profile import Profile, Spelling
from judged.protocol import Protocol

PROFILE = Profile(
    "lightgbm",
    tool="LightGBM",
    version="4.7.0",
    about='`train(params | {"metric": "ndcg", "eval_at": [k]}, …)`, by group in the order of the rows',
    protocol=Protocol(ties="input-order", precision="float64", no_relevant="one"),
    default_measures=("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10"),
    spellings=(
        Spelling("ndcg", "nDCG", {"gain": "exp"}, takes=("gains",), number=True),
        Spelling("map", "AP", {"over": "cutoff"}, takes=(), number=True),
    ),
    caveats=(
        "Grades must be whole numbers; `label_gain` replaces the gains 2^g − 1, as `gains` does here.",
        "Weights of rows, or of queries, are not supported: the mean is over queries, each counted once.",
        "A negative grade is an error there, and means unjudged here.",
    ),
)
