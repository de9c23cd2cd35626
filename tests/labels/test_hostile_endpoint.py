"""Endpoints that stall, flood, redirect or inject: bounded in time, size and destination."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import pytest
from rich.console import Console

from judged.cli.progress import Progress
from judged.errors import EndpointFailed
from judged.labels import Labelling
from judged.labels.prompt import Labeller
from judged.labels.single import label_pool
from judged.labels.task import Item, Pool
from judged.net.llm import ChatClient, Endpoint
from labels.conftest import LabelRun, Serve
from labels.server import Request, Response, graded


@contextmanager
def raw_server(*pieces: bytes, pause: float = 0.0) -> Iterator[str]:
    """Answer every connection with some bytes, a pause after each, for ten seconds at most."""
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def talk(connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65_536)
                until = time.monotonic() + 10
                for piece in pieces:
                    connection.sendall(piece)
                    while pause and not ended.wait(pause) and time.monotonic() < until:
                        connection.sendall(b" ")
            except OSError:
                pass

    def accept() -> None:
        while not ended.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


class At:
    """Where a raw server listens."""

    def __init__(self, address: str) -> None:
        self.address = address


@pytest.mark.parametrize("head", [HEAD + b"content-length: 100000\r\n\r\n", b"HTTP/1.1 200 OK\r\nx: "])
def test_a_server_that_sends_a_byte_now_and_then_times_out(
    serve: Serve,  # noqa: ARG001 - needs the extra and short waits
    label_run: LabelRun,
    head: bytes,
) -> None:
    """The timeout is that of the whole answer, not of each byte."""
    with raw_server(head, pause=0.1) as address:
        started = time.monotonic()
        with pytest.raises(EndpointFailed, match="timeout"):
            label_run(At(address), number=1, timeout=0.5, attempts=1)  # type: ignore[arg-type]

    assert time.monotonic() - started < 8


@pytest.mark.parametrize("status", [200, 500])
def test_an_endless_answer_is_cut(serve: Serve, label_run: LabelRun, status: int) -> None:
    """No answer may fill the memory, that of an error neither."""
    server = serve(lambda _: Response(status, {"id": "x" * (6 << 20)}))

    with pytest.raises(EndpointFailed, match="answer of more than 4,194,304 bytes"):
        label_run(server, number=1, attempts=1)


def test_a_compressed_answer_is_refused(
    serve: Serve,  # noqa: ARG001 - needs the extra and short waits
    label_run: LabelRun,
) -> None:
    """One that was not asked for may unfold to anything."""
    body = gzip.compress(b" " * 10_000_000)
    head = HEAD + b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(body)
    with (
        raw_server(head + body) as address,
        pytest.raises(EndpointFailed, match="a compressed answer, which was not asked for"),
    ):
        label_run(At(address), number=1, attempts=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_an_error_that_names_its_target(serve: Serve, label_run: LabelRun, status: int) -> None:
    """Queries and documents go to the named address only."""
    other = serve()
    server = serve(lambda _: Response(status, {}, {"location": f"{other.address}/chat/completions"}))

    with pytest.raises(
        EndpointFailed, match=rf"redirects to `{other.address}/chat/completions` \({status}\)"
    ):
        label_run(server)
    assert other.requests == []


def test_the_text_of_a_server_is_no_markup() -> None:
    """A bracket in an error used to end a job whose questions were all answered."""
    shown = Progress("Labelling")
    shown._enabled = True
    shown._show()
    shown.announce("garbage ([/red] gateway [link=http://evil]x)")
    assert shown._bar is not None
    screen = Console(file=StringIO(), width=200)
    with screen.capture() as written:
        screen.print(shown._bar.get_renderable())
    shown.__exit__(None, None, None)

    assert "garbage ([/red] gateway [link=http://evil]x)" in written.get()


def test_an_error_in_the_display_loses_no_answer(serve: Serve) -> None:
    """Whatever ends a job, what is finished is handed over."""
    kept: list[Labelling] = []
    items = tuple(Item.of_result("q", "", f"worth {grade}", {"document": str(grade)}) for grade in range(4))

    def fail(done: int, *_: object) -> None:
        if done == 2:
            raise RuntimeError("display")

    with pytest.raises(RuntimeError, match="display"):
        label_pool(
            Pool(items, 4),
            Labeller("m"),
            Endpoint(serve().address, concurrency=1),
            cache=None,
            progress=fail,
            on_stop=kept.append,
        )

    assert len(kept[0].labelled) == 2


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:80/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:9/v1", True),
        ("http://10.0.0.1/v1", False),
        ("http://localhost.evil.example/v1", False),
    ],
)
def test_a_key_sent_in_clear_beyond_this_machine_is_noted(
    monkeypatch: pytest.MonkeyPatch, url: str, local: bool
) -> None:
    """Nothing is said of a server on this machine, of https, or where there is no key."""
    pytest.importorskip("httpx2", reason="the extra `label` is not installed")
    clear = "without encryption"

    def notes(address: str) -> str:
        return " ".join(ChatClient(Endpoint(address), Labeller("m").chat, needed_by="a test").notes())

    assert clear not in notes(url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret")
    assert (clear in notes(url)) is not local
    assert clear not in notes(url.replace("http:", "https:"))
    assert "sk-secret" not in notes(url)


def test_answers_are_asked_for_uncompressed(serve: Serve, label_run: LabelRun) -> None:
    """Servers then have no reason to compress."""
    asked: list[Request] = []

    def answer(request: Request) -> Response:
        asked.append(request)
        return graded(request)

    label_run(serve(answer))
    assert {request.headers["accept-encoding"] for request in asked} == {"identity"}
