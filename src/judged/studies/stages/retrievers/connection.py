"""JSON over HTTP with bounds: a total time for each answer, a size, no redirects, and retries of what may pass."""

from __future__ import annotations

import http.client
import json
import os
import random
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from threading import Timer
from time import sleep
from typing import Any
from urllib.parse import urlsplit

from judged.studies.stages.stage import StageFailed
from judged.wording import counted

ANSWER_BYTES = 32 << 20
"""The largest answer that is read."""
LONGEST_WAIT = 60.0
"""Seconds that a server may ask to wait; one that asks for more fails."""
_RETRYABLE = {408, 425, 429, 500, 502, 503, 504}
_SHOWN = 200


class _PassingError(Exception):
    """A failed request that may succeed when it is repeated."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait


class _ClosedError(_PassingError):
    """The server closed the connection without an answer."""


class Connection:
    """A connection to one address that is kept open between requests, as clients of search engines do."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        secrets: Mapping[str, str],
        timeout: float,
        attempts: int,
    ) -> None:
        check_address(url, headers)
        self.url = url
        self._parts = urlsplit(url)
        self._secrets = {header: _read_secret(header, variable) for header, variable in secrets.items()}
        self._headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            **headers,
            **self._secrets,
        }
        self._timeout, self._attempts = timeout, attempts
        self._open: http.client.HTTPConnection | None = None
        self._random = random.Random()  # noqa: S311 - waiting times are no secrets
        self.retries = 0
        """How many requests had to be repeated."""

    def ask(self, method: str, *, target: str | None = None, body: Any = None) -> Any:
        """Return the JSON that a server answers with; `target` is another path and query than the address has."""
        from judged.labels.run import backoff

        path = target or self._parts.path or "/"
        for attempt in range(self._attempts):
            try:
                return self._parse(self._send_again(method, path, body))
            except _PassingError as error:
                self.close()
                if attempt + 1 == self._attempts:
                    msg = f"{self.url} gave no answer in {counted(self._attempts, 'attempt')}: {error.reason}"
                    raise StageFailed(msg, hint="is the address right, and the server running?") from None
                wait = backoff(attempt, error.wait, self._random)
            self.retries += 1
            sleep(wait)
        raise AssertionError

    def notes(self) -> list[str]:
        """Return how many requests were repeated, and whether secrets were sent in the clear."""
        found = []
        if self.retries:
            found.append(
                f"{counted(self.retries, 'request')} to {self.url} had to be repeated; the waits are part of the times"
            )
        if self._secrets and self._parts.scheme == "http" and self._parts.hostname not in _LOCAL:
            found.append(f"secret headers were sent to {self.url} without encryption")
        return found

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _send_again(self, method: str, path: str, body: Any) -> bytes:
        """Send one request; if the server has closed a connection that was kept open, send it on a new one."""
        kept = self._open is not None and self._open.sock is not None
        try:
            return self._send(method, path, body)
        except _ClosedError:
            self.close()
            if not kept:
                raise
        return self._send(method, path, body)

    def _send(self, method: str, path: str, body: Any) -> bytes:
        """Send one request, and return the body of its answer within the total time."""
        data = None if body is None else json.dumps(body).encode()
        headers = self._headers if data is None else {"Content-Type": "application/json", **self._headers}
        expired: list[bool] = []
        connection: http.client.HTTPConnection | None = None

        def expire() -> None:  # the time-out of a socket starts anew with every byte
            expired.append(True)
            if connection is not None and connection.sock is not None:
                with suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)

        timer = Timer(self._timeout, expire)
        timer.daemon = True
        timer.start()
        try:
            connection = self._connect()
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            content = response.read(ANSWER_BYTES + 1)
        except (OSError, http.client.HTTPException) as error:
            if expired or isinstance(error, TimeoutError):
                msg = f"no answer within {self._timeout:g} s"
                raise _PassingError(msg) from None
            msg = f"no connection ({self._redact(str(error)) or type(error).__name__})"
            closed = isinstance(error, ConnectionResetError | BrokenPipeError)  # `RemoteDisconnected` is one
            raise (_ClosedError if closed else _PassingError)(msg) from None
        finally:
            timer.cancel()
        if expired:
            msg = f"no answer within {self._timeout:g} s"
            raise _PassingError(msg)
        if response.length and len(content) <= ANSWER_BYTES:
            msg = f"the answer ended {response.length:,} bytes early"
            raise _PassingError(msg)
        if len(content) > ANSWER_BYTES:
            self.close()
            msg = f"{self.url} answered with more than {ANSWER_BYTES:,} bytes"
            raise StageFailed(msg)
        self._check_status(response, content)
        return content

    def _connect(self) -> http.client.HTTPConnection:
        """Return the open connection, or a new one."""
        if self._open is None:
            host, port = self._parts.hostname or "", self._parts.port
            if self._parts.scheme == "https":
                context = ssl.create_default_context()
                self._open = http.client.HTTPSConnection(host, port, timeout=self._timeout, context=context)
            else:
                self._open = http.client.HTTPConnection(host, port, timeout=self._timeout)
        return self._open

    def _check_status(self, response: http.client.HTTPResponse, content: bytes) -> None:
        from judged.labels.client import parse_retry_after

        status = response.status
        if 200 <= status < 300:
            return
        if 300 <= status < 400:
            self.close()
            target = self._redact(response.getheader("location") or "nowhere")[:_SHOWN]
            msg = f"{self.url} redirects to `{target}` ({status}), which is not followed"
            raise StageFailed(msg, hint="if you trust that address, write it as the `url`")
        words = self._redact(" ".join(content[:10_000].decode("utf-8", "replace").split()))[:_SHOWN]
        if status not in _RETRYABLE:
            msg = f"{self.url} refuses the request ({status}): {words}"
            raise StageFailed(msg)
        wait = parse_retry_after({name.lower(): value for name, value in response.getheaders()})
        if wait is not None and wait > LONGEST_WAIT:
            msg = f"{self.url} asks to wait for {wait:,.0f} s ({status})"
            raise StageFailed(msg)
        reason = f"status {status}: {words}"
        raise _PassingError(reason, wait)

    def _parse(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            shown = self._redact(" ".join(content[:10_000].decode("utf-8", "replace").split()))[:80]
            msg = f"{self.url} answered with something other than JSON: `{shown}`"
            raise StageFailed(msg) from None

    def _redact(self, text: str) -> str:
        for secret in self._secrets.values():
            text = text.replace(secret, "***")
        return text


_LOCAL = {"localhost", "127.0.0.1", "::1"}
_SECRET_HEADERS = {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"}


def check_address(url: str, headers: Mapping[str, str]) -> None:
    """Raise `ValueError` for what is no address of a server, or has a secret in a place that is written to results."""
    try:
        parts = urlsplit(url)
        port_is_right = parts.port is None or parts.port > 0
    except ValueError:
        port_is_right = False
        parts = urlsplit("")
    printable = all(32 < ord(sign) < 127 for sign in url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_right or not printable:
        msg = f"the address is `{url}`, expected one such as https://search.example/api"
        raise ValueError(msg)
    if "@" in parts.netloc:
        msg = "the address has a password; name an environment variable with the header: `secrets: {Authorization: VARIABLE}`"
        raise ValueError(msg)
    plain = [name for name in headers if name.lower() in _SECRET_HEADERS]
    if plain:
        msg = f"the header `{plain[0]}` holds a secret; name an environment variable: `secrets: {{{plain[0]}: VARIABLE}}`"
        raise ValueError(msg)


def _read_secret(header: str, variable: str) -> str:
    secret = os.environ.get(variable, "").strip()
    if not secret:
        msg = f"the environment variable {variable}, named for the header `{header}`, is not set"
        raise StageFailed(msg)
    return secret
