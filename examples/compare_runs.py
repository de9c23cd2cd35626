"""Scores two runs held in memory, and tells on which queries they differ most."""

from __future__ import annotations

import judged
from judged import AP, RR, nDCG

QRELS = {
    "capital of France": {"paris": 3, "lyon": 1, "rome": 0},
    "rivers of France": {"loire": 2, "seine": 2, "rhine": 1},
    "highest mountain of the Alps": {"mont-blanc": 3, "matterhorn": 1},
}
RUNS = {
    "bm25": {
        "capital of France": {"rome": 4.1, "paris": 3.9, "lyon": 0.2},
        "rivers of France": {"seine": 7.0, "po": 5.5, "loire": 5.1},
        "highest mountain of the Alps": {"matterhorn": 2.0, "everest": 1.9, "mont-blanc": 1.8},
    },
    "dense": {
        "capital of France": {"paris": 0.93, "rome": 0.91},
        "rivers of France": {"danube": 0.80, "seine": 0.79, "rhine": 0.75},
        "highest mountain of the Alps": {"mont-blanc": 0.88, "everest": 0.60},
    },
}


def main() -> None:
    """Print a line for each run, then the queries by difference."""
    judgments = judged.read_judgments(QRELS)
    scored = {
        name: judged.evaluate(judgments, run, [nDCG @ 10, AP, RR], name=name) for name, run in RUNS.items()
    }
    for name, evaluation in scored.items():
        told = "  ".join(f"{measure} {value:.4f}" for measure, value in evaluation.mean().items())
        print(f"{name:6} {told}")
    first, second = (evaluation.per_query().by_query("nDCG@10") for evaluation in scored.values())
    for query in sorted(first, key=lambda query: first[query] - second[query]):
        print(f"{second[query] - first[query]:+.4f}  {query}")


if __name__ == "__main__":
    main()
