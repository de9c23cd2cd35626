"""The machine that the numbers come from: processor, memory, system and versions, without its name."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("judged", "numpy", "pyarrow", "pytrec-eval-terrier", "ir-measures", "ranx", "numba", "polars")


def description() -> list[str]:
    """Return lines that describe the machine and the installed packages."""
    return [
        f"Processor: {_processor()}, {os.cpu_count()} cores visible",
        f"Memory: {_memory()}",
        f"System: {platform.system()} {platform.release().partition('-')[0]}, {platform.machine()}",
        f"Python {platform.python_version()} ({platform.python_implementation()})",
        "Packages: " + ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
        f"trec_eval: {_trec_eval()}",
    ]


def trec_eval_program() -> str | None:
    """Return the path of trec_eval, from $TREC_EVAL or the path, if there is one."""
    return shutil.which(os.environ.get("TREC_EVAL", "trec_eval"))


def _trec_eval() -> str:
    program = trec_eval_program()
    if program is None:
        return "not found (name it in $TREC_EVAL)"
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().splitlines()[0]


def _processor() -> str:
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1] if found else platform.processor() or "unknown"


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB"
    except (ValueError, AttributeError):
        return "unknown"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
