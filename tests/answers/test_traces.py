"""Final answers of agents' traces."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
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


RECORDED = [
    *(
        "anthropic-openinference",
        "google-adk-openinference",
        "haystack-openinference",
        "langchain-openinference",
    ),
    *("llama-index-openinference", "monocle", "openai-agents", "openai-langsmith", "openai-openinference"),
    *("openai-openllmetry", "strands"),
]


@pytest.mark.parametrize("name", RECORDED)
def test_answers_of_recorded_spans(name: str, tmp_path: Path) -> None:
    """The stand-in model of the recordings ends every conversation with one of these answers."""
    path = shutil.copy(GOLDEN / "recorded" / f"{name}.jsonl", tmp_path)
    texts = {part.text for part in read_responses(path)}

    assert texts <= {"330 metres.", "Burj Khalifa, by 149.1 metres.", "Burj Khalifa, by 149 metres."}
    assert len(texts) == 2


@pytest.mark.parametrize(
    "name", ["frameworks/vercel-spans.jsonl", "services/langfuse-export.json", "services/weave.jsonl"]
)
def test_answers_of_span_exports(name: str, tmp_path: Path) -> None:
    """What the root of a trace returned is the answer, else what the last model wrote."""
    (part,) = read_responses(shutil.copy(GOLDEN / name, tmp_path))

    assert part.query.startswith("Which is taller, Burj Khalifa or Merdeka 118?")
    assert part.text in {"Burj Khalifa, by 149 m.", "Burj Khalifa, by 149 metres."}


@pytest.mark.parametrize(
    "name", ["langsmith_runs", "mlflow_trace", "openinference_langchain", "openllmetry_langchain"]
)
def test_answers_of_instrumented_agents(name: str, shared_data: Callable[[str], Path]) -> None:
    """The toy agent of these recordings says where the capital is."""
    (path,) = shared_data("agent_traces").glob(f"{name}.json*")
    (part,) = read_responses(path)

    assert part.text == "Paris."


ANSWER = "The tower is 330 metres tall [https://e.org/tower]. It is in Paris."
FOUND = [{"url": "https://e.org/tower", "title": "Tower", "snippet": "330 metres tall."}]


def write_otlp(messages: object) -> object:
    """Return spans of OpenTelemetry's conventions for agents: a search, and a model after it."""
    search = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "web_search",
        "gen_ai.tool.call.result": json.dumps(FOUND),
    }
    chat = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(messages)}
    spans = [
        {
            "traceId": "5b8efff798038103d269b633813fc60c",
            "spanId": f"000000000000000{number}",
            "name": name,
            "startTimeUnixNano": str(1767225600000000000 + number),
            "endTimeUnixNano": str(1767225600000000001 + number),
            "attributes": [
                {"key": key, "value": {"stringValue": value}} for key, value in attributes.items()
            ],
        }
        for number, (name, attributes) in enumerate(
            [("execute_tool web_search", search), ("chat m", chat)], 1
        )
    ]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans}]}]}


def write_langfuse(output: object) -> object:
    """Return a trace of Langfuse whose root has an output."""
    trace = json.loads((GOLDEN / "langfuse.json").read_text())
    return {**trace, "output": output}


def write_mlflow(output: object) -> object:
    """Return a trace of MLflow whose first span has an output, which is JSON in JSON."""
    trace = json.loads((GOLDEN / "mlflow.json").read_text())
    trace["data"]["spans"][0]["attributes"]["mlflow.spanOutputs"] = json.dumps(output)
    return trace


def write_langsmith(outputs: object) -> object:
    """Return a run of LangSmith with a search within."""
    search = {
        "name": "web_search",
        "run_type": "tool",
        "id": "r2",
        "trace_id": "r1",
        "parent_run_id": "r1",
        "inputs": {"query": "tower"},
        "outputs": {"output": FOUND},
    }
    return {
        "name": "agent",
        "run_type": "chain",
        "id": "r1",
        "trace_id": "r1",
        "inputs": {"question": "How tall?"},
        "outputs": outputs,
        "child_runs": [search],
    }


