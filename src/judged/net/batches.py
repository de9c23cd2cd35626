"""The Batch API of OpenAI's protocol: a file of requests, a batch that is worked off within a day, a file of answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judged.errors import EndpointFailed
from judged.net.http import Bounds, Response, Upload
from judged.net.llm import ChatClient, Message, Reply, parse_reply
from judged.net.retry import BadAnswerError, RejectedError, RequestError, TransientError, backoff

FILE_BYTES = 1 << 30
"""The largest file of answers that is read."""
FILE_SECONDS = 900.0
"""Seconds that a file of requests or answers may take."""
MOST_REQUESTS, MOST_BYTES = 50_000, 100_000_000
"""The largest batch; OpenAI accepts 50,000 requests and 200 MB."""
WINDOW = "24h"
TAG = "judged"
"""The name in a batch's metadata under which the job that submitted it is found again."""
LISTED = 100
"""Number of recent batches among which one is looked for."""

RUNNING = {"validating", "in_progress", "finalizing", "cancelling"}
_NO_SUCH_API = {404, 405, 501}


@dataclass(frozen=True, slots=True)
class Batch:
    """State of a batch at the endpoint."""

    id: str
    status: str
    files: tuple[str, ...] = ()
    """Files of answers and of errors, as far as there are any."""
    finished: int = 0
    total: int = 0
    problem: str = ""
    """Error of its requests, as the endpoint words it."""

    @property
    def running(self) -> bool:
        """Whether more answers may come."""
        return self.status in RUNNING


@dataclass(frozen=True, slots=True)
class Line:
    """Outcome of one request of a batch: a reply, or why there is none."""

    name: str
    reply: Reply | None
    reason: str = ""
    rejected: bool = False
    """Whether the endpoint will not accept the request later either."""


