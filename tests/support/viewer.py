"""A viewer on a real server of this machine, and small collections to show in it."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import judged
from judged.result import Result
from judged.web.guard import Limits
from judged.web.live import Folder, Live
from judged.web.serve import Server, make_server

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": 1, "d5": 0}, "q3": {"d9": 1}}
RUNS = {
    "bm25": {"q1": {"d1": 3.0, "d2": 2.0, "d4": 1.0}, "q2": {"d5": 2.0, "d1": 1.0}},
    "dense": {"q1": {"d2": 3.0, "d1": 2.0, "d3": 1.0}, "q2": {"d1": 2.0}, "q3": {"d9": 2.0}},
}
PATIENCE = 15.0


@dataclass(frozen=True)
class Answer:
    """What the viewer answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


@dataclass(frozen=True)
class Running:
    """A viewer that runs in a thread of this process."""

    server: Server
    port: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "port", self.server.opened.getsockname()[1])

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path: str = "/", *, method: str = "GET", **headers: str) -> Answer:
        """Send one request; `Host` and others can be given, with `_` for `-`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(
                method, path, headers={name.replace("_", "-"): v for name, v in headers.items()}
            )
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()


@contextmanager
def run_viewer(
    source: Path | Live, *, remote: bool = False, limits: Limits | None = None
) -> Iterator[Running]:
    """Serve a folder or inputs on a free port, until the end of the block."""
    live = source if isinstance(source, Live) else Live(Folder(source))
    server = make_server(
        live, title="results", port=0, remote=remote, report={"verified": True}, limits=limits
    )
    with run_server(server) as running:
        yield running


@contextmanager
def run_server(server: Server) -> Iterator[Running]:
    """Run a server in a thread, until the end of the block."""
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(lambda: server.started)
    try:
        yield Running(server)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)

        assert not thread.is_alive()


def wait_for(condition: Callable[[], object], seconds: float = PATIENCE) -> object:
    """Wait until a function returns something true, and return it."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value

        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


def score(*systems: str, measures: tuple[str, ...] = ("nDCG@10", "AP")) -> Result:
    """Return the scores of some of the runs above."""
    return judged.evaluate_many(QRELS, {name: RUNS[name] for name in systems}, measures)


def compare() -> Result:
    """Return the comparison of the runs above."""
    return judged.compare(QRELS, RUNS, ["nDCG@10", "AP"], resamples=100)
