"""Runbooks: steps of insertions, deletions and searches, as big-ann's streaming track has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Ints
from judged.errors import BadProtocol, UnknownName
from judged.io.settings import read_yaml

Operation: TypeAlias = Literal["insert", "delete", "replace", "search"]

_RANGES: Mapping[Operation, tuple[str, ...]] = {
    "insert": ("start", "end"),
    "delete": ("start", "end"),
    "replace": ("tags_start", "tags_end", "ids_start", "ids_end"),
    "search": (),
}


@dataclass(frozen=True)
class Step:
    """A step of a runbook, on the ids from `start` up to `end`."""

    number: int
    operation: Operation
    start: int = 0
    end: int = 0
    rows: int = -1
    """The first of the vectors that these ids get; −1: those of the same numbers."""


def read_runbook(text: str) -> tuple[Step, ...]:
    """Return the steps of a runbook of big-ann's streaming track: `FILE`, or `FILE:NAME` where it has several data sets."""
    path, _, name = (text, "", "") if Path(text).exists() else text.rpartition(":")
    document = read_yaml(Path(path or text))
    if not isinstance(document, Mapping) or not document:
        msg = f"{path} holds {type(document).__name__}, expected a data set with numbered steps"
        raise BadProtocol(msg)
    if not name:
        name = str(next(iter(document)))
        if len(document) > 1:
            msg = f"{path} has the data sets {', '.join(map(str, document))}"
            raise BadProtocol(msg, hint=f"--runbook {path}:{name}")
    if name not in document:
        kind = f"data set of {path}"
        raise UnknownName(kind, name, [str(known) for known in document])
    given = document[name]
    numbered = (
        {key: value for key, value in given.items() if isinstance(key, int)}
        if isinstance(given, Mapping)
        else {}
    )
    if not numbered:
        msg = f"{path}: `{name}` has no steps, expected 1, 2, … with `operation` each"
        raise BadProtocol(msg)
    return tuple(
        _read_step(number, numbered[number], f"{path}: step {number}") for number in sorted(numbered)
    )


def _read_step(number: int, given: object, place: str) -> Step:
    step = given if isinstance(given, Mapping) else {}
    operation: Operation | None = step.get("operation")
    if operation is None or operation not in _RANGES:
        msg = f"{place} has the operation `{operation}`, expected {', '.join(_RANGES)}"
        raise BadProtocol(msg)
    names = _RANGES[operation]
    ends = [step.get(name) for name in names]
    if not all(isinstance(end, int) for end in ends):
        msg = f"{place} ({operation}) has {ends}, expected whole numbers for {', '.join(names)}"
        raise BadProtocol(msg)
    start, end, rows, last = [*(int(str(end)) for end in ends), *((0, 0, -1, -1)[len(ends) :])]
    if (operation != "search" and not 0 <= start < end) or (rows >= 0 and last - rows != end - start):
        msg = f"{place} ({operation}) is from {start:,} to {end:,}, expected a range, and as many vectors as ids"
        raise BadProtocol(msg)
    return Step(number, operation, start, end, rows)


def follow_steps(steps: tuple[Step, ...], size: int) -> Iterator[tuple[Step, Ints]]:
    """Yield every step with the vector that each id has after it, −1 for none; raise `BadProtocol` for what cannot be."""
    row_of = np.full(size, -1, dtype=np.int64)
    for step in steps:
        place = f"step {step.number} ({step.operation} {step.start:,} to {step.end:,})"
        if max(step.end, step.rows + step.end - step.start) > size:
            msg = f"{place}, and there are {size:,} vectors"
            raise BadProtocol(msg)
        part = row_of[step.start : step.end]
        if step.operation == "insert" and (part >= 0).any():
            msg = f"{place}: {step.start + int(np.flatnonzero(part >= 0)[0]):,} is in the index already"
            raise BadProtocol(msg)
        if step.operation in {"delete", "replace"} and (part < 0).any():
            msg = f"{place}: {step.start + int(np.flatnonzero(part < 0)[0]):,} is not in the index"
            raise BadProtocol(msg)
        if step.operation == "search" and not (row_of >= 0).any():
            msg = f"step {step.number} searches an empty index"
            raise BadProtocol(msg)
        if step.operation == "delete":
            row_of[step.start : step.end] = -1
        elif step.operation != "search":
            first = step.start if step.rows < 0 else step.rows
            row_of[step.start : step.end] = np.arange(first, first + step.end - step.start)
        yield step, row_of.copy()


def find_rows_at(steps: tuple[Step, ...], number: int, size: int) -> Ints:
    """Return the vector that each id has at a step."""
    return next(row_of for step, row_of in follow_steps(steps, size) if step.number == number)


def name_runbook(step: Step) -> str:
    """Return the phase of a search step."""
    return f"runbook:{step.number}"
