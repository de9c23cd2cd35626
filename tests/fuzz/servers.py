"""Servers that stall, refuse, drop, drip, flood, redirect and lie, and every client of judged against each of them.

A client may return or raise one of judged's errors, within bounded time and memory, and never speaks to another address.
"""

from __future__ import annotations

import gzip
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.outcome import Outcome
from judged.errors import JudgedError

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
LIMIT = 20.0
"""Seconds that a client with a timeout of one second and two attempts may take."""
MEMORY = 600 << 20
"""Bytes by which a client may grow: the largest answer that is read, several times over."""


@dataclass
class Server:
    """A server on this machine that answers every connection in one way."""

    talk: Callable[[socket.socket, Server], None]
    other: str = ""
    """An address to redirect to."""
    requests: list[bytes] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def listen(self) -> Iterator[str]:
        """Listen until the end of the block; yield the address."""
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        thread = threading.Thread(target=self._accept, args=(listener,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            self.ended.set()
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
            thread.join(5)

    def _accept(self, listener: socket.socket) -> None:
        while not self.ended.is_set():
            try:
                opened, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(opened,), daemon=True).start()

    def _serve(self, opened: socket.socket) -> None:
        with opened, suppress(OSError):
            opened.settimeout(30)
            self.requests.append(opened.recv(1 << 20))
            self.talk(opened, self)

    def wait(self, seconds: float) -> bool:
        """Wait; return whether the server goes on."""
        return not self.ended.wait(seconds)


def _stall(_: socket.socket, server: Server) -> None:
    server.wait(60)


def _drop(opened: socket.socket, _: Server) -> None:
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset, not an end


def _cut(opened: socket.socket, _: Server) -> None:
    opened.sendall(OK + b'Content-Length: 5000\r\n\r\n{"data": [')


def _drip(head: bytes) -> Callable[[socket.socket, Server], None]:
    def talk(opened: socket.socket, server: Server) -> None:
        opened.sendall(head)
        while server.wait(0.2):
            opened.sendall(b" ")

    return talk


def _flood(head: bytes, piece: bytes) -> Callable[[socket.socket, Server], None]:
    def talk(opened: socket.socket, server: Server) -> None:
        opened.sendall(head)
        until = time.monotonic() + 15
        while not server.ended.is_set() and time.monotonic() < until:
            opened.sendall(piece * 1_000)

    return talk


def _say(status: str, body: bytes = b"", *headers: str) -> Callable[[socket.socket, Server], None]:
    def talk(opened: socket.socket, server: Server) -> None:
        lines = "".join(f"{line.format(other=server.other)}\r\n" for line in headers)
        head = (
            f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{lines}"
        )
        opened.sendall(f"{head}Connection: close\r\n\r\n".encode() + body)

    return talk


def _lie(answer: object) -> Callable[[socket.socket, Server], None]:
    return _say("200 OK", json.dumps(answer).encode())


def _embed(*rows: object) -> dict[str, object]:
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    return {"object": "list", "model": "m", "data": data}


def _chat(content: object) -> dict[str, object]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


BEHAVIOURS: Mapping[str, Callable[[socket.socket, Server], None]] = {
    "stalls": _stall,
    "drops every connection": _drop,
    "ends in the middle of an answer": _cut,
    "drips a header": _drip(b"HTTP/1.1 200 OK\r\nX: "),
    "drips a body": _drip(OK + b"Content-Length: 100000\r\n\r\n"),
    "floods with headers": _flood(b"HTTP/1.1 200 OK\r\n", b"A: " + b"b" * 60 + b"\r\n"),
    "floods with a body": _flood(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"40\r\n" + b" " * 64 + b"\r\n"),
    "floods with one line": _flood(b"", b"x" * 64),
    "is no HTTP": _flood(b"220 mail ready\r\n", b""),
    "redirects elsewhere (307)": _say("307 Temporary Redirect", b"", "Location: {other}/stolen"),
    "redirects elsewhere (302)": _say("302 Found", b"", "Location: {other}/stolen"),
    "redirects to a file": _say("301 Moved", b"", "Location: file:///etc/passwd"),
    "fails for ever (500)": _say("500 No", b"\x1b[2J[/red] <b>broken</b>"),
    "refuses (401)": _say("401 No", b'{"error": {"message": "no [/INST]"}}'),
    "asks to wait for a year": _say("429 Later", b"", "Retry-After: 31536000"),
    "asks to wait for NaN seconds": _say("503 Later", b"", "Retry-After: nan"),
    "answers with a bomb": _say("200 OK", gzip.compress(b" " * (64 << 20)), "Content-Encoding: gzip"),
    "answers with nothing": _say("200 OK"),
    "answers with no JSON": _say("200 OK", b"<html>\xff\xfe</html>"),
    "answers with deep JSON": _say("200 OK", b"[" * 200_000),
    "answers with a huge number": _say("200 OK", b'{"data": ' + b"9" * 5_000 + b"}"),
    "lies: null": _lie(None),
    "lies: a number": _lie(7),
    "lies: other keys": _lie({"ok": True, "data": None, "choices": None, "hits": None, "result": None}),
    "lies: wrong types": _lie({"data": "x", "choices": {"a": 1}, "hits": [1], "result": 3, "status": {}}),
    "lies: unknown ids": _lie({"hits": {"hits": [{"_id": f"x{n}", "_score": 1.0} for n in range(9)]}}),
    "lies: ids of odd types": _lie({"hits": {"hits": [{"_id": one} for one in (None, True, 1.5, [], {})]}}),
    "lies: rising scores": _lie({"hits": {"hits": [{"_id": f"d{n}", "_score": float(n)} for n in range(9)]}}),
    "lies: repeated ids": _lie({"hits": {"hits": [{"_id": "d1", "_score": 1.0}] * 99}}),
    "lies: NaN": _say(
        "200 OK", b'{"hits": {"hits": [{"_id": "d1", "_score": NaN}, {"_id": "d2", "_score": 1e999}]}}'
    ),
    "lies: no vectors": _lie(_embed()),
    "lies: two vectors for one": _lie(_embed([1.0, 2.0], [1.0, 2.0])),
    "lies: NaN in a vector": _say("200 OK", json.dumps(_embed([1.0, float("nan")])).encode()),
    "lies: text in a vector": _lie(_embed(["a", "b"])),
    "lies: an empty vector": _lie(_embed([])),
    "lies: nested vectors": _lie(_embed([[1.0], [2.0, 3.0]])),
    "lies: an order of no results": _lie(_chat('{"order": [99, -1, "x", null, 1e999]}')),
    "lies: an endless order": _lie(_chat('{"order": [' + "1," * 50_000 + "1]}")),
    "lies: no order": _lie(_chat("I will not.")),
    "lies: no text": _lie(_chat(None)),
    "lies: odd probabilities": _lie(
        {
            **_chat("3"),
            "usage": "much",
            "choices": [{"message": {"content": "3"}, "logprobs": {"content": [{"token": 3}, 7]}}],
        }
    ),
    "lies: text of another type": _lie(_chat([{"type": "text", "text": 5}])),
}


def ask_http(url: str) -> object:
    """Ask through the retriever of JSON endpoints, and check the answer as a study does."""
    from judged.studies.stages.clock import Clock
    from judged.studies.stages.retrievers.http import Elasticsearch
    from judged.studies.stages.stage import Query

    with TemporaryDirectory() as folder:
        spec = Elasticsearch(url=url, index="i", timeout=1, attempts=2)
        system = spec.build(_workshop(Path(folder)))
        try:
            return system.search(Query("q1", "cats", Clock()), 10)
        finally:
            system.close()  # type: ignore[attr-defined]


def ask_embeddings(url: str) -> object:
    """Encode a query by an endpoint, within the checks of a vector space."""
    from judged.studies.stages.encoders.endpoint import OpenAI
    from judged.studies.stages.vectors import VectorCache, encode_collection

    spec = OpenAI(model="m", url=f"{url}/v1", timeout=1, total_timeout=4, retries=1)
    with TemporaryDirectory() as folder:
        return encode_collection(spec, _workshop(Path(folder)).collection, VectorCache())


def ask_reranker(url: str) -> object:
    """Order three documents by a language model."""
    from judged.studies.stages.clock import Clock
    from judged.studies.stages.rerankers.llm import LanguageModel
    from judged.studies.stages.stage import Query, Ranked

    with TemporaryDirectory() as folder:
        spec = LanguageModel(model="m", url=f"{url}/v1", timeout=1, attempts=2)
        ranker = spec.load(_workshop(Path(folder)), None)
        return ranker.order(Query("q1", "cats", Clock()), Ranked(("d1", "d2", "d3"), (3.0, 2.0, 1.0)))


def ask_rewriter(url: str) -> object:
    """Rewrite a query by a language model, as lists and as passages."""
    from judged.studies.stages.rewriters import HypotheticalDocuments, MultiQuery
    from judged.studies.stages.stage import Query

    with TemporaryDirectory() as folder:
        workshop = _workshop(Path(folder))
        found = []
        for kind in (MultiQuery, HypotheticalDocuments):
            rewriter = kind(model="m", url=f"{url}/v1", timeout=1, attempts=1).build(workshop)
            found.append(rewriter.rewrite(Query("q1", "cats")))
        return found


def ask_generator(url: str) -> object:
    """Write an answer by a language model."""
    from judged.studies.stages.generators import ModelGeneration, Source
    from judged.studies.stages.stage import Query

    with TemporaryDirectory() as folder:
        spec = ModelGeneration(model="m", url=f"{url}/v1", timeout=1, attempts=2)
        return spec.build(_workshop(Path(folder))).generate(Query("q1", "cats"), [Source("d1", "a cat")])


def ask_labeller(url: str) -> object:
    """Label two results by a language model."""
    from judged.labels import Endpoint, Labeller, RetryPolicy
    from judged.labels.single import label_pool
    from judged.labels.task import Item, Pool

    items = [Item.of_result("cats", "", text, {"task": "t", "id": text}) for text in ("a cat", "a dog")]
    endpoint = Endpoint(f"{url}/v1", timeout=1, retries=RetryPolicy(attempts=2))
    return label_pool(Pool(tuple(items), 2), Labeller("m"), endpoint, cache=None)


def ask_engine(name: str) -> Callable[[str], object]:
    """Return a client that benchmarks an index on a server, in a process that is ended after a few seconds."""

    def ask(url: str) -> object:
        import numpy as np

        import judged

        address = url.replace("http://", "postgresql://me:secret@") + "/base" if "pgvector" in name else url
        vectors = np.eye(20, dtype=np.float32)
        return judged.benchmark_index(
            vectors, engines=[name], urls={name: address}, timeout=4, k=1, clients=(), loads=()
        )

    return ask


def _workshop(folder: Path) -> object:
    from judged.studies.collections.collection import Collection
    from judged.studies.stages.stage import Workshop

    documents = tuple(f"d{number}" for number in range(1, 4))
    collection = Collection("pets", documents, ("a cat", "a dog", "a bird"), {"q1": "cats"})
    return Workshop(collection, lambda _: None, folder)  # type: ignore[arg-type, return-value]


CLIENTS: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "retriever over HTTP": ("httpx2", ask_http),
    "encoder by an endpoint": ("httpx2", ask_embeddings),
    "reranker by a language model": ("httpx2", ask_reranker),
    "rewriter by a language model": ("httpx2", ask_rewriter),
    "generator by a language model": ("httpx2", ask_generator),
    "labeller": ("httpx2", ask_labeller),
    "index on Qdrant": ("qdrant_client", ask_engine("qdrant")),
    "index on PostgreSQL": ("psycopg", ask_engine("pgvector-hnsw")),
}
"""What each client needs to be installed, and how it asks."""


