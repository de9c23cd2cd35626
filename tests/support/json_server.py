"""A loopback server that answers as a test says, whole or in drips, and records what it was asked."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

__all__ = ["Asked", "JsonServer", "Reply", "run_server"]


@dataclass(frozen=True)
class Asked:
    """A request: `number` counts those to the server, from 1."""

    number: int
    method: str
    path: str
    parameters: dict[str, list[str]]
    headers: dict[str, str]
    body: Any
    port: int
    """Port of the client, which tells one connection from another."""


@dataclass(frozen=True)
class Reply:
    """What to answer: JSON, or bytes as they are; `status` 0 closes the connection instead."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before the answer."""
    drip: float = 0.0
    """Seconds between two bytes of the answer."""
    cut: int = 0
    """Bytes at the end that are announced and never sent."""
    closes: bool = False
    """Close the connection after the answer, without saying so."""


Answer = Callable[[Asked], Reply]


@dataclass
class JsonServer:
    """A server that runs; `answer` may be changed while it does."""

    address: str
    answer: Answer
    asked: list[Asked] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)


@contextmanager
def run_server(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[JsonServer]:
    """Listen on a free port until the block is left."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    http.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that refuses the certificate
    if tls is not None:
        http.socket = tls.wrap_socket(http.socket, server_side=True)
    http.daemon_threads = True
    server = JsonServer(f"http://127.0.0.1:{http.server_port}", answer)
    http.RequestHandlerClass = _make_handler(server)  # type: ignore[assignment]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        http.shutdown()
        http.server_close()
        thread.join()


def _make_handler(server: JsonServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except OSError:  # the client went away
                self.close_connection = True

        def do_GET(self) -> None:
            data = self.rfile.read(int(self.headers["content-length"] or 0))
            parts = urlsplit(self.path)
            asked = Asked(
                len(server.asked) + 1,
                self.command,
                parts.path,
                parse_qs(parts.query, keep_blank_values=True),
                {name.lower(): value for name, value in self.headers.items()},
                json.loads(data) if data else None,
                self.client_address[1],
            )
            server.asked.append(asked)
            self._send(server.answer(asked))

        do_POST = do_PUT = do_GET  # noqa: N815 - named by the library

        def _send(self, reply: Reply) -> None:
            server.stopped.wait(reply.delay)
            self.close_connection = reply.closes or reply.status == 0 or reply.cut > 0
            if reply.status == 0:
                return
            data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            for piece in _split(data[: len(data) - reply.cut], drip=reply.drip > 0):
                if server.stopped.is_set():
                    return
                self.wfile.write(piece)
                self.wfile.flush()
                time.sleep(reply.drip)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    return Handler


def _split(data: bytes, *, drip: bool) -> Iterator[bytes]:
    if not drip:
        yield data
        return
    for at in range(len(data)):
        yield data[at : at + 1]
