"""Which tools are searches, by name and by mapping; what is reported about unknown tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judged.agents.traces.context import TraceProblems
from judged.agents.traces.read import read_sessions, stream_sessions
from judged.agents.traces.results.tools import Tool, Tools, is_search_name, read_tools
from judged.errors import BadInput, BadProtocol, UnknownName, Unreadable


def chat(*calls: tuple[str, Any, Any]) -> list[Any]:
    """One conversation in which each call is a step: (tool, arguments, output)."""
    messages: list[Any] = [{"role": "user", "content": "why?"}]
    for number, (tool, arguments, output) in enumerate(calls):
        function = {"name": tool, "arguments": json.dumps(arguments)}
        messages.append({"role": "assistant", "tool_calls": [{"id": f"c{number}", "function": function}]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": output})
    return [{"id": "s1", "messages": messages}]


SEARCHES = [
    *(
        "search",
        "Search",
        "web_search",
        "google_search",
        "GoogleSearch",
        "websearch",
        "search_web",
        "retrieve",
    ),
    *(
        "retriever",
        "query_engine",
        "query_engine_tool",
        "file_search",
        "tavily_search",
        "tavily_search_results_json",
    ),
    *("wikipedia", "arxiv", "exa", "brave_web_search", "duckduckgo_results", "serper", "serpapi", "bing"),
    *(
        "mcp__server__search",
        "mcp__brave-search__brave_web_search",
        "knowledge_base.search",
        "hybrid_retrieval",
    ),
    *(
        "search_documents",
        "vectorstore_similarity_search",
        "get_search_results",
        "ddg-search",
        "RAGQuery",
        "pubmed",
    ),
]
OTHERS = [
    *(
        "visit",
        "open",
        "open_page",
        "fetch",
        "web_fetch",
        "get_document",
        "read_url",
        "browse",
        "click",
        "tavily_extract",
    ),
    *("get_page_contents", "wikipedia_page", "Lookup", "Finish", "finish", "final_answer", "think", "python"),
    *(
        "code_interpreter",
        "calculator",
        "PythonInterpreter",
        "search_replace",
        "tool_search_tool_regex",
        "send_email",
    ),
    *("open_search_result", "deep_research_agent", "weather", "str_replace_editor"),
]
UNKNOWN = ["frobnicate", "kb", "deep_research", "get_flights", ""]


@pytest.mark.parametrize("name", SEARCHES)
def test_common_search_tools_are_known(name: str) -> None:
    """By the words that their names are made of."""
    assert is_search_name(name) is True


@pytest.mark.parametrize("name", OTHERS)
def test_tools_that_open_or_do_something_are_no_searches(name: str) -> None:
    """A page that is opened was found before."""
    assert is_search_name(name) is False


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_ambiguous_name_is_not_guessed(name: str) -> None:
    """Neither a search nor anything else."""
    assert is_search_name(name) is None


def test_a_trace_of_unknown_tools_alone_is_refused_and_lists_them() -> None:
    """With the place of the first, and how to say which is a search."""
    with pytest.raises(BadInput) as caught:
        read_sessions(chat(("kb", {"query": "q"}, "[]"), ("kb", {"query": "r"}, "[]"), ("visit", {}, "text")))

    assert str(caught.value) == (
        "objects cannot be scored\n"
        "  object 1: session `s1`, step 1: no tool is known to be a search; the trace calls `kb` (2);"
        " others that are not searches: `visit` (1)\n\n"
        "hint: declare search tools in a mapping (`--tools FILE`): `tools: {kb: search}`"
    )


def test_an_unknown_tool_beside_searches_is_noted_never_silently_passed_over() -> None:
    """The trace is read, and its notes name the tool."""
    problems = TraceProblems()
    (session,) = stream_sessions(chat(("search", {"query": "q"}, "[]"), ("kb", {}, "[]")), problems=problems)

    assert (len(session.iterations), session.steps) == (1, 2)
    (note,) = problems.notes

    assert note.startswith(
        "objects: ignored calls of tools that may or may not search: `kb` (1), first at object 1: session `s1`, step 2; declare search"
    )


def test_a_trace_whose_tools_are_no_searches_is_refused() -> None:
    """Known tools, none of which searches."""
    with pytest.raises(BadInput, match=r"step 1: calls `visit` \(1\), none of which is a search"):
        read_sessions(chat(("visit", {"url": "https://a.org"}, "text")))


def test_a_search_whose_output_cannot_be_read_is_a_fault_not_an_empty_search() -> None:
    """Prose may hold anything; beside one that can be read, it stays as one without results, and is counted."""
    prose = ("search", {"query": "q"}, "Paris is lovely in spring.")
    with pytest.raises(BadInput) as caught:
        read_sessions(chat(prose))
    with pytest.raises(BadInput):
        read_sessions(chat(prose, ("search", {"query": "q"}, '[{"url": "https://e.org/"}]')), strict=True)
    problems = TraceProblems()
    given = chat(prose, ("search", {"query": "q"}, '[{"url": "https://e.org/"}]'))
    (session,) = stream_sessions(given, problems=problems)

    assert (
        "object 1: session `s1`, step 1, `search`: its output cannot be parsed as results: `Paris is lovely in spring.`"
        in str(caught.value)
    )
    assert (len(session.iterations), problems.counts["unread-output"]) == (2, 1)


def test_a_mapping_says_what_is_a_search_and_where_everything_lies(tmp_path: Path) -> None:
    """Paths into arguments, output and results; a pattern of names; and what is no search after all."""
    file = tmp_path / "tools.yaml"
    file.write_text(
        'tools:\n  kb: {query: $.q.text, results: "$.rows[*]", fields: {id: $.key, snippet: $.body.short, score: $.s}}\n'
        "  'crm_*': search\n  search_users: other\n"
    )
    row = {"key": 7, "body": {"short": "x", "long": "xx"}, "s": 0.5, "title": "T"}
    given = chat(
        ("kb", {"q": {"text": "why"}}, json.dumps({"rows": [row], "results": "a decoy"})),
        ("crm_find", {"query": "who"}, json.dumps([{"id": "a"}])),
        ("search_users", {"query": "me"}, "nothing to be read"),
    )
    (session,) = stream_sessions(given, tools=read_tools(file))
    searches = [search for step in session.iterations for search in step.searches]

    assert [(search.tool, search.query) for search in searches] == [("kb", "why"), ("crm_find", "who")]
    assert [(result.id, result.title, result.snippet, result.score) for result, _ in session.results()] == [
        ("7", "T", "x", 0.5),
        ("a", None, None, None),
    ]


def test_a_mapping_may_take_the_whole_output_as_one_result() -> None:
    """For tools that answer in prose."""
    tools = Tools({"ask": Tool(whole=True)})
    (session,) = stream_sessions(chat(("ask", {"query": "q"}, "Paris is lovely.")), tools=tools)

    assert [result.snippet for result, _ in session.results()] == ["Paris is lovely."]


@pytest.mark.parametrize(
    ("output", "ids"),
    [
        ('{"rows": [{"id": "1"}]}', ["1"]),
        ('{"rows": []}', []),
        ('{"error": "timed out"}', []),
        ("No results found", []),
        ('{"lines": [{"id": "1"}]}', None),
        ("prose", None),
    ],
)
def test_a_path_that_leads_nowhere_is_a_fault_and_an_empty_list_is_none(
    output: str, ids: list[str] | None
) -> None:
    """Nor is a search that failed."""
    given, tools = chat(("kb", {"query": "q"}, output)), Tools({"kb": Tool(results="$.rows[*]")})
    if ids is None:
        with pytest.raises(BadInput, match=r"its output has nothing at `\$.rows\[\*\]`"):
            read_sessions(given, tools=tools)
    else:
        (session,) = stream_sessions(given, tools=tools)

        assert [result.id for result, _ in session.results()] == ids


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("tools: {kb: {serch: true}}", "`tools[...]`: object contains unknown field `serch`"),
        ("tools: {kb: {results: '$.['}}", "`$.[` is not a JSONPath"),
        (
            "tools: {kb: {fields: {docid: $.id}}}",
            "the tool `kb` maps the field `docid`, expected one of id, domain",
        ),
        ("tools: [kb]", "`tools`: expected `object`, got `array`"),
        ("tools: {kb: [", "tools.yaml, line 1: expected the node content"),
        ("kb: search", "tools.yaml is called `kb`\n\nhint: it is written so:"),
    ],
)
def test_a_mapping_that_makes_no_sense_is_refused_with_an_example(
    tmp_path: Path, written: str, expected: str
) -> None:
    """What is wrong with it, and how it is written."""
    file = tmp_path / "tools.yaml"
    file.write_text(written)
    with pytest.raises((BadProtocol, UnknownName)) as caught:
        read_tools(file)

    assert expected in str(caught.value)


def test_a_missing_mapping_is_reported() -> None:
    """As any file is."""
    with pytest.raises(Unreadable, match=r"nowhere\.yaml does not exist"):
        read_tools("nowhere.yaml")


@pytest.mark.parametrize(
    ("arguments", "queries"),
    [
        ({"query": "q"}, ["q"]),
        ('{"query": "q"}', ["q"]),
        ({"queries": ["q", "r"]}, ["q", "r"]),
        ({"query_list": ["q"]}, ["q"]),
        ({"search_query": [{"q": "q"}, {"q": "r"}]}, ["q", "r"]),
        ({"input_str": "{'query': 'q'}", "inputs": {"query": "q"}}, ["q"]),
        ({"q": "q", "count": 10}, ["q"]),
        ("plain words", ["plain words"]),
        ({"top_k": 5}, []),
        (None, []),
    ],
)
def test_queries_are_found_in_the_arguments_by_their_common_names(arguments: Any, queries: list[str]) -> None:
    """One query or several, in an object or in its text."""
    assert Tools().queries("search", arguments) == queries