def is_installed(client: str) -> bool:
    """Return whether what a client needs is installed."""
    return find_spec(CLIENTS[client][0]) is not None


def attack(client: str, behaviour: str, outcome: Outcome) -> None:
    """Let one client ask one server, and judge what happens."""
    other, server = Server(_lie({"hits": {"hits": []}})), Server(BEHAVIOURS[behaviour])
    before, started = _memory(), time.monotonic()
    with other.listen() as elsewhere, server.listen() as url:
        server.other = elsewhere
        try:
            CLIENTS[client][1](url)
            kind, defect = "answered", ""
        except JudgedError as error:
            kind, defect = "refused", "" if str(error) and "\x1b" not in repr(str(error)) else "unworded"
        except Exception as error:  # noqa: BLE001 - what is looked for
            kind, defect = "failed", repr(error)[:300]
    taken, grown = time.monotonic() - started, _memory() - before
    if other.requests:
        defect = "followed a redirect to another address"
    elif taken > LIMIT:
        defect = f"took {taken:.0f} s"
    elif grown > MEMORY:
        defect = f"grew by {grown >> 20} MB"
    outcome.expect(kind, held=not defect, defect=f"{client}: the server {behaviour}: {defect}")


def _memory() -> int:
    """Return the most memory that this process has used."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def attack_all(client: str) -> Outcome:
    """Let one client ask every server."""
    outcome = Outcome(client)
    for behaviour in BEHAVIOURS:
        attack(client, behaviour, outcome)
    return outcome
