"""Sessions as they happened: counts by iteration, costs, and where duplicates come from, counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

import judged
from judged.agents.analysis import count_by_iteration, find_costs
from judged.agents.tables import Hit, Iteration, Search, Session, Sessions
from judged.agents.timeline import count_redundancy, make_timelines
from judged.errors import BadProtocol
from judged.scoring.evaluation import Evaluation

GAINS = {"a": 3, "b": 0, "c": 2, "d": None}


def search(query: str, names: str, tool: str = "web") -> Search:
    """Return a search whose results have one letter each."""
    results = (Hit(title=name, url=f"https://example.org/{name}", gain=GAINS[name]) for name in names)
    return Search(query=query, tool=tool, results=tuple(results))


@pytest.fixture
def evaluation() -> Evaluation:
    """Two sessions of one agent and one of another."""
    return evaluate(explain=True)


def evaluate(**options: Any) -> Evaluation:
    """Return the evaluation of three small sessions."""
    sessions = [
        Session(
            conversation="s1",
            system="one",
            task="t1",
            question="What?",
            iterations=(
                Iteration(searches=(search("x", "ab"), search("y", "ac")), tokens=10, seconds=1.0, cost=0.25),
                Iteration(
                    searches=(search(" X ", "ad"), search("z", "cc")), tokens=20, seconds=2.0, cost=0.5
                ),
            ),
        ),
        Session(
            conversation="s2", system="one", task="t2", iterations=(Iteration(searches=(search("x", ""),)),)
        ),
        Session(
            conversation="s3", system="two", task="t1", iterations=(Iteration(searches=(search("x", "bb"),)),)
        ),
    ]
    return judged.evaluate_sessions(Sessions.from_sessions(sessions), **options)


def test_results_are_counted_by_iteration(evaluation: Evaluation) -> None:
    """New and good, new and other, duplicates; sessions and searches that took part."""
    found = [
        (row.iteration, row.running, row.searches, row.results, row.good, row.other, row.duplicates)
        for row in count_by_iteration(evaluation.systems["one"])
    ]

    assert found == [(1, 2, 3, 4, 2, 1, 1), (2, 1, 2, 4, 0, 1, 3)]


def test_duplicates_have_one_source_each(evaluation: Evaluation) -> None:
    """The same query again, whatever its case; another query; twice in one list."""
    assert count_redundancy(evaluation) == {
        "one": {"list": 1, "again": 1, "parallel": 1, "later": 1},
        "two": {"list": 1, "again": 0, "parallel": 0, "later": 0},
    }


def test_a_timeline_has_searches_in_order_and_first_occurrences(evaluation: Evaluation) -> None:
    """Duplicates name the iteration that first found them; unlabelled results have no gain."""
    first, second, _ = make_timelines(evaluation)
    shown = [
        (
            found.iteration,
            found.query,
            [(one.result.title, one.gain, one.new, one.first) for one in found.results],
        )
        for found in first.searches
    ]

    assert shown == [
        (1, "x", [("a", 3, True, 1), ("b", 0, True, 1)]),
        (1, "y", [("a", 3, False, 1), ("c", 2, True, 1)]),
        (2, " X ", [("a", 3, False, 1), ("d", None, True, 2)]),
        (2, "z", [("c", 2, False, 1), ("c", 2, False, 1)]),
    ]
    assert (first.question, first.iterations, first.duplicates) == ("What?", 2, 4)
    assert [found.results for found in second.searches] == [()]


def test_costs_are_totals_of_sessions(evaluation: Evaluation) -> None:
    """Good gain, tokens, seconds and money; unknown where an iteration does not say."""
    first, second = find_costs(evaluation.systems["one"])

    assert (first.session, first.gain, first.tokens, first.seconds) == ("s1", 5.0, 30.0, 3.0)
    assert first.cost == 0.75
    assert second.tokens != second.tokens
    assert second.cost != second.cost


def test_sessions_that_were_not_kept_are_named_as_such() -> None:
    """Without `explain` there is nothing to replay."""
    with pytest.raises(BadProtocol, match="were not kept"):
        next(make_timelines(evaluate()))
