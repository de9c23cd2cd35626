"""Final answers of agents' traces."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import judged
from judged.answers import read_responses
from judged.errors import BadInput

GOLDEN = Path(__file__).parents[1] / "golden" / "traces"


def test_final_answers_of_recorded_conversations(tmp_path: Path) -> None:
    """A conversation is an answer, its task the query; what it says is in the recording."""
    path = shutil.copy(GOLDEN / "recorded" / "langchain-dumps.jsonl", tmp_path)
    parts = list(read_responses(path))

    assert [(part.system, part.text) for part in parts] == [
        ("langchain-dumps", "Burj Khalifa, by 149.1 metres."),
        ("langchain-dumps", "330 metres."),
    ]
    assert parts[1].query == "How tall is the Eiffel Tower?"


def test_citations_are_addresses(tmp_path: Path) -> None:
    """A number in the text counts what the answer cites, as Perplexity returns it."""
    path = shutil.copy(GOLDEN / "perplexity.jsonl", tmp_path)
    (part,) = read_responses(path)

    assert (part.system, part.text) == ("sonar", "330 metres")
    assert part.citations == ("https://en.wikipedia.org/wiki/Eiffel_Tower",)


def write_chat(path: Path, answers: list[str]) -> Path:
    """Write conversations in the format of OpenAI's chats, each with one search for two documents."""
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"query": "cats"}'}}
    results = json.dumps([{"id": "20441", "text": "Cats purr."}, {"id": "31002", "text": "Dogs bark."}])
    rows = [
        {
            "id": f"c{number}",
            "query_id": "t1",
            "model": "bot",
            "messages": [
                {"role": "user", "content": "What do animals do?"},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "1", "content": results},
                {"role": "assistant", "content": answer},
            ],
        }
        for number, answer in enumerate(answers)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_ids_in_brackets_are_citations(tmp_path: Path) -> None:
    """Ids that are numbers are not counted; other numbers in brackets cite nothing."""
    path = write_chat(tmp_path / "chat.jsonl", ["Cats purr [20441]. Dogs bark [31002] in 1999 [999]."])

    assert [(part.text, part.citations) for part in read_responses(path)] == [
        ("Cats purr.", ("20441",)),
        ("Dogs bark in 1999.", ("31002",)),
    ]


def test_several_conversations_of_a_task_are_attempts(tmp_path: Path) -> None:
    """Their values are averaged."""
    path = write_chat(tmp_path / "chat.jsonl", ["Paris.", "It is Paris, I think."])
    report = judged.evaluate_answers(path, references={"t1": "Paris"}, measures="ExactMatch")

    assert {part.attempt for part in read_responses(path)} == {"1", "2"}
    assert report["bot"]["ExactMatch"] == 0.5


def test_traces_without_answers_are_refused(tmp_path: Path) -> None:
    """An answer that a format does not record is not an empty answer."""
    path = shutil.copy(GOLDEN / "langfuse.json", tmp_path)

    with pytest.raises(BadInput, match="holds no final answers"):
        read_responses(path)
