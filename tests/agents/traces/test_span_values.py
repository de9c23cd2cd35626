"""Ids, times, attributes and payloads of spans, whichever way they are written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from judged.agents.traces.json_values import add_counts
from judged.agents.traces.read import stream_sessions
from judged.agents.traces.spans.attributes import (
    decode,
    first_value,
    flatten,
    get_list,
    parse_otlp,
    to_object,
)
from judged.agents.traces.spans.payloads import (
    find_call_id,
    find_call_ids,
    find_question,
    unwrap_arguments,
    unwrap_output,
)
from judged.agents.traces.spans.span import normalise_id, parse_nanoseconds
from support.span_builders import EPOCH, agent, lines, openllmetry, sdk


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("979BF5FBB0C92E37", "979bf5fbb0c92e37"),
        ("0x979bf5fbb0c92e37", "979bf5fbb0c92e37"),
        ("l5v1+7DJLjc=", "979bf5fbb0c92e37"),
        ("l5v1-7DJLjc=", "979bf5fbb0c92e37"),
        ("Qgef77yQ3XlSk2XhhNQamQ==", "42079fefbc90dd79529365e184d41a99"),
        ("01a1e0d2-125c-7a54-ac9c-802c2d89a30d", "01a1e0d2-125c-7a54-ac9c-802c2d89a30d"),
        ("abc=", "abc="),
        ("", None),
        ("0000000000000000", None),
        ("AAAAAAAAAAA=", None),
        (None, None),
    ],
)
def test_one_id_has_one_form(written: Any, expected: str | None) -> None:
    """Hexadecimal, with `0x` or in base64, an id is the same; ids of other kinds stay; zeros are no id.

    The two base64 ids are those of otlp_genai.json and mlflow_trace.json, decoded with `base64 -d | xxd -p`.
    """
    assert normalise_id(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        "1790000000500000000",
        1790000000500000000,
        1790000000500000,
        1790000000500,
        1790000000.5,
        "2026-09-21T14:13:20.5Z",
        "2026-09-21T14:13:20.500000000Z",
        "2026-09-21 14:13:20.500000+00:00",
        "2026-09-21T14:13:20.5",
        "2026-09-21T16:13:20.5+02:00",
    ],
)
def test_one_moment_has_one_form(written: Any) -> None:
    """Numbers of four units and ISO 8601 with and without a zone; `date -u -d @1790000000` says 14:13:20."""
    assert parse_nanoseconds(written) == EPOCH * 10**9 + 5 * 10**8


@pytest.mark.parametrize(
    "written", ["2026-13-01", "soon", -5, 0, True, float("nan"), float("inf"), None, [], {}]
)
def test_what_is_no_moment_is_none(written: Any) -> None:
    """Nothing is made up where no time is recorded."""
    assert parse_nanoseconds(written) is None


def test_every_type_of_value_of_otlp_is_read() -> None:
    """The seven types of `AnyValue`, whole numbers also as text, lists and objects within each other."""
    written = {
        "s": {"stringValue": "x"},
        "b": {"boolValue": False},
        "i": {"intValue": "9007199254740993"},
        "j": {"intValue": 7},
        "d": {"doubleValue": 0.5},
        "y": {"bytesValue": "AQ=="},
        "a": {
            "arrayValue": {"values": [{"stringValue": "p"}, {"arrayValue": {"values": [{"intValue": "1"}]}}]}
        },
        "k": {"kvlistValue": {"values": [{"key": "m", "value": {"stringValue": "n"}}]}},
        "e": {"arrayValue": {}},
        "n": {},
    }
    plain = {"s": "x", "b": False, "i": 9007199254740993, "j": 7, "d": 0.5, "y": "AQ==", "n": None}
    expected = plain | {"a": ["p", [1]], "k": {"m": "n"}, "e": []}

    assert parse_otlp([{"key": key, "value": value} for key, value in written.items()]) == expected


def test_results_in_typed_lists_of_otlp_are_results() -> None:
    """`gen_ai.retrieval.documents` may be a list of objects in place of JSON text."""
    document = {"kvlistValue": {"values": [{"key": "id", "value": {"stringValue": "d1"}}]}}
    span = {
        "traceId": "31" * 16,
        "spanId": "31" * 8,
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "retrieval"}},
            {"key": "gen_ai.retrieval.documents", "value": {"arrayValue": {"values": [document]}}},
        ],
    }
    (session,) = stream_sessions(
        json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()
    )

    assert [result.id for result, _ in session.results()] == ["d1"]


def test_results_in_events_of_a_vector_store_are_results() -> None:
    """OpenLLMetry's vector stores record each result in an event `db.query.result`."""
    spans = sdk(agent()[:1], openllmetry)
    event = {
        "name": "db.query.result",
        "attributes": {"db.query.result.id": "d1", "db.query.result.document": "words"},
    }
    context = {**spans[0]["context"], "span_id": "0x5"}
    store = {**spans[0], "name": "chroma.query", "context": context, "attributes": {}, "events": [event]}
    (session,) = stream_sessions(lines([*spans, store]))

    assert [(result.id, result.snippet) for result, _ in session.results()] == [("d1", "words")]


