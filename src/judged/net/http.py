"""JSON over HTTP within bounds: a deadline for each answer, a size, no redirects, and retries of what may pass."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from judged._optional import need
from judged.errors import BadProtocol, EndpointFailed
from judged.net.retry import (
    BadAnswerError,
    RejectedError,
    RequestError,
    TransientError,
    parse_retry_after,
    retry,
)
from judged.wording import counted

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

IDLE_SECONDS = 60.0
"""Seconds that an idle connection is kept open; load balancers usually drop one after a minute."""

# as OpenAI's own client, and 425 (too early); every 5xx is retried too
_RETRYABLE = {408, 409, 425, 429}
_MESSAGE_LENGTH = 300


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that one answer may take."""

    seconds: float
    """Time from the request to the last byte of the answer."""
    size: int
    """Number of bytes of the answer."""
    wait: float = 60.0
    """Seconds that the server may ask to wait before a retry; one that asks for more has failed."""


@dataclass(frozen=True, slots=True)
class Response:
    """Status, headers with lower-case names, and the whole body."""

    status: int
    headers: Mapping[str, str]
    content: bytearray


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that is sent as part of a form."""

    name: str
    content: bytes
    fields: Mapping[str, str]


class HttpClient:
    """Pool of connections to one server."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        redact: Callable[[str], str],
        bounds: Bounds,
        extra: str,
        needed_by: str,
    ) -> None:
        self.url = redact(url)
        self.retries = 0
        """Number of requests that were retried."""
        self._redact, self._bounds = redact, bounds
        self._library = need("httpx2", extra=extra, needed_by=needed_by)
        try:
            self._library.URL(url)
        except self._library.InvalidURL as error:
            msg = f"the address is `{self.url}`: {self.show(str(error))}"
            raise BadProtocol(msg) from None
        self._pool = self._library.AsyncClient(
            # A compressed answer may unfold to any size.
            headers={"Accept": "application/json", "Accept-Encoding": "identity", **headers},
            follow_redirects=False,  # queries, documents and keys go to the named address only
            timeout=None,  # those of the library start again with every byte; `send` has a deadline
            limits=self._library.Limits(max_connections=None, keepalive_expiry=IDLE_SECONDS),
        )
        self._is_open = False
        """Whether a connection may be open from an earlier request."""
        self._loop = EventLoop()
        self.run = self._loop.run
        self._finalizer = weakref.finalize(self, self._loop.close, self._pool)

    def close(self) -> None:
        """Close all connections."""
        self._finalizer()

    def notes(self) -> list[str]:
        """Return how many requests were repeated."""
        if not self.retries:
            return []
        count = counted(self.retries, "request")
        return [f"{count} to {self.url} had to be repeated; the waits are part of the times"]

    def forget(self) -> None:
        """Forget how many requests were repeated."""
        self.retries = 0

    def ask(
        self, method: str, url: str, body: object = None, *, attempts: int, deadline: float = math.inf
    ) -> Any:
        """Return the JSON that the server answers with; raise `EndpointFailed` if none comes in all attempts.

        `deadline` bounds the seconds of all attempts and the waits between them.
        """

        async def ask_in_time() -> object:
            async with asyncio.timeout(deadline):
                return await self.repeat(lambda: self.ask_once(method, url, body), attempts=attempts)

        try:
            return self.run(ask_in_time())
        except TimeoutError:
            msg = f"{self.url} gave no answer in {deadline:g} s, retries included"
            raise EndpointFailed(msg, hint="raise the timeout, or send less at a time") from None

    async def repeat(self, send: Callable[[], Awaitable[T]], *, attempts: int) -> T:
        """Send a request as often as needed; raise `EndpointFailed` if it fails for good."""
        try:
            return await retry(send, attempts=attempts, on_retry=self._count_retry)
        except TransientError as error:
            msg = f"{self.url} gave no answer in {counted(attempts, 'attempt')}: {error.reason}"
            raise EndpointFailed(msg, hint="is the address right, and the server running?") from None
        except RejectedError as error:
            msg = f"{self.url} refuses the request: {error.reason}"
            raise EndpointFailed(msg) from None
        except BadAnswerError as error:
            msg = f"{self.url} returned {error.reason}"
            raise EndpointFailed(msg) from None

    def _count_retry(self, _: TransientError) -> None:
        self.retries += 1

    async def ask_once(self, method: str, url: str, body: object = None) -> Any:
        """Send one request, and return the JSON of its answer."""
        return self.read_json(await self.send(method, url, body))

    def read_json(self, response: Response) -> Any:
        """Return the JSON of an answer; raise the error for a status other than 2xx."""
        if not 200 <= response.status < 300:
            raise self.classify(response)
        try:
            return json.loads(response.content)
        except (ValueError, RecursionError):
            shown = self.show(response.content[:10_000].decode("utf-8", "replace"), 80)
            msg = f"something other than JSON: `{shown}`"
            raise BadAnswerError(msg) from None

    async def send(
        self,
        method: str,
        url: str,
        body: object = None,
        *,
        bounds: Bounds | None = None,
        resend: bool = True,
    ) -> Response:
        """Send one request, and return its answer, of any status, within the bounds.

        Without `resend`, a request is sent once in any case, because a second one would have an effect of its own.
        """
        limits = bounds or self._bounds
        try:
            async with asyncio.timeout(limits.seconds):
                response = await self._open(method, url, body, resend=resend)
                try:
                    content = await self._read(response, limits.size)
                    return Response(response.status_code, response.headers, content)
                finally:
                    await response.aclose()
                    self._pool.cookies.clear()  # no answer may depend on those before it
        except TimeoutError:
            msg = f"timeout after {limits.seconds:g} s"
            raise TransientError(msg) from None
        except self._library.LocalProtocolError:  # its message quotes headers
            raise RejectedError("a header has characters that HTTP does not allow") from None
        except (self._library.RequestError, OSError) as error:
            msg = f"no connection ({self.show(str(error)) or type(error).__name__})"
            raise TransientError(msg) from None

    async def _open(self, method: str, url: str, body: object, *, resend: bool) -> httpx2.Response:
        """Send a request, and return the response with its body unread.

        A server may close an idle connection at any time. A request that met one of those is sent on a new connection,
        without a wait, which would be part of the measured times.
        """
        request = self._build(method, url, body)
        was_open, self._is_open = self._is_open, False
        try:
            response: httpx2.Response = await self._pool.send(request, stream=True)
        except (self._library.NetworkError, self._library.RemoteProtocolError):
            if not (was_open and resend):
                raise
            response = await self._pool.send(self._build(method, url, body), stream=True)
        self._is_open = True
        return response

    def _build(self, method: str, url: str, body: object) -> httpx2.Request:
        """Return a request with a file as a form, or with anything else as JSON."""
        if isinstance(body, Upload):
            file = {"file": (body.name, body.content, "application/jsonl")}
            form: httpx2.Request = self._pool.build_request(method, url, data=dict(body.fields), files=file)
            return form
        content = None if body is None else json.dumps(body).encode()
        headers = {} if content is None else {"Content-Type": "application/json"}
        request: httpx2.Request = self._pool.build_request(method, url, content=content, headers=headers)
        return request

    async def _read(self, response: httpx2.Response, size: int) -> bytearray:
        """Return the body of a response; raise `BadAnswerError` once it is too large, before all of it is read."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise BadAnswerError("a compressed answer, which was not asked for")
        received = bytearray()
        async for chunk in response.aiter_raw():
            received += chunk
            if len(received) > size:
                msg = f"an answer of more than {size:,} bytes"
                raise BadAnswerError(msg)
        return received

    def classify(self, response: Response) -> EndpointFailed | RequestError:
        """Return the error for a status other than 2xx: repeat, reject this request, or give up on the server."""
        status = response.status
        if 300 <= status < 400:
            target = self.show(response.headers.get("location", "nowhere"))
            msg = f"{self.url} redirects to `{target}` ({status}), which is not followed"
            return EndpointFailed(msg, hint="if you trust that address, give it instead")
        words = self.describe(response.content)
        reason = f"status {status}: {words}" if words else f"status {status}"
        if status not in _RETRYABLE and status < 500:
            return RejectedError(reason)
        wait = parse_retry_after(response.headers)
        if wait is not None and wait > self._bounds.wait:
            msg = f"{self.url} asks to wait for {wait:,.0f} s"
            return EndpointFailed(msg, hint="what is finished is kept; run the same command again then")
        return TransientError(reason, wait=wait, rate_limited=status == 429 or wait is not None)

    def describe(self, content: bytearray) -> str:
        """Return the message of an error on one line: the field of OpenAI's protocol, or all of a short body."""
        try:
            body = json.loads(content)
        except (ValueError, RecursionError):
            body = None
        inner = body.get("error", body) if isinstance(body, dict) else body
        message = inner.get("message") if isinstance(inner, dict) else inner
        return self.show(str(message or content[:10_000].decode("utf-8", "replace")))

    def show(self, text: str, length: int = _MESSAGE_LENGTH) -> str:
        """Return a text of the server on one line, cut, and without secrets."""
        return self._redact(" ".join(text.split()))[:length]