class BatchClient(ChatClient):
    """Sends many messages to a model as one batch, and reads the answers when they are there."""

    def write(self, requests: Mapping[str, tuple[Sequence[Message], Mapping[str, object]]]) -> bytes:
        """Return the file of requests: messages and the schema of their answer, by name."""
        lines = (
            {
                "custom_id": name,
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {"messages": list(messages), **self.dialect.parameters(self.chat, schema)},
            }
            for name, (messages, schema) in requests.items()
        )
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)

    async def submit(self, content: bytes, tag: str) -> Batch:
        """Upload requests and start a batch; after a lost answer, look for the batch before it is started again."""
        uploaded = await self._ask("POST", "/files", Upload("requests.jsonl", content, {"purpose": "batch"}))
        body = {
            "input_file_id": _text(uploaded, "id"),
            "endpoint": "/v1/chat/completions",
            "completion_window": WINDOW,
            "metadata": {TAG: tag},
        }
        for attempt in range(self.endpoint.retries.attempts):
            try:
                return self._parse(await self._ask_once("POST", "/batches", body))
            except TransientError as error:
                last = error
                await asyncio.sleep(backoff(attempt, error.wait))
            # its answer may have been lost, and a second batch would be paid too
            if (started := await self.find(tag)) is not None:
                return started
        msg = f"{self.url} started no batch: {last.reason}"
        raise EndpointFailed(msg, hint="all answers are kept; run the same command again later")

    async def look(self, batch: str) -> Batch:
        """Return the state of a batch."""
        return self._parse(await self._ask("GET", f"/batches/{batch}"))

    async def find(self, tag: str) -> Batch | None:
        """Return the recent batch with that tag; None if there is none, or the endpoint lists no batches."""
        try:
            listed = await self._ask("GET", f"/batches?limit={LISTED}")
        except EndpointFailed:
            return None
        rows = listed.get("data") if isinstance(listed, dict) else None
        for row in rows if isinstance(rows, list) else []:
            metadata = row.get("metadata") if isinstance(row, dict) else None
            if isinstance(metadata, dict) and metadata.get(TAG) == tag:
                return self._parse(row)
        return None

    async def read(self, batch: Batch) -> list[Line]:
        """Return the outcome of every request that the files of a batch tell; the first one of a name counts."""
        lines: dict[str, Line] = {}
        for name in batch.files:
            for line in self._parse_lines(await self._download(name)):
                lines.setdefault(line.name, line)
        return list(lines.values())

    async def _download(self, name: str) -> bytes:
        async def receive() -> bytes:
            bounds = Bounds(FILE_SECONDS, FILE_BYTES)
            response = await self.send("GET", f"{self.endpoint.url}/files/{name}/content", bounds=bounds)
            if not 200 <= response.status < 300:
                raise self.classify(response)
            return bytes(response.content)

        return await self.repeat(receive, attempts=self.endpoint.retries.attempts)

    def _parse_lines(self, content: bytes) -> Iterator[Line]:
        """Yield the lines of a file that name a request; others say nothing about any."""
        for text in content.splitlines():
            try:
                row = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict) and isinstance(row.get("custom_id"), str):
                yield self._parse_line(row)

    def _parse_line(self, row: Mapping[str, Any]) -> Line:
        name, response, error = row["custom_id"], row.get("response"), row.get("error")
        if isinstance(response, dict) and response.get("status_code") == 200:
            reply = parse_reply(response.get("body"), self.key.redact)
            return Line(name, reply, "" if reply else "an answer outside the protocol")
        if isinstance(response, dict):
            status = response.get("status_code")
            content = bytearray(json.dumps(response.get("body")).encode())
            error = self.classify(Response(status if isinstance(status, int) else 500, {}, content))
            reason = error.reason if isinstance(error, RequestError) else error.message
            return Line(name, None, reason, rejected=isinstance(error, RejectedError))
        return Line(name, None, self.describe(bytearray(json.dumps({"error": error}).encode())))

    def _parse(self, row: Any) -> Batch:
        """Return the state that the endpoint reports."""
        name, status = _text(row, "id"), _text(row, "status")
        if not name or not status or not set(name) <= _NAME:
            msg = f"{self.url} describes a batch outside the protocol: `{self.show(str(row), 80)}`"
            raise EndpointFailed(msg)
        files = [_text(row, key) for key in ("output_file_id", "error_file_id")]
        counts, errors = row.get("request_counts"), row.get("errors")
        counted = counts if isinstance(counts, dict) else {}
        finished, total = (
            value if isinstance(value := counted.get(key), int) else 0 for key in ("completed", "total")
        )
        found = errors.get("data") if isinstance(errors, dict) else None
        problems = [_text(error, "message") for error in found] if isinstance(found, list) else []
        return Batch(
            name,
            status,
            tuple(file for file in files if file and set(file) <= _NAME),
            finished,
            total,
            self.show("; ".join(filter(None, problems))),
        )

    async def _ask(self, method: str, path: str, body: object = None) -> Any:
        """Send a request that may be repeated, and return the JSON of its answer."""
        attempts = self.endpoint.retries.attempts
        return await self.repeat(lambda: self._ask_once(method, path, body), attempts=attempts)

    async def _ask_once(self, method: str, path: str, body: object = None) -> Any:
        bounds = Bounds(FILE_SECONDS, FILE_BYTES) if isinstance(body, Upload) else None
        resend = path != "/batches"  # a second batch would be paid too
        response = await self.send(method, f"{self.endpoint.url}{path}", body, bounds=bounds, resend=resend)
        if response.status in _NO_SUCH_API:
            msg = f"{self.url} has no Batch API ({response.status}): {self.describe(response.content)}"
            raise EndpointFailed(msg, hint="leave out `--batch-api`, or name another endpoint")
        try:
            return self.read_json(response)
        except BadAnswerError as error:  # such as the page of a gateway
            raise TransientError(error.reason) from None


_NAME = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:")
"""Signs of the names of files and batches, which become part of addresses."""


def _text(row: object, name: str) -> str:
    value = row.get(name) if isinstance(row, dict) else None
    return value if isinstance(value, str) else ""
