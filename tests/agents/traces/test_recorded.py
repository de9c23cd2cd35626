"""Traces that current frameworks wrote of one scripted agent, trimmed (tests/golden/traces/recorded/SOURCES.md)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import judged
from judged.agents.tables import Session
from judged.agents.traces.open import open_traces
from judged.agents.traces.read import detect, read_sessions

RECORDED = Path(__file__).resolve().parents[2] / "golden" / "traces" / "recorded"
FORMATS = {
    "openai-agents.jsonl": "openai-agents",
    "openai-agents-input-lists.jsonl": "openai-responses",
    "openai-responses-requests.jsonl": "openai-responses",
    "langchain-messages-to-dict.jsonl": "openai-chat",
    "langchain-dumps.jsonl": "openai-chat",
    "langchain-openinference.jsonl": "openinference",
    "llama-index-openinference.jsonl": "openinference",
    "openai-openinference.jsonl": "openinference",
    "anthropic-openinference.jsonl": "openinference",
    "openai-openllmetry.jsonl": "otlp",
    "openai-langsmith.jsonl": "langsmith",
    "haystack-messages.jsonl": "openai-chat",
    "pydantic-ai.jsonl": "pydantic-ai",
    "strands.jsonl": "otlp",
    "bedrock-messages.jsonl": "anthropic",
    "haystack-openinference.jsonl": "openinference",
    "google-adk-openinference.jsonl": "openinference",
    "monocle.jsonl": "monocle",
    "open-webui.jsonl": "open-webui",
}
TURNS_APART = {
    "openai-openinference.jsonl",
    "anthropic-openinference.jsonl",
    "openai-openllmetry.jsonl",
    "openai-langsmith.jsonl",
}
"""Recorded without the name of a session: each turn is a conversation."""
UNCOUNTED = {
    *("openai-agents-input-lists.jsonl", "bedrock-messages.jsonl", "google-adk-openinference.jsonl"),
    "open-webui.jsonl",
}
"""Without tokens, or with those of a whole turn."""
NO_MODELS = {"google-adk-openinference.jsonl"}
"""Without a span for each call of the model: the answer is no step."""
ASKED = ("How tall is the Eiffel Tower?", "Which is taller, Burj Khalifa or Merdeka 118, and by how much?")
Story = list[list[tuple[str, list[str]]]]
SHORT: Story = [[("Eiffel Tower height", ["eiffel", "paris"])]]
LONG: Story = [
    [("Burj Khalifa height", ["burj", "dubai", "tallest"]), ("Merdeka 118 height", ["merdeka", "kl"])],
    [("Burj Khalifa height in metres", ["burj", "burj-facts"])],
    [("zzqx", [])],
    [("broken", [])],
]
EVERY = pytest.mark.parametrize("file", FORMATS)


def story(session: Session) -> Story:
    """The searches of each iteration, with the last part of each result's address."""
    return [
        [
            (str(search.query), [str(result.url).rpartition("/")[2] for result in search.results])
            for search in iteration.searches
        ]
        for iteration in session.iterations
    ]


def sessions(file: str) -> list[Session]:
    """The sessions of a file."""
    return list(read_sessions(RECORDED / file))


def test_no_recorded_trace_is_forgotten() -> None:
    """All files of the folder are read here, and the table of sources names them."""
    files = {record.name for record in RECORDED.iterdir()} - {"SOURCES.md", "labels.jsonl"}
    sources = (RECORDED / "SOURCES.md").read_text(encoding="utf-8")

    assert files == set(FORMATS)
    assert all(f"`{name}`" in sources for name in files)


@EVERY
def test_every_recorded_trace_is_known_by_its_content(file: str) -> None:
    """With its name hidden."""
    (trace,) = open_traces((RECORDED / file).read_bytes()).traces

    assert detect(trace).name == FORMATS[file]


@EVERY
def test_every_framework_gives_the_same_sessions(file: str) -> None:
    """Iterations, searches at once, results in order, nothing found, and a failure: as the script has them."""
    expected = [SHORT, LONG, SHORT] if file in TURNS_APART else [LONG, SHORT]

    assert [story(session) for session in sessions(file)] == expected


@EVERY
def test_turns_and_steps_are_those_of_the_script(file: str) -> None:
    """The calculator and the answers are steps without a search; a failed search is a step with one."""
    expected = [(1, 2), (1, 6), (1, 2)] if file in TURNS_APART else [(2, 6), (1, 2)]
    answers = file not in NO_MODELS

    assert [(session.turns, session.steps + (not answers)) for session in sessions(file)] == expected
    assert [session.question for session in sessions(file)] == [ASKED[steps == 6] for _, steps in expected]


@pytest.mark.parametrize("file", sorted(set(FORMATS) - UNCOUNTED))
def test_tokens_are_those_of_the_steps_that_searched(file: str) -> None:
    """110 for the first step of a turn and 110 more for each; the fourth step is the calculator."""
    long = next(session for session in sessions(file) if session.steps == 6)

    assert [iteration.tokens for iteration in long.iterations] == [110, 220, 330, 550]


@pytest.mark.parametrize(
    "file", ["monocle.jsonl", "openai-openllmetry.jsonl", "haystack-openinference.jsonl"]
)
def test_spans_may_be_in_a_file_for_each_trace(file: str, tmp_path: Path) -> None:
    """As Monocle writes them; a conversation whose turns are in several files is one, in whatever order they are read."""
    traces: dict[str, list[str]] = {}
    for line in (RECORDED / file).read_text(encoding="utf-8").splitlines():
        held = json.loads(line)
        context = held.get("context") or held["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
        traces.setdefault(str(context.get("trace_id") or context.get("traceId")), []).append(line)
    for number, lines in enumerate(reversed(traces.values())):
        (tmp_path / f"{number}.json").write_text(f"[{','.join(lines)}]", encoding="utf-8")
    whole = {session.conversation: story(session) for session in sessions(file)}

    assert len(traces) > 1
    assert {session.conversation: story(session) for session in read_sessions(tmp_path)} == whole


@EVERY
def test_gains_from_labels_are_the_same_for_every_framework(file: str) -> None:
    """By hand: the last turn finds 4 + 2 + 4 at first, then 3 and one again; 4 of 7 results are good and new, 1 of 7 old."""
    names = ["CG@1", "CG@last", "SRE@last", "SRR@last"]
    ev = judged.evaluate_sessions(RECORDED / file, names, labels=RECORDED / "labels.jsonl")
    values = ev.per_query().values
    at = values["CG@last"].argmax()

    assert [values[name][at] for name in names] == pytest.approx([10, 13, 4 / 7, 1 / 7])
