"""Environment that numbers and times may depend on: the machine and its threads, Python, the versions of packages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path


def name_system() -> str:
    """Return the operating system and the architecture: `Linux x86_64`."""
    import platform  # here and below: every command imports this module, and few ask it

    return f"{platform.system()} {platform.machine()}"


def name_machine() -> str:
    """Return the system and Python in a few words."""
    import platform

    return f"{name_system()}, Python {platform.python_version()}"


def describe_machine() -> dict[str, str | int]:
    """Return what times depend on: processor, number of processors, system, Python, NumPy."""
    import platform

    return {
        "processor": _name_processor() or platform.processor() or platform.machine(),
        "processors": os.cpu_count() or 1,
        "system": name_system(),
        "python": platform.python_version(),
        **list_versions("numpy"),
    }


def _name_processor() -> str:
    """Return the name that Linux has for the processor; empty elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def list_versions(*packages: str) -> dict[str, str]:
    """Return the versions of packages, of those that are installed."""
    versions = {package: find_version(package) for package in packages}
    return {package: version for package, version in versions.items() if version is not None}


def find_version(package: str) -> str | None:
    """Return the version of a package; None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


@contextmanager
def pin_blas(threads: int, *, library: str | None = None) -> Iterator[None]:
    """Let BLAS, or that library of it alone, use that many threads, where threadpoolctl is installed to limit it."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        limit: AbstractContextManager[object] = nullcontext()
    else:
        pools = ThreadpoolController()
        limit = (pools if library is None else pools.select(internal_api=library)).limit(limits=threads)
    with limit:
        yield


def count_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
