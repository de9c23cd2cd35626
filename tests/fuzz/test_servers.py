"""No server can hang, fill, lead astray or crash a client of judged."""

from __future__ import annotations

import socket

import pytest

from fuzz.outcome import Outcome
from fuzz.servers import CLIENTS, attack, attack_all, is_installed
from judged.errors import JudgedError

QUICK = (
    *(
        "drips a body",
        "redirects elsewhere (307)",
        "refuses (401)",
        "answers with deep JSON",
        "lies: wrong types",
    ),
    *(
        "lies: ids of odd types",
        "lies: NaN",
        "lies: NaN in a vector",
        "lies: an endless order",
        "lies: no text",
    ),
)
"""Behaviours that clients notice at once, and one that takes the whole timeout."""
OVER_HTTP = [name for name in CLIENTS if not name.startswith("index")]


def skip_unless_installed(client: str) -> None:
    """Skip the test of a client whose library is not installed."""
    if not is_installed(client):
        pytest.skip(f"{CLIENTS[client][0]} is not installed")


@pytest.mark.parametrize("client", OVER_HTTP)
@pytest.mark.filterwarnings("ignore")
def test_a_client_bears_servers_that_lie_and_drip(client: str) -> None:
    """It returns or raises an error in words, and asks no other address."""
    skip_unless_installed(client)
    outcome = Outcome(client)
    for behaviour in QUICK:
        attack(client, behaviour, outcome)

    assert outcome.defects == []
    assert outcome.tried == len(QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.filterwarnings("ignore")
def test_a_client_bears_every_server(client: str) -> None:
    """Those that stall, drop, drip and flood as well, in bounded time and memory; engines in a process of their own."""
    skip_unless_installed(client)

    assert attack_all(client).defects == []


@pytest.mark.parametrize("client", OVER_HTTP)
@pytest.mark.filterwarnings("ignore")
def test_a_server_that_is_not_there_is_named(client: str) -> None:
    """The connection is refused; the message has the address, except where each failed question has it."""
    skip_unless_installed(client)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    try:
        answered = CLIENTS[client][1](f"http://127.0.0.1:{port}")
    except JudgedError as error:
        assert f"127.0.0.1:{port}" in str(error)
    else:
        assert client == "labeller"
        assert len(answered.failures) == 2  # type: ignore[attr-defined]
