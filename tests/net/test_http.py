"""The client against servers that break TLS, close connections or ask for keys; and secrets that stay hidden."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import os
import signal
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judged.errors import BadProtocol, EndpointFailed
from judged.net.http import Bounds, HttpClient
from judged.net.llm import Endpoint
from judged.net.secrets import Key, is_exposed, read_secret
from support.json_server import JsonServer, Reply, run_server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JsonServer]:
    """Return a server that answers with a list, until a test says otherwise."""
    pytest.importorskip("httpx2", reason="the extra `endpoint` is not installed")
    monkeypatch.setattr("judged.net.retry.FIRST_WAIT", 0.01)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with run_server(lambda _asked: Reply([1])) as running:
        yield running


def connect(url: str, *, seconds: float = 5.0, **headers: str) -> HttpClient:
    """Return a client whose secret is `s3cret-s3cret`."""
    return HttpClient(
        url,
        headers=headers,
        redact=lambda text: text.replace("s3cret-s3cret", "[key]"),
        bounds=Bounds(seconds, 1000),
        extra="endpoint",
        needed_by="a test",
    )


def test_a_server_without_tls_is_an_error_in_words(server: JsonServer) -> None:
    """Nothing is sent in the clear to an address that begins with https."""
    client = connect(server.address.replace("http:", "https:"))

    with pytest.raises(EndpointFailed, match=r"gave no answer in 2 attempts: no connection \("):
        client.ask("GET", client.url, attempts=2)
    assert server.asked == []
    client.close()


@pytest.mark.usefixtures("server")
def test_a_certificate_that_nobody_signed_is_refused(tmp_path: Path) -> None:
    """Neither the request nor the key reaches such a server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(make_certificate(tmp_path))
    with run_server(lambda _asked: Reply([1]), context) as other:
        client = connect(other.address.replace("http:", "https:"), Authorization="s3cret-s3cret")
        with pytest.raises(EndpointFailed, match=r"(?i)no connection \(.*certificate"):
            client.ask("GET", client.url, attempts=1)
        client.close()

    assert other.asked == []


def make_certificate(folder: Path) -> Path:
    """Write a certificate for this machine that it signed itself, with its key."""
    pytest.importorskip("cryptography", reason="cryptography is not installed")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    certificate = builder.add_extension(address, critical=False).sign(key, hashes.SHA256())
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "server.pem"
    path.write_bytes(private + certificate.public_bytes(encoding))
    return path


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_an_answer_that_repeats_a_secret_does_not_show_it(server: JsonServer, status: int) -> None:
    """In whatever field of the answer it stands."""
    server.answer = lambda asked: Reply({"error": {"message": asked.headers["x-key"]}}, status)
    client = connect(server.address, **{"X-Key": "s3cret-s3cret"})

    with pytest.raises(EndpointFailed, match=rf"status {status}: \[key\]"):
        client.ask("GET", client.url, attempts=1)
    client.close()


@pytest.mark.parametrize("secret", ["abc\ndef-s3cret", "schl\u00fcssel-s3cret", "abc\x00def-s3cret"])
def test_a_secret_that_no_header_can_carry_is_refused_unseen(
    monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    """The HTTP library would quote it in its error."""
    if "\x00" not in secret:  # which no environment can hold
        monkeypatch.setenv("MY_KEY", secret)
    else:
        monkeypatch.setattr(os, "environ", {"MY_KEY": secret})
    with pytest.raises(BadProtocol, match="MY_KEY has characters that a header cannot carry") as caught:
        read_secret("MY_KEY")

    assert "s3cret" not in str(caught.value)


def test_a_header_that_http_does_not_allow_is_not_shown(server: JsonServer) -> None:
    """Its value may be a secret."""
    client = connect(server.address, **{"X-Key": "s3cret\r\nInjected: 1"})

    with pytest.raises(EndpointFailed, match="a header has characters that HTTP does not allow") as caught:
        client.ask("GET", client.url, attempts=3)
    assert "s3cret" not in str(caught.value)
    assert server.asked == []
    client.close()


@pytest.mark.parametrize("url", ["http://[::1", "http://a:b:c/", "http://x\x00y/"])
def test_an_address_that_cannot_be_parsed_is_refused(url: str) -> None:
    """Before anything is sent."""
    pytest.importorskip("httpx2", reason="the extra `endpoint` is not installed")
    with pytest.raises(BadProtocol, match="the address is"):
        connect(url)


def test_a_client_that_nobody_closes_leaves_no_connection(server: JsonServer) -> None:
    """The garbage collector closes it, without a warning."""
    client = connect(server.address)
    client.ask("GET", client.url, attempts=1)
    pool = client._pool
    del client
    gc.collect()

    assert pool.is_closed


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # newer Pythons warn of threads in a process that forks
def test_clients_work_in_a_process_that_was_forked(server: JsonServer) -> None:
    """Nothing that a client needs is shared with the parent."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    child = os.fork()
    if child == 0:  # no assertion here: the tests of this process must not go on
        client = connect(server.address)
        os._exit(0 if client.ask("GET", client.url, attempts=1) == [1] else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_interruption_cancels_the_work_and_waits_for_its_end(server: JsonServer) -> None:
    """What the work does at its end is done when the caller goes on, and the client can still be used."""
    client, ended = connect(server.address), []

    async def work() -> None:
        try:
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.05)
            ended.append(True)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may have ignored it
    try:
        with pytest.raises(KeyboardInterrupt):
            client.run(work())
    finally:
        signal.signal(signal.SIGINT, before)

    assert ended == [True]
    assert client.ask("GET", client.url, attempts=1) == [1]
    client.close()


@pytest.mark.parametrize(
    ("url", "exposed"),
    [
        ("http://127.0.0.1:80/v1", False),
        ("http://localhost/v1", False),
        ("http://[::1]:9/v1", False),
        ("http://10.0.0.1/v1", True),
        ("http://localhost.evil.example/v1", True),
        ("https://10.0.0.1/v1", False),
    ],
)
def test_what_leaves_this_machine_without_encryption_is_exposed(url: str, exposed: bool) -> None:
    """Servers on this machine and https are not."""
    assert is_exposed(url) is exposed


def test_a_key_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by `repr` nor in texts that pass through it; passwords in addresses are removed as well."""
    monkeypatch.setenv("MY_KEY", "sk-secret ")
    key = Key("MY_KEY")

    assert repr(key) == "Key(MY_KEY: set)"
    assert (
        key.redact("Incorrect key sk-secret at https://me:pw@host/v1")
        == "Incorrect key [key] at https://host/v1"
    )
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert repr(Key()) == "Key(OPENAI_API_KEY: not set)"


def test_a_variable_that_is_named_has_to_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """A named variable is never replaced by the default."""
    monkeypatch.delenv("NO_KEY", raising=False)

    with pytest.raises(BadProtocol, match="NO_KEY, named as the one with the key, is not set"):
        Key("NO_KEY")


def test_the_address_of_the_request_itself_is_an_endpoint_too() -> None:
    """Examples often show it."""
    assert Endpoint("http://localhost:8000/v1/chat/completions").url == "http://localhost:8000/v1"
    assert Endpoint("http://localhost:8000/v1/").url == "http://localhost:8000/v1"


def test_cookies_are_not_sent_back(server: JsonServer) -> None:
    """An answer must not depend on those before it."""
    server.answer = lambda _asked: Reply([1], headers={"set-cookie": "seen=1; Path=/"})
    client = connect(server.address)
    for _ in range(2):
        client.ask("GET", client.url, attempts=1)

    assert [asked.headers.get("cookie") for asked in server.asked] == [None, None]
    client.close()
