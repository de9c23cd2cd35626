"""What search tools give back, in the shapes of the APIs and libraries that give it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judged.agents.tables import Hit
from judged.agents.traces.results.fields import parse_result
from judged.agents.traces.results.outputs import Unparsed, find_groups

A, B = "https://a.org/1", "https://b.org/2"


def read(output: Any, queries: list[str] | None = None) -> list[list[Any]]:
    """The results of each group of an output."""
    return [[parse_result(value) for value in values] for _, values in find_groups(output, queries)]


SHAPES: dict[str, tuple[Any, Hit]] = {
    "a list": ([{"id": "1", "text": "x"}], Hit(id="1", snippet="x")),
    "results": ({"results": [{"id": "1"}]}, Hit(id="1")),
    "documents": ({"documents": [{"id": "1"}]}, Hit(id="1")),
    "Tavily": (
        {
            "query": "q",
            "answer": None,
            "images": [],
            "results": [{"title": "T", "url": A, "content": "x", "score": 0.5}],
        },
        Hit(url=A, title="T", snippet="x", score=0.5),
    ),
    "Exa": (
        {"requestId": "r", "results": [{"id": A, "url": A, "title": "T", "text": "x", "highlights": ["y"]}]},
        Hit(id=A, url=A, title="T", snippet="x"),
    ),
    "Brave": (
        {"type": "search", "web": {"results": [{"title": "T", "url": A, "description": "x"}]}},
        Hit(url=A, title="T", snippet="x"),
    ),
    "Serper": (
        {
            "searchParameters": {"q": "q"},
            "organic": [{"title": "T", "link": A, "snippet": "x", "position": 1}],
        },
        Hit(url=A, title="T", snippet="x"),
    ),
    "SerpAPI": (
        {"organic_results": [{"title": "T", "link": A, "snippet": "x"}]},
        Hit(url=A, title="T", snippet="x"),
    ),
    "Bing": (
        {"webPages": {"value": [{"name": "T", "url": A, "snippet": "x"}]}},
        Hit(url=A, title="T", snippet="x"),
    ),
    "Google": (
        {"kind": "customsearch#search", "items": [{"title": "T", "link": A, "snippet": "x"}]},
        Hit(url=A, title="T", snippet="x"),
    ),
    "Elasticsearch": (
        {
            "hits": {
                "total": {"value": 1},
                "hits": [{"_id": "1", "_score": 2.5, "_source": {"title": "T", "body": "x"}}],
            }
        },
        Hit(id="1", title="T", snippet="x", score=2.5),
    ),
    "Pinecone": (
        {"matches": [{"id": "1", "score": 0.5, "metadata": {"text": "x"}}]},
        Hit(id="1", snippet="x", score=0.5),
    ),
    "Qdrant": (
        {"result": [{"id": 1, "score": 0.5, "payload": {"text": "x"}}]},
        Hit(id="1", snippet="x", score=0.5),
    ),
    "Chroma": (
        {"ids": [["1"]], "documents": [["x"]], "metadatas": [[{"url": A}]], "distances": [[0.5]]},
        Hit(id="1", url=A, snippet="x"),
    ),
    "LangChain": (
        [{"page_content": "x", "metadata": {"source": A, "title": "T"}}],
        Hit(url=A, title="T", snippet="x"),
    ),
    "LlamaIndex": (
        {
            "response": "Paris",
            "source_nodes": [{"node": {"id_": "1", "text": "x", "metadata": {"url": A}}, "score": 0.5}],
        },
        Hit(id="1", url=A, snippet="x", score=0.5),
    ),
    "OpenAI vector store": (
        {
            "object": "vector_store.search_results.page",
            "data": [
                {"file_id": "f", "filename": "n", "score": 0.5, "content": [{"type": "text", "text": "x"}]}
            ],
        },
        Hit(id="f", title="n", snippet="x", score=0.5),
    ),
    "Anthropic search_result": (
        [{"type": "search_result", "source": A, "title": "T", "content": [{"type": "text", "text": "x"}]}],
        Hit(url=A, title="T", snippet="x"),
    ),
    "Anthropic web_search_result": (
        [
            {
                "type": "web_search_result",
                "url": A,
                "title": "T",
                "encrypted_content": "E",
                "page_age": "1 day",
            }
        ],
        Hit(url=A, title="T"),
    ),
    "Search-R1's retriever": (
        {"result": [[{"document": {"id": "1", "contents": "x"}, "score": 0.5}]]},
        Hit(id="1", snippet="x", score=0.5),
    ),
    "MediaWiki": (
        {"query": {"search": [{"title": "T", "pageid": 5, "snippet": "x"}]}},
        Hit(id="5", title="T", snippet="x"),
    ),
    "MCP": ({"content": [{"type": "text", "text": '[{"id": "1"}]'}], "isError": False}, Hit(id="1")),
    "one result": ({"title": "T", "url": A}, Hit(url=A, title="T")),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("written", ["as it is", "as JSON", "as Python prints it"])
def test_common_shapes_are_read(name: str, written: str) -> None:
    """As values, as JSON text, and as the text that Python prints."""
    output, expected = SHAPES[name]
    given = {"as it is": output, "as JSON": json.dumps(output), "as Python prints it": repr(output)}[written]

    assert read(given) == [[expected]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[Document(metadata={'source': 'https://a.org/1'}, page_content='x')]",
            [Hit(url=A, snippet="x")],
        ),
        (
            "1. [T (1)](https://a.org/1_(x))\nDate published: May 1, 2025\n\nx\n\n2. [U](https://b.org/2)\n\ny",
            [
                Hit(url="https://a.org/1_(x)", title="T (1)", snippet="x"),
                Hit(url=B, title="U", snippet="y"),
            ],
        ),
        (
            "## Search Results\n\n[T](https://a.org/1)\nx\n\n[U](https://b.org/2)\ny",
            [Hit(url=A, title="T", snippet="x"), Hit(url=B, title="U", snippet="y")],
        ),
        (
            'Doc 1(Title: "T") x\nDoc 2(Title: "U") y\n',
            [Hit(title="T", snippet="x"), Hit(title="U", snippet="y")],
        ),
        (
            "(1)Title: T Text: x\n(2)Title: U Text: y",
            [Hit(title="T", snippet="x"), Hit(title="U", snippet="y")],
        ),
        (
            "Page: T\nSummary: x\n\nPage: U\nSummary: y",
            [Hit(title="T", snippet="x"), Hit(title="U", snippet="y")],
        ),
        (
            "Title: T\nURL: https://a.org/1\nContent: x\nScore: 0.5",
            [Hit(url=A, title="T", snippet="x", score=0.5)],
        ),
        (
            "snippet: x, and more, title: T, link: https://a.org/1",
            [Hit(url=A, title="T", snippet="x, and more")],
        ),
        (
            "Found 2:\n[1] T - https://a.org/1\nx\nand y\n[2] only words",
            [Hit(url=A, title="T", snippet="x\nand y"), Hit(snippet="only words")],
        ),
        ("Passage 1: x\nPassage 2: y", [Hit(snippet="x"), Hit(snippet="y")]),
        ("3. third\n4. fourth", None),
        ("Here is what I know:\n1. Paris is lovely.\n2. So is Lyon.", None),
        (
            "1. T\nhttps://a.org/1\nx\n2. U https://b.org/2\ny",
            [Hit(url=A, title="T", snippet="x"), Hit(url=B, title="U", snippet="y")],
        ),
        ('Doc 1(Title: "T (1)") x', [Hit(title="T (1)", snippet="x")]),
        ('[{"type": "text", "text": "x"}, 3', None),
        ("Paris is the capital of France.", None),
        ("No country for old men is a film.", None),
        ("Source: a friend", None),
    ],
)
def test_results_written_as_text_are_read_or_refused(text: str, expected: list[Hit] | None) -> None:
    """LangChain, web agents, smolagents, Search-R1, R1-Searcher, Wikipedia's tool, records of lines, DuckDuckGo's."""
    if expected is None:
        with pytest.raises(Unparsed, match=r"its output (?:cannot be parsed as results|was cut off)"):
            find_groups(text)
    else:
        assert read(text) == [expected]


@pytest.mark.parametrize(
    "output",
    [
        *(
            "",
            "  ",
            "[]",
            "{}",
            "null",
            '{"results": []}',
            '{"error": "rate limited"}',
            "Error: 429 Too Many Requests",
        ),
        *("No results found.", "No good Wikipedia Search Result was found", "ToolException('timed out')"),
        *("Could not find [X]. Similar: ['Y']", "0 results", "Request timed out", None, [], {"organic": []}),
        {"hits": {"hits": []}},
    ],
)
def test_nothing_found_and_failures_are_searches_without_results(output: Any) -> None:
    """A search that was asked for counts, whatever came of it."""
    assert read(output) == [[]]


@pytest.mark.parametrize(
    "output",
    [
        {"q1": [{"id": "1"}], "q2": {"results": [{"id": "2"}, {"id": "3"}]}},
        [[{"id": "1"}], [{"id": "2"}, {"id": "3"}]],
        [{"query": "q1", "results": [{"id": "1"}]}, {"query": "q2", "results": [{"id": "2"}, {"id": "3"}]}],
        {
            "results": [
                {"query": "q1", "results": [{"id": "1"}]},
                {"query": "q2", "results": [{"id": "2"}, {"id": "3"}]},
            ]
        },
    ],
)
def test_an_output_for_several_queries_is_split(output: Any) -> None:
    """By the queries themselves, by lists in their order, or by objects that name them."""
    assert read(output, ["q1", "q2"]) == [[Hit(id="1")], [Hit(id="2"), Hit(id="3")]]


def test_what_nests_without_end_is_refused_and_not_followed() -> None:
    """A thousand lists, one in the other."""
    with pytest.raises(Unparsed):
        find_groups("[" * 1000 + "]" * 1000)
