"""Sessions of several systems are paired by the id of the task, else by the question, never by position."""

from __future__ import annotations

from typing import Any

import pytest

import judged
from judged.agents.family import session_keys
from judged.errors import BadInput, BadSample

SEARCH = {"iterations": [{"searches": [{"results": [{"url": "https://e.org/1", "gain": 3}]}]}]}
EMPTY: dict[str, Any] = {"iterations": [{"searches": [{"results": []}]}]}


def asked(question: str, *, found: bool = True, **names: str) -> dict[str, Any]:
    """A session with that question."""
    return {**names, "turns": [{"question": question, **(SEARCH if found else EMPTY)}]}


def tasks(*, strict: bool = False, **sources: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The system and the task of every session."""
    evaluation = judged.evaluate_sessions(sources, "CG", strict=strict)
    return [(key.system, key.task) for key in session_keys(evaluation)]


def test_sessions_without_ids_are_paired_by_their_questions_in_any_order() -> None:
    """Both systems find something on the same question, which comes first in one file and last in the other."""
    a = [asked("Who?"), asked("Where?", found=False)]
    b = [asked("where ?", found=False), asked("  WHO? ")]
    found = judged.compare(judged.evaluate_sessions({"a": a, "b": b}, "CG"), baseline="a")

    assert tasks(a=a, b=b) == [("a", "Who?"), ("a", "Where?"), ("b", "Where?"), ("b", "Who?")]
    assert [row["difference"] for row in found.rows("differences")] == [0.0]
    assert "tasks paired by the text of the question" in [note.message for note in found.notes]


def test_a_session_without_an_id_joins_the_task_of_its_question() -> None:
    """One system names the task, the other only asks."""
    assert tasks(a=[asked("Who?")], b=[asked("Who?", task="t1")]) == [("a", "t1"), ("b", "t1")]


def test_line_numbers_pair_nothing() -> None:
    """Two files of sessions without ids and without questions have no task in common."""
    assert tasks(a=[SEARCH], b=[SEARCH]) == [("a", "a/1"), ("b", "b/1")]
    with pytest.raises(
        BadSample, match="no task in common; 2 sessions without a task id and without a question"
    ):
        judged.compare(judged.evaluate_sessions({"a": [SEARCH], "b": [SEARCH]}, "CG"), baseline="a")


def test_a_task_with_different_questions_is_an_error_in_words() -> None:
    """Both questions are quoted, with their systems; a prompt around the question is no difference."""
    a = [asked("Who built it?", task="t1")]
    with pytest.raises(BadInput, match="asks `Who built it\\?` in a and `How tall is it\\?` in b"):
        tasks(a=a, b=[asked("How tall is it?", task="t1")], strict=True)

    assert tasks(a=a, b=[asked("Answer briefly.\nWho built it?", task="t1")]) == [("a", "t1"), ("b", "t1")]


def test_a_follow_up_is_another_task_in_another_conversation() -> None:
    """What was asked before is part of the question."""
    first = [{"question": "The Eiffel Tower?"}, {"question": "How tall is it?", **SEARCH}]
    other = [{"question": "The Burj Khalifa?"}, {"question": "How tall is it?", **SEARCH}]
    names = tasks(a=[{"turns": first}], b=[{"turns": other}])

    assert [task for _, task in names] == [
        "The Eiffel Tower? / How tall is it?",
        "The Burj Khalifa? / How tall is it?",
    ]


def test_labels_given_by_line_number_grade_no_other_question() -> None:
    """A label of task `1` is none of the first line's."""
    labels = [{"task": "1", "url": "https://e.org/2", "gain": 4}]
    trace = {"iterations": [{"searches": [{"results": [{"url": "https://e.org/2"}]}]}]}

    assert judged.evaluate_sessions([trace], "CG", labels=labels)["CG"] == 0


def test_an_agent_that_fails_on_half_the_tasks_does_not_win() -> None:
    """A session that found nothing, and one that never searched, are 0 in the means; only SRR leaves them out."""
    half = [asked("Who?"), asked("Where?", found=False), {"task": "3", "turns": [{"question": "When?"}]}]
    found = judged.evaluate_sessions({"half": half}, "CG RG DRG RAG DRAG AvgGain SRE SRR")
    means = {str(measure).removesuffix("@last"): round(found[measure], 6) for measure in found.measures}

    assert means == dict.fromkeys(("CG", "RG", "DRG", "RAG", "DRAG", "AvgGain"), 1.0) | {
        "SRE": 0.333333,
        "SRR": 0.0,
    }
    assert found.undefined("SRR") == 2
