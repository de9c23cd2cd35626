"""Turns of conversations, and what goes wrong in exports of spans: order, copies, gaps and circles."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from judged.agents.tables import Session
from judged.agents.traces.context import TraceProblems
from judged.agents.traces.read import stream_sessions
from judged.errors import BadInput
from support.span_builders import (
    ONE,
    ROOT,
    TWO,
    Act,
    agent,
    ids,
    lines,
    openinference,
    queries,
    read,
    sdk,
    search,
)


def test_the_last_trace_of_a_conversation_counts() -> None:
    """Traces of one session are turns, and the one that began last is the session, wherever it is in the file."""
    later = [replace(act, start=act.start + 50, end=act.end + 50) for act in agent("And when?", trace="2")]
    (session,) = read([*later[:3], *agent("Who?"), *later[3:]])

    assert (session.conversation, session.turns, session.question) == ("s1", 2, "And when?")


def test_traces_without_a_session_are_conversations_and_their_question_is_the_task() -> None:
    """No other system can have the same task under a random id."""
    sessions = read([*agent("Who?", session=None), *agent("Why?", session=None, trace="2")])

    assert [(session.task, session.turns) for session in sessions] == [("Who?", 1), ("Why?", 1)]


def test_system_and_task_can_be_given_by_attributes() -> None:
    """`judged.system` and `judged.task` on any span, or among its metadata."""
    acts = agent(session=None)
    acts[0] = replace(acts[0], further={"judged.system": "a", "metadata": '{"judged.task": "t7"}'})
    (session,) = read(acts)

    assert (session.system, session.task) == ("a", "t7")


def test_a_span_whose_parent_is_missing_is_a_root() -> None:
    """A partial export loses no search, and the model's question replaces that of the root."""
    (session,) = read([act for act in agent() if act.id != "a0"])

    assert (queries(session), session.question) == ([["first", "second"], ["third"]], "Who wrote it?")


def test_spans_that_are_their_own_ancestors_are_read_once() -> None:
    """In a circle, which no sound export has, the first span is taken for the root."""
    acts = [Act("a0", "agent", 0, 9, parent="a1"), search("a1", 1), Act("a2", "agent", 2, 3, parent="a2")]

    assert queries(read(acts)[0]) == [["a1"]]


def test_a_span_without_ids_is_refused_or_counted() -> None:
    """It is named with its line; a lenient reading counts it."""
    content = lines([*sdk(agent()), {"name": "x", "context": {}, "attributes": {}}])
    problems = TraceProblems()

    with pytest.raises(ValueError, match=r"bytes:8: is not a span: it has no id"):
        list(stream_sessions(content, format="otlp", strict=True))
    assert len(list(stream_sessions(content, format="otlp", strict=False, problems=problems))) == 1
    assert problems.counts == {"malformed-span": 1}


def test_a_trace_of_many_nested_searches_is_read() -> None:
    """Two thousand searches, each within the last, are one search and exhaust nothing."""
    deep = [search(f"s{at}", 1, parent=f"s{at - 1}" if at else "a0") for at in range(2000)]
    (session,) = read([ROOT, *deep])

    assert ids(session) == ["d1"]


TWO_TURNS = [
    *agent(),
    *(replace(act, start=act.start + 50, end=act.end + 50) for act in agent("And when?", trace="2")),
    *agent("Another", session="s2", trace="3"),
    Act("o1", "tool", 1, 2, parent="gone", name="search", query="orphan", documents=[ONE], trace="4"),
    *(
        Act(
            f"k{at}", "retriever", at, at + 1, parent=f"k{1 - at}", query="circle", documents=[TWO], trace="5"
        )
        for at in (0, 1)
    ),
]


def placeless(sessions: Sequence[Session]) -> list[dict[str, Any]]:
    """Sessions without where they were read."""
    return [
        {**{name: getattr(session, name) for name in session.__struct_fields__}, "place": ""}
        for session in sessions
    ]


@given(order=st.permutations(TWO_TURNS), again=st.lists(st.sampled_from(TWO_TURNS), max_size=5))
def test_the_order_of_spans_and_copies_of_them_change_nothing(order: list[Act], again: list[Act]) -> None:
    """Spans come as they end, of several traces at once, and some exporters send them twice."""
    assert placeless(read([*order, *again])) == placeless(read(TWO_TURNS))


