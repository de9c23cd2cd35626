"""A query that the run has without results was asked: it scores 0, is counted, and is not missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import judged
from judged import Protocol, Run

QRELS = {"0": {"1": 1}, "1": {"1": 1}, "2": {"1": 1}}
SKIP = Protocol(missing="skip")


@pytest.mark.parametrize(
    "run",
    [
        pytest.param({"0": {"1": 2.0}, "1": {}}, id="dicts"),
        pytest.param({0: {"1": 2.0}, 1: {}}, id="dicts with whole numbers"),
        pytest.param(Run.from_lists({"0": ["1"], "1": []}), id="lists"),
        pytest.param(Run.from_matrix(np.array([[1, 3], [-1, -1]])), id="matrix with a row of padding"),
    ],
)
def test_an_empty_list_scores_0_where_missing_queries_are_left_out(run: Any) -> None:
    """Query 1 has no results, query 2 is missing from the run."""
    made = judged.evaluate(QRELS, run, "RR", protocol=SKIP)

    assert made.per_query().by_query("RR") == {"0": 1.0, "1": 0.0}
    assert "1 query of the run without any result: scored 0" in {note.message for note in made.notes}


@pytest.mark.parametrize("others", [{}, {"d0": 1.0}])
def test_a_query_that_loses_all_results_stays(others: dict[str, float]) -> None:
    """With the protocol that removes a query's own id from its results, whatever else was retrieved."""
    protocol = Protocol(missing="skip", self_matches="removed")
    made = judged.evaluate(
        {"q": {"d0": 1}}, {"q": {"q": 9.0, **others}, "other": {"d0": 1.0}}, "RR", protocol=protocol
    )

    assert made.per_query().by_query("RR") == {"q": 1.0 if others else 0.0}


def test_rows_in_several_blocks_make_no_query_empty(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block may hold nothing but the query's own id, while another has its results."""
    from judged.io import stream

    monkeypatch.setattr(stream, "BLOCK_ROWS", 1)
    path = tmp_path / "run.txt"
    path.write_text("q Q0 q 1 9 tag\nq Q0 d0 2 8 tag\nonly Q0 only 1 9 tag\n")
    protocol = Protocol(missing="skip", self_matches="removed")
    made = judged.evaluate(
        {"q": {"d0": 1}, "only": {"d0": 1}}, str(path), "RR", protocol=protocol, backend="streaming"
    )

    assert made.per_query().by_query("RR") == {"q": 1.0, "only": 0.0}
