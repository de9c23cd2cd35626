"""A scripted attack on the viewer: wrong hosts and origins, traversal, links, smuggled and oversized requests, floods."""

from __future__ import annotations

import os
import random
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import judged
from fuzz.outcome import SEED, Outcome
from judged.web.guard import Limits
from support.viewer import Running, run_viewer, score, wait_for

CANARY = "canary-9f41c7"
"""Name of a system in a file beside the folder, which no answer may contain."""
STATUS = re.compile(rb"HTTP/1\.1 (\d{3})")
HOSTS = (
    *("example.com", "127.0.0.1.nip.io", "localhost.evil.test", "evil.test", "0.0.0.0", "[::ffff:127.0.0.1]"),  # noqa: S104 - never bound
    *(
        "",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost:99999",
        "127.1:{port}",
        "2130706433:{port}",
        "0x7f.1:{port}",
    ),
    *("127.0.0.1:{port}@evil.test", "evil.test#127.0.0.1:{port}", "127.0.0.1:{port}.", "127.0.0.1:{port}:80"),
)
ORIGINS = (
    *("null", "http://evil.test", "https://127.0.0.1:{port}", "http://127.0.0.1", "http://127.0.0.1:1"),
    *("http://127.0.0.1:{port}.evil.test", "file://", "http://[::1]:{port}", "HTTP://evil.test"),
)
METHODS = ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "GETT")
PATHS = (
    *("/../secret.json", "/..%2fsecret.json", "/%2e%2e/secret.json", "/....//secret.json", "//secret.json"),
    *(
        "/result?name=../secret.json",
        "/result?name=%2e%2e%2fsecret.json",
        "/result.json?name=..%5csecret.json",
    ),
    *("/result?name=link.json", "/result.json?name=inner.json", "/result?name=folder/secret.json"),
    *(
        "/result?name=%00../secret.json",
        "/result?name=secret.json%00.json",
        "/result?name=..%252fsecret.json",
    ),
    *(
        "/result?name={secret}",
        "/result.json?name=file://{secret}",
        "/compare?first=ok.json&second=../secret.json",
    ),
    *(
        "/result?name=%c0%ae%c0%ae/secret.json",
        "/result?name=.%2e/secret.json",
        "{secret}",
        "/result?name=loop.json",
    ),
)
SMUGGLED = (
    b"GET / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{next}",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{next}",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nContent-Length: 40\r\n\r\n{next}",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nContent-Length: +5\r\n\r\n{next}",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0x5\r\n\r\n{next}",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{next}",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{next}",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n{next}",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n{next}",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nHost: evil.test\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: evil.test\r\nHost: {host}\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: {host}\r\n Origin: folded\r\n\r\n",
    b"GET / HTTP/1.1\r\nHo st: {host}\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost\x00: {host}\r\n\r\n",
    b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nX: a\x00b\r\n\r\n",
    b"GET /\x7f HTTP/1.1\r\nHost: {host}\r\n\r\n",
    b"GET / HTTP/1.1\nHost: {host}\nContent-Length: 3\n\n{next}",
)
"""Requests of which two readers of HTTP might disagree where they end, or whose they are: each must be refused."""
NEXT = b"GET /result.json?name=ok.json HTTP/1.1\r\nHost: {host}\r\n\r\n"


@contextmanager
def serve_folder(place: Path, *, limits: Limits | None = None) -> Iterator[Running]:
    """Serve a folder with one result, a secret beside it, and links that lead there."""
    folder = place / "results"
    folder.mkdir()
    score("bm25").save(folder / "ok.json")
    judged.evaluate_many({"q": {"d": 1}}, {CANARY: {"q": {"d": 1.0}}}, ["AP"]).save(place / "secret.json")
    (folder / "link.json").symlink_to(place / "secret.json")
    (folder / "folder").symlink_to(place)
    (folder / "inner.json").symlink_to(folder / "folder" / "secret.json")
    (folder / "loop.json").symlink_to("loop.json")
    os.mkfifo(folder / "pipe.json")
    with run_viewer(folder, limits=limits) as viewer:
        yield viewer


def exchange(viewer: Running, data: bytes, *, seconds: float = 10) -> bytes:
    """Send bytes as they are and return everything that comes back."""
    found = bytearray()
    with socket.create_connection(("127.0.0.1", viewer.port), timeout=seconds) as opened:
        try:
            opened.sendall(data)
            opened.shutdown(socket.SHUT_WR)
            while part := opened.recv(65536):
                found += part
        except OSError as error:  # a connection that the viewer closed is an answer too
            if isinstance(error, TimeoutError):
                raise
    return bytes(found)


