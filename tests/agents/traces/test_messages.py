"""Messages and items: turns, joining outputs to calls, wrappers, tokens and times, and what goes wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judged.agents.tables import Session
from judged.agents.traces.context import TraceProblems
from judged.agents.traces.read import read_sessions, stream_sessions
from judged.errors import BadInput

FOUND = json.dumps([{"id": "d1"}])


def one(*documents: Any, **how: Any) -> Session:
    """The one session of documents."""
    (session,) = stream_sessions(documents, **how)
    return session


def ask(text: str = "why?") -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": text}


def call(identity: str, query: str, tool: str = "search") -> dict[str, Any]:
    """An assistant message with one call."""
    function = {"name": tool, "arguments": json.dumps({"query": query})}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": identity, "type": "function", "function": function}],
    }


def answer(identity: str | None, content: Any = FOUND, **more: Any) -> dict[str, Any]:
    """What a tool answered."""
    return {"role": "tool", "tool_call_id": identity, "content": content, **more}


def ids(session: Session) -> list[list[str | None]]:
    """The ids of the results of each iteration."""
    return [[result.id for result, _ in step.results()] for step in session.iterations]


CONVERSATION = [ask(), call("a", "q"), answer("a"), {"role": "assistant", "content": "so"}]


@pytest.mark.parametrize(
    "documents",
    [
        [{"messages": CONVERSATION}],
        [CONVERSATION],
        CONVERSATION,
        [
            {
                "request": {"messages": CONVERSATION[:-1]},
                "response": {"choices": [{"message": CONVERSATION[-1]}]},
            }
        ],
        [
            {
                "messages": CONVERSATION[:-1],
                "choices": [{"message": CONVERSATION[-1]}],
                "usage": {"total_tokens": 9},
            }
        ],
        [{"inputs": {"messages": CONVERSATION}}],
    ],
)
def test_messages_are_found_wherever_they_lie(documents: list[Any]) -> None:
    """In an object, as a list, as the lines of a file, in a request with its response."""
    session = one(*documents)

    assert (ids(session), session.steps, session.question) == ([["d1"]], 2, "why?")


def test_a_log_of_growing_requests_is_one_conversation() -> None:
    """Each request holds all that came before; only the last is read, and that is noted."""
    problems = TraceProblems()
    session = one(
        {"messages": CONVERSATION[:2]},
        {"messages": CONVERSATION[:3]},
        {"messages": CONVERSATION},
        problems=problems,
    )

    assert ids(session) == [["d1"]]
    assert problems.notes == [
        "objects: 2 documents are the beginning of another one, or the same again, and were joined"
    ]


def test_recordings_of_requests_and_responses_are_one_conversation_with_its_tokens() -> None:
    """As HTTP recorders write them; the copy of a response in the next request does not say what it took."""
    answered = {**call("a", "q"), "refusal": None}
    first = {
        "request": {"url": "…", "body": {"model": "agent-a", "messages": [ask()]}},
        "response": {
            "status_code": 200,
            "body": {"choices": [{"message": answered}], "usage": {"total_tokens": 7}},
        },
    }
    second = {
        "request": {
            "url": "…",
            "body": {"model": "agent-a", "messages": [ask(), call("a", "q"), answer("a")]},
        },
        "response": {
            "status_code": 200,
            "body": {"choices": [{"message": {"role": "assistant", "content": "so"}}]},
        },
    }
    session = one(first, second)

    assert (ids(session), session.iterations[0].tokens, session.system, session.steps) == (
        [["d1"]],
        7,
        "agent-a",
        2,
    )


def test_the_old_way_of_calling_functions_is_read() -> None:
    """`function_call`, and a message of role `function`."""
    called = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "search", "arguments": '{"query": "q"}'},
    }
    session = one([ask(), called, {"role": "function", "name": "search", "content": FOUND}])

    assert (ids(session), session.iterations[0].searches[0].query) == ([["d1"]], "q")


def test_a_turn_begins_where_the_user_writes_and_the_last_counts() -> None:
    """What was found before does not."""
    session = one([*CONVERSATION, ask("and why that?"), call("b", "r"), answer("b", "[]")])

    assert (session.turns, session.question, ids(session)) == (2, "and why that?", [[]])


def test_outputs_without_ids_answer_calls_in_their_order() -> None:
    """As some servers leave ids out."""
    both = call("a", "q")
    both["tool_calls"].append(call("b", "r")["tool_calls"][0])
    for item in both["tool_calls"]:
        del item["id"]
    session = one([ask(), both, answer(None, '[{"id": "1"}]'), answer(None, '[{"id": "2"}]')])

    assert [[result.id for result in search.results] for search in session.iterations[0].searches] == [
        ["1"],
        ["2"],
    ]


def test_an_output_that_answers_no_call_is_refused() -> None:
    """The beginning of the conversation may be missing."""
    with pytest.raises(
        BadInput, match="object 1: session `1`: holds the output of a call that was never made: `x`"
    ):
        read_sessions([{"messages": [ask(), call("a", "q"), answer("a"), answer("x")]}], strict=True)


def test_a_search_without_an_output_counts_as_empty_and_is_noted() -> None:
    """The trace may have been stopped there."""
    problems = TraceProblems()
    session = one([ask(), call("a", "q"), answer("a"), call("b", "q")], problems=problems)

    assert ids(session)[1] == []
    assert problems.notes == ["objects: 1 search without an output in the trace: counted as empty"]


def test_a_trace_without_any_output_of_its_searches_is_refused() -> None:
    """Contents were not recorded: a score of it would be of nothing."""
    with pytest.raises(BadInput, match="the trace has no output of its 1 search"):
        read_sessions([{"messages": [ask(), call("a", "q")]}], strict=True)


def test_tokens_and_times_of_messages_are_those_of_the_iteration() -> None:
    """It lasts from the message before to the last output: 12:00:01 to 12:00:03.5; 800 + 12 tokens."""
    asked = {**ask(), "timestamp": "2026-11-16T12:00:01Z"}
    called = {
        **call("a", "q"),
        "usage": {"prompt_tokens": 800, "completion_tokens": 12},
        "timestamp": "2026-11-16T12:00:02Z",
    }
    session = one([asked, called, answer("a", timestamp="2026-11-16T12:00:03.500Z")])

    assert (session.iterations[0].tokens, session.iterations[0].seconds) == (812.0, 2.5)


def test_instructions_are_no_name_of_a_system() -> None:
    """Anthropic calls them `system`."""
    named = one({"system": "agent-a", "messages": CONVERSATION})
    instructed = one({"system": "You are helpful.", "model": "m", "messages": CONVERSATION})

    assert (named.system, instructed.system) == ("agent-a", "m")


def test_sharegpt_is_read_as_messages() -> None:
    """`from` and `value`, with calls between tags."""
    turns = [
        {"from": "human", "value": "why?"},
        {"from": "gpt", "value": '<tool_call>{"name": "search", "arguments": {"query": "q"}}</tool_call>'},
        {"from": "observation", "value": FOUND},
        {"from": "gpt", "value": "so"},
    ]

    assert ids(one({"conversations": turns})) == [["d1"]]


def test_langchains_messages_are_read() -> None:
    """Their roles are types, and calls have `args`."""
    messages = [
        {"type": "human", "content": "why?"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "search", "args": {"query": "q"}, "id": "a"}]},
        {"type": "tool", "content": FOUND, "tool_call_id": "a", "name": "search"},
        {"type": "ai", "content": "so", "usage_metadata": {"total_tokens": 9}},
    ]
    session = one({"messages": messages})

    assert (ids(session), session.question, session.steps) == ([["d1"]], "why?", 2)


def test_searches_that_anthropic_ran_are_parted_where_results_lie_between() -> None:
    """One message, two iterations: two searches at once, then one more."""

    def use(identity: str) -> dict[str, Any]:
        return {"type": "server_tool_use", "id": identity, "name": "web_search", "input": {"query": identity}}

    def result(identity: str) -> dict[str, Any]:
        found = [{"type": "web_search_result", "url": f"https://{identity}.org", "title": identity}]
        return {"type": "web_search_tool_result", "tool_use_id": identity, "content": found}

    blocks = [
        use("a"),
        use("b"),
        result("a"),
        result("b"),
        {"type": "text", "text": "hm"},
        use("c"),
        result("c"),
    ]
    session = one(
        {
            "type": "message",
            "role": "assistant",
            "id": "msg_1",
            "content": blocks,
            "usage": {"input_tokens": 5},
        }
    )

    assert [[search.query for search in step.searches] for step in session.iterations] == [["a", "b"], ["c"]]
    assert [step.tokens for step in session.iterations] == [None, None]  # which took how many is unknown


def test_responses_that_follow_each_other_are_one_conversation() -> None:
    """By `previous_response_id`; the output of a function comes with the next request."""
    first = {
        "id": "r1",
        "object": "response",
        "input": "why?",
        "output": [
            {"type": "function_call", "call_id": "a", "name": "search", "arguments": '{"query": "q"}'}
        ],
        "usage": {"total_tokens": 7},
    }
    second = {
        "id": "r2",
        "object": "response",
        "previous_response_id": "r1",
        "input": [{"type": "function_call_output", "call_id": "a", "output": FOUND}],
        "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]}
        ],
    }
    session = one(first, second)

    assert (session.conversation, ids(session), session.steps) == ("r1", [["d1"]], 2)
    assert session.iterations[0].tokens == 7


def test_items_alone_are_one_conversation_and_chunks_of_a_file_share_its_id() -> None:
    """As lines of a file, each an item."""
    results = [{"file_id": "f", "filename": "n", "score": 0.9, "text": text} for text in ("x", "y")]
    session = one(
        {"type": "message", "role": "user", "content": "why?"},
        {
            "type": "file_search_call",
            "id": "fs",
            "status": "completed",
            "queries": ["q", "r"],
            "results": results,
        },
    )

    assert [(result.id, result.snippet) for result, _ in session.results()] == [("f", "x"), ("f", "y")]
    assert session.iterations[0].searches[0].query == "q\nr"  # results that are not split by query


def test_a_web_search_without_its_sources_is_refused() -> None:
    """They come only if they are asked for, and the hint says so."""
    item = {
        "type": "web_search_call",
        "status": "completed",
        "action": {"type": "search", "queries": ["q", "r"], "query": "q"},
    }
    response = {"object": "response", "id": "r1", "output": [item]}
    with pytest.raises(BadInput, match="`include` of sources"):
        one(response)


def test_calls_between_tags_that_are_no_json_are_read_as_far_as_they_go() -> None:
    """Agents write bad JSON, and Qwen's coder writes tags in tags."""
    text = (
        "<tool_call><function=search><parameter=query>q</parameter></function></tool_call>"
        f"<tool_response>{FOUND}</tool_response>"
        '<tool_call>{"name": "search", "arguments": {"query": "r"</tool_call><tool_response>Error: bad JSON</tool_response>'
    )
    session = one({"question": "why?", "response": text})

    assert (ids(session), session.iterations[0].searches[0].query) == ([["d1"], []], "q")