class EventLoop:
    """Event loop that runs in the calling thread while there is work for it; connections outlive one piece of work.

    A loop in a thread of its own would be simpler, but measured times would include waking it for every request.
    """

    def __init__(self) -> None:
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._lock = threading.Lock()

    def run(self, work: Coroutine[object, None, T]) -> T:
        """Run asynchronous work to its end; an interruption of the calling thread cancels it."""
        with self._lock:
            if _is_in_loop():
                return self._run_in_thread(work)
            return self._runner.run(work)

    def _run_in_thread(self, work: Coroutine[object, None, T]) -> T:
        """Run work in another thread: a thread whose own loop is running, as in a notebook, cannot run a second one."""
        with ThreadPoolExecutor(1) as executor:  # its end waits for that of the work
            future = executor.submit(self._runner.run, work)
            try:
                return future.result()
            except BaseException:
                if not future.done():
                    loop = self._runner.get_loop()
                    loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
                raise

    def close(self, pool: httpx2.AsyncClient) -> None:
        """Close connections in the loop that opened them, then the loop; the garbage collector may do it anywhere."""
        closing = threading.Thread(target=self._close, args=(pool,))
        if _is_in_loop():
            closing.start()
            closing.join()
        else:
            closing.run()

    def _close(self, pool: httpx2.AsyncClient) -> None:
        with self._runner:  # its end closes the loop
            self._runner.run(pool.aclose())


def _is_in_loop() -> bool:
    """Return whether an event loop is running in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
