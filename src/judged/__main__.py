"""The command `judged`, also as `python -m judged`: Ctrl-C ends it quietly at any moment, even while it is imported."""

import io
import os
import signal
import sys

TYPE_CHECKING = False  # nothing is imported before interrupts are handled
if TYPE_CHECKING:
    from typing import NoReturn

    from _typeshed import ReadableBuffer

INTERRUPTED, TERMINATED = 130, 143


def main() -> "NoReturn":
    """Run `judged` on the arguments of this process, and exit with its code."""
    signal.signal(signal.SIGINT, _leave)
    _open_streams()
    sys.unraisablehook = _report_unraisable
    from judged.cli.main import main as run

    signal.signal(signal.SIGINT, signal.default_int_handler)  # so that commands can clean up
    signal.signal(signal.SIGTERM, _terminate)
    try:
        run()
    except KeyboardInterrupt:
        _leave()
    except SystemExit as done:
        if done.code == INTERRUPTED:
            _leave()
        if done.code == TERMINATED:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.raise_signal(signal.SIGTERM)  # so that the caller sees what ended this process
        raise
    finally:
        signal.signal(signal.SIGINT, _leave)


def _open_streams() -> None:
    """Let the null device take the place of streams that are closed, and messages be lost that cannot be written.

    A closed descriptor would be given to the next file that is opened, and messages be written into that file. What
    standard error cannot take must not change the exit code, which is the verdict of a gate.
    """
    for descriptor, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:
            null = os.open(os.devnull, os.O_RDWR)  # takes the lowest free descriptor
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - lives until exit
    encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
    messages = io.BufferedWriter(_Unfailing(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(messages, encoding, errors="replace", line_buffering=True)


class _Unfailing(io.FileIO):
    """A stream that discards what it cannot write."""

    def write(self, data: "ReadableBuffer") -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data).cast("B"))


def _leave(*_: object) -> "NoReturn":
    """Exit at once, without the traceback that Python prints for an interrupt."""
    os._exit(INTERRUPTED)


def _terminate(*_: object) -> "NoReturn":
    """Exit in an orderly way, so that no draft of a file is left behind."""
    raise SystemExit(TERMINATED)


def _report_unraisable(problem: "sys.UnraisableHookArgs") -> None:
    """Exit on an interrupt that fell into code whose errors Python only prints."""
    if issubclass(problem.exc_type, KeyboardInterrupt):
        _leave()
    sys.__unraisablehook__(problem)


if __name__ == "__main__":
    main()
