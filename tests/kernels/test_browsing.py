"""Readers go through results rank by rank, in blocks of queries that change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from judged.kernels.examples import make_ranking
from judged.kernels.ranked import browsing
from judged.kernels.ranked.browsing import Reader, browse, gain_share, inst_reader, rbp_reader


def test_the_size_of_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One query at a time or all at once: the same to the last bit."""
    view = make_ranking([1, None, 3], [], [0, 2], [None, None, 1, 3])
    share = gain_share(view)
    together = browse(view, share, inst_reader(1.5, 50))
    monkeypatch.setattr(browsing, "CELLS", 1)
    alone = browse(view, share, inst_reader(1.5, 50))

    assert together.gain.tolist() == alone.gain.tolist()
    assert together.viewed.tolist() == alone.viewed.tolist()


def test_nothing_beyond_the_depth_is_reached() -> None:
    """By hand: of three results two are gone through, the second with a chance of 1/2."""
    view = make_ranking([0, 1, 1])
    browsed = browse(view, gain_share(view), rbp_reader(0.5, 2))

    assert browsed.gain.tolist() == [0.5]
    assert browsed.viewed.tolist() == [1.5]
    assert browsed.rate.tolist() == [pytest.approx(1 / 3)]


def test_what_is_unknown_can_be_given_a_gain() -> None:
    """Unjudged, pooled without a judgment, and beyond the last result; judged documents keep theirs."""
    view = make_ranking([None, -1, 0, 1])
    browsed = browse(
        view, gain_share(view), Reader(lambda _rank, _gain, _total: np.array(1.0), 5), unjudged=0.5
    )

    assert browsed.gain.tolist() == [0.5 + 0.5 + 0 + 1 + 0.5]


def test_gains_are_shares_of_the_highest_grade() -> None:
    """Linear or exponential, cut at the top of the scale, and none on a scale without a top."""
    view = make_ranking([4, 2, 1, 0, -1])

    assert gain_share(view).tolist() == [1.0, 0.5, 0.25, 0.0, 0.0]
    assert gain_share(view, "exp", 2).tolist() == [1.0, 1.0, 1 / 3, 0.0, 0.0]
    assert gain_share(make_ranking([0, 0])).tolist() == [0.0, 0.0]
