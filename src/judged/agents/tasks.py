"""Tasks that several systems share: matched by id, else by the user's question, never by position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from judged.agents.builder import SessionKey
from judged.agents.traces.context import TraceProblems
from judged.errors import BadInput
from judged.problem import Problem
from judged.tables.content import normalise_text
from judged.wording import counted

SHOWN = 60
"""Characters of a question in a message."""


def pair_tasks(
    keys: Sequence[SessionKey], problems: TraceProblems, *, strict: bool = False
) -> list[SessionKey]:
    """Return the keys with one name for each task.

    A session without a task id belongs to the task of the same question. Under one id, the questions of several systems
    must be the same, or one part of the other, as with a prompt around it; otherwise there is a note, or if `strict` an
    error.
    """
    several = len({key.system for key in keys}) > 1
    if several:
        _check_questions(keys, problems, strict=strict)
    names = _names_by_question(keys)
    return [_rename(key, names, several=several) for key in keys]


def _names_by_question(keys: Iterable[SessionKey]) -> dict[str, str]:
    """Return the name of the task of each question: the id that one session has, else the question as first written."""
    ids: dict[str, set[str]] = defaultdict(set)
    written: dict[str, str] = {}
    for key in keys:
        if key.asked and key.task_from == "id":
            ids[normalise_text(key.asked)].add(key.task)
        elif key.task_from == "question":
            written.setdefault(normalise_text(key.task), key.task)
    return written | {question: min(names) for question, names in ids.items() if len(names) == 1}


def _rename(key: SessionKey, names: Mapping[str, str], *, several: bool) -> SessionKey:
    if key.task_from == "question":
        return replace(key, task=names.get(normalise_text(key.task), key.task))
    if key.task_from == "position" and several:
        return replace(key, task=f"{key.system}/{key.conversation}")
    return key


def _check_questions(keys: Iterable[SessionKey], problems: TraceProblems, *, strict: bool) -> None:
    """Note tasks whose questions differ between systems; raise `BadInput` if `strict`."""
    first: dict[str, dict[str, str]] = defaultdict(dict)
    for key in keys:
        if key.task_from in {"id", "conversation"} and key.asked:
            first[key.task].setdefault(key.system, key.asked)
    faults = [
        Problem.error("different-questions", f"task `{task}`", f"asks {' and '.join(parts)}")
        for task, asked in first.items()
        if (parts := _differing(asked))
    ]
    if faults and strict:
        hint = "systems are compared on the same questions: give each question its own task id, or none (without `--strict` they are compared all the same)"
        raise BadInput("the tasks", faults, hint=hint)
    if faults:
        problems.note(f"{counted(len(faults), 'task')} with different questions, first {faults[0]}")


def _differing(asked: Mapping[str, str]) -> list[str]:
    """Return two questions that differ, each with its system; none if all are the same or parts of each other."""
    (system, question), *others = asked.items()
    first = normalise_text(question)
    for name, text in others:
        other = normalise_text(text)
        if first not in other and other not in first:
            return [f"`{text[:SHOWN]}` in {name}" for name, text in ((system, question), (name, text))]
    return []
