"""Results in XML, Markdown, YAML and JSON within JSON, as search tools of today hand them to models."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judged.agents.tables import Hit
from judged.agents.traces.results.fields import parse_result
from judged.agents.traces.results.outputs import Unparsed, find_groups
from judged.agents.traces.results.text import is_empty

ONE, TWO = "https://e.org/1", "https://e.org/2"
LISTED = [
    {"id": "d1", "url": ONE, "title": "One", "snippet": "first"},
    {"id": "d2", "url": TWO, "title": "Two", "snippet": "second"},
]
MARKED = {
    "documents of Anthropic's guides": (
        f'<documents><document index="1"><source>{ONE}</source><title>One</title>'
        "<document_content>first</document_content></document>"
        f'<document index="2"><source>{TWO}</source><title>Two</title>'
        "<document_content>second</document_content></document></documents>"
    ),
    "elements within elements": (
        f"<results>\n<result><title>One</title><url>{ONE}</url><content>first</content></result>\n"
        f"<result><title>Two</title><url>{TWO}</url><content>second</content></result>\n</results>"
    ),
    "attributes": (
        f'<document id="d1" title="One" url="{ONE}">first</document>\n'
        f'<document id="d2" title="Two" url="{TWO}">second</document>'
    ),
    "headings with addresses": f"## One\nURL: {ONE}\nfirst\n\n## Two\nURL: {TWO}\nsecond",
    "headings and rules": f"### One\nSource: {ONE}\n\nfirst\n\n-----\n\n### Two\nSource: {TWO}\n\nsecond",
    "headings that are links": f"## [One]({ONE})\n\nfirst\n\n## [Two]({TWO})\n\nsecond",
    "links with a text beside them": f"1. [One]({ONE}) - first\n2. [Two]({TWO}) - second",
    "bold titles": f"1. **One**\n   {ONE}\n   first\n\n2. **Two**\n   {TWO}\n   second",
    "YAML": f"- title: One\n  url: {ONE}\n  text: first\n- title: Two\n  url: {TWO}\n  text: second",
    "LangChain's guides": (
        f"Source: {{'url': '{ONE}', 'title': 'One'}}\nContent: first\n\n"
        f"Source: {{'url': '{TWO}', 'title': 'Two'}}\nContent: second"
    ),
    "JSON twice": json.dumps(json.dumps({"results": LISTED})),
    "JSON three times": json.dumps(
        {"status": "ok", "data": json.dumps({"payload": json.dumps({"results": LISTED})})}
    ),
}


def results(output: Any) -> list[Hit]:
    """The results of an output."""
    found = [parse_result(value) for _, values in find_groups(output) for value in values]
    return [item for item in found if isinstance(item, Hit)]


@pytest.mark.parametrize("name", MARKED)
def test_marked_results_have_their_address_title_and_text(name: str) -> None:
    """Whichever way they are marked."""
    assert [(result.url, result.title, result.snippet) for result in results(MARKED[name])] == [
        (ONE, "One", "first"),
        (TWO, "Two", "second"),
    ]


def test_elements_without_addresses_have_their_text() -> None:
    """Entities are read."""
    assert [result.snippet for result in results("<doc>a &amp; b</doc><doc>c</doc>")] == ["a & b", "c"]


@pytest.mark.parametrize("part", ["<doc>", "</doc><doc>", "<doc><a>", "# x\n", "## #", "[a](b:c"])
def test_marks_that_go_on_for_ever_take_no_longer_than_they_are(part: str) -> None:
    """Half a megabyte each; were it quadratic, this test would not end."""
    with pytest.raises(Unparsed):
        find_groups("<p>" + part * (500_000 // len(part)))


@pytest.mark.parametrize(
    "text",
    [
        "<p>The page says <document>x</document></p> and more",
        "## Summary\nIt is tall.\n\n## Sources\nURL: https://e.org/1",
    ],
)
def test_marks_that_hold_more_than_results_are_not_guessed(text: str) -> None:
    """Text beside the results, or a section without an address, would be lost."""
    with pytest.raises(Unparsed):
        find_groups(text)


@pytest.mark.parametrize(
    "text",
    [
        "An error occurred while running the tool. Please try again. Error: timeout",  # OpenAI Agents SDK
        "Error executing tool 'search' with arguments {}: RuntimeError",  # smolagents
        "Encountered error: timeout",  # LlamaIndex
        "Failed to invoke Tool `search` with parameters {}. Error: timeout",  # Haystack
        "Tool error: timeout",
        "timeout\n\nFix the errors and try again.",  # Pydantic AI
        "MCP error -32603: timeout",
    ],
)
def test_failures_as_frameworks_word_them_are_searches_without_results(text: str) -> None:
    """What they show the model when a tool raised."""
    assert is_empty(text)


@pytest.mark.parametrize(
    "text", ["Error handling in Rust", "[Error handling](https://e.org/1)", "Error-correcting codes"]
)
def test_a_title_about_errors_is_no_failure(text: str) -> None:
    """Pages of programmers are about errors."""
    assert not is_empty(text)


@pytest.mark.parametrize("flag", ["isError", "is_error"])
def test_an_output_that_says_it_is_an_error_holds_no_results(flag: str) -> None:
    """MCP's and LlamaIndex's outputs, whose text is the message of the exception."""
    assert find_groups({"content": [{"type": "text", "text": "boom"}], flag: True}) == [(None, [])]