def attack(place: Path, requests: int, *, connections: int = 1_000, seed: int = SEED) -> Outcome:
    """Send some thousand requests that are wrong in one way or several, then flood the viewer with connections."""
    outcome, rng = Outcome("viewer"), random.Random(seed)  # noqa: S311 - no secret
    with serve_folder(place) as viewer:
        names = {"port": str(viewer.port), "secret": str(place / "secret.json")}
        own = f"127.0.0.1:{viewer.port}"
        for kind, data, allowed in _requests(requests, own, names, rng):
            answer = exchange(viewer, data)
            codes = {int(code) for code in STATUS.findall(answer)}
            sound = codes <= allowed and CANARY.encode() not in answer and _has_headers(answer)
            outcome.expect(kind, held=sound, defect=f"{sorted(codes)} for {data[:120]!r}")
        outcome.expect("alive afterwards", held=viewer.ask("/").status == 200, defect="no answer")
        _flood(viewer, connections, outcome)
    return outcome


def _requests(
    count: int, own: str, names: dict[str, str], rng: random.Random
) -> Iterator[tuple[str, bytes, set[int]]]:
    """Yield what a request tries, its bytes, and the answers that are allowed: first each by itself, then mixtures."""
    refused = {400, 403, 404, 405, 413, 414, 421, 431}

    def fill(text: str) -> str:
        return text.format(**names)

    def build(path: str = "/", method: str = "GET", host: str = own, more: str = "") -> bytes:
        return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n".encode()

    makers: dict[str, Callable[[], bytes]] = {
        "wrong Host": lambda: build(host=fill(rng.choice(HOSTS))),
        "wrong Origin": lambda: build(more=f"Origin: {fill(rng.choice(ORIGINS))}\r\n"),
        "embedded by another site": lambda: build(
            more="Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"
        ),
        "writing method": lambda: build(method=rng.choice(METHODS)),
        "traversal and links": lambda: build(path=fill(rng.choice(PATHS))),
        "smuggling": lambda: _smuggle(rng.choice(SMUGGLED), own),
        "too large": lambda: rng.choice(
            [
                build(path="/?" + "a" * rng.randint(8_193, 60_000)),
                build(more=f"X: {'a' * rng.randint(17_000, 200_000)}\r\n"),
                build(more="A: b\r\n" * rng.randint(4_000, 40_000)),
                build(more="Content-Length: 99999999999\r\n") + b"x" * 100_000,
                b"G" * rng.randint(20_000, 500_000),
            ]
        ),
    }
    for number in range(count):
        kind = rng.choice(list(makers))
        data = makers[kind]()
        if number % 4 == 3:  # any answer to damaged bytes, but never an error of the server
            yield "damaged bytes", _damage(data, rng), refused | {200, 303}
        else:
            yield kind, data, refused


def _smuggle(template: bytes, own: str) -> bytes:
    return template.replace(b"{next}", NEXT).replace(b"{host}", own.encode())


def _damage(data: bytes, rng: random.Random) -> bytes:
    damaged = bytearray(data[:2_000])
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(damaged) + 1)
        kind = rng.randrange(3)
        if kind == 0:
            damaged[at:at] = rng.choice(
                [b"\r\n", b"\n", b"\0", b"\xff", b" ", b":", b"%", b"HTTP/1.1", b"\r"]
            )
        elif kind == 1:
            del damaged[at : at + rng.randint(1, 9)]
        elif damaged:
            damaged[min(at, len(damaged) - 1)] = rng.randrange(256)
    return bytes(damaged)


def _has_headers(answer: bytes) -> bool:
    """Return whether every answer of the application forbids other pages to read it, and none has a forged header."""
    head = answer.partition(b"\r\n\r\n")[0].lower()
    protected = b"content-security-policy:" in head and b"cross-origin-resource-policy: same-origin" in head
    return not answer or protected or head.startswith((b"http/1.1 400", b"http/1.1 503"))


def _flood(viewer: Running, connections: int, outcome: Outcome) -> None:
    """Open many connections that say nothing; the viewer turns away those beyond its limit and answers afterwards."""
    opened = [socket.create_connection(("127.0.0.1", viewer.port), timeout=10) for _ in range(connections)]
    limit = viewer.server.config.app.limits.connections  # type: ignore[union-attr]
    wait_for(lambda: len(viewer.server.server_state.connections) <= limit + 1)
    for one in opened:
        one.close()
    wait_for(lambda: not viewer.server.server_state.connections)
    outcome.held["connections at once"] += connections
    outcome.expect("alive afterwards", held=viewer.ask("/").status == 200, defect="no answer after the flood")
