"""Real trajectories, as their SOURCE.txt and the counts made of them by other means describe them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from judged.agents.tables import Session
from judged.agents.traces.context import ReadContext
from judged.agents.traces.open import open_traces
from judged.agents.traces.read import read_source

Shared = Callable[[str], Path]


def read(file: Path) -> tuple[list[Session], ReadContext]:
    """The sessions of a file, and what was counted on the way."""
    source = open_traces(file)
    reading = ReadContext(source.label, source.name)
    return list(read_source(source, reading)), reading


def test_webdancers_trajectories_have_the_counts_that_are_stated(shared_data: Shared) -> None:
    """200 trajectories, 204 calls of search, 153 of them with 3 queries, 5,533 results, 18 visits."""
    sessions, reading = read(shared_data("webdancer_traces") / "sample_traj.jsonl.gz")
    steps = [step for session in sessions for step in session.iterations]

    assert (len(sessions), len(steps), reading.searches["search"], reading.others) == (
        200,
        204,
        204,
        {"visit": 18},
    )
    assert Counter(len(step.searches) for step in steps)[3] == 153
    assert sum(len(search.results) for step in steps for search in step.searches) == 5533
    assert {session.turns for session in sessions} == {1}


def test_webdancers_results_are_whole(shared_data: Shared) -> None:
    """All have a URL and a title; the second of the first search was looked up by eye."""
    sessions, _ = read(shared_data("webdancer_traces") / "sample_traj.jsonl.gz")
    results = [result for session in sessions for result, _ in session.results()]
    second = results[1]

    assert all(result.url and result.title for result in results)
    assert second.url == "https://en.wikipedia.org/wiki/Santa_Claus_(horse)"
    assert second.snippet is not None
    assert second.snippet.startswith("Santa Claus (1961–1970) was a British-bred")


def test_react_on_hotpotqa_has_the_searches_that_are_stated(shared_data: Shared) -> None:
    """100 questions, 357 steps; searches per question 1:10 2:57 3:16 4:7 5:5 6:5."""
    sessions, _ = read(shared_data("hotpot_react_traces") / "react_base_100q.parsed.json.gz")

    assert (len(sessions), sum(session.steps for session in sessions)) == (100, 357)
    assert Counter(len(session.iterations) for session in sessions) == {1: 10, 2: 57, 3: 16, 4: 7, 5: 5, 6: 5}


def test_the_log_of_seven_trials_has_a_session_for_each_question(shared_data: Shared) -> None:
    """695 lines begin with `Question:` (zgrep -c '^Question:')."""
    sessions, reading = read(shared_data("hotpot_react_traces") / "react_reflexion_100q_7trials.txt.gz")

    assert len(sessions) == 695
    assert reading.unknown == {"Compare": 1}


@pytest.mark.parametrize("count", [1000, 5000, 20000])
def test_a_real_trace_cut_anywhere_is_refused_in_words(shared_data: Shared, count: int) -> None:
    """The first trajectory takes 37 kB."""
    import gzip

    from judged.agents.traces.read import read_sessions
    from judged.errors import BadInput

    content = gzip.decompress((shared_data("webdancer_traces") / "sample_traj.jsonl.gz").read_bytes())[:count]

    with pytest.raises(BadInput, match=f"bytes:1: is truncated after {count:,} bytes"):
        read_sessions(content)
