"""Define two measures, one on all queries at once and one query by query, and score a run with them.

Usage: python examples/custom_measure.py
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import judged
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"d": 1, "e": 1}}
RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"x": 2.0, "d": 1.0}}


def wasted(ranking: Ranking, *, cutoff: int = 10, rel: float | None = None) -> Floats:
    """Return the share of the first `cutoff` results that bring nothing relevant."""
    shown = np.minimum(ranking.retrieved, cutoff)
    return (shown - ranking.hits_within(cutoff, rel)) / np.maximum(shown, 1)


def gap(ranks: Sequence[int], grades: Sequence[float], retrieved: int, judged: Sequence[float]) -> float:  # noqa: ARG001
    """How many places stand between the first and the last relevant result."""
    hits = [rank for rank, grade in zip(ranks, grades, strict=True) if grade >= 1]
    return hits[-1] - hits[0] - 1 if len(hits) > 1 else 0


def main() -> None:
    """Print each measure with its mean, and the card of one of them."""
    from judged.measures.cards import make_card

    judged.define("Wasted", wasted, at_parameter="cutoff", higher_is_better=False)
    judged.measures.define_per_query("Gap", gap, bounds=(0, np.inf), higher_is_better=False)
    result = judged.evaluate(QRELS, RUN, ["Wasted@3", "Gap", "nDCG@3"])
    for measure, mean in result.mean().items():
        print(f"{measure:<10} {mean:.4f}")
    print(make_card("Wasted").meaning)


if __name__ == "__main__":
    main()
