"""trec_eval, the program: flags as the case spells them, values as printed, to four digits."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess

from conformance.cases import Case, Crashed, Failed, Measured, NotSupported
from conformance.verdict import Answer

__all__ = ["answer", "version"]

UNKNOWN = "illegal measure"
"""Its message for a name that it does not know."""


def version(program: str) -> str | None:
    """Return the version that the program prints, or None where there is no such program."""
    if shutil.which(program or "trec_eval") is None:
        return None
    ended = _run([program or "trec_eval", "--version"])
    found = re.search(r"version (\S+)", ended.stdout + ended.stderr)
    return found[1] if found else "of unknown version"


def answer(case: Case, measure: Measured, program: str) -> Answer:
    """Score one measure with trec_eval."""
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
        raise NotSupported
    flags = [*_flags(case), *measure.trec_eval.split()]
    with case.files() as files:
        ended = _run([program or "trec_eval", "-q", *flags, *files])
    if re.search(UNKNOWN, ended.stderr):
        raise NotSupported
    if ended.returncode < 0:
        msg = f"ended by {signal.Signals(-ended.returncode).name}"
        raise Crashed(msg)
    if ended.returncode:
        raise Failed(_last_words(ended))
    return _read(ended.stdout, f"trec_eval -q {' '.join(flags)} qrels run")


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
    return subprocess.run(
        command, check=False, capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=60
    )


def _last_words(ended: subprocess.CompletedProcess[str]) -> str:
    """Return the exit code, and the last line that the program printed."""
    lines = ended.stderr.strip().splitlines()
    return f"exit code {ended.returncode}: {lines[-1].partition(': ')[2] if lines else 'no message'}"
