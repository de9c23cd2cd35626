"""A run with its texts, and a server to label it with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from judged.label.labelling import Labelling
from label.server import Request, Response, Server, graded

Serve = Callable[..., Server]
LabelRun = Callable[..., Labelling]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine's environment holds is no business of these tests."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")  # a proxy cannot reach the servers of these tests


@pytest.fixture
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repetitions come within hundredths of a second."""
    monkeypatch.setattr("judged.label.waiting.FIRST", 0.005)
    monkeypatch.setattr("judged.label.waiting.LONGEST", 0.02)


@pytest.fixture
def serve(_short_waits: None) -> Iterator[Serve]:
    """Starts servers that are stopped when the test ends; by default they grade every result as it says."""
    pytest.importorskip("openai", reason="the extra `label` is not installed")
    with ExitStack() as stack:

        def start(answer: Callable[[Request], Response] = graded) -> Server:
            return stack.enter_context(Server(answer).running())

        yield start


@pytest.fixture
def label_run() -> LabelRun:
    """Labels a run of one query and some documents, `d0` worth 0, `d1` worth 1 and so on, then 0 again."""
    from judged.label.results import label_results

    def label(server: Server, *, documents: int = 5, **options: Any) -> Labelling:
        names = [f"d{number}" for number in range(documents)]
        settings: dict[str, Any] = {
            "endpoint": server.address,
            "model": "small",
            "cache": None,
            "queries": {"q": "what is it worth?"},
            "docs": {name: f"{name} is worth {number % 5}" for number, name in enumerate(names)},
        }
        return label_results({"q": names}, **{**settings, **options})

    return label
