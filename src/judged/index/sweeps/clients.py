"""Clients as processes: each is forked from the process that holds the index, and opens a searcher of its own.

Clients that are threads of one process share its interpreter, and with searches of less than a millisecond they measure
that. A forked process shares the memory of an in-process index without copying it, and opens its own connection to a server.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from time import perf_counter_ns, process_time
from typing import TypeAlias

from judged.errors import EngineFailed
from judged.index.engine import Engine, Search
from judged.index.load import Samples, wait_until

Loop: TypeAlias = Callable[[int, Search, Samples, int], None]
"""Asks queries: the number of the client, its searcher, where samples go, and the moment to begin."""

PATIENCE = 60.0
"""Seconds that clients may take to open their searchers, and to end after their time."""
AHEAD = 5_000_000
"""Nanoseconds between the word to begin and the beginning, so that every process has heard it."""


def can_fork(engine: Engine, threads: int) -> bool:
    """Return whether an engine works in a forked process: without threads of its own, which a fork does not have."""
    can = engine.capabilities
    return sys.platform == "linux" and can.forks and (can.remote or threads == 1)


@dataclass(frozen=True)
class ProcessClients:
    """Clients that are processes; each calls `open_search` for itself."""

    open_search: Callable[[], Search]
    count: int

    def __len__(self) -> int:
        return self.count

    def make_counter(self) -> Callable[[], int]:
        """Return a function that counts from 0 over all processes."""
        value = get_context("fork").Value("q", 0)

        def count() -> int:
            with value.get_lock():
                value.value += 1
                return int(value.value) - 1

        return count

    def run(self, loop: Loop, *, seconds: float) -> tuple[Samples, float]:
        """Run the loop in every process, all from one moment on; return all samples and the seconds until the last ended."""
        context = get_context("fork")
        pipes = [context.Pipe() for _ in range(self.count)]
        processes = [
            context.Process(target=self._work, args=(loop, number, theirs), daemon=True)
            for number, (_, theirs) in enumerate(pipes)
        ]
        with warnings.catch_warnings(
            action="ignore", category=DeprecationWarning
        ):  # of forks in a process with threads
            for process in processes:
                process.start()
        try:
            for (ours, _), process in zip(pipes, processes, strict=True):
                _receive(ours, process.sentinel, PATIENCE)
            begin = perf_counter_ns() + AHEAD
            for ours, _ in pipes:
                ours.send(begin)
            whole = Samples()
            for (ours, _), process in zip(pipes, processes, strict=True):
                part = _receive(ours, process.sentinel, seconds + PATIENCE)
                if part is not None:
                    whole.extend(part)
                    whole.cpu += part.cpu
        finally:
            for process in processes:
                process.kill()
                process.join()
            for pair in pipes:
                for end in pair:
                    end.close()
        return whole, (max(whole.end, default=begin) - begin) / 1e9

    def _work(self, loop: Loop, number: int, pipe: Connection) -> None:
        # whatever the engine holds is the parent's: nothing of it is closed here
        with suppress(BaseException):
            try:
                search, samples = self.open_search(), Samples()
                gc.collect()
                gc.disable()
                pipe.send(None)
                if pipe.poll(2 * PATIENCE):
                    begin = pipe.recv()
                    wait_until(begin)
                    started = process_time()
                    loop(number, search, samples, begin)
                    samples.cpu = process_time() - started
                    pipe.send(samples)
            except Exception as error:  # noqa: BLE001 - engines raise anything; the parent raises it again
                pipe.send(f"{type(error).__name__}: {error}")
        os._exit(0)


def _receive(pipe: Connection, sentinel: int, patience: float) -> Samples | None:
    """Return what a client sent: None when it is ready, then its samples; raise `EngineFailed` if it cannot."""
    # an end of the pipe tells nothing: other clients, forked later, hold it too
    ready = wait([pipe, sentinel], patience)
    if not ready:
        msg = f"a client did not answer within {patience:g} seconds"
        raise EngineFailed(msg)
    if pipe not in ready and not pipe.poll():
        msg = "the process of a client ended"
        raise EngineFailed(msg)
    message: Samples | str | None = pipe.recv()
    if isinstance(message, str):
        msg = f"a client failed: {message}"
        raise EngineFailed(msg)
    return message
