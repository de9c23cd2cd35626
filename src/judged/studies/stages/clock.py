"""The clock of pipelines: how long each stage of a query takes, in nanoseconds of `perf_counter_ns`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter_ns
from types import TracebackType

from judged.studies.stages.tokens import Spent

TOTAL = "total"
"""The name of the whole, from the query's text to its last stage."""
OTHER = "other"
"""The name of what is spent between stages."""


def sort_stages(stages: Iterable[str]) -> list[str]:
    """Return stages in their order, but what is spent between them, and the whole, at the end.

    >>> sort_stages(["total", "other", "retrieval"])
    ['retrieval', 'other', 'total']
    """
    return sorted(stages, key=lambda stage: (stage == TOTAL, stage == OTHER))


class Clock:
    """Times the stages of one query; a stage inside another one stops the outer one, so stages add up to the total.

    >>> clock = Clock()
    >>> with clock.stage("retrieval"), clock.stage("embedding"):
    ...     pass
    >>> sorted(clock.stop())
    ['embedding', 'retrieval', 'total']
    """

    def __init__(self) -> None:
        self._times: dict[str, int] = {}
        self._open: list[str] = []
        self._added = 0
        self.times: dict[str, int] = {}
        """The time of every stage and the total, once it was stopped."""
        self.spent: dict[str, list[Spent]] = {}
        """What was spent on tokens, by stage."""
        self._started = self._since = perf_counter_ns()

    def stage(self, name: str) -> _Stage:
        """Return a context in which time belongs to that stage; the same stage may be entered several times."""
        return _Stage(self, name)

    def add(self, name: str, nanoseconds: int) -> None:
        """Add time that was measured earlier, to the stage and to the total."""
        self._times[name] = self._times.get(name, 0) + nanoseconds
        self._added += nanoseconds

    def spend(self, name: str, spent: Sequence[Spent]) -> None:
        """Add what a stage spent on tokens."""
        if spent:
            self.spent.setdefault(name, []).extend(spent)

    def stop(self) -> dict[str, int]:
        """Return the time of every stage, in the order in which they ended, and the total."""
        self.times = {**self._times, TOTAL: perf_counter_ns() - self._started + self._added}
        return self.times

    def _enter(self, name: str) -> None:
        now = perf_counter_ns()
        self._credit(now)
        self._open.append(name)
        self._since = perf_counter_ns()

    def _leave(self) -> None:
        self._credit(perf_counter_ns())
        self._open.pop()
        self._since = perf_counter_ns()

    def _credit(self, now: int) -> None:
        """Give the time since the last change to the innermost open stage."""
        if self._open:
            name = self._open[-1]
            self._times[name] = self._times.get(name, 0) + now - self._since


class _Stage:
    """A stage of a clock while it is open."""

    __slots__ = ("_clock", "_name")

    def __init__(self, clock: Clock, name: str) -> None:
        self._clock, self._name = clock, name

    def __enter__(self) -> None:
        self._clock._enter(self._name)  # noqa: SLF001 - two halves of one thing

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clock._leave()  # noqa: SLF001