def test_flattened_lists_come_back_in_the_order_of_their_numbers() -> None:
    """Ten comes after nine, gaps close, and a name that goes on is no element."""
    flat = {f"docs.{at}.id": at for at in (10, 9, 2)} | {"docs_of": 1, "docsx.0": 1}

    assert get_list(flat, "docs") == [{"id": 2}, {"id": 9}, {"id": 10}]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_nothing_that_json_can_hold_breaks_a_reader_of_payloads(value: Any) -> None:
    """Any value in place of a payload gives an answer, possibly an empty one."""
    text = json.dumps(value)
    for item in (value, text, json.dumps(text)):
        unwrap_output(item)
        unwrap_arguments(item)

        assert find_call_id(item) is None
        assert find_call_ids(item) == ()
        assert add_counts(to_object(item)) is None
        assert find_question(item) is None or isinstance(find_question(item), str)


@given(st.dictionaries(st.sampled_from(["a", "a.b", "a.b.0", "a.0", "a.0.b", "a.1", "llm", "llm.a"]), JSON))
def test_attributes_that_contradict_each_other_are_read(attributes: dict[str, Any]) -> None:
    """A name that is a value and a list at once breaks nothing."""
    assert isinstance(get_list(flatten(attributes), "a"), list)
    assert first_value(attributes, ("none",)) is None


@given(JSON)
def test_json_within_json_is_decoded(value: Any) -> None:
    """However often an object or list was written as text."""
    held = [value]

    assert decode(json.dumps(json.dumps(held))) == held


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Why?", "Why?"),
        ('{"question": "Why?"}', "Why?"),
        ({"inputs": "Why?", "tags": []}, "Why?"),
        ({"q": "Why?"}, "Why?"),
        ({"odd": "Why?"}, "Why?"),
        ({"odd": "Why?", "other": "No"}, None),
        ({"messages": [{"role": "user", "content": "Who?"}, {"role": "user", "content": "Why?"}]}, "Why?"),
        (
            {"messages": [["user", "x"], {"type": "human", "content": [{"type": "text", "text": "Why?"}]}]},
            "Why?",
        ),
        (
            [{"role": "user", "parts": [{"type": "text", "content": "Why?"}]}, {"role": "tool", "parts": []}],
            "Why?",
        ),
        ({"messages": [[{"lc": 1, "kwargs": {"content": "Why?", "type": "human"}}]]}, "Why?"),
        ([{"message": {"role": "user", "contents": [{"message_content": {"text": "Why?"}}]}}], "Why?"),
        ([{"role": "assistant", "content": "No"}], None),
        (7, None),
    ],
)
def test_what_the_user_wrote_is_found(value: Any, expected: str | None) -> None:
    """A text, the likeliest field, or the last message of a user, in the ways of five frameworks."""
    assert find_question(value) == expected


@pytest.mark.parametrize(
    "answer",
    [
        {"tool_calls": [{"id": "c1"}, {"id": "c2"}]},
        {"choices": [{"message": {"tool_calls": [{"id": "c1"}, {"id": "c2"}]}}]},
        [
            {
                "role": "assistant",
                "parts": [{"type": "tool_call", "id": "c1"}, {"type": "tool_call", "id": "c2"}],
            }
        ],
        {
            "content": [
                {"type": "text", "text": "So"},
                {"type": "tool_use", "id": "c1"},
                {"type": "tool_use", "id": "c2"},
            ]
        },
        {"output": [{"type": "function_call", "id": "fc", "call_id": f"c{at}"} for at in (1, 2)]},
        {"generations": [[{"message": {"kwargs": {"tool_calls": [{"id": "c1"}, {"id": "c2"}]}}}]]},
        [{"message": {"tool_calls": [{"tool_call": {"id": "c1"}}, {"tool_call": {"id": "c2"}}]}}],
    ],
    ids=["message", "OpenAI", "GenAI", "Anthropic", "Responses", "LangChain", "OpenInference"],
)
def test_tool_calls_of_an_answer_are_found_in_their_order(answer: Any) -> None:
    """In the ways of seven interfaces."""
    assert find_call_ids(json.dumps(answer)) == ("c1", "c2")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"total_tokens": 9, "input_tokens": 1}, 9.0),
        ({"input_tokens": 4, "output_tokens": 3}, 7.0),
        ('{"prompt_tokens": 4}', 4.0),
        ({"tokens": 4}, None),
    ],
)
def test_tokens_are_the_total_or_the_sum(usage: Any, expected: float | None) -> None:
    """Of whichever names a provider uses."""
    assert add_counts(to_object(usage)) == expected


def test_names_of_objects_are_no_results() -> None:
    """LlamaIndex writes what Python prints for an object, which holds no result."""
    assert unwrap_output('["<NodeWithScore(node=TextNode(id_=n1), score=0.9)>"]') is None
