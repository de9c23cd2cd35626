"""What was opened and cited of what was retrieved, and what each search repeated: small traces, counted by hand and by sets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged.agents import analysis
from judged.agents.tables import Hit, Iteration, Search, Session, Sessions
from judged.agents.timeline import make_timelines
from judged.agents.traces.read import read_sessions
from judged.errors import BadSample

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "traces"
TOWER = "https://en.wikipedia.org/wiki/Eiffel_Tower"


def call(name: str, arguments: dict[str, Any], number: int) -> dict[str, Any]:
    """An assistant message with one call."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": str(number), "function": function}]}


def answered(number: int, output: Any) -> dict[str, Any]:
    """The output of a call."""
    return {"role": "tool", "tool_call_id": str(number), "content": json.dumps(output)}


PAGES = [
    {"url": "https://e.org/a", "title": "A", "gain": 3},
    {"url": "https://e.org/b", "title": "B", "gain": 0},
    {"url": "https://www.e.org/c/", "title": "C"},
]
TRACE = {
    "id": "c1",
    "messages": [
        {"role": "user", "content": "How tall?"},
        call("web_search", {"query": "eiffel height"}, 1),
        answered(1, PAGES),
        call("visit", {"url": ["http://e.org/a?utm_source=x", "https://other.org"]}, 2),
        answered(2, "A page."),
        call("web_search", {"query": "Height, Eiffel"}, 3),
        answered(3, PAGES[:1]),
        {
            "role": "assistant",
            "content": "330 m ([A](https://e.org/a)); see https://e.org/c, and https://elsewhere.org.",
        },
    ],
}


def test_opened_and_cited_results_are_counted_by_address() -> None:
    """By hand: of three results A was opened and cited, C cited under another spelling; two pages came from nowhere."""
    evaluation = judged.evaluate_sessions([TRACE], ["CG"])
    (row,) = analysis.use(evaluation).rows()

    assert row == {
        "system": "system", "retrieved": 3, "opened": 1, "cited": 2, "opened_and_cited": 1,
        "opened_others": 1, "cited_others": 1, "good": 1, "good_opened": 1, "good_cited": 1,
    }  # fmt: skip


def test_the_timeline_marks_what_was_repeated_opened_and_cited() -> None:
    """The second query has the words of the first; its only result is not new, and was opened and cited."""
    evaluation = judged.evaluate_sessions([TRACE], ["CG"], explain=True)
    (line,) = make_timelines(evaluation)

    assert [(search.asked, search.new, len(search.results)) for search in line.searches] == [
        ("new", 3, 3),
        ("repeated", 0, 1),
    ]
    assert [(shown.opened, shown.cited) for search in line.searches for shown in search.results] == [
        (True, True),
        (False, False),
        (False, True),
        (True, True),
    ]


def test_each_search_says_what_it_repeated() -> None:
    """Beside the counts by tool, a row for every search."""
    evaluation = judged.evaluate_sessions([TRACE], ["CG"], searches=True)
    rows = list(analysis.redundancy(evaluation).searches())

    assert [(row["query"], row["asked"], row["results"], row["new"], row["again later"]) for row in rows] == [
        ("eiffel height", None, 3, 3, 0),
        ("Height, Eiffel", "again", 1, 0, 1),
    ]


def test_a_trace_that_says_neither_is_refused() -> None:
    """Rather than shown as zeros."""
    bare = {"id": "c", "messages": TRACE["messages"][:3]}
    with pytest.raises(BadSample, match="neither what was opened nor what an answer cites"):
        analysis.use(judged.evaluate_sessions([bare], ["CG"]))


@pytest.mark.parametrize(
    ("file", "opened"),
    [
        *((name, TOWER) for name in ("anthropic.jsonl", "chatml.jsonl", "openai-chat.jsonl", "openai-responses.jsonl")),
        ("browsecomp-plus.json", "7"),
    ],
)  # fmt: skip
def test_every_format_with_a_page_opened_says_which(file: str, opened: str) -> None:
    """The golden traces tell one story, in which a page is opened."""
    assert [session.opened for session in read_sessions(GOLDEN / file)] == [(opened,)]


