"""Spans become sessions: each search once, in the step that asked for it, of the turn that counts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from judged.formats.traces.read import stream_sessions
from judged.formats.traces.skipped import Skipped
from judged.formats.traces.tools import Tool, Tools
from judged.tables.session import Session
from written_spans import Act, agent, lines, openinference, sdk

ONE, TWO, THREE = ({"id": f"d{number}", "text": "words"} for number in (1, 2, 3))
ROOT = Act("a0", "agent", 0, 99, name="agent", question="Why?")


def read(acts: Sequence[Act], **options: Any) -> list[Session]:
    """The sessions of what agents did, written as OpenInference spans."""
    return list(stream_sessions(lines(sdk(acts)), **options))


def queries(session: Session) -> list[list[str | None]]:
    """The queries of each iteration."""
    return [[search.query for search in each.searches] for each in session.iterations]


def ids(session: Session) -> list[str | None]:
    """The ids of all results."""
    return [result.id for result, _ in session.results()]


def search(name: str, start: float, *, parent: str = "a0", **more: Any) -> Act:
    """A call of the tool `search` that takes a second."""
    return Act(
        name,
        "tool",
        start,
        start + 1,
        parent=parent,
        name="search",
        query=name,
        **{"documents": [ONE], **more},
    )


def model(name: str, start: float, *, parent: str = "a0", **more: Any) -> Act:
    """A call of a model that takes a second."""
    return Act(name, "llm", start, start + 1, parent=parent, **more)


# --- each search once ---


def test_a_tool_and_the_retriever_within_it_are_one_search() -> None:
    """The outermost span is the search; its name is the tool that ids are scoped to."""
    inner = Act("b1", "retriever", 1.1, 1.9, parent="a1", name="R", query="inner", documents=[ONE])
    (session,) = read([ROOT, search("a1", 1), inner])

    assert queries(session) == [["a1"]]
    assert [each.tool for it in session.iterations for each in it.searches] == ["search"]
    assert ids(session) == ["d1"]


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ("I found a thing or two.", [ONE, TWO], ["d1", "d2"]),
        ([ONE], [ONE, TWO], ["d1", "d2"]),
        ([ONE, TWO], [THREE], ["d1", "d2"]),
        ([{"text": "words"}], [ONE], ["d1"]),
        ([ONE], [{"text": "words"}], ["d1"]),
        ([ONE], [TWO], ["d1"]),
        (None, [TWO], ["d2"]),
        ([ONE], None, ["d1"]),
    ],
    ids=[
        "a text",
        "more within",
        "fewer within",
        "fields within",
        "fields outside",
        "as much",
        "none outside",
        "none within",
    ],
)
def test_results_are_those_of_the_span_that_tells_most(outer: Any, inner: Any, expected: list[str]) -> None:
    """Most results win, then most fields; of spans that tell as much, the outermost."""
    within = Act("b1", "retriever", 1.1, 1.9, parent="a1", name="R", query="q", documents=inner)
    (session,) = read([ROOT, search("a1", 1, documents=outer), within])

    assert ids(session) == expected


@pytest.mark.parametrize(("outer", "expected"), [([THREE], ["d3"]), ("Some text.", ["d1", "d2"])])
def test_a_search_in_several_places_gave_what_it_says_or_else_all_they_found(
    outer: Any, expected: list[str]
) -> None:
    """Two retrievers beneath one tool: the tool's own results if it tells any, else those of both, in time."""
    late = Act("b1", "retriever", 1.5, 1.9, parent="a1", name="R", query="q", documents=[TWO])
    soon = Act("b2", "retriever", 1.1, 1.4, parent="a1", name="R", query="q", documents=[ONE])
    (session,) = read([ROOT, search("a1", 1, documents=outer), late, soon])

    assert ids(session) == expected


def test_results_in_the_messages_of_a_model_are_not_counted_again() -> None:
    """What a tool gave back is told a third time when a model reads it; that is no search."""
    told = {
        "llm.input_messages.0.message.role": "tool",
        "llm.input_messages.0.message.content": json.dumps([ONE]),
        "retrieval.documents.0.document.id": "d1",
    }
    (session,) = read([ROOT, search("a1", 1), model("a2", 3, further=told)])

    assert ids(session) == ["d1"]


def test_a_call_of_a_model_recorded_twice_is_one_step() -> None:
    """A framework and the client it uses each record the call; the tokens are those of the one that has them."""
    twice = model("b1", 1.1, parent="a1", tokens=(5, 2), calls=("c1",))
    (session,) = read([ROOT, model("a1", 1), twice, search("a2", 3, call="c1"), model("a3", 5)])

    assert session.steps == 2
    assert [each.tokens for each in session.iterations] == [7.0]


