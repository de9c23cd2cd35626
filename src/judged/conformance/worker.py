"""The process in which a tool runs: one request a line on standard input, one verdict a line on standard output.

It is started by `judged.conformance.examine`, and started again when a tool has brought it down.
"""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from importlib import import_module
from tempfile import gettempdir
from typing import Any, TextIO

from judged.conformance.cases import Case, Crashed, Failed, Measured, NotSupported
from judged.conformance.verdict import Outcome, Verdict, compared

__all__ = ["main"]

PASSING = re.compile(re.escape(gettempdir()) + r"[^\s'\"]*")


def main() -> None:
    """Answer requests until there are no more."""
    warnings.simplefilter("ignore")
    replies = _own_output()
    driver = import_module(f"judged.conformance.drivers.{sys.argv[1]}")
    program = sys.argv[2] if len(sys.argv) > 2 else ""
    for line in sys.stdin:
        request = json.loads(line)
        case = Case.read(request["case"])
        verdict = judge(driver, program, case, case.measures[request["measure"]])
        replies.write(json.dumps(verdict.to_dict()) + "\n")
        replies.flush()


def judge(driver: Any, program: str, case: Case, measure: Measured) -> Verdict:
    """What one driver makes of one measure of a case."""
    try:
        return compared(case, measure, driver.answer(case, measure, program))
    except NotSupported as reason:
        return Verdict(case.id, measure.measure, "not supported", str(reason))
    except Crashed as ending:
        return Verdict(case.id, measure.measure, "crash", str(ending))
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises is its outcome
        outcome: Outcome = "refused" if case.refused else "error"
        return Verdict(case.id, measure.measure, outcome, _words(error))


def _words(error: BaseException) -> str:
    """The kind of the error and the first line of its message, without the names of passing files."""
    lines = PASSING.sub("…", str(error)).strip().splitlines()
    if isinstance(error, Failed):
        return lines[0]
    return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__


def _own_output() -> TextIO:
    """Standard output for replies alone: what tools print goes to standard error."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return replies


if __name__ == "__main__":
    main()
