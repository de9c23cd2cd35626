"""A run with its texts, and a server to label it with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from judged.labels import Endpoint, Labeller, Labelling, RetryPolicy, label_results
from labels.server import Request, Response, Server, graded

Serve = Callable[..., Server]
LabelRun = Callable[..., Labelling]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove settings of the machine from the environment."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")  # a proxy cannot reach the servers of these tests


@pytest.fixture
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make retries wait for hundredths of a second only."""
    monkeypatch.setattr("judged.net.retry.FIRST_WAIT", 0.005)
    monkeypatch.setattr("judged.net.retry.LONGEST_BACKOFF", 0.02)


@pytest.fixture
def serve(_short_waits: None) -> Iterator[Serve]:
    """Start servers that stop when the test ends; by default they grade results by their text."""
    pytest.importorskip("httpx2", reason="the extra `label` is not installed")
    with ExitStack() as stack:

        def start(answer: Callable[[Request], Response] = graded) -> Server:
            return stack.enter_context(Server(answer).running())

        yield start


OF_LABELLER = ("model", "temperature", "seed", "max_tokens", "structure")
OF_ENDPOINT = ("concurrency", "rate", "timeout")
OF_RETRIES = ("attempts", "reasks")


@pytest.fixture
def label_run() -> LabelRun:
    """Label a run of one query and some documents: `d0` is worth 0, `d1` is worth 1 and so on, then 0 again."""

    def label(server: Server, *, number: int = 5, **options: Any) -> Labelling:
        def take(names: tuple[str, ...]) -> dict[str, Any]:
            return {name: options.pop(name) for name in names if name in options}

        names = [f"d{at}" for at in range(number)]
        labeller = Labeller(**{"model": "small", **take(OF_LABELLER)})
        retries = RetryPolicy(**take(OF_RETRIES))
        settings: dict[str, Any] = {
            "queries": {"q": "what is it worth?"},
            "documents": {name: f"{name} is worth {at % 5}" for at, name in enumerate(names)},
            "labeller": labeller,
            "endpoint": Endpoint(server.address, retries=retries, **take(OF_ENDPOINT)),
        }
        return label_results({"q": names}, **{**settings, **options})

    return label