def test_a_tool_that_is_no_search_is_none_though_it_has_results() -> None:
    """A tool that opens pages is left aside, and what it searches for within itself is searched."""
    page = Act("a1", "tool", 1, 2, parent="a0", name="open_page", query="u", documents=[ONE])
    within = Act("b1", "retriever", 1.1, 1.9, parent="a1", name="R", query="q", documents=[TWO])

    assert ids(read([ROOT, page, within])[0]) == ["d2"]


def test_a_mapping_says_which_tools_search_and_where_their_results_lie() -> None:
    """A retriever can be told to be none, a tool to be a search, and its own output is then what counts."""
    odd = Act(
        "a1", "tool", 1, 2, parent="a0", name="frobnicate", query="q", documents=json.dumps({"odd": [ONE]})
    )
    within = Act("b1", "retriever", 1.1, 1.9, parent="a1", name="R", query="q", documents=[TWO, THREE])
    memory = Act("a2", "retriever", 3, 4, parent="a0", name="memory", query="m", documents=[TWO])
    tools = Tools({"frobnicate": Tool(results="$.odd[*]"), "memory": Tool(search=False)})

    assert ids(read([ROOT, odd, within, memory], tools=tools)[0]) == ["d1"]


def test_a_search_that_failed_found_nothing_and_is_an_iteration() -> None:
    """Its output is not read, whatever it says."""
    (session,) = read([ROOT, model("a1", 1), search("a2", 3, failed=True, documents="boom")])

    assert (len(session.iterations), ids(session)) == (1, [])


# --- iterations ---


def test_searches_between_two_models_are_one_iteration_where_calls_have_no_ids() -> None:
    """Without ids the last call of a model before a search is the one that asked for it."""
    acts = [
        model("m1", 1),
        search("s2", 3.5),
        search("s1", 3),
        model("m2", 5),
        search("s3", 7),
        model("m3", 9),
    ]

    assert queries(read([ROOT, *acts])[0]) == [["s1", "s2"], ["s3"]]


def test_a_search_that_outlasts_the_next_model_belongs_to_the_one_that_asked() -> None:
    """The id of the tool call says who asked, though another call of a model came between."""
    acts = [
        model("m1", 1, calls=("c1",)),
        model("m2", 2.5, calls=("c2",)),
        search("s2", 4, call="c2"),
        search("s1", 5, call="c1"),
    ]

    assert queries(read([ROOT, *acts])[0]) == [["s1"], ["s2"]]


def test_ids_of_calls_that_are_used_again_mean_the_last_model_before() -> None:
    """Some models call every first call `call_0`."""
    acts = [model("m1", 1, calls=("call_0",)), search("s1", 3, call="call_0")]
    again = [model("m2", 5, calls=("call_0",)), search("s2", 7, call="call_0")]

    assert queries(read([ROOT, *acts, *again])[0]) == [["s1"], ["s2"]]


def test_searches_before_the_first_model_are_one_iteration() -> None:
    """A program that retrieves for several questions and then asks a model took one step."""
    assert queries(read([ROOT, search("s1", 1), search("s2", 3), model("m1", 5)])[0]) == [["s1", "s2"]]


def test_without_any_model_searches_that_overlap_are_one_iteration() -> None:
    """Nothing else tells steps apart in a trace that records no model."""
    acts = [search("s1", 1), search("s2", 1.5), search("s3", 3), search("s4", 4)]

    assert queries(read([ROOT, *acts])[0]) == [["s1", "s2"], ["s3"], ["s4"]]


def test_models_and_tools_need_not_be_siblings() -> None:
    """A graph puts models and tools beneath nodes of their own."""
    nodes = [Act(f"n{at}", "chain", 2 * at, 2 * at + 2, parent="a0") for at in range(4)]
    acts = [
        model("m1", 0.1, parent="n0"),
        search("s1", 2.1, parent="n1"),
        model("m2", 4.1, parent="n2"),
        search("s2", 6.1, parent="n3"),
    ]

    assert queries(read([ROOT, *nodes, *acts])[0]) == [["s1"], ["s2"]]


