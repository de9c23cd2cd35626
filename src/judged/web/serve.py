"""The server of the viewer: its socket, its limits, its start and its end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from judged.errors import BadProtocol
from judged.web.app import Viewer
from judged.web.guard import Guard, Limits, is_loopback, make_token, name_hosts
from judged.web.live import Live

DEFAULT_PORT = 8642
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 10\r\n"
    b"Content-Length: 26\r\nConnection: close\r\n\r\nToo many connections now.\n"
)
PATROL = 1.0
"""Seconds between two looks at a connection, at most."""


class Connection(H11Protocol):
    """A connection that is closed if its client sends or reads too slowly, or if there are too many."""

    def __init__(self, *arguments: Any, limits: Limits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.limits = limits
        self._patrol: asyncio.TimerHandle | None = None
        self._waiting_since = self._unread_since = monotonic()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.write(BUSY)
            transport.close()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._patrol is not None:
            self._patrol.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Close the connection if the client has let us wait too long, else look again later."""
        now, limits = monotonic(), self.limits
        if self.cycle is not None and not self.cycle.response_complete:
            self._waiting_since = now  # it is being answered
        if not self.transport.get_write_buffer_size():
            self._unread_since = now  # it has read everything
        if (
            now - self._waiting_since > limits.request_seconds
            or now - self._unread_since > limits.response_seconds
        ):
            self.transport.abort()
            return
        soon = min(PATROL, limits.request_seconds / 4, limits.response_seconds / 4)
        self._patrol = self.loop.call_later(soon, self._look)


class Server(uvicorn.Server):
    """A server of one viewer, with the address to open."""

    def __init__(self, config: uvicorn.Config, viewer: Viewer, opened: socket.socket, url: str) -> None:
        super().__init__(config)
        self.viewer = viewer
        self.opened = opened
        self.url = url

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal ends it."""
        super().run(sockets or [self.opened])

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams of changes, which would never end by themselves, then everything else."""
        self.viewer.ending.set()
        await super().shutdown(sockets)


def make_server(
    live: Live,
    *,
    title: str,
    host: str = "127.0.0.1",
    port: int | None = None,
    remote: bool = False,
    report: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
) -> Server:
    """Return a server of the inputs on an open socket; an address that others can reach needs `remote`.

    `report` has options of `judged.report.page.render_report`.
    """
    bounds = limits or Limits()
    address = find_address(host)
    token = None if is_loopback(address) else make_token()
    if token is not None and not remote:
        msg = f"{host} can be reached from other machines, expected an address of this machine alone"
        raise BadProtocol(
            msg, hint="`--allow-remote` serves it to everyone who has the token that is printed"
        )
    opened = open_socket(address, port)
    number = opened.getsockname()[1]
    viewer = Viewer(live, title=title, report=report, limits=bounds)
    names = {"localhost", "127.0.0.1", "::1", *([socket.gethostname(), socket.getfqdn()] if token else [])}
    hosts = frozenset[str]().union(*(name_hosts(name, number) for name in (*names, host)))
    config = uvicorn.Config(
        Guard(viewer.application(), hosts, token, bounds),
        http=partial(Connection, limits=bounds),  # type: ignore[arg-type]  # a class, or what makes a protocol
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",  # a bug is printed with its traceback
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nothing is in front of it: clients could forge them
        h11_max_incomplete_event_size=bounds.head,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=3,
    )
    wildcard = address in {"0.0.0.0", "::"}  # noqa: S104 - compared, not bound
    shown = socket.gethostname() if wildcard else address
    return Server(config, viewer, opened, _write_url(shown, number, token))


def find_address(host: str) -> str:
    """Return the address that a name stands for, or the address itself."""
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except (socket.gaierror, UnicodeError):
        msg = f"{host} is not the name or the address of a machine"
        raise BadProtocol(msg, hint="`--host 127.0.0.1` is this machine") from None


def open_socket(address: str, port: int | None) -> socket.socket:
    """Return a listening socket; without a port, on the usual one or, if that is taken, on any."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    if port is None:
        with suppress(OSError):
            return socket.create_server((address, DEFAULT_PORT), family=family)
    return socket.create_server((address, port or 0), family=family)


def _write_url(host: str, port: int, token: str | None) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")