def write_plain(answer: object) -> object:
    """Return a session in our own form."""
    searches = [{"query": "tower", "tool": "web_search", "results": FOUND}]
    return {
        "conversation": "c1",
        "task": "t1",
        "turns": [
            {
                "question": "How tall?",
                "iterations": [{"searches": searches}],
                "answer": answer,
                "cited": ["https://e.org/tower"],
            }
        ],
    }


CASES = {
    "otlp": write_otlp(
        [
            {
                "role": "assistant",
                "parts": [{"type": "reasoning", "content": "Look."}, {"type": "text", "content": ANSWER}],
            }
        ]
    ),
    "langfuse": write_langfuse(
        {"messages": [{"role": "user", "content": "How tall?"}, {"role": "assistant", "content": ANSWER}]}
    ),
    "langfuse-text": write_langfuse(ANSWER),
    "mlflow": write_mlflow({"choices": [{"message": {"role": "assistant", "content": ANSWER}}]}),
    "langsmith": write_langsmith({"answer": ANSWER, "context": FOUND}),
    "langsmith-blocks": write_langsmith(
        {
            "output": {
                "type": "ai",
                "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": ANSWER}],
            }
        }
    ),
    "plain": write_plain(ANSWER),
}


@pytest.mark.parametrize("name", CASES)
def test_cited_of_spans(name: str, tmp_path: Path) -> None:
    """An address in the answer is what the sentence cites, in every format."""
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(CASES[name]))
    parts = list(read_responses(path))

    assert [part.citations for part in parts] == [("https://e.org/tower",), ()]
    assert parts[0].text.startswith("The tower is 330 metres tall")
    assert parts[1].text == "It is in Paris."


def test_annotations_of_spans_are_cited(tmp_path: Path) -> None:
    """A text that is cut into blocks where citations begin and end is one text, and its whole cites their pages."""
    blocks = [
        {"type": "text", "text": "The tower is "},
        {
            "type": "text",
            "text": "330 metres tall",
            "citations": [{"type": "web_search_result_location", "url": "https://e.org/tower"}],
        },
        {"type": "text", "text": "."},
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(write_otlp([{"role": "assistant", "content": blocks}])))
    (part,) = read_responses(path)

    assert (part.text, part.citations) == ("The tower is 330 metres tall.", ("https://e.org/tower",))


@pytest.mark.parametrize(
    "output",
    [
        {"messages": [{"role": "assistant", "content": "Let me look."}, {"role": "tool", "content": "330"}]},
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [{"id": "1", "function": {"name": "web_search"}}],
        },
        [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "1", "name": "web_search", "input": {}},
        ],
        {"messages": [{"role": "user", "content": "How tall?"}]},
        {"status": {"code": 200}},
        "",
        None,
    ],
)
def test_what_is_no_answer(output: object, tmp_path: Path) -> None:
    """A conversation that was cut off has no answer: not the user's message, nor what a model says before it searches."""
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(write_langfuse(output)))

    with pytest.raises(BadInput, match="holds no final answers"):
        read_responses(path)


def test_plain_sessions_without_searches(tmp_path: Path) -> None:
    """An agent that answers without a search has an answer all the same, under other names for its fields too."""
    path = tmp_path / "sessions.jsonl"
    lines = [
        {
            "conversation": "c1",
            "task": "t1",
            "turns": [{"question": "2 + 2?", "iterations": [{}], "answer": "4."}],
        },
        {"id": "c2", "task": "t2", "iterations": [{}], "answer": "It is 5."},
        {"id": "c3", "task": "t3", "iterations": [{}]},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    found = read_responses(path)

    assert [(part.query, part.text) for part in found] == [("t1", "4."), ("t2", "It is 5.")]
    assert "1 conversation without a final answer left out" in found.notes


def test_traces_without_answers_are_refused(tmp_path: Path) -> None:
    """An answer that a format does not record is not an empty answer."""
    path = shutil.copy(GOLDEN / "langfuse.json", tmp_path)

    with pytest.raises(BadInput, match="holds no final answers"):
        read_responses(path)
