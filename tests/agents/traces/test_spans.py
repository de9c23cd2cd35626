"""Spans become sessions: each search once, in the step of the agent that asked for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judged.agents.traces.results.tools import Tool, Tools
from support.span_builders import (
    ONE,
    ROOT,
    THREE,
    TWO,
    Act,
    ids,
    model,
    queries,
    read,
    search,
)


def test_a_tool_and_the_retriever_within_it_are_one_search() -> None:
    """The outermost span is the search; its name is the tool that ids are scoped to."""
    inner = Act("b1", "retriever", 1.1, 1.9, parent="a1", name="R", query="inner", documents=[ONE])
    (session,) = read([ROOT, search("a1", 1), inner])

    assert queries(session) == [["a1"]]
    assert [item.tool for it in session.iterations for item in it.searches] == ["search"]
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
def test_results_are_those_of_the_most_complete_span(outer: Any, inner: Any, expected: list[str]) -> None:
    """Most results win, then most fields; of equally complete spans, the outermost."""
    within = Act("b1", "retriever", 1.1, 1.9, parent="a1", name="R", query="q", documents=inner)
    (session,) = read([ROOT, search("a1", 1, documents=outer), within])

    assert ids(session) == expected


@pytest.mark.parametrize(("outer", "expected"), [([THREE], ["d3"]), ("Some text.", ["d1", "d2"])])
def test_a_search_in_several_places_gave_what_it_says_or_else_all_they_found(
    outer: Any, expected: list[str]
) -> None:
    """Two retrievers beneath one tool: the tool's own results if it has any, else those of both, in time."""
    late = Act("b1", "retriever", 1.5, 1.9, parent="a1", name="R", query="q", documents=[TWO])
    soon = Act("b2", "retriever", 1.1, 1.4, parent="a1", name="R", query="q", documents=[ONE])
    (session,) = read([ROOT, search("a1", 1, documents=outer), late, soon])

    assert ids(session) == expected


def test_results_in_the_messages_of_a_model_are_not_counted_again() -> None:
    """What a tool gave back is recorded a third time when a model reads it; that is no search."""
    recorded = {
        "llm.input_messages.0.message.role": "tool",
        "llm.input_messages.0.message.content": json.dumps([ONE]),
        "retrieval.documents.0.document.id": "d1",
    }
    (session,) = read([ROOT, search("a1", 1), model("a2", 3, further=recorded)])

    assert ids(session) == ["d1"]


def test_a_call_of_a_model_recorded_twice_is_one_step() -> None:
    """A framework and the client it uses each record the call; the tokens are those of the one that has them."""
    twice = model("b1", 1.1, parent="a1", tokens=(5, 2), calls=("c1",))
    (session,) = read([ROOT, model("a1", 1), twice, search("a2", 3, call="c1"), model("a3", 5)])

    assert session.steps == 2
    assert [iteration.tokens for iteration in session.iterations] == [7.0]


def test_a_tool_that_is_no_search_is_none_though_it_has_results() -> None:
    """A tool that opens pages is left aside, and what it searches for within itself is searched."""
    page = Act("a1", "tool", 1, 2, parent="a0", name="open_page", query="u", documents=[ONE])
    within = Act("b1", "retriever", 1.1, 1.9, parent="a1", name="R", query="q", documents=[TWO])

    assert ids(read([ROOT, page, within])[0]) == ["d2"]


def test_a_mapping_says_which_tools_search_and_where_their_results_lie() -> None:
    """A retriever can be mapped to no search, a tool to a search, and its own output is then what counts."""
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
    """Nothing else separates steps in a trace that records no model."""
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
