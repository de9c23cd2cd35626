"""The viewer answers nobody but the reader, with nothing but what it was given, whatever is sent to it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import threading
import time
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.applications import Starlette

import judged
from judged.errors import BadProtocol
from judged.report.entry import Sources, make_entries
from judged.web.app import Viewer
from judged.web.guard import Limits
from judged.web.live import Folder, Live
from judged.web.serve import make_server
from support.viewer import Running, run_viewer, wait_for

HOSTILE = [
    "<script>alert(1)<.json",
    '"><img src=x onerror=alert(1)>.json',
    "' onmouseover='alert(1).json",
    "&lt;b&gt;.json",
    "a\nb.json",
    "\u202eevil.json",
    "%2e%2e%2fsecret.json",
    "x" * 240 + ".json",
    "é ü 漢字 🔎.json",
    "a&b=c#d?e.json",
]


def send(viewer: Running, data: bytes, seconds: float = 10) -> bytes:
    """Send bytes as they are, and return the beginning of what comes back."""
    with socket.create_connection(("127.0.0.1", viewer.port), timeout=seconds) as opened:
        opened.sendall(data)
        return next(receive(opened), b"")


def receive(opened: socket.socket) -> Iterator[bytes]:
    """Yield what comes back."""
    try:
        while data := opened.recv(65536):
            yield data
    except ConnectionResetError:
        return


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.json",
        "/results/../../secret.json",
        "/%2e%2e/secret.json",
        "/..%2fsecret.json",
        "/result?name=../secret.json",
        "/result?name=..%2fsecret.json",
        "/result.json?name=%2e%2e%2fsecret.json",
        "/result?name=/etc/passwd",
        "/result?name=results/monday.json",
        "/result?name=./monday.json",
        "/result?name=monday.json%00",
        "/result?name=..%5csecret.json",
        "/compare?first=monday.json&second=../secret.json",
        "/monday.json",
        "/results/monday.json",
        "//secret.json",
        "/result?name=readme.txt",
        "/result?name=link.json",
        "/result?name=inner.json",
        "/result?name=folder.json",
        "/result?name=.hidden.json",
        "/result?name=pipe.json",
    ],
)
def test_nothing_outside_the_list_is_served(guarded: Running, path: str) -> None:
    """Not by `..`, however it is written, nor through links, nor another kind of file."""
    answer = guarded.ask(path)

    assert answer.status == 404
    assert "bm25" not in answer.text
    assert "root:" not in answer.text


def test_nothing_outside_the_list_is_listed(guarded: Running) -> None:
    """A link within the folder is followed: `latest.json` may point to one of the results."""
    names = {one["name"] for one in json.loads(guarded.ask("/index.json").body)["results"]}

    assert names == {"comparison.json", "tuesday.json.gz", "monday.json", "latest.json"}
    assert guarded.ask("/result?name=latest.json").status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example:{port}",
        "",
        "0.0.0.0:{port}",
    ],
)
def test_another_host_is_refused(guarded: Running, host: str) -> None:
    """A name that somebody points to this machine (DNS rebinding) opens nothing."""
    answer = guarded.ask("/index.json", Host=host.format(port=guarded.port))

    assert answer.status == 421
    assert "monday" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_the_names_of_this_machine_are_accepted(guarded: Running, host: str) -> None:
    """The address may be written in any of its ways."""
    assert guarded.ask("/", Host=host.format(port=guarded.port)).status == 200


def test_two_hosts_and_no_host_are_refused(guarded: Running) -> None:
    """Which of two names counts would be a guess."""
    good = f"Host: 127.0.0.1:{guarded.port}\r\n".encode()
    for hosts in (b"", good + b"Host: evil.example\r\n"):
        assert send(guarded, b"GET / HTTP/1.1\r\n" + hosts + b"Connection: close\r\n\r\n").startswith(
            b"HTTP/1.1 4"
        )
    assert send(guarded, b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421")


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:1",
        "http://localhost:{port}",
    ],
)
def test_another_origin_is_refused(guarded: Running, origin: str) -> None:
    """Requests that a script of another page makes carry its origin."""
    assert guarded.ask("/index.json", Origin=origin.format(port=guarded.port)).status == 403
    assert guarded.ask("/events", Origin=origin.format(port=guarded.port)).status == 403


def test_its_own_origin_is_accepted(guarded: Running) -> None:
    """Its own pages may ask."""
    assert guarded.ask("/index.json", Origin=guarded.url).status == 200


def test_another_page_may_link_but_not_embed(guarded: Running) -> None:
    """A link to a page works; a script, picture or frame of another site does not."""
    site = {"Sec_Fetch_Site": "cross-site"}

    assert guarded.ask("/", Sec_Fetch_Mode="navigate", **site).status == 200
    assert guarded.ask("/index.json", Sec_Fetch_Mode="no-cors", **site).status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
@pytest.mark.parametrize("path", ["/", "/index.json", "/result?name=monday.json", "/events"])
def test_only_reading_methods_are_allowed(guarded: Running, method: str, path: str) -> None:
    """Others are refused, and the answer says which are allowed."""
    answer = guarded.ask(path, method=method)

    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "path", ["/", "/index.json", "/result?name=monday.json", "/result?name=no", "/nothing"]
)
def test_every_answer_has_the_headers_that_keep_other_pages_out(guarded: Running, path: str) -> None:
    """Errors too."""
    headers = guarded.ask(path).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))

    assert policy["default-src"] == "'none'"
    assert policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert not {word for words in policy.values() for word in words.split() if word.startswith("'unsafe")}
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers
    assert "access-control-allow-origin" not in headers


def test_hostile_names_are_text(viewer: Running, results: Path) -> None:
    """A file of any name is listed, opened and compared; no part of its name becomes markup."""
    for name in HOSTILE:
        (results / name).write_bytes((results / "tuesday.json.gz").read_bytes())
    for name in HOSTILE:
        errors = viewer.ask(f"/result?name={quote('no ' + name)}").text
        shown = viewer.ask(f"/result?name={quote(name)}")
        compared = viewer.ask(f"/compare?first={quote(name)}&second=monday.json")

        assert shown.status == compared.status == 200
        for text in (viewer.ask("/").text, errors, shown.text, compared.text):
            assert "<script>alert" not in text
            assert "<img src=x" not in text
        assert (
            "' onmouseover='" not in viewer.ask("/").text + errors
        )  # in a report it is data, between other quotes
    listed = {one["name"] for one in json.loads(viewer.ask("/index.json").body)["results"]}
    assert listed > set(HOSTILE)


def test_a_name_that_is_not_utf_8_is_listed_and_opened(viewer: Running, results: Path) -> None:
    """Its bytes are escaped."""
    raw = os.fsencode(results) + b"/\xff\xfe.json"
    with open(raw, "wb") as file:  # noqa: PTH123 - a path of bytes
        file.write((results / "monday.json").read_bytes())

    assert r"\xff\xfe.json" in viewer.ask("/").text
    assert viewer.ask("/result?name=" + quote(r"\xff\xfe.json")).status == 200


def test_a_result_from_elsewhere_opens_no_file_whose_hash_it_does_not_know(tmp_path: Path) -> None:
    """A saved result names the files it was made from; a forged one could name any."""
    (tmp_path / "qrels.txt").write_text("q1 0 private 1\n")
    (tmp_path / "run.txt").write_text("q1 Q0 private 1 2.0 bm25\n")
    scored = judged.evaluate_many(str(tmp_path / "qrels.txt"), {"bm25": str(tmp_path / "run.txt")}, ["AP"])
    scored.save(tmp_path / "honest.json")
    text = (tmp_path / "honest.json").read_text()
    hashes = re.findall(r'"digest":"([0-9a-f]{64})"', text)
    forged = re.sub(r'"digest":"[0-9a-f]{64}"', '"digest":null', text)
    (tmp_path / "forged.json").write_text(forged)
    (tmp_path / "other.json").write_text(text.replace(hashes[0], "0" * 64))

    def read(name: str) -> object:
        return make_entries([judged.load(tmp_path / name)], verified=True)[0].sources

    assert isinstance(read("honest.json"), Sources)
    assert read("forged.json") == f"`{tmp_path}/qrels.txt` was recorded without its hash"
    assert "has changed since it was scored" in str(read("other.json"))


def test_long_addresses_heads_and_bodies_are_refused(guarded: Running) -> None:
    """The server goes on."""
    assert guarded.ask("/?" + "a" * 9_000).status == 414
    assert guarded.ask("/", X_Long="a" * 20_000).status == 431
    assert guarded.ask("/", Content_Length="5").status == 413
    assert send(guarded, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100_000)[:12] in {b"HTTP/1.1 400", b""}
    assert guarded.ask("/").status == 200


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\xff" * 100,
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        b"GET / HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
    ids=["bytes", "no target", "TLS", "version", "HTTP/2"],
)
def test_what_is_not_http_is_refused(guarded: Running, data: bytes) -> None:
    """The server goes on."""
    assert send(guarded, data)[:12] in {b"HTTP/1.1 400", b"HTTP/1.1 421"}
    assert guarded.ask("/").status == 200


def test_a_web_socket_is_refused(guarded: Running) -> None:
    """There is none to talk to."""
    answer = guarded.ask(
        "/", Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Key="x", Sec_WebSocket_Version="13"
    )

    assert answer.status in {200, 400, 426}


def test_hundreds_of_connections_do_not_stop_the_viewer(results: Path) -> None:
    """Those beyond the limit are turned away; when some end, others are answered."""
    with run_viewer(results, limits=Limits(connections=50)) as viewer:
        opened = [socket.create_connection(("127.0.0.1", viewer.port), timeout=10) for _ in range(300)]
        refused = sum(b"503" in b"".join(receive(one)) for one in opened[60:])

        assert refused > 200
        assert len(viewer.server.server_state.connections) <= 51
        for one in opened:
            one.close()
        wait_for(lambda: not viewer.server.server_state.connections)
        assert viewer.ask("/").status == 200


def test_hundreds_of_requests_at_once_are_answered(guarded: Running) -> None:
    """Two hundred threads ask at the same time."""
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda: answers.append(guarded.ask("/index.json").status)) for _ in range(200)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [200] * 200


def test_streams_of_changes_are_bounded(results: Path) -> None:
    """One more than allowed is turned away, with the time to try again."""
    with run_viewer(results, limits=Limits(streams=3)) as viewer:
        request = f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\n\r\n".encode()
        opened = [socket.create_connection(("127.0.0.1", viewer.port), timeout=10) for _ in range(3)]
        for one in opened:
            one.sendall(request)
        wait_for(lambda: len(viewer.server.viewer._streams) == 3)
        answer = viewer.ask("/events")

        assert (answer.status, answer.headers["retry-after"]) == (503, "10")
        for one in opened:
            one.close()
        wait_for(lambda: not viewer.server.viewer._streams)


def test_streams_that_begin_at_once_are_bounded_too(results: Path) -> None:
    """However many are asked for before the first has begun; and one whose reader leaves at once is not counted for ever."""
    viewer = Viewer(Live(Folder(results)), title="results", limits=Limits(streams=4))
    statuses: list[int] = []

    async def open_stream(application: Starlette, gone: asyncio.Event) -> None:
        """Read a stream until the reader is gone; the last of forty answers lets all readers go."""

        async def receive() -> dict[str, object]:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            if len(statuses) == 40:
                gone.set()

        scope = {"type": "http", "method": "GET", "path": "/events", "query_string": b"", "headers": []}
        await application(scope, receive, send)

    async def open_all(*, leave_at_once: bool) -> None:
        gone, application = asyncio.Event(), viewer.application()
        if leave_at_once:
            gone.set()
        await asyncio.gather(*(open_stream(application, gone) for _ in range(40)))

    asyncio.run(open_all(leave_at_once=False))
    assert sorted(statuses) == [200] * 4 + [503] * 36
    asyncio.run(open_all(leave_at_once=True))
    assert not viewer._streams


def send_until_closed(opened: socket.socket, data: bytes, seconds: float = 10) -> float:
    """Send data again and again, and return the time after which the other side closed the connection."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        try:
            opened.sendall(data)
        except OSError:
            break
        time.sleep(0.01)
    return time.monotonic() - begun


