"""Comparison of systems of sessions: on the tasks that they share, with the mean of a system's sessions on each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from judged.agents.analysis import average_tasks
from judged.agents.builder import SessionKey
from judged.agents.family import session_keys
from judged.errors import BadSample
from judged.problem import Note
from judged.scoring.evaluation import Evaluation
from judged.wording import counted

_WORDS = {
    "id": "by id",
    "question": "by the text of the question",
    "conversation": "by the id of the conversation",
}

Keys = Sequence[tuple[str, Sequence[SessionKey]]]
"""Each system, by name, with its sessions."""


def pair_systems(evaluations: Sequence[Evaluation]) -> tuple[list[Evaluation], list[Note]]:
    """Return each system of the evaluations with a row for each task, and notes on how the tasks were paired."""
    systems = [system for whole in evaluations for system in whole.systems.values()]
    keys = [(system.system, session_keys(system)) for system in systems]
    _check_shared(keys)
    return [average_tasks(system) for system in systems], [*_describe_pairing(keys), *_note_repeated(keys)]


def _note_repeated(systems: Keys) -> Iterator[Note]:
    """Yield a note for each system that did tasks more than once."""
    for name, keys in systems:
        tasks = len({key.task for key in keys})
        if tasks < len(keys):
            value = f"{counted(len(keys), 'session')} on {counted(tasks, 'task')}"
            fact = "several sessions on a task, which has their mean"
            yield Note("repeated-tasks", "info", f"{value}; each task has their mean", fact, value, name)


def _check_shared(systems: Keys) -> None:
    """Raise `BadSample` unless the systems have a task in common."""
    if _find_shared(systems) or len(systems) < 2:
        return
    unnamed = sum(key.task_from == "position" for _, keys in systems for key in keys)
    why = f"; {counted(unnamed, 'session')} without a task id and without a question" if unnamed else ""
    names = " and ".join(f"`{system}`" for system, _ in systems)
    msg = f"{names} have no task in common{why}"
    raise BadSample(msg, hint="tasks are paired by `task` (or `query_id`), else by the text of the question")


def _find_shared(systems: Keys) -> set[str]:
    """Return the tasks that all systems did; a place in a file names none."""
    named = ({key.task for key in keys if key.task_from != "position"} for _, keys in systems)
    return set.intersection(*named)


def _describe_pairing(systems: Keys) -> list[Note]:
    """Return notes on how the tasks of systems were paired, and on sessions that belong to no other system's task."""
    shared = _find_shared(systems)
    source = {key.task: key.task_from for _, keys in systems for key in keys if key.task in shared}
    counts = Counter(source.values()).most_common()
    notes = []
    if counts:
        ways = ", ".join(f"{count:,} {_WORDS[how]}" for how, count in counts)
        message = f"tasks paired {_WORDS[counts[0][0]]}" if len(counts) == 1 else f"tasks paired: {ways}"
        notes.append(Note("task-pairing", "info", message))
    unnamed = sum(key.task_from == "position" for _, keys in systems for key in keys)
    if unnamed:
        message = f"{counted(unnamed, 'session')} with neither a task id nor a question: not compared"
        notes.append(Note("unnamed-tasks", "warning", message))
    return notes
