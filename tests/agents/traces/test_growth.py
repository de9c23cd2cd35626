"""Text of tools and agents is read in time proportional to its length, however it is repeated."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable

import pytest

from judged.agents.traces.format import Head
from judged.agents.traces.read import read_sessions
from judged.agents.traces.results.text import find_groups_in_text, is_empty
from judged.agents.traces.tags import chatml, search_tags
from judged.agents.traces.tags.react import FORMAT as REACT
from judged.errors import JudgedError

LENGTH = 100_000
"""Characters; a quadratic pattern takes a minute or more for as many, a linear one a few milliseconds."""


def repeat(start: str, unit: str, end: str = "") -> str:
    """Return a text of the length of the tests."""
    return start + unit * (LENGTH // len(unit)) + end


OUTPUTS = {
    "blanks before a link": repeat("x\n", " ", "y"),
    "blanks after a number": repeat("1.", " ", "[a](b:c) d"),
    "blanks in a numbered title": repeat("(1)Title:", " "),
    "many numbered titles": repeat("", "(1)Title:"),
    "many URLs in one link": repeat("[", "](a:"),
    "many closing brackets": repeat("[t](a:", ")", "x y"),
    "one attribute": repeat("<doc ", "a", "></doc>"),
    "many marks": repeat("<doc></doc>", "<a-"),
    "a mark of many parts": repeat("<doc></doc><", "a-"),
    "blanks in a titled document": repeat("Doc 1(Title:", " "),
    "brackets in a titled document": repeat("Doc 1(Title:", "("),
    "blanks after a name": repeat("Title: a\nURL", " "),
    "digits of a passage": repeat("", "1", ". http://a.b c"),
    "signs before an error": repeat("", "[", "error"),
    "letters before an error": repeat("", "a", "error"),
}
CALLS = {
    "newlines": "\n",
    "parameters that never end": "<parameter=a>",
    "names that never end": "<parameter=",
    "names and blanks": "name ",
    "open tags": "<tool_call>",
}


def cost(work: Callable[[], object]) -> float:
    """Return the processor time that some work takes."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_read_in_linear_time(name: str) -> None:
    """A hundred thousand characters take less than two seconds."""
    assert cost(lambda: find_groups_in_text(OUTPUTS[name])) < 2
    assert cost(lambda: is_empty(OUTPUTS[name])) < 2


@pytest.mark.parametrize("name", CALLS)
def test_calls_in_text_are_read_in_linear_time(name: str) -> None:
    """So do calls between tags, alone and within a trace."""
    written = repeat("", CALLS[name])
    trace = [
        {
            "messages": [
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": f"<tool_call>{written}</tool_call>"},
            ]
        }
    ]

    def read() -> None:
        with pytest.raises(JudgedError):  # no search in it
            read_sessions(trace, format="chatml")

    assert cost(read) < 2


@pytest.mark.parametrize("tags", [chatml.TAGS, *search_tags.FAMILIES], ids=lambda tags: tags.output[0])
def test_tags_that_are_never_closed_are_read_in_linear_time(tags: search_tags.Tags) -> None:
    """Neither calls nor outputs are looked for again from every tag."""
    assert cost(lambda: list(tags.split(repeat("", tags.call[0])))) < 2
    assert cost(lambda: list(tags.split(repeat("", tags.output[0])))) < 2


@pytest.mark.parametrize("unit", [" ", "*", "a ", "Action ", "Action: ", "between <information>"])
def test_logs_are_recognised_and_read_in_linear_time(unit: str) -> None:
    """Actions with blanks in every place."""
    log = repeat("Question: q\nAction", unit, "\nObservation: o\nAction: Search" + " " * LENGTH + "x")

    assert cost(lambda: REACT.recognises(Head(text=log))) < 2
    assert cost(lambda: search_tags.FORMAT.recognises(Head(text=log))) < 2
    assert cost(lambda: read_refused(log)) < 2


def read_refused(log: str) -> None:
    """Read a log in which nothing was found."""
    with contextlib.suppress(JudgedError):
        read_sessions(log.encode(), format="react")


@pytest.mark.parametrize(
    "value",
    [
        {
            "messages": [
                {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "content": [1, None, "x"]}}]}
            ]
        },
        {"traceId": "1" * 32, "spanId": "2" * 16, "name": "x", "startTimeUnixNano": "9" * 5_000},
        {
            "traceId": "1" * 32,
            "spanId": "2" * 16,
            "attributes": {f"llm.output_messages.{'9' * 5_000}.a": 1, "openinference.span.kind": "LLM"},
        },
        {
            "traceId": "1" * 32,
            "spanId": "2" * 16,
            "attributes": {"gen_ai.operation.name": "execute_tool"},
            "events": [{"name": "gen_ai.choice", "attributes": {"message": "[null]"}}],
        },
    ],
    ids=[
        "blocks that are no objects",
        "a time of 5,000 digits",
        "a position of 5,000 digits",
        "a block that is null",
    ],
)
def test_strange_values_are_no_reason_to_fail(value: object) -> None:
    """They are refused in words, or left out."""
    try:
        read_sessions(json.dumps(value).encode())
    except JudgedError as error:
        assert str(error)


def test_a_turn_of_five_thousand_digits_is_refused_in_words() -> None:
    """It is no turn, rather than a number that Python will not convert."""
    with pytest.raises(JudgedError, match="names no turn"):
        read_sessions(f"1_{'9' * 5_000} Q0 d 1 2.0 t\n".encode(), format="conversational-run")