def test_a_client_that_sends_slowly_is_closed(results: Path) -> None:
    """A request that comes byte by byte does not hold a connection."""
    with (
        run_viewer(results, limits=Limits(request_seconds=0.5)) as viewer,
        socket.create_connection(("127.0.0.1", viewer.port), timeout=10) as opened,
    ):
        assert send_until_closed(opened, b"G") < 5


def test_a_client_that_sends_nothing_is_closed(results: Path) -> None:
    """An idle connection ends by itself."""
    with (
        run_viewer(results, limits=Limits(request_seconds=0.5)) as viewer,
        socket.create_connection(("127.0.0.1", viewer.port), timeout=5) as opened,
    ):
        assert b"".join(receive(opened)) == b""


def test_a_client_that_does_not_read_is_closed(results: Path) -> None:
    """Answers that nobody reads do not stay in memory."""
    with run_viewer(results, limits=Limits(response_seconds=0.5)) as viewer:
        with socket.socket() as opened:
            opened.settimeout(10)
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            opened.connect(("127.0.0.1", viewer.port))
            asked = f"GET /result.json?name=comparison.json HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\n\r\n"

            assert send_until_closed(opened, asked.encode() * 50) < 9
        wait_for(lambda: not viewer.server.server_state.connections)
        assert viewer.ask("/").status == 200


