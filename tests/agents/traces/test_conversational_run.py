"""Conversational runs: each conversation one session, its turns the iterations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from judged.agents.traces.context import TraceProblems
from judged.agents.traces.read import stream_sessions
from judged.errors import BadInput

RUN = b"""106_10 Q0 d4 1 1.0 bm25
106_2 Q0 d1 1 2.0 bm25
106_2 Q0 d3 2 2.0 bm25
106_1 Q0 d2 1 0.5 bm25
106_1 Q0 d1 2 9.5 bm25
107_1 Q0 d1 1 9.5 bm25
"""


def test_a_conversation_is_a_session_and_its_turns_are_iterations() -> None:
    """Turns by number, documents by score, equal scores from the greatest id down, as trec_eval has them."""
    sessions = list(stream_sessions(RUN, format="conversational-run"))
    found = [
        [[result.id for result in it.searches[0].results] for it in session.iterations]
        for session in sessions
    ]

    assert [session.task for session in sessions] == ["106", "107"]
    assert found == [[["d1", "d2"], ["d3", "d1"], ["d4"]], [["d1"]]]


def test_the_query_of_a_search_is_the_id_of_the_turn() -> None:
    """By which qrels name it."""
    session, _ = stream_sessions(RUN, format="conversational-run")

    assert [it.searches[0].query for it in session.iterations] == ["106_1", "106_2", "106_10"]


def test_a_run_is_never_taken_for_a_conversational_one_unasked() -> None:
    """Any run may have an underscore in the ids of its queries."""
    with pytest.raises(BadInput, match="has no known trace format"):
        list(stream_sessions(RUN))


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"106_1 Q0 d1 1 9.5", "5 columns, expected 6"),
        (b"106 Q0 d1 1 9.5 bm25", "query `106` names no turn"),
        (b"106_1 Q0 d1 1 nan bm25", "score is `nan`, expected a number"),
        (b"106_1 Q0 d1 1 high bm25", "score is `high`, expected a number"),
    ],
)
def test_a_faulty_line_is_refused_or_counted(line: bytes, what: str) -> None:
    """With its number, and left out by a lenient reading."""
    problems = TraceProblems()

    with pytest.raises(BadInput, match=f"bytes:7: {what}"):
        list(stream_sessions(RUN + line, format="conversational-run", strict=True))
    assert (
        len(list(stream_sessions(RUN + line, format="conversational-run", strict=False, problems=problems)))
        == 2
    )
    assert len(problems) == 1


def test_a_run_of_trec_cast_has_its_conversations_and_turns(shared_data: Callable[[str], Path]) -> None:
    """26 topics with 239 turns, as the source says, and 18,570 lines (`zcat org_manual_bm25.run.gz | wc -l`)."""
    run = shared_data("cast2021") / "org_manual_bm25.run.gz"
    sessions = list(stream_sessions(run, format="conversational-run"))
    results = sum(1 for session in sessions for _ in session.results())

    assert (len(sessions), sum(len(session.iterations) for session in sessions), results) == (26, 239, 18_570)