def test_an_agent_within_a_tool_takes_steps_of_its_own() -> None:
    """Searches of a helper belong to the helper's model, not to the model that called the helper."""
    helper = Act("t1", "tool", 2.5, 9, parent="a0", name="ask_helper", call="c1")
    inside = [
        model("m2", 3, parent="t1", calls=("x1",)),
        search("s1", 4.5, parent="t1", call="x1"),
        model("m3", 6, parent="t1"),
        search("s2", 7.5, parent="t1"),
    ]
    (session,) = read([ROOT, model("m1", 1, calls=("c1",)), helper, *inside, model("m4", 10)])

    assert queries(session) == [["s1"], ["s2"]]
    assert session.steps == 4


def test_a_model_that_a_tool_uses_is_no_step_of_the_agent() -> None:
    """A summary that another tool makes meanwhile does not part searches that were asked for together."""
    other = Act("t1", "tool", 2.5, 3.5, parent="a0", name="calculator")
    acts = [model("m1", 1), other, model("m2", 2.6, parent="t1"), search("s1", 2.5), search("s2", 5)]
    (session,) = read([ROOT, *acts])

    assert (queries(session), session.steps) == ([["s1", "s2"]], 1)


# --- turns ---


def test_the_last_trace_of_a_conversation_counts() -> None:
    """Traces of one session are turns, and the one that began last is the session, wherever it stands in the file."""
    later = [replace(act, start=act.start + 50, end=act.end + 50) for act in agent("And when?", trace="2")]
    (session,) = read([*later[:3], *agent("Who?"), *later[3:]])

    assert (session.conversation, session.turns, session.question) == ("s1", 2, "And when?")


def test_traces_without_a_session_are_conversations_and_their_question_is_the_task() -> None:
    """No other system can have met the same task under an id that is drawn at random."""
    sessions = read([*agent("Who?", session=None), *agent("Why?", session=None, trace="2")])

    assert [(each.task, each.turns) for each in sessions] == [("Who?", 1), ("Why?", 1)]


def test_system_and_task_can_be_told_by_attributes() -> None:
    """`judged.system` and `judged.task` on any span, or among its metadata."""
    acts = agent(session=None)
    acts[0] = replace(acts[0], further={"judged.system": "a", "metadata": '{"judged.task": "t7"}'})
    (session,) = read(acts)

    assert (session.system, session.task) == ("a", "t7")


# --- what goes wrong in exports ---


def test_a_span_whose_parent_is_missing_is_a_root() -> None:
    """A partial export loses no search, and the model's question stands for that of the root."""
    (session,) = read([act for act in agent() if act.id != "a0"])

    assert (queries(session), session.question) == ([["first", "second"], ["third"]], "Who wrote it?")


def test_spans_that_are_their_own_ancestors_are_read_once() -> None:
    """In a circle, which no sound export has, the first span is taken for the root."""
    acts = [Act("a0", "agent", 0, 9, parent="a1"), search("a1", 1), Act("a2", "agent", 2, 3, parent="a2")]

    assert queries(read(acts)[0]) == [["a1"]]


def test_a_span_without_ids_is_refused_or_counted() -> None:
    """It is named with its line; a lenient reading counts it."""
    content = lines([*sdk(agent()), {"name": "x", "context": {}, "attributes": {}}])
    skipped = Skipped()

    with pytest.raises(ValueError, match=r"bytes:8: is no span: it has no id"):
        list(stream_sessions(content, format="otlp"))
    assert len(list(stream_sessions(content, format="otlp", lenient=True, skipped=skipped))) == 1
    assert skipped.counts == {"malformed spans": 1}


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
        {**{name: getattr(each, name) for name in each.__struct_fields__}, "place": ""} for each in sessions
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
    shuffled = [spans[each] for each in order]
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

        assert sorted(query for each in queries(session) for query in each) == outermost
        assert session.steps >= len(session.iterations)


def test_two_systems_that_share_names_of_sessions_are_kept_apart() -> None:
    """Where a file holds both, a session of one is no turn of the other's."""
    one = [replace(act, further={"judged.system": "a"}) for act in agent()]
    two = [replace(act, further={"judged.system": "b"}) for act in agent(trace="2")]

    assert [(each.system, each.task, each.turns) for each in read([*one, *two])] == [
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


def test_tools_that_tell_arguments_and_response_are_read() -> None:
    """Pydantic AI names a tool as OpenTelemetry does, and what goes in and out in its own way."""
    told = {
        "gen_ai.tool.name": "search",
        "tool_arguments": '{"query": "q"}',
        "tool_response": json.dumps([ONE]),
    }
    span = sdk([replace(ROOT, further={})], lambda _: told)
    (session,) = stream_sessions(lines(span))

    assert (queries(session), ids(session)) == ([["q"]], ["d1"])
