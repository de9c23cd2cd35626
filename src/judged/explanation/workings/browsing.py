"""The working of readers: the gain of each result, and the chance that a reader gets to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from judged.explanation.working import Working, Works
from judged.explanation.workings.precision import quotient
from judged.kernels.ranked import browsing as readers
from judged.kernels.ranked.browsing import Reader, browse, gain_share
from judged.kernels.ranked.gains import Gain
from judged.kernels.ranked.ranking import Ranking

__all__ = ["BPM", "INSQ", "INST", "NERR8", "NERR9", "NERR10", "NERR11", "SDCG"]


def _works(reader: Callable[..., Reader]) -> Works:
    """The working of a measure with this reader, which takes what the measure's own parameters are."""

    def working(view: Ranking, *, gain: Gain, max_grade: float | None, **rest: Any) -> Working:
        return _followed(view, gain_share(view, gain, max_grade), reader(**rest))

    return working


INST = _works(readers.inst_reader)
INSQ = _works(readers.insq_reader)
BPM = _works(readers.bpm_reader)
SDCG = _works(readers.sdcg_reader)
NERR8 = _works(readers.nerr8_reader)
NERR9 = _works(readers.nerr9_reader)
NERR10 = _works(readers.nerr10_reader)
NERR11 = _works(readers.nerr11_reader)


def _followed(view: Ranking, share: Any, reader: Reader) -> Working:
    """Gains, chances of being reached, and their products, as far as the list goes."""
    rank = view.rank.astype(np.float64)
    going_on = np.broadcast_to(reader.goes_on(rank, share, np.cumsum(share)), share.shape)
    reached = np.concatenate(([1.0], np.cumprod(going_on)))[: len(share)]
    reached = np.where(rank <= reader.depth, reached, 0.0)
    met = browse(view, share, reader)
    words = "expected gain / expected results looked at"
    formula = quotient(words, float(met.gain[0]), float(met.looked[0]))
    term = reached * share
    return Working({"gain": share, "reached": reached, "term": term, "total": np.cumsum(term)}, formula)