FOUND = [{"title": "A", "url": "https://e.org/a", "content": "330 m"}]
NOTE = {"type": "url_citation", "url": "https://e.org/a", "title": "A"}
CITED: dict[str, Any] = {
    "OpenAI Responses": {"object": "response", "output": [
        {"type": "web_search_call", "action": {"type": "search", "query": "q", "sources": FOUND}},
        {"type": "message", "role": "assistant",
         "content": [{"type": "output_text", "text": "330 m", "annotations": [NOTE]}]},
    ]},
    "Anthropic": {"messages": [{"role": "assistant", "content": [
        {"type": "server_tool_use", "id": "1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "1", "content": FOUND},
        {"type": "text", "text": "330 m",
         "citations": [{"type": "web_search_result_location", "url": "https://e.org/a"}]},
    ]}]},
    "Perplexity": {
        "choices": [{"message": {"role": "assistant", "content": "330 m [1]"}}],
        "search_results": FOUND, "citations": ["https://e.org/a"],
    },
    "chatml": {"messages": [
        {"role": "assistant", "content": '<tool_call>{"name": "search", "arguments": {"query": "q"}}</tool_call>'},
        {"role": "user", "content": f"<tool_response>{json.dumps(FOUND)}</tool_response>"},
        {"role": "assistant", "content": "330 m, by https://e.org/a."},
    ]},
    "plain": {"question": "q", "iterations": [{"searches": [{"results": FOUND}]}], "cited": ["https://e.org/a"]},
}  # fmt: skip


@pytest.mark.parametrize("name", CITED)
def test_citations_are_read_beside_the_results(name: str) -> None:
    """From annotations, blocks, lists and the text of the answer."""
    (session,) = read_sessions([CITED[name]])

    assert session.cited == ("https://e.org/a",)
    assert [result.url for result, _ in session.results()] == ["https://e.org/a"]


def test_ids_in_brackets_are_cited_if_a_result_has_them() -> None:
    """As agents of BrowseComp-Plus cite documents; short ids too, and 999 is that of none."""
    entries = [
        {"type": "tool_call", "tool_name": "search", "arguments": {"query": "q"},
         "output": json.dumps([{"docid": "4711", "text": "a"}, {"docid": "12", "text": "b"}])},
        {"type": "output_text", "output": "It is 330 m [4711] [12] [999]."},
    ]  # fmt: skip
    (session,) = read_sessions([{"query_id": "1", "result": entries}])

    assert session.cited == ("4711", "12")


@pytest.mark.parametrize("nested", [False, True])
def test_citations_stand_in_for_a_search_that_is_not_recorded(*, nested: bool) -> None:
    """Models that search by themselves leave only annotations of the answer; that is noted."""
    note = {"type": "url_citation", "url_citation": {"url": "https://e.org/a"}} if nested else NOTE
    answer = {"role": "assistant", "content": "330 m", "annotations": [note]}
    sessions = read_sessions([{"messages": [{"role": "user", "content": "How tall?"}, answer]}])
    (session,) = sessions

    assert [result.url for result, _ in session.results()] == ["https://e.org/a"]
    assert "what the answer cites stands in for them" in " ".join(sessions.notes)


letters = st.sampled_from("abcdefgh")


@settings(max_examples=60)
@given(st.lists(st.lists(letters, max_size=5), min_size=1, max_size=4), st.lists(letters), st.lists(letters))
def test_counts_equal_those_of_sets(searches: list[list[str]], opened: list[str], cited: list[str]) -> None:
    """An independent count: distinct letters found, and which of them were opened and cited."""
    address = "https://e.org/{}".format
    iterations = tuple(
        Iteration(searches=(Search(results=tuple(Hit(url=address(name)) for name in found)),))
        for found in searches
    )
    session = Session(
        conversation="c",
        task="t",
        iterations=iterations,
        opened=tuple(dict.fromkeys(map(address, opened))),
        cited=tuple(dict.fromkeys(map(address, cited))),
    )
    evaluation = judged.evaluate_sessions(Sessions.from_sessions([session]), ["N"])
    found, seen, named = {name for names in searches for name in names}, set(opened), set(cited)
    if not seen and not named:
        return
    (row,) = analysis.use(evaluation).rows()

    assert list(row.values())[1:7] == [
        *(len(found), len(found & seen), len(found & named), len(found & seen & named)),
        *(len(seen - found), len(named - found)),
    ]


ANSWER = {"role": "assistant", "content": "330 m, by [A](https://e.org/a)."}


def openinference() -> list[dict[str, Any]]:
    """A search, a page opened, and an answer, as spans."""
    attributes: list[tuple[str, dict[str, Any]]] = [
        ("RETRIEVER", {"input.value": "q", "output.value": json.dumps(FOUND)}),
        ("TOOL", {"tool.name": "visit", "input.value": json.dumps({"url": "https://e.org/b"})}),
        ("LLM", {f"llm.output_messages.0.message.{name}": text for name, text in ANSWER.items()}),
    ]
    return [
        {
            "name": kind,
            "context": {"trace_id": "t", "span_id": str(number)},
            "parent_id": None,
            "start_time": f"2026-01-01T00:00:0{number}Z",
            "end_time": f"2026-01-01T00:00:0{number}Z",
            "attributes": {"openinference.span.kind": kind, **values},
        }
        for number, (kind, values) in enumerate(attributes, 1)
    ]


def langsmith() -> list[dict[str, Any]]:
    """The same as runs."""
    runs: list[tuple[str, str, Any, Any]] = [
        ("retriever", "index", {"query": "q"}, {"documents": FOUND}),
        ("tool", "visit", {"url": "https://e.org/b"}, {"output": "A page."}),
        ("llm", "model", {"messages": []}, {"choices": [{"message": ANSWER}]}),
    ]
    return [
        {"id": str(number), "trace_id": "t", "run_type": kind, "name": name, "inputs": given, "outputs": returned,
         "start_time": f"2026-01-01T00:00:0{number}Z", "end_time": f"2026-01-01T00:00:0{number}Z"}
        for number, (kind, name, given, returned) in enumerate(runs)
    ]  # fmt: skip


def langfuse() -> list[dict[str, Any]]:
    """The same as observations."""
    kinds: list[tuple[str, str, Any, Any]] = [
        ("RETRIEVER", "index", "q", FOUND),
        ("TOOL", "visit", {"url": "https://e.org/b"}, "A page."),
        ("GENERATION", "model", [], ANSWER),
    ]
    return [
        {"id": str(number), "traceId": "t", "type": kind, "name": name, "input": given, "output": returned,
         "startTime": f"2026-01-01T00:00:0{number}Z", "endTime": f"2026-01-01T00:00:0{number}Z"}
        for number, (kind, name, given, returned) in enumerate(kinds)
    ]  # fmt: skip


@pytest.mark.parametrize("make", [openinference, langsmith, langfuse])
def test_spans_say_what_was_opened_and_cited(make: Callable[[], list[dict[str, Any]]]) -> None:
    """By the calls of tools, and the text of the last answer."""
    (session,) = read_sessions(make())

    assert [result.url for result, _ in session.results()] == ["https://e.org/a"]
    assert (session.opened, session.cited) == (("https://e.org/b",), ("https://e.org/a",))
