"""One rule turns an order into scores: whatever reads the run, a list keeps its order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import judged
from judged.tables.nested import keep_order

SCORES = st.lists(
    st.none() | st.integers(-2, 2).map(float) | st.floats(-1e308, 1e308, allow_nan=False), max_size=12
)


@given(scores=SCORES)
def test_every_score_is_below_the_one_before_it_in_float32(scores: list[float | None]) -> None:
    """Equal, missing, rising scores, and ones that float32 cannot hold."""
    kept = keep_order(scores)
    single = np.array(kept, dtype=np.float32)

    assert len(kept) == len(scores)
    assert np.isfinite(single).all()
    assert (np.diff(single) < 0).all()
    assert keep_order(kept) == kept


@given(scores=st.lists(st.floats(-(2.0**100), 2.0**100, width=32), unique=True))
def test_scores_that_fall_stay_as_they_are(scores: list[float]) -> None:
    """To the last bit."""
    falling = sorted(scores, reverse=True)

    assert keep_order(falling) == falling


@given(
    scores=st.lists(st.integers(0, 3).map(float), min_size=1, max_size=6),
    order=st.permutations(["a", "b", "c", "d", "e", "f"]),
    ties=st.sampled_from(["document-descending", "document-ascending", "input-order"]),
)
def test_a_list_is_ranked_in_its_order_under_every_tie_rule(
    scores: list[float], order: list[str], ties: Any
) -> None:
    """The reciprocal rank of each document is one over its position in the row of the matrix."""
    ids = np.array([order[: len(scores)]])
    for position, document in enumerate(ids[0].tolist(), 1):
        made = judged.evaluate(
            {"0": {document: 1}}, (ids, np.array([scores])), "RR", protocol=judged.Protocol(ties=ties)
        )

        assert made["RR"] == pytest.approx(1 / position)


def test_distances_beside_a_matrix_of_ids_do_not_turn_it_round() -> None:
    """A vector index returns distances, which rise; the order of its rows counts, and a note says so."""
    run = judged.read_run((np.array([[7, 3], [5, 4]]), np.array([[0.1, 0.4], [0.9, 0.2]])))

    assert run.to_arrow()["score"].to_pylist() == [-1.0, -2.0, 0.9, 0.2]
    assert run.notes == ("the scores of 1 row rise from left to right: positions count there, not scores",)


@given(
    st.lists(st.floats(-1e39, 1e39, allow_nan=False), max_size=20).map(
        lambda some: sorted(some, reverse=True)
    )
)
def test_ties_are_lowered_one_float32_at_a_time(scores: list[float]) -> None:
    """As a loop with `nextafter` does it."""
    with np.errstate(over="ignore"):
        single = np.array(scores).astype(np.float32)
    expected, last = [], np.float32(np.inf)
    for score, rounded in zip(scores, single, strict=True):
        with np.errstate(over="ignore"):  # the lowest float32 has only -inf below it
            lower = rounded if rounded < last else np.nextafter(last, np.float32(-np.inf))
        expected.append(score if rounded < last else float(lower))
        last = lower
    assume(not scores or np.isfinite(last))  # there is no lower number otherwise

    assert keep_order(scores) == expected
