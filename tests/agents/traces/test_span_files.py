"""Real traces of instrumented agents: one small file of each format, made by running the instrumentors."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from judged.agents.tables import Session
from judged.agents.traces.open import open_traces
from judged.agents.traces.read import detect, stream_sessions
from judged.errors import BadInput
from support.span_builders import (
    agent,
    genai,
    langsmith,
    lines,
    mlflow,
    openinference,
    openllmetry,
    otlp,
    sdk,
)

PARIS = "https://en.wikipedia.org/wiki/Paris"

FOUND: dict[str, tuple[str, str, list[list[tuple[str, list[str]]]]]] = {
    "otlp_genai.json": ("otlp", "conv-1", [[("capital of France", ["doc_123", "doc_456"])]]),
    "openinference_langchain.jsonl": ("openinference", "s1", [[("q1", ["d1", "d2"]), ("q2", ["d1"])]]),
    "openinference_llamaindex.jsonl": (
        "openinference",
        "9981ced5f4c46d946ee51c12bad3acc3",
        [[("capital of France", ["n1"])]],
    ),
    "openllmetry_langchain.jsonl": ("openllmetry", "s1", [[("q1", ["d1", "d2"]), ("q2", ["d1"])]]),
    "langsmith_runs.jsonl": ("langsmith", "thread-1", [[("capital of France", ["d1"])]]),
    "mlflow_trace.json": ("mlflow", "thread-1", [[("capital of France", ["d1"])]]),
}
"""What each file holds, read off it by eye: format, conversation, and for each iteration its queries and ids."""


@pytest.fixture
def traces(shared_data: Callable[[str], Path]) -> Path:
    """The folder of the real traces."""
    return shared_data("agent_traces")


@pytest.mark.parametrize("name", FOUND)
def test_a_real_trace_is_read_as_what_it_is(name: str, traces: Path) -> None:
    """Each search once, though each was recorded two or three times."""
    written, conversation, expected = FOUND[name]
    (session,) = stream_sessions(traces / name)
    found = [
        [(search.query, [result.id for result in search.results]) for search in iteration.searches]
        for iteration in session.iterations
    ]

    assert [detect(trace).name for trace in open_traces(traces / name).traces] == [written]
    assert (session.conversation, found) == (conversation, expected)


def test_fields_come_from_the_span_that_has_them(traces: Path) -> None:
    """In LangChain under OpenInference the id is only in the retriever's output, with the score."""
    (session,) = stream_sessions(traces / "openinference_langchain.jsonl")
    first = next(session.results())[0]

    assert (first.id, first.url, first.title, first.score) == ("d1", PARIS, "Paris", 0.91)


def test_a_root_that_is_a_retriever_is_the_search_though_another_lies_within(traces: Path) -> None:
    """LlamaIndex records `R.retrieve` and, within it and without documents, `R._retrieve`."""
    (session,) = stream_sessions(traces / "openinference_llamaindex.jsonl")

    assert [search.tool for search in session.iterations[0].searches] == ["R.retrieve"]


@pytest.mark.parametrize("name", FOUND)
def test_the_order_of_lines_changes_nothing(name: str, traces: Path) -> None:
    """Lines backwards, and each twice, are the same trace."""
    held = (traces / name).read_bytes().splitlines()
    if name.endswith(".jsonl"):
        backwards = b"\n".join([*reversed(held), *held])

        assert _placeless(stream_sessions(backwards, name="x")) == _placeless(
            stream_sessions(traces / name, name="x")
        )


def _placeless(sessions: Any) -> list[Session]:
    held = list(sessions)
    for item in held:
        item.place = ""
    return held


WRITTEN = {
    "otlp": [otlp(agent(), genai)],
    "openinference": sdk(agent(), openinference),
    "openllmetry": sdk(agent(), openllmetry),
    "langsmith": langsmith(agent()),
    "mlflow": [mlflow(agent(), 3)],
}
STRANGE = st.sampled_from(
    [None, True, 7, -1.5, "", "text", "{", "[]", '"x"', [], [[]], [None, 3], {}, {"a": {"b": []}}, "0x0"]
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in inner for found in _places(item, (*path, key)))]


@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_span_with_any_content_is_read_or_refused_with_a_message(name: str, data: st.DataObject) -> None:
    """Anything of any kind in place of any part of a trace gives sessions or a `BadInput`, never another error."""
    documents = json.loads(json.dumps(WRITTEN[name]))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(_places(documents)[1:]))
        holder = documents
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = deepcopy(data.draw(STRANGE))
    for strict in (False, True):
        try:
            list(stream_sessions(lines(documents), format=name, strict=strict))
        except BadInput as error:
            assert "\n" in str(error)
