"""What an engine uses: processor time and memory of its processes, blocks on disk, and what other work uses meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from types import ModuleType
from typing import Any

from judged.index.engine import Engine
from judged.index.load import Samples

BLOCK = 512
"""The unit of `st_blocks`, whatever the size of the blocks of a disk."""


@dataclass(frozen=True)
class Usage:
    """Processor time and memory of this process, of the engine's others, and of the machine, at one moment."""

    client: float
    server: float | None = None
    memory: int | None = None
    machine: float | None = None
    """Seconds that all processors together were busy since the machine started."""
    moment: float = 0.0

    @property
    def cpu(self) -> float:
        """Seconds of this process and of the server."""
        return self.client + (self.server or 0.0)

    @classmethod
    def of(cls, engine: Engine, processes: Iterable[int] = ()) -> Usage:
        """Ask for the usage; only this process's time is known without psutil.

        `processes` are clients of the engine, whose time counts as this process's.
        """
        try:
            import psutil
        except ImportError:
            return cls(process_time(), moment=perf_counter())
        # unique memory: processes of a server share pages, which a sum of resident sizes would count repeatedly
        memory, server = psutil.Process().memory_full_info().uss, None
        for root in _find_processes(psutil, engine):
            try:
                times = root.cpu_times()
                server = (server or 0.0) + sum(times[:4])  # its own and those of children that have ended
                for process in (root, *root.children(recursive=True)):
                    memory += process.memory_full_info().uss
                    server += sum(process.cpu_times()[:2]) if process is not root else 0.0
            except psutil.Error:
                continue  # it ended in between
        clients = sum(
            sum(psutil.Process(number).cpu_times()[:2]) for number in processes if psutil.pid_exists(number)
        )
        times = psutil.cpu_times()
        # the time of guests is part of that of users
        idle = times.idle + getattr(times, "iowait", 0.0) + getattr(times, "guest", 0.0)
        busy = sum(times) - idle - getattr(times, "guest_nice", 0.0)
        return cls(process_time() + clients, server, memory, busy, perf_counter())


def find_others(before: Usage, after: Usage) -> float | None:
    """Return how many processors were kept busy in between by neither the engine nor the benchmark; None: not known."""
    if before.machine is None or after.machine is None:
        return None
    seconds = max(after.moment - before.moment, 1e-9)
    return max(0.0, (after.machine - before.machine - (after.cpu - before.cpu)) / seconds)


def cpu_per_query(samples: Samples, before: Usage, after: Usage) -> tuple[float, float | None]:
    """Return milliseconds of processor time for each answered query, of the clients and of the server."""
    queries = max(samples.answered, 1)
    if before.server is None or after.server is None:
        return samples.cpu * 1000 / queries, None
    return samples.cpu * 1000 / queries, (after.server - before.server) * 1000 / queries


def measure_folder(folder: Path) -> int:
    """Return the bytes that a folder takes on its disk: allocated blocks, since files may have holes."""
    total = 0
    for path in folder.rglob("*"):
        if path.is_file():
            status = path.stat()
            blocks = getattr(status, "st_blocks", None)
            total += status.st_size if blocks is None else BLOCK * blocks
    return total


def _find_processes(psutil: ModuleType, engine: Engine) -> list[Any]:
    try:
        numbers = engine.stats().processes
    except (AttributeError, NotImplementedError):  # before `create`
        return []
    return [psutil.Process(number) for number in numbers if psutil.pid_exists(number)]
