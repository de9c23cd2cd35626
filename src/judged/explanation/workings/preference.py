"""The working of binary preference: for each relevant result, how many judged non-relevant ones stand above."""

from __future__ import annotations

import numpy as np

from judged.explanation.working import Working
from judged.explanation.workings.precision import quotient
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import divide

__all__ = ["Bpref", "gm_Bpref"]


def Bpref(view: Ranking, *, rel: float | None) -> Working:
    """The shares of preferences kept, summed, over the number of relevant documents."""
    hit, relevant = view.hits(rel), int(view.relevant(rel)[0])
    above = np.cumsum((view.grade >= 0) & ~hit)
    most = min(int((view.best >= 0).sum()) - relevant, relevant)
    kept = np.where(hit, 1.0 - divide(np.minimum(above, relevant), np.array(most)), 0.0)
    total = np.cumsum(kept)
    got = float(total[-1]) if len(total) else 0.0
    columns = {"non-relevant above": above, "kept": kept, "total": total}
    return Working(columns, quotient("sum of what is kept / relevant", got, relevant))


gm_Bpref = Bpref
"""A query's value is the same; the geometric mean comes after."""
