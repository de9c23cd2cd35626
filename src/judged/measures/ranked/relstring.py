"""Relevance string: the grades of the first results, a character each, to look at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.kernels.ranked.ranking import Ranking
from judged.measures.measure import Measure

__all__ = ["relevance_string", "relstring"]


def relevance_string(ranking: Ranking, *, cutoff: int = 10) -> NDArray[Any]:
    r"""The grades of the first `cutoff` results as a string, one character for each.

    $$\mathrm{relstring}@k = c(g_1) \, c(g_2) \cdots c(g_{\min(k, n)})$$

    where $g_i$ is the grade of the result at rank $i$, $n$ the number of retrieved documents and $c(g)$ the
    digit of a grade from 0 to 9, `>` for a higher one, `.` for a negative one and `-` for a result that is
    not in the judgments at all. A fractional grade shows its whole part.

    Unjudged: shows as `-`, or as `.` where its grade is negative.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: an empty string when nothing is retrieved.
    Agrees with: `trec_eval -m relstring`, which sets the string in quotation marks.

    Example:
        A grade of 3, an unjudged result, a negative grade, and one beyond 9:

        >>> from judged.kernels.examples import make_ranking
        >>> relevance_string(make_ranking([3, None, -1, 12])).tolist()
        ['3-.>']

    References:
        Buckley. trec_eval, measure `relstring`. NIST, 2008.
    """
    shown = np.minimum(ranking.retrieved, cutoff)
    width = max(int(shown.max(initial=0)), 1)
    text = np.where(np.arange(width) < shown[:, None], ord("-"), 0).astype(np.uint8)
    near = ranking.within(cutoff)
    text[ranking.query[near], ranking.rank[near] - 1] = _characters(np.floor(ranking.grade[near]))
    return text.view(f"S{width}")[:, 0].astype(str).astype(object)


def _characters(grade: NDArray[np.float64]) -> NDArray[np.int64]:
    """The code of each grade's character."""
    digit = np.clip(grade, 0, 9).astype(np.int64) + ord("0")
    return np.where(grade < 0, ord("."), np.where(grade > 9, ord(">"), digit))


relstring = Measure(
    "relstring",
    relevance_string,
    at="cutoff",
    higher_is_better=None,
    text=True,
    properties=frozenset({"text"}),
)
