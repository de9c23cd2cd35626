"""A log of growing requests is each conversation once, however its copies are written and interleaved."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from judged.agents.traces.read import read_sessions
from judged.errors import BadInput

Message = dict[str, Any]
Steps = list[list[str]]
"""The queries of each step of a conversation."""
conversations = st.lists(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=2), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


def name(draw: random.Random) -> str:
    """A random id, as endpoints give them."""
    return "call_1a" + "".join(draw.choices("abcdef0123456789", k=16))


def make_messages(steps: Steps, number: int, draw: random.Random) -> list[Message]:
    """The messages of a conversation, in OpenAI's form."""
    messages: list[Message] = [
        {"role": "system", "content": "You search."},
        {"role": "user", "content": f"Question {number}?"},
    ]
    for queries in steps:
        ids = [name(draw) for _ in queries]
        calls = [
            {
                "id": own,
                "type": "function",
                "function": {"name": "search", "arguments": json.dumps({"k": 3, "query": query})},
            }
            for own, query in zip(ids, queries, strict=True)
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": own, "content": json.dumps([{"url": f"https://e.org/{query}"}])}
            for own, query in zip(ids, queries, strict=True)
        ]
    return [*messages, {"role": "assistant", "content": "So."}]


def retold(message: Message, draw: random.Random) -> Message:
    """A copy of a message as another client would write it."""
    copy = dict(message)
    if copy["role"] == "system":
        copy["content"] = f"You search. It is {draw.random()} o'clock."
    if copy.get("content") is None and draw.random() < 0.5:
        copy["content"] = draw.choice(["", []])
    if "tool_calls" in copy:
        copy["tool_calls"] = [recalled(call, at, draw) for at, call in enumerate(copy["tool_calls"])]
    pairs = list(copy.items())
    draw.shuffle(pairs)
    return dict(pairs)


def recalled(call: Message, at: int, draw: random.Random) -> Message:
    """A copy of a call: its arguments in another order, an index, a null."""
    arguments = json.loads(call["function"]["arguments"])
    pairs = list(arguments.items())
    draw.shuffle(pairs)
    text = json.dumps(dict(pairs), indent=draw.choice([None, 2]))
    more = {"index": at} if draw.random() < 0.5 else {}
    return {
        **more,
        **call,
        "function": {"arguments": text, "name": "search", **({"parsed": None} if more else {})},
    }


