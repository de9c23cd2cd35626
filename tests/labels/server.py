"""A server that speaks OpenAI's protocol and misbehaves on demand, in its own threads."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Fault = Callable[["Request"], "Response | None"]


@dataclass(frozen=True)
class Request:
    """What a client sent: the body, the headers, and which request to the server it was, from 1."""

    body: dict[str, Any]
    headers: dict[str, str]
    number: int

    @property
    def asked(self) -> str:
        """The text of the last message."""
        return str(self.body["messages"][-1]["content"])

    @property
    def result(self) -> str:
        """The text of the result, which identifies it."""
        found = re.search(r"<(result-\w+)>\n(.*?)\n</\1>", self.asked, re.DOTALL)
        return found[2] if found else self.asked


@dataclass(frozen=True)
class Response:
    """What to answer; `status` 0 drops the connection."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


def completion(
    content: str | None, *, finish: str = "stop", refusal: str | None = None, **more: Any
) -> Response:
    """An answer of the protocol that holds some text; 100 tokens read and 7 written."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish, **more}
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
    return Response(
        body={
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
    )


def refusing(status: int, message: str, **more: Any) -> Response:
    """Return an error in the form of OpenAI."""
    return Response(status, {"error": {"message": message, "type": "x", "param": None, "code": None, **more}})


def graded(request: Request) -> Response:
    """Answer with the grade that the text of the result states as `worth 3`, else 0."""
    worth = re.search(r"worth (\d)", request.result)
    return completion(json.dumps({"match": 2, "trust": 2, "score": int(worth[1]) if worth else 0}))


@contextmanager
def serving(http: ThreadingHTTPServer) -> Iterator[None]:
    """Answer requests in a thread until the block is left."""
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


class Server:
    """What was asked and answered; `answer` decides what comes back."""

    def __init__(self, answer: Callable[[Request], Response]) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        self.paid: Counter[str] = Counter()
        """Number of answers with status 200 for each result."""
        self.at_once = 0
        self.most_at_once = 0
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def took(self, body: dict[str, Any], headers: dict[str, str]) -> Request:
        """Record a request."""
        with self._lock:
            request = Request(body, headers, len(self.requests) + 1)
            self.requests.append(request)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            return request

    def gave(self, request: Request, response: Response) -> None:
        """Record an answer."""
        with self._lock:
            self.at_once -= 1
            if response.status == 200:
                self.paid[request.result] += 1

    @contextmanager
    def running(self) -> Iterator[Server]:
        """Listen until the block is left."""
        with serving(self._http):
            yield self


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            request = server.took(body, {key.lower(): value for key, value in self.headers.items()})
            response = server.answer(request)
            time.sleep(response.delay)
            server.gave(request, response)
            if response.status == 0:
                self.close_connection = True
                self.connection.close()
                return
            self._send(response)

        def _send(self, response: Response) -> None:
            plain = isinstance(response.body, str)
            data = response.body.encode() if plain else json.dumps(response.body).encode()
            try:
                self.send_response(response.status)
                self.send_header("content-type", "text/html" if plain else "application/json")
                self.send_header("content-length", str(len(data)))
                for name, value in response.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                self.close_connection = True  # the client went away

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    return Handler
