"""The view: ranks and grades of judged documents, and the counts that measures share."""

from __future__ import annotations

import numpy as np
import pytest

from judged.kernels.examples import make_ranking


def test_a_view_made_by_hand_holds_judged_documents_only() -> None:
    """Unjudged results leave a gap in the ranks; missed documents are in the best order."""
    view = make_ranking([None, 2, -1, 0], [1], missed=[[3], []])

    assert view.rank.tolist() == [2, 3, 4, 1]
    assert view.grade.tolist() == [2.0, -1.0, 0.0, 1.0]
    assert view.offset.tolist() == [0, 3, 4]
    assert view.retrieved.tolist() == [4, 1]
    assert view.best.tolist() == [3.0, 2.0, 0.0, -1.0, 1.0]
    assert view.best_offset.tolist() == [0, 4, 5]
    assert view.best_rank.tolist() == [1, 2, 3, 4, 1]
    assert view.query.tolist() == [0, 0, 0, 1]
    assert view.best_query.tolist() == [0, 0, 0, 0, 1]
    assert view.highest == 3.0
    assert len(view) == 2


def test_relevance_is_by_threshold() -> None:
    """The measure's own, or else the protocol's."""
    view = make_ranking([1, 2, 0], missed=[[2]], rel=2)

    assert view.hits().tolist() == [False, True, False]
    assert view.hits(1).tolist() == [True, True, False]
    assert view.relevant().tolist() == [2]
    assert view.relevant(1).tolist() == [3]
    assert view.found(1).tolist() == [1, 2, 2]
    assert view.hits_within(1, 1).tolist() == [1]
    assert view.hits_within(None).tolist() == [1]
    assert view.best_relevant(1).tolist() == [True, True, True, False]


def test_a_negative_grade_is_never_relevant() -> None:
    """Not even where every judged document is."""
    view = make_ranking([-1, 0])

    assert view.hits(0).tolist() == [False, True]
    assert view.relevant(0).tolist() == [1]


def test_documents_standing_at_or_above_a_rank_are_counted() -> None:
    """For any pairs of a query and a rank."""
    view = make_ranking([1, None, 0, 2], [], [0])
    query = np.array([0, 0, 0, 1, 2, 2])
    cutoff = np.array([0, 2, 9, 5, 1, 7])

    assert view.count_down_to(query, cutoff).tolist() == [0, 1, 3, 0, 1, 1]


def test_targets_of_different_queries_are_different() -> None:
    """Even where they have the same name."""
    view = make_ranking([1, 1], [1], targets=[[7, 7], [7]])

    assert view.target[0] == view.target[1]
    assert view.target[1] != view.target[2]
    assert sorted(view.best_target) == sorted(view.target)


def test_shared_parts_are_computed_once() -> None:
    """The second measure that asks finds them done."""
    view, calls = make_ranking([1]), []

    assert [view.cached(("part",), lambda: calls.append(1) or 5) for _ in range(2)] == [5, 5]
    assert calls == [1]


def test_a_view_is_not_changed() -> None:
    """Its fields cannot be set."""
    with pytest.raises(AttributeError):
        make_ranking([1]).rel = 2.0  # type: ignore[misc]
