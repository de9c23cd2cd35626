"""Runs a tool on every case in a process of its own, which may crash or hang without harm to the runner."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from judged.conformance.cases import Case, Measured
from judged.conformance.drivers.catalogue import Tool
from judged.conformance.verdict import Verdict

__all__ = ["examine"]

LIMIT = 120.0
"""Seconds for one measure of one case, the start of the tool included."""


def examine(
    tool: Tool,
    cases: Sequence[Case],
    *,
    limit: float = LIMIT,
    progress: Callable[[Case], None] = lambda _: None,
) -> list[Verdict]:
    """One verdict for each measure of each case."""
    if tool.version() is None:
        return [
            Verdict(case.id, each.measure, "not installed", tool.how_to_install)
            for case in cases
            for each in case.measures
        ]
    verdicts = []
    with _Worker.running(tool) as worker:
        for case in cases:
            progress(case)
            verdicts += [worker.ask(case, number, limit) for number in range(len(case.measures))]
    return verdicts


class _Worker:
    """A process that answers for one tool, and is started anew when it has died."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.process: subprocess.Popen[str] | None = None
        self.replies: queue.Queue[str] = queue.Queue()

    @classmethod
    @contextmanager
    def running(cls, tool: Tool) -> Iterator[_Worker]:
        """A worker that ends with the block."""
        worker = cls(tool)
        try:
            yield worker
        finally:
            worker.stop()

    def ask(self, case: Case, number: int, limit: float) -> Verdict:
        """The verdict of one measure of a case."""
        measure = case.measures[number]
        process = self._start()
        request = json.dumps({"case": case.raw, "measure": number})
        with suppress(BrokenPipeError):
            _pipe(process.stdin).write(request + "\n")
            _pipe(process.stdin).flush()
        try:
            reply = self.replies.get(timeout=limit)
        except queue.Empty:
            self.stop()
            return Verdict(case.id, measure.measure, "crash", f"no answer within {limit:g} seconds")
        if reply:
            return Verdict(**{**json.loads(reply), **_numbers(json.loads(reply))})
        return self._crashed(case, measure)

    def _crashed(self, case: Case, measure: Measured) -> Verdict:
        """The verdict where the process ended instead of answering."""
        process = self._start()
        code = process.wait()
        self.stop()
        return Verdict(case.id, measure.measure, "crash", _ending(code))

    def _start(self) -> subprocess.Popen[str]:
        if self.process is None:
            command = [sys.executable, "-m", "judged.conformance.worker", self.tool.driver, self.tool.program]
            self.process = subprocess.Popen(  # noqa: S603 - our own module in our own interpreter
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
            )
            self.replies = queue.Queue()
            threading.Thread(
                target=_listen, args=(_pipe(self.process.stdout), self.replies), daemon=True
            ).start()
        return self.process

    def stop(self) -> None:
        """End the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            with suppress(BrokenPipeError):
                _pipe(self.process.stdin).close()
            self.process = None


def _listen(stream: IO[str], replies: queue.Queue[str]) -> None:
    """Hand on each line, and an empty one when there are no more."""
    with stream:
        for line in stream:
            replies.put(line)
    replies.put("")


def _pipe(stream: IO[str] | None) -> IO[str]:
    if stream is None:
        msg = "the process was started without pipes"
        raise RuntimeError(msg)
    return stream


def _numbers(reply: dict[str, object]) -> dict[str, object]:
    """Numbers that JSON has not, as floats again."""
    return {name: float(str(reply[name])) for name in ("all", "difference") if name in reply}


def _ending(code: int) -> str:
    """How a process ended, by the signal's name where it was one."""
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
