"""How a study asks a system: within a time, again after a failure, several queries at a time.

    query ──▶ attempt ──▶ attempt ──▶ … ──▶ an answer, or a failure that is recorded or ends the system

The times of a query are those of the attempt that answered; a failed query has none.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import msgspec

from judged.errors import JudgedError
from judged.net.retry import backoff
from judged.studies.running.answers import Asked
from judged.studies.stages.clock import Clock
from judged.studies.stages.stage import Query, Ranked, StageFailed
from judged.studies.systems.system import System, SystemFailed
from judged.wording import counted

if TYPE_CHECKING:
    from judged.studies.specification import StudySpec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a system may do wrong before it has failed."""

    on_error: Literal["fail", "empty", "skip"] = "fail"
    """What a failed query is: the failure of its system, a query without results, or left out for all systems."""
    max_failures: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """Failed queries after which the system has failed, unless `fail` says the first; None: all of them."""
    retries: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Further attempts at a query that fails."""
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Seconds that an attempt may take."""

    @classmethod
    def choose(cls, study: StudySpec, name: str) -> Limits:
        """Return the limits of a system: its own, and where it has none, those of the study."""
        system = next(system for system in study.systems if system.name == name)
        own = {field: getattr(system, field) for field in cls.__struct_fields__}
        return cls(
            **{field: getattr(study, field) if value is None else value for field, value in own.items()}
        )


class Wanted(NamedTuple):
    """A query that is to be asked."""

    query: str
    text: str
    sample: int
    """The pass over the queries, from 0; −1 is the warm-up."""


class Asker:
    """Asks one system."""

    def __init__(self, system: System, limits: Limits, concurrency: int = 1) -> None:
        self.system, self.limits, self.concurrency = system, limits, concurrency
        self.failed: list[Asked] = []
        """The queries that failed in every attempt."""
        self.answered = 0
        """Number of queries that were answered, in this run or before."""

    def warm_up(self, wanted: Iterable[Wanted]) -> dict[str, tuple[str, ...]]:
        """Ask queries for nothing but the warmth; return the documents of each that did not fail."""
        found = (self._ask(one) for one in wanted)
        return {asked.query: asked.documents for asked in found if not asked.error}

    def ask_all(self, wanted: Iterable[Wanted]) -> Iterator[Asked]:
        """Yield every query as it is answered; raise `StageFailed` once more have failed than the limits allow."""
        with _without_old_objects():
            for asked in self._ask_in_turn(wanted) if self.concurrency == 1 else self._ask_at_once(wanted):
                self._count(asked)
                yield asked
        if self.failed and not self.answered:
            msg = f"failed on every query, {len(self.failed):,} of them"
            raise self._give_up(msg)

    def _ask_in_turn(self, wanted: Iterable[Wanted]) -> Iterator[Asked]:
        return map(self._ask, wanted)

    def _ask_at_once(self, wanted: Iterable[Wanted]) -> Iterator[Asked]:
        """Keep as many queries on their way as `concurrency` says."""
        left = iter(wanted)
        with ThreadPoolExecutor(self.concurrency, thread_name_prefix="judged-ask") as pool:
            waiting: set[Future[Asked]] = set()
            try:
                while True:
                    some = islice(left, self.concurrency - len(waiting))
                    waiting |= {pool.submit(self._ask, one) for one in some}
                    if not waiting:
                        return
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _count(self, asked: Asked) -> None:
        """Count an answer, or a failure; raise `StageFailed` if it is one too many."""
        if not asked.error:
            self.answered += 1
            return
        self.failed.append(asked)
        most = self.limits.max_failures
        if most is not None and len(self.failed) > most:
            msg = f"failed on {counted(len(self.failed), 'query')}, more than `max_failures: {most}`"
            raise self._give_up(msg)

    def _give_up(self, what: str) -> StageFailed:
        first = self.failed[0]
        msg = f"system `{self.system.name}` {what}; the first: query `{first.query}`: {first.error}"
        return StageFailed(msg)

    def _ask(self, wanted: Wanted) -> Asked:
        """Return the answer to a query, or its failure, unless that is the failure of the system."""
        for attempt in range(self.limits.retries + 1):
            if attempt:
                sleep(backoff(attempt - 1, None))
            try:
                return self._ask_in_time(wanted)
            except JudgedError as error:
                last = error
        if self.limits.on_error == "fail":
            raise last
        hint = f" (hint: {last.hint})" if last.hint else ""
        return Asked.fail(wanted.query, max(wanted.sample, 0), f"{last.message}{hint}")

    def _ask_in_time(self, wanted: Wanted) -> Asked:
        """Return the answer; raise `SystemFailed` if it takes longer than it may.

        What takes too long cannot be stopped, so it goes on in a thread that nobody waits for.
        """
        timeout = self.limits.timeout
        if timeout is None:
            return _ask(self.system, wanted)
        future: Future[Asked] = Future()

        def run() -> None:
            try:
                future.set_result(_ask(self.system, wanted))
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                future.set_exception(error)

        Thread(target=run, name="judged-ask-in-time", daemon=True).start()
        try:
            return future.result(timeout)
        except TimeoutError:
            if future.done():  # of the system itself
                raise
            late = StageFailed(f"no answer in {timeout:g} s")
            raise SystemFailed(self.system.name, "total", late, wanted.query) from None


def _ask(system: System, wanted: Wanted) -> Asked:
    """Return the answer to a query with its times; where the skip policy skips it, also what it would have been."""
    query, text, sample = wanted
    clock = Clock()
    answer = system.answer(Query(query, text, clock, sample))
    clock.stop()
    anyway: Ranked | None = None
    # by a clock of its own: what a skipped query would have found is scored, but costs the system no time
    if not answer.retrieved and sample == 0:
        anyway = system.answer(
            Query(query, text, Clock(), sample=-1), skipping=False, generating=False
        ).ranked
    return Asked.record(query, max(sample, 0), answer, clock, anyway)  # a warm-up is never written


@contextmanager
def _without_old_objects() -> Iterator[None]:
    """Keep the garbage collector from looking through everything that was built: it would do so in a query's time."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
