"""Tools that have no span of their own, beside those of tests/golden/traces/recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judged.agents.tables import Session
from judged.agents.traces.read import read_sessions
from judged.errors import BadInput

ASKED = {"role": "user", "content": "q?"}


def model(number: int, sent: list[dict[str, Any]], *queries: str, session: str = "s") -> dict[str, Any]:
    """One call of a model in a trace of its own: what it was sent, and the searches that it asked for."""
    calls = [
        {"id": f"call_{at}", "function": {"name": "search", "arguments": json.dumps({"query": query})}}
        for at, query in enumerate(queries)
    ]
    return {
        "name": "chat",
        "context": {"trace_id": f"{number:032x}", "span_id": f"{number:016x}"},
        "start_time": f"2026-01-01T00:00:{2 * number:02}Z",
        "end_time": f"2026-01-01T00:00:{2 * number + 1:02}Z",
        "attributes": {
            "openinference.span.kind": "LLM",
            "session.id": session,
            "input.value": json.dumps({"messages": sent}),
            "output.value": json.dumps({"choices": [{"message": {"tool_calls": calls}}]}),
        },
    }


def answered(at: int, identity: str) -> dict[str, Any]:
    """What a tool gave back."""
    return {"role": "tool", "tool_call_id": f"call_{at}", "content": json.dumps([{"id": identity}])}


def story(session: Session) -> list[list[list[str | None]]]:
    """The ids of the results of each search of each iteration."""
    return [
        [[result.id for result in search.results] for search in step.searches] for step in session.iterations
    ]


def test_a_call_that_is_sent_what_a_tool_gave_back_goes_on_with_the_turn() -> None:
    """Three calls of a model, three traces: one turn of two iterations; what came before is not counted twice."""
    first = model(1, [ASKED], "a", "b")
    second = model(2, [ASKED, answered(0, "d1"), answered(1, "d2")], "c")
    third = model(3, [ASKED, answered(0, "d1"), answered(1, "d2"), {"role": "assistant"}, answered(0, "d3")])
    (session,) = read_sessions([first, second, third])

    assert (session.turns, session.steps) == (1, 3)
    assert story(session) == [[["d1"], ["d2"]], [["d3"]]]


def test_ids_that_are_used_again_join_the_last_call_that_gave_them() -> None:
    """Some models count their calls anew in every answer; another turn is another trace."""
    turns = [
        model(1, [ASKED], "a"),
        model(2, [answered(0, "d1")]),
        model(3, [ASKED], "b"),
        model(4, [answered(0, "d2")]),
    ]
    (session,) = read_sessions(turns)

    assert session.turns == 2
    assert story(session) == [[["d2"]]]


def test_sessions_that_use_the_same_ids_are_not_joined() -> None:
    """Each has its own answers, though they ran at the same time."""
    spans = [
        model(1, [ASKED], "a", session="s"),
        model(2, [ASKED], "a", session="t"),
        model(3, [answered(0, "d1")], session="s"),
        model(4, [answered(0, "d2")], session="t"),
    ]

    assert [story(span) for span in read_sessions(spans)] == [[[["d1"]]], [[["d2"]]]]


def test_a_tool_that_was_recorded_is_not_counted_again_from_messages() -> None:
    """The span of the tool counts; the messages repeat it."""
    first, second = model(1, [ASKED], "a"), model(1, [ASKED, answered(0, "d1")])
    second["context"] = {**second["context"], "span_id": f"{9:016x}"}
    second["start_time"] = "2026-01-01T00:00:09Z"
    tool = {
        **model(1, []),
        "context": {**first["context"], "span_id": f"{8:016x}"},
        "start_time": "2026-01-01T00:00:04Z",
        "attributes": {
            "openinference.span.kind": "TOOL",
            "session.id": "s",
            "tool.name": "search",
            "output.value": '[{"id": "d1"}]',
        },
    }
    (session,) = read_sessions([first, tool, second])

    assert story(session) == [[["d1"]]]


def test_a_search_that_no_later_call_answers_is_refused_if_it_is_the_only_one() -> None:
    """There is nothing to score; next to another one, it is counted as empty."""
    with pytest.raises(BadInput, match="the trace has no output of its 1 search"):
        read_sessions([model(1, [ASKED], "a")], strict=True)


def test_spans_without_contents_are_refused_with_the_reason() -> None:
    """As opentelemetry-instrumentation-openai-v2 2.3b0 writes them, which puts contents into logs or nowhere."""
    bare = {**model(1, []), "attributes": {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 200}}
    with pytest.raises(
        BadInput, match="its spans record no tool calls, perhaps because contents were not captured"
    ):
        read_sessions([bare])


def beneath(span: dict[str, Any], number: int, above: int, **attributes: Any) -> dict[str, Any]:
    """A span beneath another of the first trace, at its own time."""
    context = {"trace_id": f"{1:032x}", "span_id": f"{number:016x}"}
    times = {"start_time": f"2026-01-01T00:00:{number:02}Z", "end_time": f"2026-01-01T00:00:{number:02}.5Z"}
    held = {**span["attributes"], **attributes}
    return {**span, **times, "context": context, "parent_id": f"{above:016x}", "attributes": held}


def test_a_model_with_tools_beneath_it_is_an_agent() -> None:
    """As openinference-instrumentation-google-adk writes them: all calls of models and tools lie within one `LLM`."""
    agent = {**model(1, [ASKED]), "end_time": "2026-01-01T00:00:59Z"}
    tool = {"openinference.span.kind": "TOOL", "tool.name": "search", "output.value": '[{"id": "d1"}]'}
    spans = [
        agent,
        beneath(model(2, [ASKED], "a"), 3, 1),
        beneath(model(2, []), 4, 1, **tool),
        beneath(model(2, [ASKED], "b"), 5, 1),
        beneath(model(2, []), 6, 1, **tool),
    ]
    (session,) = read_sessions(spans)

    assert story(session) == [[["d1"]], [["d1"]]]
