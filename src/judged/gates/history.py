"""The history of a gate: how often one set of judgments has decided, and what that does to the error rate.

A gate that decides about change after change on the same queries is a test that is repeated: sooner or later a worse
run passes by chance, and tuning against the verdicts overfits the queries. The log that CI keeps has a
line for each decision, with digests of the judgments and the run; a run that is decided again is not another look.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from judged.errors import BadInput, BadProtocol, Unreadable
from judged.gates.result import GateReport
from judged.problem import Problem

START = b'{"time":"'
"""How every line begins: one that does not is of another file."""


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
    looks = [*_read_log(path), Look(now, judgments, run, report.name, report.verdict)]
    _append(path, looks[-1])
    runs = dict.fromkeys(look.run for look in looks if look.judgments == judgments)
    # a run that is decided again keeps its number
    return replace(report, looks=list(runs).index(run) + 1)


def _read_log(path: Path) -> list[Look]:
    """Return the decisions so far; a line that was cut when a process died is passed over, also once others follow it."""
    try:
        lines = path.read_bytes().splitlines() if path.exists() else []
    except OSError as error:
        msg = f"the history {path} cannot be read: {error.strerror}"
        raise Unreadable(msg) from None
    looks: list[Look] = []
    for number, line in enumerate(lines, 1):
        try:
            looks.append(msgspec.json.decode(line, type=Look))
        except msgspec.DecodeError as error:
            if not (line.startswith(START) or START.startswith(line)):
                problem = Problem.error(
                    "bad-history", f"line {number}", f"is not a decision of a gate: {error}"
                )
                hint = "`--history` names a file that `judged gate` itself writes"
                raise BadInput(str(path), [problem], hint=hint) from None
    return looks


def _append(path: Path, look: Look) -> None:
    """Write a line, on the disk before the verdict is printed; a line that was cut is ended first."""
    try:
        with path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                cut = file.read(1) != b"\n"
            else:
                cut = False
            file.write(b"\n" * cut + msgspec.json.encode(look) + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        msg = f"the history {path} cannot be written: {error.strerror}"
        raise Unreadable(msg) from None
