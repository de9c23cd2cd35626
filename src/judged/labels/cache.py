"""Cache of every paid answer, on disk before the next request counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from types import TracebackType
from typing import Any, NoReturn, Self

import msgspec

from judged.errors import Unreadable
from judged.labels.answer import Label
from judged.labels.form import Form
from judged.store.cache import Cache
from judged.store.lock import lock_file

_HINT = "earlier answers are safe unless the file is damaged: run the same command again, or name another file with `--cache`"
_DAMAGED = "the file is damaged or was changed: name another one with `--cache`"


@dataclass(frozen=True, slots=True)
class Grading:
    """One answer of a model: what it states or why it states nothing, its text, and what it took."""

    grade: Label | list[Any] | None
    """A label on the scale, the labels of a batch, or records."""
    failure: str | None
    answer: str | None
    model: str
    prompt: str
    settings: str = "{}"
    """Scale, temperature, seed and maximum length, as JSON."""
    structure: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    finish: str | None = None
    mass: float | None = None
    """Probability of all legal grades at the position of the digit, if the endpoint reports it."""
    seconds: float | None = None
    at: str = ""
    """Time of storage."""
    batch: str | None = None
    """Batch at the endpoint that the answer came with."""

    @property
    def complete(self) -> bool:
        """Whether the answer states everything that was asked; one about a batch may lack some labels."""
        return self.grade is not None and self.failure is None


@dataclass(frozen=True, slots=True)
class Past:
    """Cached state of a question: the answer that counts, and the tokens of all answers to it."""

    answer: Grading
    tokens_in: int
    tokens_out: int


class LabelCache:
    """Answers by key in one file that several processes may use; without a path, in memory."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = path
        self._entries = Cache(path, holds="labels", hint=_HINT, durable=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entries.close()

    def find(self, keys: Iterable[bytes], form: Form) -> dict[bytes, Past]:
        """Return what is known of each question answered before; the last complete answer counts.

        Raises `Unreadable` for what no answer of this form states, or counts below 0: the file is not as it was written.
        """
        answers: dict[bytes, list[Grading]] = {}
        for key, value in self._entries.find(keys):
            answers.setdefault(key, []).append(self._decode(value))
        return {key: self._sum_up(rows, form) for key, rows in answers.items()}

    def _sum_up(self, rows: Sequence[Grading], form: Form) -> Past:
        for row in rows:
            if row.grade is not None and not form.accepts(row.grade):
                self._refuse(f"the grade {str(row.grade)[:80]}, which is not on the scale")
            if row.tokens_in < 0 or row.tokens_out < 0:
                self._refuse("counts of tokens below 0")
        graded = [row for row in rows if row.complete] or [row for row in rows if row.grade is not None]
        tokens = [sum(getattr(row, name) for row in rows) for name in ("tokens_in", "tokens_out")]
        return Past((graded or rows)[-1], *tokens)

    def add(self, key: bytes, answer: Grading) -> None:
        """Store an answer; it is on disk when this returns."""
        self.merge([(key, answer)])

    def merge(self, answers: Iterable[tuple[bytes, Grading]]) -> list[tuple[bytes, Grading]]:
        """Store answers, all or none of them, and return those that are new: not stored with the same batch before."""
        now = datetime.now(UTC).isoformat()
        rows = list(answers)
        batched = [key for key, answer in rows if answer.batch is not None]
        known = {(key, self._decode(value).batch) for key, value in self._entries.find(batched)}
        new = [(key, replace(answer, at=now)) for key, answer in rows if (key, answer.batch) not in known]
        self._entries.add((key, msgspec.json.encode(answer)) for key, answer in new)
        return new

    def pace(self, model: str) -> tuple[float, float] | None:
        """Return mean seconds and mean tokens of a model's answers so far; None if it never answered."""
        answers = [answer for answer in map(self._decode, self._entries.read()) if answer.model == model]
        timed = [(answer.seconds, answer.tokens_out) for answer in answers if answer.seconds is not None]
        if not timed:
            return None
        seconds, tokens = zip(*timed, strict=True)
        return fmean(seconds), fmean(tokens)

    def _decode(self, value: bytes) -> Grading:
        try:
            # a damaged file may hold any bytes, and those of a text change no grade
            return msgspec.json.decode(value.decode(errors="replace"), type=Grading)
        except msgspec.DecodeError as error:
            self._refuse(f"what is not an answer: {error}")

    def _refuse(self, what: str) -> NoReturn:
        msg = f"the cache {self.path} holds {what}"
        raise Unreadable(msg, hint=_DAMAGED)


@contextmanager
def lock_cache(cache: str | Path | None, on_wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a cache, so that two jobs do not pay for the same questions.

    While another job has it, `on_wait` is called with which one, in words. The cache itself stays readable.
    """
    if cache is None:
        yield
        return
    hint = "name another file with `--cache`"
    with lock_file(Path(f"{cache}-job"), what=str(cache), hint=hint, on_wait=on_wait):
        yield
