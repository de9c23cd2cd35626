"""A trace in which nothing searches: the field that holds what looks like a search is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judged.agents.traces.read import read_sessions
from judged.errors import BadInput

ASKED = {"role": "user", "content": "How tall is the tower?"}
SAID = {"role": "assistant", "content": "330 metres."}
PAGE = {"title": "A tower", "url": "https://example.org/tower"}


@pytest.mark.parametrize(
    ("trace", "place"),
    [
        (
            {"messages": [ASKED, {**SAID, "sources": [PAGE]}]},
            "`messages[1].sources` looks like results of a search",
        ),
        (
            {"messages": [ASKED, SAID], "log": {"steps": [{"tool": "web_search", "in": "tower"}]}},
            "`log.steps[0].tool` looks like a call of a search",
        ),
        (
            {
                "request": {"messages": [ASKED], "tools": [{"type": "web_search"}]},
                "response": {"choices": [{"message": SAID}], "usage": {"web_search_requests": 2}},
            },
            "`response.usage.web_search_requests` looks like a count of searches",
        ),
        (
            {
                "messages": [
                    ASKED,
                    {**SAID, "retrieval": {"a": [{"documents": [{"text": "330 m", "id": "7"}]}]}},
                ]
            },
            "`messages[1].retrieval.a[0].documents` looks like results of a search",
        ),
    ],
)
def test_the_field_that_looks_like_a_search_is_named(trace: dict[str, Any], place: str) -> None:
    """By its place in the document, and what it seems to be."""
    with pytest.raises(BadInput) as caught:
        read_sessions([trace])

    assert f"calls no tool in what is read as `openai-chat`; {place}, and is not read" in str(caught.value)


@pytest.mark.parametrize(
    "more", [{}, {"tools": [{"name": "web_search"}]}, {"usage": {"web_search_requests": 0}}]
)
def test_a_talk_without_a_search_is_said_to_call_no_tool(more: dict[str, Any]) -> None:
    """Neither tools that might have been called nor a count of 0 are searches."""
    with pytest.raises(BadInput, match=r"its one session calls no tool\s*$"):
        read_sessions([{"messages": [ASKED, SAID], **more}])


@pytest.mark.parametrize("prefix", ["data: ", ""])
@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"sources": [PAGE]}, "`sources` looks like results of a search"),
        (
            {"usage": {"web_search_requests": 2}},
            "`usage.web_search_requests` looks like a count of searches",
        ),
    ],
)
def test_the_field_of_a_stream_is_named(
    tmp_path: Path, prefix: str, more: dict[str, Any], place: str
) -> None:
    """Of a hundred events the last has it, whether each is a `data:` line or a line of its own."""
    chunk = {"id": "a", "object": "chat.completion.chunk"}
    parts: list[dict[str, Any]] = [
        {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "330 "}}]}
        for _ in range(100)
    ]
    parts.append({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **more})
    trace = tmp_path / "stream.txt"
    trace.write_text("".join(f"{prefix}{json.dumps(part)}\n\n" for part in parts), encoding="utf-8")

    with pytest.raises(BadInput) as caught:
        read_sessions(trace)

    assert f"calls no tool in what is read as `event-stream`; {place}, and is not read" in str(caught.value)
