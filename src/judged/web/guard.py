"""Access control of the viewer: it answers requests from this machine, or with its token, that only read.

Loopback alone does not keep a viewer private: any page in the reader's browser can send requests to it. So `Host` must
name this server (a page of another name that resolves to 127.0.0.1 is refused), `Origin`, if there is one, must be this
server, and every response forbids other pages to embed or read it.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

METHODS = ("GET", "HEAD")
TOKEN = "token"  # noqa: S105 - the name of a parameter
STRICT = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": STRICT,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every response, unless it has one of its own."""


@dataclass(frozen=True)
class Limits:
    """Limits on the requests of one client."""

    head: int = 16_384
    """Bytes of the request line and the headers."""
    url: int = 8_192
    """Bytes of path and query."""
    connections: int = 256
    streams: int = 64
    """Connections that wait for changes."""
    request_seconds: float = 10
    """Time in which a request must arrive whole, from its first byte or the opening of the connection."""
    response_seconds: float = 120
    """Time in which a response must be received whole, from the first byte that the client leaves waiting."""


@dataclass(frozen=True)
class Guard:
    """An ASGI application that lets proper requests through to another, and adds headers to what it answers."""

    app: ASGIApp
    hosts: frozenset[str]
    """Every `Host` that names this server; that of the address of the connection is added."""
    token: str | None = None
    """Token that other machines must send; None: only this machine can connect."""
    limits: Limits = field(default_factory=Limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        # the host first: a page of another name that resolves to this machine cannot even try tokens
        answer = self._refuse(scope) or self._check_token(scope) or self.app
        await answer(scope, receive, send_with_headers)

    def _refuse(self, scope: Scope) -> Response | None:
        """Return the answer to a request that is not proper; None if it is."""
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        origins = {origin.lower() for origin in headers.getlist("origin")}
        fetched = (headers.get("sec-fetch-site"), headers.get("sec-fetch-mode"))
        url = len(scope["raw_path"]) + len(scope["query_string"])
        head = url + sum(len(name) + len(value) for name, value in scope["headers"])
        if len(headers.getlist("host")) != 1 or host not in self._allowed(scope):
            return _say(421, "This server has another name: open the address that `judged view` printed.")
        if origins - {f"http://{host}"} or (fetched[0] == "cross-site" and fetched[1] != "navigate"):
            return _say(403, "Requests of other pages are refused.")
        if scope["method"] not in METHODS:
            return _say(405, "This server only reads.", Allow=", ".join(METHODS))
        if url > self.limits.url or head > self.limits.head:
            return _say(414 if url > self.limits.url else 431, "The request is too long.")
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            return _say(413, "A request has no body here.", Connection="close")
        return None

    def _allowed(self, scope: Scope) -> frozenset[str]:
        address, port = scope.get("server") or ("", None)
        return self.hosts if self.token is None else self.hosts | name_hosts(address, port or 80)

    def _check_token(self, scope: Scope) -> Response | None:
        """Return the answer to a request without the right cookie; None if it has it or none is needed."""
        if self.token is None or _equal(_read_cookie(scope), self.token):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not _equal(dict(query).get(TOKEN, ""), self.token):
            return _say(403, "Open the address that `judged view` printed; it has a token.")
        rest = urlencode([pair for pair in query if pair[0] != TOKEN])
        path = "/" + scope["path"].lstrip("/")  # two slashes would name another server
        # from the address into a cookie: addresses stay in histories and are shared
        response = RedirectResponse(path + (f"?{rest}" if rest else ""), status_code=303)
        response.set_cookie(_name_cookie(scope), self.token, httponly=True, samesite="strict")
        return response


def make_token() -> str:
    """Return a random token of 256 bits."""
    return secrets.token_urlsafe(32)


def is_loopback(address: str) -> bool:
    """Return whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("192.0.2.7")
    (True, True, False, False)
    """
    return ip_address(address.partition("%")[0]).is_loopback


def name_hosts(name: str, port: int) -> frozenset[str]:
    """Return what `Host` says of a server of that name or address.

    >>> sorted(name_hosts("::1", 80))
    ['[::1]', '[::1]:80']
    """
    host = f"[{name}]" if ":" in name else name.lower()
    return frozenset({f"{host}:{port}", *([host] if port == 80 else [])})


def _say(status: int, text: str, **headers: str) -> Response:
    return PlainTextResponse(f"{text}\n", status, headers)


def _equal(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode())


def _name_cookie(scope: Scope) -> str:
    """Return the name of the cookie; servers on other ports of this machine have others."""
    return f"judged-{(scope.get('server') or ('', 0))[1]}"


def _read_cookie(scope: Scope) -> str:
    return cookie_parser(Headers(scope=scope).get("cookie", "")).get(_name_cookie(scope), "")
