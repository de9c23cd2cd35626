"""One tool in a process of its own: what it cost in processor time, wall time and memory."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"),
    "1",
)
ENOUGH = 60.0
"""Seconds of one tool after which it is not repeated."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a process does."""

    label: str
    tool: str
    calls: int = 1
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """The cheapest of several calls, each the first of its process unless `warm` says otherwise."""

    cpu: float
    wall: float
    process_cpu: float
    """CPU time of the whole process, with interpreter and imports."""
    memory: float
    """Megabytes of its own at the peak above those before the call; mapped files do not count."""
    means: dict[str, float]
    warm: float | None = None
    """Processor time of a second call in the same process."""


class Failed(Exception):
    """A tool could not do its job; the message is the last line it wrote."""


def measure(task: Task, qrels: Path, run: Path, *, repeat: int) -> Cost:
    """Return the cheapest of `repeat` processes, fewer if they take long."""
    costs: list[Cost] = []
    began = time.perf_counter()
    while len(costs) < repeat and (not costs or time.perf_counter() - began < ENOUGH):
        costs.append(_once([task.tool, str(qrels), str(run), str(task.calls)], ONE_THREAD | dict(task.env)))
    return min(costs, key=lambda cost: cost.cpu)


def _once(arguments: list[str], env: dict[str, str]) -> Cost:
    command = [sys.executable, str(Path(__file__).with_name("tools.py")), *arguments]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | env
    )
    memory = _Memory(child.pid)
    ready = child.stdout.readline()
    memory.settled = True
    out, err = child.stdout.read(), child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    memory.stop()
    if child.returncode or not ready:
        raise Failed((err.strip() or f"exit code {child.returncode}").splitlines()[-1])
    calls = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return Cost(
        cpu=calls[0]["cpu"],
        wall=calls[0]["wall"],
        process_cpu=usage.ru_utime + usage.ru_stime,
        memory=memory.own,
        means=calls[0]["means"],
        warm=calls[1]["cpu"] if len(calls) > 1 else None,
    )


class _Memory:
    """Watches the anonymous memory of a process from outside, at no cost to it."""

    def __init__(self, pid: int) -> None:
        self._status = Path(f"/proc/{pid}/status")
        self._before = self._peak = 0.0
        self._over = threading.Event()
        self.settled = False
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    @property
    def own(self) -> float:
        """Megabytes at the peak above those when the job began; NaN if the system does not say."""
        return self._peak - self._before if self._peak else float("nan")

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.002):
            try:
                found = re.search(r"RssAnon:\s+(\d+) kB", self._status.read_text())
            except OSError:  # it has ended, or there is no /proc
                return
            if found is None:
                continue
            now = int(found[1]) / 1024
            if not self.settled:
                self._before = now
            self._peak = max(self._peak, now)