def to_anthropic(messages: list[Message]) -> list[Message]:
    """The same messages with blocks; the last one is marked for the cache, as clients do."""
    made: list[Message] = []
    for message in messages:
        if message["role"] == "assistant" and message.get("tool_calls"):
            blocks = [
                {
                    "type": "tool_use",
                    "id": call["id"],
                    "name": "search",
                    "input": json.loads(call["function"]["arguments"]),
                }
                for call in message["tool_calls"]
            ]
            made.append({"role": "assistant", "content": blocks})
        elif message["role"] == "tool":
            block = {
                "type": "tool_result",
                "tool_use_id": message["tool_call_id"],
                "content": message["content"],
            }
            made.append({"role": "user", "content": [block]})
        elif message["role"] != "system":
            made.append({"role": message["role"], "content": [{"type": "text", "text": message["content"]}]})
    made[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    return made


def to_items(messages: list[Message]) -> list[Message]:
    """The same messages as items of Responses."""
    made: list[Message] = []
    for message in messages:
        if message.get("tool_calls"):
            made += [
                {"type": "function_call", "call_id": call["id"], **call["function"]}
                for call in message["tool_calls"]
            ]
        elif message["role"] == "tool":
            made.append(
                {
                    "type": "function_call_output",
                    "call_id": message["tool_call_id"],
                    "output": message["content"],
                }
            )
        else:
            made.append({"role": message["role"], "content": message["content"]})
    return made


FORMS = {
    "openai-chat": lambda messages: {"messages": messages},
    "anthropic": lambda messages: {"messages": to_anthropic(messages)},
    "openai-responses": lambda messages: {"object": "response", "input": to_items(messages)},
}


def requests(messages: list[Message], form: str, draw: random.Random) -> list[Message]:
    """The requests of a conversation, each with all messages before; some are sent twice."""
    ends = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    sent = [[retold(message, draw) for message in messages[:end]] for end in [*ends, len(messages)]]
    again = [copy for copy in sent for _ in range(draw.choice([1, 1, 2]))]
    return [FORMS[form](copy) for copy in again]


def interleave(logs: list[list[Message]], draw: random.Random) -> list[Message]:
    """One log of several, each in its order."""
    rest, mixed = [list(log) for log in logs], []
    while any(rest):
        mixed.append(draw.choice([log for log in rest if log]).pop(0))
    return mixed


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=60, deadline=None)
@given(cases=conversations, seed=st.integers(0, 2**32))
def test_joining_a_log_of_growing_requests_gives_each_session_once(
    form: str, cases: list[Steps], seed: int
) -> None:
    """Re-serialised arguments, other orders of keys, null for empty, an index, a clock, repeats, interleaving."""
    draw = random.Random(seed)  # noqa: S311
    logs = [requests(make_messages(steps, number, draw), form, draw) for number, steps in enumerate(cases)]
    found = read_sessions(interleave(logs, draw))
    queries = {
        str(session.question): [[search.query for search in part.searches] for part in session.iterations]
        for session in found
    }

    assert len(found) == len(cases)
    assert queries == {f"Question {number}?": steps for number, steps in enumerate(cases)}


def test_requests_that_shortened_what_came_before_are_joined_by_the_ids_of_their_calls() -> None:
    """The first request has lost its outputs in the second, which begins with the time."""
    draw = random.Random(1)  # noqa: S311
    whole = make_messages([["a"], ["b"]], 0, draw)
    cut = [{**message, "content": "[…]"} if message["role"] == "tool" else message for message in whole[:4]]
    later = [{"role": "user", "content": "12:01 Question 0?"}, *cut[2:], *whole[4:]]
    (session,) = read_sessions([{"messages": whole[:4]}, {"messages": later}])

    assert [[result.url for result, _ in part.results()] for part in session.iterations] == [
        ["https://e.org/a"],
        ["https://e.org/b"],
    ]


def test_two_attempts_with_the_same_first_step_stay_two() -> None:
    """Their calls have ids that count, and their requests begin alike."""

    def attempt(second: str) -> list[Message]:
        messages = make_messages([["a"], [second]], 0, random.Random(2))  # noqa: S311
        text = json.dumps(messages)
        for at, own in enumerate(
            dict.fromkeys(call["id"] for message in messages for call in message.get("tool_calls", ()))
        ):
            text = text.replace(own, f"call_{at}")
        return list(json.loads(text))

    log = [{"messages": attempt(second)[:end]} for second in "bc" for end in (2, 4, 6, 7)]

    assert [[part.searches[0].query for part in session.iterations] for session in read_sessions(log)] == [
        ["a", "b"],
        ["a", "c"],
    ]


def test_a_request_far_below_the_conversation_that_it_continues_is_an_error() -> None:
    """It is left out and counted, for its beginning is in another session; strict reading refuses it."""
    draw = random.Random(3)  # noqa: S311
    first = make_messages([["a"]], 0, draw)
    others = [{"messages": make_messages([["b"]], number, draw)} for number in range(1, 80)]
    more = {
        "messages": [*first, {"role": "user", "content": "And?"}, {"role": "assistant", "content": "No."}]
    }

    log = [{"messages": first}, *others, more]
    sessions = read_sessions(log)

    assert len(sessions) == len(log) - 1
    assert "left out: scattered-requests (1)" in sessions.notes[0]
    with pytest.raises(BadInput, match="continues a conversation of object 1"):
        read_sessions(log, strict=True)
