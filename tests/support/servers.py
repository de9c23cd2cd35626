"""Servers of vector databases for tests, on loopback ports, stopped when the tests end."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

PATIENCE = 60.0
"""Seconds after which a server that does not answer has failed."""


def find_free_port() -> int:
    """Return a loopback port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def run_chroma(folder: Path) -> Iterator[str]:
    """Run `chroma run` and return its address."""
    port = find_free_port()
    address = f"http://127.0.0.1:{port}"
    command = Path(sys.executable).with_name("chroma")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [command, "run", "--path", folder / "data", "--host", "127.0.0.1", "--port", str(port)],
            stdout=log,
            stderr=log,
        )
    try:
        _wait_for(f"{address}/api/v2/heartbeat", process)
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            urlopen(address, timeout=5).close()  # noqa: S310 - a loopback address
        except (URLError, ConnectionError, TimeoutError):
            assert process.poll() is None, f"the server ended with {process.returncode}"
            assert time.monotonic() < end, f"no server at {address}"
            time.sleep(0.1)
        else:
            return