@given(st.permutations(range(len(TWO_TURNS))), st.integers(0, len(TWO_TURNS) - 1))
def test_of_two_records_of_a_span_the_whole_one_counts(order: list[int], at: int) -> None:
    """A record that was sent when the span began has no end, and gives way to the later one."""
    spans = sdk(TWO_TURNS, openinference)
    begun = {**spans[at], "end_time": None, "attributes": {}}
    shuffled = [spans[item] for item in order]
    both = [begun, *shuffled] if order[0] % 2 else [*shuffled, begun]

    assert placeless(list(stream_sessions(lines(both), format="otlp"))) == placeless(read(TWO_TURNS))


KINDS = ("agent", "llm", "tool", "retriever")


@st.composite
def forests(draw: st.DrawFn) -> list[Act]:
    """Spans of any kind beneath any of those before them, or beneath none, at any time."""
    acts: list[Act] = []
    for at in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(KINDS))
        name = draw(st.sampled_from(["search", "calculator"])) if kind == "tool" else "R"
        above = draw(st.none() | st.sampled_from(acts)) if acts else None
        start = draw(st.integers(0, 9))
        parent = above.id if above else None
        end = start + draw(st.integers(0, 3))
        acts.append(
            Act(f"x{at}", kind, start, end, parent=parent, name=name, query=f"x{at}", documents=[ONE])
        )
    return acts


@given(acts=forests())
def test_every_search_that_lies_in_no_other_is_counted_once(acts: list[Act]) -> None:
    """Counted here by going up from each span; steps are never fewer than iterations."""
    known = {act.id: act for act in acts}
    searching = {
        act.id for act in acts if act.kind == "retriever" or (act.kind, act.name) == ("tool", "search")
    }

    def within(act: Act) -> bool:
        above = act.parent
        while above is not None and above not in searching:
            above = known[above].parent
        return above is not None

    outermost = sorted(name for name in searching if not within(known[name]))
    if outermost:
        (session,) = read(acts)

        assert sorted(query for item in queries(session) for query in item) == outermost
        assert session.steps >= len(session.iterations)


def test_two_systems_that_share_names_of_sessions_are_kept_apart() -> None:
    """Where a file holds both, a session of one is no turn of the other's."""
    one = [replace(act, further={"judged.system": "a"}) for act in agent()]
    two = [replace(act, further={"judged.system": "b"}) for act in agent(trace="2")]

    assert [(item.system, item.conversation, item.turns) for item in read([*one, *two])] == [
        ("a", "s1", 1),
        ("b", "s1", 1),
    ]


def test_kinds_are_known_in_lower_case() -> None:
    """Phoenix's own examples write `agent`."""
    spans = sdk(agent(), openinference)
    for span in spans:
        span["attributes"]["openinference.span.kind"] = span["attributes"]["openinference.span.kind"].lower()
    (session,) = stream_sessions(lines(spans))

    assert queries(session) == [["first", "second"], ["third"]]


def test_tools_with_arguments_and_response_are_read() -> None:
    """Pydantic AI names a tool as OpenTelemetry does, and what goes in and out in its own way."""
    recorded = {
        "gen_ai.tool.name": "search",
        "tool_arguments": '{"query": "q"}',
        "tool_response": json.dumps([ONE]),
    }
    span = sdk([replace(ROOT, further={})], lambda _: recorded)
    (session,) = stream_sessions(lines(span))

    assert (queries(session), ids(session)) == ([["q"]], ["d1"])


@pytest.mark.parametrize("depth", [50, 400, 900])
@pytest.mark.parametrize("name", ["output.value", "input.value", "metadata", "gen_ai.output.messages"])
@pytest.mark.parametrize("at", [1, 2])
def test_objects_within_objects_break_nothing(name: str, depth: int, at: int) -> None:
    """However deep a payload of a model or tool is, it is read or refused in words."""
    acts = agent()
    for opening, closing in (("[", "]"), ('{"output": ', "}"), ('{"tool_calls": [{"a": ', "}]}")):
        deep = opening * depth + "1" + closing * depth
        acts[at] = replace(acts[at], further={name: deep})
        with suppress(BadInput):
            read(acts)
        with suppress(BadInput):
            read(acts, strict=False)
