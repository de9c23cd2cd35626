"""The sort of results under a tie rule: by score from the highest, equal scores by document or as they are given."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats, Ints, Words
from judged.kernels.scan.strings import Strings

DESCENDING, ASCENDING, AS_GIVEN = range(3)
"""Tie rules: in the order of `judged.kernels.scan.align.RULES`, which the compiled scanner knows by number."""


def sort_results(query: Ints, score: Floats, document: Strings, rule: int = DESCENDING) -> Ints:
    """Return the rows by query, then score from the highest, then the tie rule; scores are compared as they are."""
    step = np.diff(query)
    falling = ((step > 0) | ((step == 0) & (score[1:] <= score[:-1]))).all()  # as in most runs
    order = np.arange(len(query)) if falling else np.lexsort((-score, query))
    query, score = query[order], score[order]
    same = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    tied = np.flatnonzero(np.concatenate((same, [False])) | np.concatenate(([False], same)))
    if len(tied) and rule != AS_GIVEN:
        keys = make_tie_keys(document[order[tied]], rule)
        order[tied] = order[tied[np.lexsort((*keys, -score[tied], query[tied]))]]
    return order


def make_tie_keys(document: Strings, rule: int) -> list[Words]:
    """Return the keys, the least significant first, that order documents under a tie rule."""
    if rule == AS_GIVEN:
        return []
    # the length decides between ids that differ by zero bytes at the end, with which keys are padded
    keys = [document.length.astype(np.uint64), *document.sort_keys()[::-1]]
    return [~key for key in keys] if rule == DESCENDING else keys
