"""Runs a tool on every case in a process of its own, which may crash or hang without harm to the runner.

Requests and verdicts are lines of JSON. The process runs this module too (`python -m conformance.examine TOOL`), and
is started again when a tool has brought it down.
"""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import gettempdir
from typing import IO, Any, TextIO

from conformance.cases import Case, Crashed, Failed, Measured, NotSupported
from conformance.drivers import Tool
from conformance.verdict import Outcome, Verdict, compare

__all__ = ["LIMIT", "examine", "judge"]

LIMIT = 120.0
"""Seconds for one measure of one case, the start of the tool included."""
TEMPORARY_PATH = re.compile(re.escape(gettempdir()) + r"[^\s'\"]*")


def examine(tool: Tool, cases: Sequence[Case], *, limit: float = LIMIT) -> list[Verdict]:
    """Return one verdict for each measure of each case."""
    if tool.version() is None:
        return [
            Verdict(case.id, measure.measure, "not installed", tool.how_to_install)
            for case in cases
            for measure in case.measures
        ]
    with _Worker.running(tool) as worker:
        return [worker.ask(case, number, limit) for case in cases for number in range(len(case.measures))]


class _Worker:
    """A process that answers for one tool, and is started again when it has died."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.process: subprocess.Popen[str] | None = None
        self.replies: queue.Queue[str] = queue.Queue()

    @classmethod
    @contextmanager
    def running(cls, tool: Tool) -> Iterator[_Worker]:
        """Return a worker that ends with the block."""
        worker = cls(tool)
        try:
            yield worker
        finally:
            worker.stop()

    def ask(self, case: Case, number: int, limit: float) -> Verdict:
        """Return the verdict of one measure of a case."""
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
            fields = json.loads(reply)
            numbers = {name: float(fields[name]) for name in ("all", "difference") if name in fields}
            return Verdict(**{**fields, **numbers})
        code = process.wait()
        self.stop()
        ending = f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return Verdict(case.id, measure.measure, "crash", ending)

    def _start(self) -> subprocess.Popen[str]:
        if self.process is None:
            paths = [os.environ.get("PYTHONPATH", ""), str(Path(__file__).parents[1])]
            self.process = subprocess.Popen(
                [sys.executable, "-m", "conformance.examine", self.tool.driver, self.tool.program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            )
            self.replies = queue.Queue()
            stream = _pipe(self.process.stdout)
            threading.Thread(target=_listen, args=(stream, self.replies), daemon=True).start()
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
    """Hand on each line, and an empty one at the end."""
    with stream:
        for line in stream:
            replies.put(line)
    replies.put("")


def _pipe(stream: IO[str] | None) -> IO[str]:
    if stream is None:
        msg = "the process was started without pipes"
        raise RuntimeError(msg)
    return stream


def judge(driver: Any, program: str, case: Case, measure: Measured) -> Verdict:
    """Return the verdict on one driver's answer to one measure of a case."""
    try:
        return compare(case, measure, driver.answer(case, measure, program))
    except NotSupported as reason:
        return Verdict(case.id, measure.measure, "not supported", str(reason))
    except Crashed as ending:
        return Verdict(case.id, measure.measure, "crash", str(ending))
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises is its outcome
        outcome: Outcome = "refused" if case.refused else "error"
        return Verdict(case.id, measure.measure, outcome, _describe(error))


def _describe(error: BaseException) -> str:
    """Return the kind of an error and the first line of its message, without paths of temporary files."""
    lines = TEMPORARY_PATH.sub("…", str(error)).strip().splitlines()
    if isinstance(error, Failed):
        return lines[0]
    return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__


def _answer_requests(name: str, program: str = "") -> None:
    """Answer requests on standard input until there are no more."""
    warnings.simplefilter("ignore")
    replies = _reserve_output()
    driver = import_module(f"conformance.drivers.{name}")
    for line in sys.stdin:
        request = json.loads(line)
        case = Case.read(request["case"])
        verdict = judge(driver, program, case, case.measures[request["measure"]])
        replies.write(json.dumps(verdict.to_dict()) + "\n")
        replies.flush()


def _reserve_output() -> TextIO:
    """Return standard output for replies alone; what tools print goes to standard error."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return replies


if __name__ == "__main__":
    _answer_requests(*sys.argv[1:])
