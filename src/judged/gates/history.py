"""The history of a gate: how often one set of judgments has decided, and what that does to the error rate.

A gate that decides about change after change on the same queries is a test that is repeated: sooner or later a worse
run passes by chance, and tuning against the verdicts overfits the queries. The log that CI keeps has a
line for each decision, with digests of the judgments and the run; a run that is decided again is not another look.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from judged.errors import BadInput, BadProtocol, Unreadable
from judged.gates.result import GateReport
from judged.problem import Problem
from judged.store.log import Log

START = b'{"time":"'
"""Prefix of every line: a line without it is of another file."""


class Look(msgspec.Struct, frozen=True):
    """A line of the log: one decision of a gate."""

    time: str
    judgments: str
    """The SHA-256 of the judgments."""
    run: str
    """The SHA-256 of the run."""
    gate: str
    verdict: str


def record_look(report: GateReport, path: Path) -> GateReport:
    """Add a decision to the log, and return the report with the number of looks at its judgments, this one included."""
    digests = {file.role: file.sha256 for file in report.provenance.inputs}
    judgments, run = digests.get("judgments"), digests.get("run")
    if judgments is None or run is None:
        msg = f"{report.name}: the {'run' if judgments else 'judgments'} cannot be counted: there is no file to take a digest of"
        raise BadProtocol(
            msg, hint="`--history` counts looks at files; leave it out, or save standard input first"
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    log = Log(path, msgspec.json.Decoder(Look).decode)
    with _explain(path, "read"):
        looks = list(log.read(on_damage=lambda *line: _refuse_foreign(path, *line)))
    looks.append(Look(now, judgments, run, report.name, report.verdict))
    with _explain(path, "written"):
        log.append(looks[-1])  # on the disk before the verdict is printed
    runs = dict.fromkeys(look.run for look in looks if look.judgments == judgments)
    # a run that is decided again keeps its number
    return replace(report, looks=list(runs).index(run) + 1)


def _refuse_foreign(path: Path, number: int, line: bytes, error: Exception) -> None:
    """Raise `BadInput` for a line that is not the beginning of a decision, as one is that was cut."""
    text = line.rstrip(b"\r\n")
    if not (text.startswith(START) or START.startswith(text)):
        problem = Problem.error("bad-history", f"line {number}", f"is not a decision of a gate: {error}")
        hint = "`--history` names a file that `judged gate` itself writes"
        raise BadInput(str(path), [problem], hint=hint) from None


@contextmanager
def _explain(path: Path, verb: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        msg = f"the history {path} cannot be {verb}: {error.strerror}"
        raise Unreadable(msg) from None
