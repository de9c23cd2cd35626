"""The pairs of TREC RAG 2025: 10,284 passages graded 0 to 4 by people and by UMBRELA2, over 22 topics.

The counts are those of the human and the machine judgments in `castorini/anserini-tools`. The figures beside them, to four
digits, are those of scikit-learn 1.9.1 (`cohen_kappa_score`, `precision_score`, `recall_score`, `mean_absolute_error`) and of
krippendorff 0.9.0 (`alpha`) on the pairs below. Topics are not in the table, so that nothing by topic can be had from it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

COUNTS = np.array(
    [
        [1690, 1074, 681, 150, 24],
        [348, 446, 566, 113, 26],
        [405, 735, 1971, 547, 102],
        [80, 136, 554, 411, 137],
        [1, 8, 18, 42, 19],
    ]
)
"""A row for each grade that people gave, a column for each of the machine."""

PUBLISHED = {
    "exact": 0.4412,
    "within one": 0.8304,
    "mean absolute error": 0.7589,
    "bias": 0.1629,
    "κ": 0.2333,
    "κ linear": 0.3729,
    "κ quadratic": 0.4918,
    "κ ≥1": 0.3672,
    "κ ≥2": 0.4310,
    "κ ≥3": 0.3095,
    "κ ≥4": 0.0838,
    "precision": 0.7090,
    "recall": 0.7358,
    "good rate, human": 0.5023,
    "good rate, machine": 0.5213,
    "α nominal": 0.2282,
    "α ordinal": 0.4926,
    "α interval": 0.4890,
}


def pairs() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The grades of people and of the machine, a pair for each passage."""
    human, machine = np.indices(COUNTS.shape)
    return np.repeat(human.ravel(), COUNTS.ravel()), np.repeat(machine.ravel(), COUNTS.ravel())