def test_an_address_of_other_machines_needs_the_flag(results: Path) -> None:
    """It is refused before anything listens."""
    with pytest.raises(BadProtocol, match=r"0\.0\.0\.0 can be reached from other machines"):
        make_server(Live(Folder(results)), title="results", host="0.0.0.0", port=0)  # noqa: S104 - never listened on


def test_other_machines_need_the_token_once(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token of the address becomes a cookie that scripts cannot read; the address loses it."""
    monkeypatch.setattr("judged.web.serve.is_loopback", lambda _: False)  # as if others could connect
    with run_viewer(results, remote=True) as viewer:
        token = viewer.server.url.partition("?token=")[2]
        first = viewer.ask(f"/result?token={token}&name=monday.json")
        cookie = first.headers["set-cookie"]

        assert len(token) == 43
        assert (first.status, first.headers["location"]) == (303, "/result?name=monday.json")
        assert cookie.startswith(f"judged-{viewer.port}={token};")
        assert {"httponly", "samesite=strict", "path=/"} <= {
            part.strip().lower() for part in cookie.split(";")
        }
        assert viewer.ask("/result?name=monday.json", Cookie=cookie.partition(";")[0]).status == 200
        for path, sent in (
            ("/", ""),
            ("/?token=", ""),
            (f"/?token={token[:-1]}", ""),
            ("/", f"judged-{viewer.port}=x"),
        ):
            assert viewer.ask(path, Cookie=sent).status == 403
        assert viewer.ask("/", Cookie=cookie.partition(";")[0], Host="evil.example").status == 421
        elsewhere = viewer.ask(f"//evil.example/?token={token}")
        assert elsewhere.headers["location"] == "/evil.example/"


def test_without_remote_access_there_is_no_token(guarded: Running) -> None:
    """The address of this machine is enough on this machine."""
    assert guarded.server.url == f"http://127.0.0.1:{guarded.port}/"
