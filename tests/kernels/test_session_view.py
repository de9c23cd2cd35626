"""The view of sessions: how it is cut, built, and written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from judged.agents.examples import make_sessions
from judged.agents.kernels import UNLABELLED, SessionView, count_by_gain


def test_iterations_and_sessions_without_results_keep_their_place() -> None:
    """Empty at the beginning, in the middle and at the end: no count slips to a neighbour."""
    view = SessionView.from_results(
        np.array([0, 4, 0, 1, 0]),
        np.array([0, 2, 0, 3, 0]),
        np.array([True, False, True, True, False]),
        np.array([4, 4, UNLABELLED, 1, 1], dtype=np.int8),
    )

    assert len(view) == 5
    assert view.offset.tolist() == [0, 0, 4, 4, 5, 5]
    assert view.results.tolist() == [0, 2, 0, 3, 0]
    assert view.new.tolist() == [0, 1, 0, 2, 0]
    assert view.duplicates.tolist() == [0, 1, 0, 1, 0]
    assert view.gains.tolist() == [4, UNLABELLED, 1]
    assert view.iterations.tolist() == [0, 4, 0, 1, 0]
    assert view.session.tolist() == [1, 1, 1, 1, 3]
    assert view.number.tolist() == [1, 2, 3, 4, 1]
    assert view.found.tolist() == [False, True, False, False, False]


def test_there_may_be_nothing_at_all() -> None:
    """No sessions, and sessions that never searched."""
    none = SessionView.from_results(
        np.array([], dtype=int),
        np.array([], dtype=int),
        np.array([], dtype=bool),
        np.array([], dtype=np.int8),
    )
    idle = make_sessions([], [])

    assert (len(none), len(idle)) == (0, 2)
    assert idle.grades.shape == (0, 6)
    assert idle.found.tolist() == [False, False]


def test_missing_facts_are_unknown() -> None:
    """One search an iteration; tokens and seconds are NaN."""
    view = SessionView.from_results(
        np.array([1]), np.array([1]), np.array([True]), np.array([2], dtype=np.int8)
    )

    assert view.searches.tolist() == [1]
    assert np.isnan(view.tokens).all()
    assert np.isnan(view.seconds).all()
    assert view.reference is None


def test_gains_are_counted_segment_by_segment() -> None:
    """Column 0 holds the unlabelled, column g + 1 those of gain g; 200 in one segment do not overflow a byte."""
    gains = np.array([4] * 200 + [UNLABELLED, 0, 3], dtype=np.int8)

    assert count_by_gain(gains, np.array([0, 200, 200, 203])).tolist() == [
        [0, 0, 0, 0, 0, 200],
        [0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 1, 0],
    ]


@pytest.mark.parametrize("gain", [-2, 5])
def test_a_gain_that_there_is_not_is_refused(gain: int) -> None:
    """It would be counted as one of another iteration."""
    with pytest.raises(ValueError, match="gains must be from 0 to 4, or -1 for unlabelled results"):
        count_by_gain(np.array([gain], dtype=np.int8), np.array([0, 1]))


def test_a_view_is_written_by_hand() -> None:
    """Names and gains; bars part searches; the first gain that is given holds; the reference is by name."""
    view = make_sessions(["a? b2 | a3", "c0 b2"], ["a1"], reference=["a4 z3", "q0"])

    assert view.gains.tolist() == [3, 2, 0, 1]
    assert view.searches.tolist() == [2, 1, 1]
    assert view.reference is not None
    assert view.reference.gains.tolist() == [4, UNLABELLED, UNLABELLED, UNLABELLED]
    assert view.reference.counts.tolist() == [[2, 2, 2, 2, 1], [1, 0, 0, 0, 0]]


def test_parts_that_measures_share_are_computed_once() -> None:
    """The second time the same object is there."""
    view = make_sessions(["a3"])

    assert view.grades is view.grades
    assert view.cached(("key",), list) is view.cached(("key",), list)
