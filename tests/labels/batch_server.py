"""A server with the Batch API of OpenAI's protocol, which misbehaves on demand."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from labels.server import Request, Response, graded, serving

Reply = tuple[int, Any]


@dataclass
class Job:
    """A batch as the server knows it: its requests, how often it was looked at, and its files."""

    tag: str
    requests: list[dict[str, Any]]
    looks: int = 0
    answered: int = 0
    state: dict[str, Any] = field(default_factory=dict)


class BatchServer:
    """Files, batches and direct questions; `answer` decides what comes back for each request.

    A batch is over at the look of number `looks`. Of its requests only the first `expire_after` are answered, if that is
    set; the others expire. `on_create` may return an answer in place of the batch, which has started nevertheless.
    """

    def __init__(self, answer: Callable[[Request], Response] = graded) -> None:
        self.answer = answer
        self.looks = 2
        self.expire_after: int | None = None
        self.status = "completed"
        self.lists = True
        self.on_create: Callable[[int], Reply | None] = lambda _: None
        self.on_look: Callable[[int], Reply | None] = lambda _: None
        self.change_output: Callable[[list[str]], list[str]] = lambda lines: lines
        self.jobs: dict[str, Job] = {}
        self.files: dict[str, bytes] = {}
        self.direct: list[Request] = []
        self.paid: Counter[str] = Counter()
        """Number of answers with status 200 for each result."""
        self._looked = self._created = 0
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @contextmanager
    def running(self) -> Iterator[BatchServer]:
        """Listen until the block is left."""
        with serving(self._http):
            yield self

    def reply(self, method: str, path: str, content: bytes, kind: str) -> Reply:  # noqa: PLR0911 - a table of paths
        """Return status and body of an answer."""
        with self._lock:
            if method == "POST" and path == "/v1/chat/completions":
                response = self._ask(json.loads(content))
                return response.status, response.body
            if method == "POST" and path == "/v1/files":
                self.files[f"file-{len(self.files)}"] = _read_form(content, kind)
                return 200, {"id": f"file-{len(self.files) - 1}", "object": "file", "purpose": "batch"}
            if method == "POST" and path == "/v1/batches":
                return self._create(json.loads(content))
            if path.startswith("/v1/batches?"):
                rows = [self._describe(name, job) for name, job in self.jobs.items()]
                return (200, {"object": "list", "data": rows}) if self.lists else (404, {"error": "no list"})
            if found := re.fullmatch(r"/v1/batches/([\w-]+)", path):
                return self._look(found[1])
            if found := re.fullmatch(r"/v1/files/([\w-]+)/content", path):
                return 200, self.files[found[1]]
            return 404, {"error": {"message": f"no {path}"}}

    def _ask(self, body: dict[str, Any]) -> Response:
        request = Request(body, {}, len(self.direct) + 1)
        self.direct.append(request)
        return self._answer(request)

    def _answer(self, request: Request) -> Response:
        response = self.answer(request)
        self.paid[request.result] += response.status == 200
        return response

    def _create(self, body: dict[str, Any]) -> Reply:
        requests = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        name = f"batch_{len(self.jobs)}"
        self.jobs[name] = Job(body["metadata"]["judged"], requests)
        self._created += 1
        return self.on_create(self._created) or (200, self._describe(name, self.jobs[name]))

    def _look(self, name: str) -> Reply:
        job = self.jobs[name]
        self._looked += 1
        if (instead := self.on_look(self._looked)) is not None:
            return instead
        job.looks += 1
        if job.looks >= self.looks and not job.state:
            self._finish(name, job)
        return 200, self._describe(name, job)

    def _finish(self, name: str, job: Job) -> None:
        if self.status == "failed":
            job.state = {"status": "failed", "errors": {"data": [{"message": "line 1: no such model"}]}}
            return
        answered = job.requests if self.expire_after is None else job.requests[: self.expire_after]
        good, bad = [], []
        for row in answered:
            response = self._answer(Request(row["body"], {}, 0))
            line = {"id": "x", "custom_id": row["custom_id"], "error": None}
            line["response"] = {"status_code": response.status, "body": response.body}
            (good if response.status == 200 else bad).append(json.dumps(line))
        for row in job.requests[len(answered) :]:
            error = {"code": "batch_expired", "message": "This request could not be executed in time"}
            bad.append(
                json.dumps({"id": "x", "custom_id": row["custom_id"], "response": None, "error": error})
            )
        job.answered = len(good)
        self.files[f"out-{name}"] = "\n".join(self.change_output(good)).encode()
        self.files[f"err-{name}"] = "\n".join(bad).encode()
        expired = len(answered) < len(job.requests)
        job.state = {"status": "expired" if expired else self.status, "output_file_id": f"out-{name}"}
        job.state["error_file_id"] = f"err-{name}" if bad else None

    def _describe(self, name: str, job: Job) -> dict[str, Any]:
        counts = {"total": len(job.requests), "completed": job.answered, "failed": 0}
        return {
            "id": name,
            "object": "batch",
            "status": "in_progress",
            "metadata": {"judged": job.tag},
            "request_counts": counts,
            **job.state,
        }


def _read_form(content: bytes, kind: str) -> bytes:
    """Return the file of a form; its purpose must be `batch`."""
    message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + content)
    parts = {part.get_param("name", header="content-disposition"): part for part in message.iter_parts()}
    assert parts["purpose"].get_payload(decode=True).strip() == b"batch"
    return bytes(parts["file"].get_payload(decode=True))


def _handler(server: BatchServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._reply("GET")

        def do_POST(self) -> None:
            self._reply("POST")

        def _reply(self, method: str) -> None:
            content = self.rfile.read(int(self.headers.get("content-length", 0)))
            status, body = server.reply(method, self.path, content, self.headers.get("content-type", ""))
            if status == 0:
                self.close_connection = True
                self.connection.close()
                return
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            try:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    return Handler
