"""Several episodes in one text are several sessions, and passages of one block several results."""

from __future__ import annotations

from itertools import product

import pytest

from judged.agents.tables import Session
from judged.agents.traces.read import read_sessions
from judged.agents.traces.results.outputs import find_groups
from judged.agents.traces.results.text import is_empty

PROMPT = (
    "Answer the given question. You must conduct reasoning inside <think> and </think>. It will return the top "
    "results between <information> and </information>. Question: {}?\n"
)
SEARCHED = '<search>{0}</search>\n<information>Doc 1(Title: "{0}") text</information>\n<answer>x</answer>\n'


def read(text: str) -> list[Session]:
    """The sessions of a text."""
    return list(read_sessions(text.encode()))


def test_each_instruction_of_search_r1_begins_a_session() -> None:
    """Three prompts one after the other are three sessions with their own questions, not three turns of one."""
    sessions = read("".join(PROMPT.format(name) + SEARCHED.format(name) for name in "abc"))

    assert [(session.question, session.turns, len(session.iterations)) for session in sessions] == [
        ("a?", 1, 1),
        ("b?", 1, 1),
        ("c?", 1, 1),
    ]


@pytest.mark.parametrize("system", ["", "<|im_start|>system\nYou search.<|im_end|>\n"])
def test_each_system_message_or_instruction_in_chatml_begins_a_session(system: str) -> None:
    """The question is what follows the instruction."""
    text = "".join(
        f"{system}<|im_start|>user\n{PROMPT.format(name)}<|im_end|>\n"
        f"<|im_start|>assistant\n{SEARCHED.format(name)}<|im_end|>\n"
        for name in "ab"
    )

    assert [(session.question, session.turns) for session in read(text)] == [("a?\n", 1), ("b?\n", 1)]


def test_a_second_system_message_begins_a_session_where_each_line_is_a_message() -> None:
    """A reminder between a call and its answer does not."""
    call = {"id": "c1", "function": {"name": "search", "arguments": '{"query": "q"}'}}
    episode = [
        {"role": "system", "content": "You search."},
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "system", "content": "Be brief."},
        {"role": "tool", "tool_call_id": "c1", "content": '[{"url": "https://e.org"}]'},
        {"role": "assistant", "content": "Nobody."},
    ]
    sessions = list(read_sessions([*episode, *episode]))

    assert [(session.question, len(session.iterations)) for session in sessions] == [("Who?", 1)] * 2


@pytest.mark.parametrize(("numbers", "end"), [("12", ""), ("", "Action: Finish[x]\n")])
def test_a_log_without_questions_has_a_session_for_each_first_step(numbers: str, end: str) -> None:
    """Step numbers that restart, or a thought after the end, begin another."""
    steps = numbers or ("", "")
    lines = (
        f"Thought {at}: hm\nAction {at}: Search[{name}{at}]\nObservation {at}: {name} is a letter.\n"
        + (end if at == steps[-1] and place else "")
        for name, (place, at) in product("xyz", enumerate(steps))
    )

    assert [len(session.iterations) for session in read("".join(lines))] == [2, 2, 2]


@pytest.mark.parametrize("similar", [1, 400])
def test_could_not_find_is_nothing_found_at_any_length(similar: int) -> None:
    """Wikipedia's list of similar titles is no result."""
    names = ", ".join(f"'Title {number}'" for number in range(similar))

    assert is_empty(f"Could not find Foo. Similar: [{names}]")
    assert not is_empty("Could not find my keys, a film. " + "It is about keys. " * 50)


def test_passages_quoted_as_in_csv_and_without_titles_are_told_apart() -> None:
    """As R1-Searcher's retriever writes them: `(1)…` a line, whatever follows."""
    text = '(1)Title: A Text: first\n(2)"Title: B ""b"" Text: second ""quoted"" part"\n(3)no title\nat all\n(4)"D"\nfourth'

    assert find_groups(text) == [
        (
            None,
            [
                {"title": "A", "text": "first"},
                {"title": 'B "b"', "text": 'second "quoted" part'},
                {"text": "no title\nat all"},
                {"title": "D", "text": "fourth"},
            ],
        )
    ]
