"""trec_eval, the program: flags as the case spells them, values as printed, to four digits."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from judged.conformance.cases import Case, Crashed, Failed, Measured, NotSupported
from judged.conformance.verdict import Answer

__all__ = ["answer", "version"]

UNKNOWN = "illegal measure"
"""What it says of a name that it does not know."""


def version(program: str) -> str | None:
    """The version that the program prints, or None where there is no such program."""
    if shutil.which(program or "trec_eval") is None:
        return None
    told = _run([program or "trec_eval", "--version"])
    found = re.search(r"version (\S+)", told.stdout + told.stderr)
    return found[1] if found else "of unknown version"


def answer(case: Case, measure: Measured, program: str) -> Answer:
    """What trec_eval prints for one measure."""
    tenth = (version(program) or "").startswith("10")
    case.must_follow(
        measure,
        precision={"float64"} if tenth else set(),
        recall_points={"rounded"} if tenth else set(),
        missing={"skip"},
        unjudged={"removed"},
        depth={case.protocol["depth"]},
        rel={case.protocol["rel"]},
    )
    if measure.trec_eval is None:
        msg = "has no such measure"
        raise NotSupported(msg)
    flags = [*_flags(case), *measure.trec_eval.split()]
    with TemporaryDirectory() as folder:
        told = _run([program or "trec_eval", "-q", *flags, *case.write(Path(folder))])
    if re.search(UNKNOWN, told.stderr):
        msg = "has no such measure"
        raise NotSupported(msg)
    if told.returncode < 0:
        msg = f"ended by {signal.Signals(-told.returncode).name}"
        raise Crashed(msg)
    if told.returncode:
        raise Failed(_last_words(told))
    return _read(told.stdout, f"trec_eval -q {' '.join(flags)} qrels run")


def _flags(case: Case) -> list[str]:
    protocol = case.protocol
    flags = ["-c"] if protocol["missing"] == "zero" else []
    flags += ["-J"] if protocol["unjudged"] == "removed" else []
    flags += ["-M", str(protocol["depth"])] if protocol["depth"] else []
    flags += ["-l", str(protocol["rel"])] if protocol["rel"] != 1 else []
    return flags


def _read(printed: str, call: str) -> Answer:
    rows = [line.split("\t") for line in printed.splitlines() if line.count("\t") == 2]
    values = {query: value for name, query, value in rows if name.strip() != "runid"}
    if "all" not in values:
        msg = "nothing was printed"
        raise Failed(msg)
    total = values.pop("all")
    digits = 4 if "." in total else None
    queries = {query: float(value) for query, value in values.items()}
    return Answer(queries, float(total), digits, call)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - the program that the user named
        command, check=False, capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=60
    )


def _last_words(told: subprocess.CompletedProcess[str]) -> str:
    """The exit code, and the last line that the program printed."""
    lines = told.stderr.strip().splitlines()
    return f"exit code {told.returncode}: {lines[-1].partition(': ')[2] if lines else 'without a word'}"
