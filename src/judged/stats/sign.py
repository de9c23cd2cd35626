"""The sign test: how many queries were won, of those that differ."""

from __future__ import annotations

from judged.stats.outcome import Outcome
from judged.stats.paired import Floats, wins_ties_losses

__all__ = ["sign_test"]


def sign_test(difference: Floats) -> Outcome:
    """The exact two-sided binomial test that wins and losses are as likely; ties are left out.

    Where no query differs, p is 1.

    >>> import numpy as np
    >>> sign_test(np.array([0.1, 0.2, 0.3, 0.0, 0.4, 0.1])).p
    0.0625
    """
    from scipy.special import bdtr

    count = wins_ties_losses(difference)
    fewer = min(count.wins, count.losses)
    p = min(1.0, 2 * float(bdtr(fewer, count.wins + count.losses, 0.5)))
    return Outcome("sign", float(count.wins), p)
