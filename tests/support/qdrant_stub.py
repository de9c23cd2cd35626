"""A stub of a Qdrant server: the requests that the adapter sends, answered as Qdrant's REST reference documents them.

No package carries the server itself. The stub searches exactly and knows one collection's worth of the protocol; it
shows that requests and answers are well formed, and says nothing about Qdrant's recall or speed.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import urlsplit

import numpy as np

VERSION = "1.15.0"


@dataclass
class Collection:
    """What a collection was created with, and its points."""

    config: dict[str, Any]
    points: dict[int, tuple[list[float], dict[str, int]]] = field(default_factory=dict)
    indexed: bool = False

    def describe(self) -> dict[str, Any]:
        """Return what `GET /collections/{name}` answers."""
        graph = {"full_scan_threshold": 10_000, **self.config["hnsw_config"]}
        optimizers = {
            "deleted_threshold": 0.2,
            "vacuum_min_vector_number": 1000,
            "default_segment_number": 1,
            "flush_interval_sec": 5,
            **self.config["optimizers_config"],
        }
        return {
            "status": "green",
            "optimizer_status": "ok",
            "segments_count": 1,
            "points_count": len(self.points),
            "indexed_vectors_count": len(self.points) if self.indexed else 0,
            "config": {
                "params": {"vectors": self.config["vectors"]},
                "hnsw_config": graph,
                "optimizer_config": optimizers,
                "quantization_config": self.config.get("quantization_config"),
            },
            "payload_schema": {},
        }

    def search(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return what `POST /collections/{name}/points/query` answers."""
        conditions = (body.get("filter") or {"must": []})["must"]
        rows = [
            number
            for number, point in self.points.items()
            if all(_meets(point[1], condition) for condition in conditions)
        ]
        vectors = np.array([self.points[number][0] for number in rows]).reshape(len(rows), -1)
        query = np.array(body["query"]["nearest"])
        euclid = self.config["vectors"]["distance"] == "Euclid"
        distance = ((vectors - query) ** 2).sum(axis=1) if euclid else -(vectors @ query)
        nearest = np.argsort(distance, kind="stable")[: body["limit"]]
        found = [{"id": rows[row], "version": 0, "score": float(distance[row])} for row in nearest]
        return {"points": found}


class Handler(BaseHTTPRequestHandler):
    """Answers requests for the collections of the class."""

    protocol_version = "HTTP/1.1"
    collections: ClassVar[dict[str, Collection]] = {}

    def log_message(self, *_: object) -> None:
        """Write no log."""

    def do_GET(self) -> None:
        """Answer with the version, or with a collection."""
        if urlsplit(self.path).path == "/":
            self._send({"title": "qdrant", "version": VERSION})
        else:
            self._answer(lambda name, _, __: self.collections[name].describe())

    def do_PUT(self) -> None:
        """Create a collection or a field's index, or insert points."""
        self._answer(self._put)

    def do_PATCH(self) -> None:
        """Change the optimizers of a collection, which builds its index at once."""
        self._answer(self._patch)

    def do_POST(self) -> None:
        """Search, or delete points."""
        self._answer(self._post)

    def do_DELETE(self) -> None:
        """Delete a collection."""
        self._answer(lambda name, _, __: self.collections.pop(name) is not None)

    def _put(self, name: str, action: str, body: dict[str, Any]) -> Any:
        if action == "":
            self.collections[name] = Collection(body)
        elif action == "points":
            batch = body["batch"]
            rows = zip(batch["ids"], batch["vectors"], batch["payloads"], strict=True)
            self.collections[name].points |= {number: (vector, payload) for number, vector, payload in rows}
        return True if action == "" else {"operation_id": 0, "status": "completed"}

    def _patch(self, name: str, _: str, body: dict[str, Any]) -> bool:
        self.collections[name].indexed = body["optimizers_config"]["indexing_threshold"] > 0
        return True

    def _post(self, name: str, action: str, body: dict[str, Any]) -> Any:
        collection = self.collections[name]
        if action == "points/query":
            return collection.search(body)
        for number in body["points"]:
            del collection.points[number]
        return {"operation_id": 0, "status": "completed"}

    def _answer(self, act: Callable[[str, str, dict[str, Any]], Any]) -> None:
        _, _, name, *action = urlsplit(self.path).path.split("/")
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
        if name not in self.collections and (self.command != "PUT" or action):
            self._send(
                {"status": {"error": f"Not found: Collection `{name}` doesn't exist!"}, "time": 0.0}, 404
            )
        else:
            self._send({"result": act(name, "/".join(action), body), "status": "ok", "time": 0.0})

    def _send(self, answer: dict[str, Any], code: int = 200) -> None:
        data = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def run_qdrant_stub() -> Iterator[str]:
    """Answer on a loopback port, and return the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def _meets(payload: dict[str, int], condition: dict[str, Any] | None) -> bool:
    if condition is None:
        return True
    value = payload[condition["key"]]
    below = condition.get("range")
    return bool(value < below["lt"]) if below else value == condition["match"]["value"]
