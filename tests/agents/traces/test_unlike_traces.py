"""Files that are not traces, and unknown tools: what is refused, and what the user is advised to write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judged.agents.traces.read import read_sessions
from judged.errors import BadInput, JudgedError

UNLIKE = {
    "labels.jsonl": '{"query": "t1", "id": "d1", "gain": 3}\n{"query": "t1", "url": "https://e.org/1", "gain": 2}\n',
    "a.qrels": "1 0 d1 1\n1 0 d2 0\n",
    "a.run": "1 Q0 d1 1 3.2 sys\n1 Q0 d2 2 2.1 sys\n",
    "a.csv": "query,doc,grade\n1,d1,1\n",
    "config.json": '{"model": "m", "temperature": 0.2, "tools": ["search"]}',
    "corpus.jsonl": '{"_id": "d1", "title": "t", "text": "x"}\n',
    "completions.jsonl": '{"prompt": "a", "completion": "b"}\n',
    "notes.txt": "Some notes\nabout nothing\n",
    "empty.json": "[]",
}
RESULTS = [{"id": "d1", "url": "https://e.org/1"}]


def chat(tool: str, arguments: dict[str, Any], output: str) -> list[dict[str, Any]]:
    """A conversation with one call."""
    call = {"id": "1", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    messages = [
        {"role": "user", "content": "q?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": output},
    ]
    return [{"id": "c1", "messages": messages}]


@pytest.mark.parametrize("name", UNLIKE)
def test_what_is_no_trace_is_refused_as_an_unknown_format(name: str, tmp_path: Path) -> None:
    """With the way it begins, and nothing scored."""
    (tmp_path / name).write_text(UNLIKE[name])
    with pytest.raises(BadInput, match="has no known trace format"):
        read_sessions(tmp_path / name)


def test_messages_to_tune_a_model_with_are_a_trace_without_a_search() -> None:
    """They have the form of traces, without any search."""
    messages = [{"role": "user", "content": "Capital of France?"}, {"role": "assistant", "content": "Paris."}]
    with pytest.raises(BadInput, match="its one session calls no tool"):
        read_sessions([{"messages": messages}])


def test_an_empty_folder_and_an_empty_file_are_refused_without_a_hint_that_does_not_help(
    tmp_path: Path,
) -> None:
    """`--lenient` finds no session either."""
    with pytest.raises(JudgedError, match="is a folder without files"):
        read_sessions(tmp_path)
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(BadInput, match="holds no session") as caught:
        read_sessions(tmp_path / "empty.jsonl")

    assert caught.value.hint is None


@pytest.mark.parametrize("tool", ["company_kb", "ask_wiki", "lookup_policy"])
def test_the_hint_for_a_tool_that_is_not_known_is_the_mapping_that_makes_it_known(
    tool: str, tmp_path: Path
) -> None:
    """What the hint says, written into a file, reads the trace."""
    trace = chat(tool, {"q": "x"}, json.dumps(RESULTS))
    with pytest.raises(BadInput) as caught:
        read_sessions(trace)
    mapping = str(caught.value.hint).split("`")[-2]
    (tmp_path / "tools.yaml").write_text(mapping)
    (session,) = read_sessions(trace, tools=tmp_path / "tools.yaml")

    assert mapping == f"tools: {{{tool}: search}}"
    assert [result.id for result in session.iterations[0].searches[0].results] == ["d1"]


@pytest.mark.parametrize("tool", ["mcp__docs__search", "tavily_search_results_json", "query_docs"])
def test_odd_names_that_say_search_need_no_mapping(tool: str) -> None:
    """MCP's prefix, LangChain's suffix, a query of documents."""
    (session,) = read_sessions(chat(tool, {"query": "x"}, json.dumps(RESULTS)))

    assert [search.query for search in session.iterations[0].searches] == ["x"]


def test_the_hint_for_an_output_that_cannot_be_read_names_the_tool_and_both_mappings(tmp_path: Path) -> None:
    """A path for JSON, `whole` for a text; both work."""
    shelf = json.dumps({"shelf": {"books": [{"signature": "d1"}]}})
    with pytest.raises(BadInput) as caught:
        read_sessions(chat("search", {"query": "x"}, shelf))
    hint = str(caught.value.hint)
    books = tmp_path / "books.yaml"
    books.write_text('tools: {search: {results: "$.shelf.books[*]", fields: {id: $.signature}}}')
    whole = tmp_path / "whole.yaml"
    whole.write_text("tools: {search: {whole: true}}")
    (one,) = read_sessions(chat("search", {"query": "x"}, shelf), tools=books)
    (other,) = read_sessions(chat("search", {"query": "x"}, "The tower is tall."), tools=whole)

    assert '`tools: {search: {results: "$.PATH[*]"}}`' in hint
    assert "`{search: {whole: true}}` if it is one result" in hint
    assert one.iterations[0].searches[0].results[0].id == "d1"
    assert other.iterations[0].searches[0].results[0].snippet == "The tower is tall."
