"""`judged.compare` and `judged.gate` on evaluations of sessions: systems are paired by tasks, like runs by queries."""

from __future__ import annotations

from typing import Any

import pytest

import judged
from agents.conversations import conversation
from judged.agents.analysis import average_tasks
from judged.errors import BadInput, BadSample

A = [conversation(f"a{at}", f"x{gain}", task=f"t{at}") for at, gain in enumerate((2, 3, 4))]
B = [conversation(f"b{at}", f"x{gain} y2", system="b", task=f"t{at}") for at, gain in enumerate((2, 4, 4))]
AGAIN = conversation("b9", "x4", system="b", task="t0")
"""A second attempt of `b` at its first task, which gains 4 as the first did: 2 and 2."""


def score(sessions: list[dict[str, Any]]) -> judged.Evaluation:
    """The gains of sessions."""
    return judged.evaluate_sessions(sessions, "CG")


DIFFERENCES = {"t0": 2, "t1": 3, "t2": 2}


def test_one_evaluation_of_several_systems_and_several_of_one_are_compared_alike() -> None:
    """Whether the traces were read together or apart; a dict gives other names."""
    together = judged.compare(score([*A, *B, AGAIN]), baseline="a")
    apart = judged.compare([score(A), score([*B, AGAIN])], baseline="a")
    named = judged.compare({"old": score(A), "new": score([*B, AGAIN])}, baseline="old")

    assert together.differences("b", "a") == apart.differences("b", "a") == DIFFERENCES
    assert named.differences("new", "old") == DIFFERENCES
    assert together.unit == apart.unit == named.unit == "task"
    assert "b: 4 sessions on 3 tasks; each task has their mean" in map(str, apart.notes)


def test_evaluations_with_a_row_for_each_task_are_compared_as_they_are() -> None:
    """They are not averaged a second time, whose sessions are no longer theirs."""
    paired = judged.compare([average_tasks(score(A)), average_tasks(score([*B, AGAIN]))], baseline="a")

    assert paired.differences("b", "a") == DIFFERENCES


def test_a_gate_is_of_one_system_against_another_on_tasks() -> None:
    """Each side is one system of the evaluation."""
    systems = score([*A, *B, AGAIN]).systems
    report = judged.gate(systems["b"], baseline=systems["a"], min_delta="-2%")

    assert [(result.run_mean, result.baseline_mean, result.unit) for result in report.results] == [
        (pytest.approx((4 + 6 + 6) / 3), pytest.approx((2 + 3 + 4) / 3), "task")
    ]


def test_a_gate_of_several_systems_asks_for_one() -> None:
    """By its name."""
    with pytest.raises(BadInput, match=r"holds scores of 2 runs \(a, b\), expected one"):
        judged.gate(score([*A, *B]), baseline=score(A), min_delta="-2%")
    assert judged.gate(score([*A, *B]), baseline=score(A), run_name="b", min_delta="-2%").run == "b"


def test_one_system_is_compared_with_none() -> None:
    """As with runs."""
    with pytest.raises(BadSample, match=r"1 system was given \(a\)"):
        judged.compare(score(A))


def test_systems_of_one_name_are_refused() -> None:
    """Neither hides the other."""
    with pytest.raises(BadSample, match="2 systems are called `a`, expected different names"):
        judged.compare([score(A), score(A[:2])])


def test_places_in_files_pair_nothing() -> None:
    """Nor where each file was evaluated on its own."""
    unnamed = {"iterations": [{"searches": [{"results": [{"url": "https://a.org/1", "gain": 3}]}]}]}
    first, second = (judged.evaluate_sessions({name: [unnamed]}, "CG") for name in ("a", "b"))

    with pytest.raises(BadSample, match="no task in common; 2 sessions without a task id"):
        judged.compare([first, second])