def test_a_text_of_chatml_is_parted_into_its_messages() -> None:
    """Between `<|im_start|>` and `<|im_end|>`."""
    text = (
        "<|im_start|>user\nwhy?<|im_end|>\n<|im_start|>assistant\n<search>q</search><|im_end|>\n"
        f"<|im_start|>user\n<information>{FOUND}</information><|im_end|>\n<|im_start|>assistant\nso<|im_end|>"
    )
    session = one({"text": text})

    assert (ids(session), session.question, session.turns, session.steps) == ([["d1"]], "why?", 1, 2)


def test_langchains_intermediate_steps_are_read() -> None:
    """Pairs of an action and an observation."""
    steps = [
        [{"tool": "search", "tool_input": {"query": "q"}, "log": "…"}, FOUND],
        [{"tool": "visit", "tool_input": "u"}, "text"],
    ]
    session = one({"input": "why?", "output": "so", "intermediate_steps": steps})

    assert (ids(session), session.question, session.steps) == ([["d1"]], "why?", 2)


def test_browsecomp_calls_with_nothing_between_any_are_steps_of_their_own() -> None:
    """An agent that never thinks aloud did not ask for everything at once."""
    calls = [{"type": "tool_call", "tool_name": "search", "arguments": '{"query": "q"}', "output": FOUND}] * 3
    session = one({"query_id": 7, "result": [*calls, {"type": "output_text", "output": "so"}]})

    assert (ids(session), session.task) == ([["d1"]] * 3, "7")


@pytest.mark.parametrize(("stated", "noted"), [(["1", "2"], False), (["1"], True), (["1", "2", "3"], True)])
def test_a_browsecomp_run_with_other_ids_than_it_states_is_noted(stated: list[str], *, noted: bool) -> None:
    """Its clients write `retrieved_docids` beside the calls: an independent count of what was read."""
    output = json.dumps([{"docid": "1", "snippet": "a"}, {"docid": 2, "snippet": "b"}])
    entry = {"type": "tool_call", "tool_name": "search", "arguments": '{"query": "q"}', "output": output}
    notes = read_sessions([{"query_id": "q1", "retrieved_docids": stated, "result": [entry]}]).notes

    assert ("not those of `retrieved_docids`" in " ".join(notes)) == noted


def test_a_browsecomp_run_that_lost_its_calls_is_refused() -> None:
    """It says that it searched, and only the answer is left."""
    run = {
        "query_id": "7",
        "tool_call_counts": {"search": 3},
        "result": [{"type": "output_text", "output": "so"}],
    }

    with pytest.raises(
        BadInput, match="session `7`: says that it called `search`, and holds none of its calls"
    ):
        read_sessions([run], strict=True)
