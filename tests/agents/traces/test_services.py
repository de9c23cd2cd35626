"""Traces of products and services, each counted by hand (tests/golden/traces/services/SOURCES.md)."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import judged
from judged.agents.tables import Session
from judged.agents.traces.open import open_traces
from judged.agents.traces.read import detect, read_sessions
from judged.errors import BadInput, Unreadable

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "traces" / "services"
QUESTION = "Which is taller, Burj Khalifa or Merdeka 118?"
BURJ, MERDEKA = "Burj Khalifa height", "Merdeka 118 height"
Story = list[list[tuple[str | None, list[str]]]]
STORY: Story = [[(BURJ, ["burj", "dubai"])], [(MERDEKA, ["merdeka", "burj"])]]
STORIES: dict[str, tuple[str, Story]] = {
    "groq.jsonl": ("openai-chat", STORY),
    "groq-stream.txt": ("event-stream", STORY),
    "openrouter.jsonl": ("openai-chat", [[(None, ["burj", "merdeka"])]]),
    "openrouter-stream.txt": ("event-stream", [[(None, ["burj", "merdeka"])]]),
    "perplexity-stream.txt": ("event-stream", [[(None, ["burj", "merdeka"])]]),
    "gemini-requests.jsonl": ("google-adk", [[(MERDEKA, ["merdeka", "burj"])]]),
    "gemini-stream.txt": ("event-stream", [[(MERDEKA, ["merdeka", "burj"])]]),
    "gemini-interactions.jsonl": ("gemini-interactions", STORY),
    "gemini-interactions-stream.jsonl": ("event-stream", [[(MERDEKA, ["merdeka", "burj"])]]),
    "grok-stream.jsonl": ("event-stream", [[(BURJ, []), (MERDEKA, []), (None, ["burj", "merdeka"])]]),
    "responses-queries.jsonl": (
        "openai-responses",
        [
            [(f"{BURJ}\nBurj Khalifa metres\nDubai tallest building", [])],
            [(f"{MERDEKA}\nMerdeka 118 metres", ["merdeka", "burj"])],
        ],
    ),
    "letta.json": ("letta", STORY),
    "dify.json": ("dify", STORY),
    "dify-stream.txt": ("event-stream", [[(BURJ, ["seg-burj", "seg-dubai"])]]),
    "librechat.json": ("librechat", STORY),
    "bedrock-agents.jsonl": ("bedrock-agents", STORY),
    "openai-assistants.json": (
        "openai-assistants",
        [[(None, ["file-burj", "file-dubai"])], [(MERDEKA, ["merdeka", "burj"])]],
    ),
    "storm.json": ("storm", STORY),
    "mcp.txt": ("mcp", STORY),
    "mcp.jsonl": ("mcp", STORY),
    "weave.jsonl": ("weave", STORY),
    "langfuse-export.json": ("langfuse", STORY),
    "inspect.eval": ("inspect-ai", STORY),
}
ASKED = {
    "groq.jsonl": QUESTION,
    "openrouter.jsonl": QUESTION,
    "gemini-requests.jsonl": "And Merdeka 118?",
    "gemini-interactions.jsonl": QUESTION,
    "responses-queries.jsonl": QUESTION,
    "letta.json": QUESTION,
    "dify.json": QUESTION,
    "librechat.json": QUESTION,
    "bedrock-agents.jsonl": QUESTION,
    "openai-assistants.json": QUESTION,
    "weave.jsonl": QUESTION,
    "langfuse-export.json": QUESTION,
    "inspect.eval": QUESTION,
}
"""What the user asked last; streams, logs of servers and STORM do not say."""
SPENT: dict[str, list[tuple[float | None, float | None]]] = {
    "letta.json": [(None, 3), (None, 4)],
    "bedrock-agents.jsonl": [(500, None), (500, None)],
    "openai-assistants.json": [(500, 4), (500, 4)],
    "mcp.txt": [(None, 2), (None, 3)],
    "mcp.jsonl": [(None, 2), (None, 3)],
    "weave.jsonl": [(500, 4), (500, 5)],
    "langfuse-export.json": [(500, 4), (500, 5)],
    "gemini-requests.jsonl": [(100, None)],
    "openrouter.jsonl": [(1000, None)],
}
"""Tokens and seconds of each iteration."""


def read(file: str) -> Session:
    """The only session of a file."""
    (session,) = read_sessions(GOLDEN / file)
    return session


def story(session: Session) -> Story:
    """The searches of each iteration, with the last part of each result's address, or its id."""
    return [
        [
            (search.query or None, [str(item.url or item.id).rpartition("/")[2] for item in search.results])
            for search in part.searches
        ]
        for part in session.iterations
    ]


def test_no_trace_is_forgotten() -> None:
    """All files of the folder are read here, and the table of sources names them."""
    files = {path.name for path in GOLDEN.iterdir()} - {"SOURCES.md"}
    sources = (GOLDEN / "SOURCES.md").read_text(encoding="utf-8")

    assert files == set(STORIES)
    assert all(f"`{name}`" in sources for name in files)


@pytest.mark.parametrize(("file", "format"), [(file, name) for file, (name, _) in STORIES.items()])
def test_the_format_is_known_by_its_content(file: str, format: str) -> None:  # noqa: A002
    """Without the name of the file."""
    (trace,) = open_traces((GOLDEN / file).read_bytes()).traces

    assert detect(trace).name == format


@pytest.mark.parametrize(("file", "expected"), [(file, story) for file, (_, story) in STORIES.items()])
def test_searches_and_results_are_those_that_were_written(file: str, expected: Story) -> None:
    """Two iterations and four results, or what a format keeps of them; counted in the files by hand."""
    session = read(file)

    assert story(session) == expected
    assert session.question == ASKED.get(file)


@pytest.mark.parametrize(("file", "expected"), SPENT.items())
def test_tokens_and_seconds_are_those_of_each_iteration(
    file: str, expected: list[tuple[float | None, float | None]]
) -> None:
    """A step lasts from what came before it to its last output."""
    assert [(part.tokens, part.seconds) for part in read(file).iterations] == expected


@pytest.mark.parametrize("file", [file for file, (_, story) in STORIES.items() if story == STORY])
def test_the_page_that_came_again_is_one_document(file: str) -> None:
    """Three documents in four results, one good one at gain 4 counts once."""
    labels = [{"task": None, "url": "https://example.org/burj", "gain": 4}]
    task = read(file).task
    evaluation = judged.evaluate_sessions(
        GOLDEN / file, ["SRR", "UR", "CG"], labels=[{**label, "task": task} for label in labels]
    )

    assert evaluation.mean() == {"SRR@last": 0.25, "UR@last": 3.0, "CG@last": 4.0}


def test_the_money_of_a_step_is_read_and_gain_is_set_against_it() -> None:
    """OpenRouter's `usage.cost` is 0.0071; Dify's total price is text."""
    assert [part.cost for part in read("openrouter.jsonl").iterations] == [0.0071]
    assert [part.cost for part in read("openrouter-stream.txt").iterations] == [0.0071]
    assert [part.cost for part in read("dify-stream.txt").iterations] == [0.0012]
    task = read("openrouter.jsonl").task
    labels = [{"task": task, "url": "https://example.org/burj", "gain": 4}]
    evaluation = judged.evaluate_sessions(GOLDEN / "openrouter.jsonl", ["GainPerCost"], labels=labels)

    assert evaluation.mean()["GainPerCost@last"] == pytest.approx(4 / 0.0071)


def notes(file: str) -> str:
    """The notes on how a file was read."""
    return "\n".join(read_sessions(GOLDEN / file).notes)


def test_citations_stand_in_for_all_searches_without_results() -> None:
    """Grok lists no results: the note counts every search, and a page cited twice is one result."""
    assert "the trace has no results of 3 searches" in notes("grok-stream.jsonl")


def test_the_content_of_a_citation_is_its_snippet() -> None:
    """OpenRouter annotates what its search found of each page."""
    results = [result for result, _ in read("openrouter.jsonl").results()]

    assert [result.snippet is not None and "metres tall" in result.snippet for result in results] == [
        True,
        True,
    ]


def test_a_source_that_is_a_service_is_not_a_result() -> None:
    """`{"type": "api", "name": "oai-weather"}` names no document."""
    assert all(result.title is None for result, _ in read("responses-queries.jsonl").results())


def test_calls_are_counted_and_queries_said_beside_them() -> None:
    """Two calls have five queries, and no results that say which query found them."""
    from judged.agents.traces.summary import summarise

    summary = summarise(GOLDEN / "responses-queries.jsonl")

    assert (summary.searches, summary.context.queries) == (2, 5)


def test_requests_of_gemini_are_joined() -> None:
    """The second repeats the first, and is the second turn of one conversation."""
    session = read("gemini-requests.jsonl")

    assert (session.turns, session.earlier) == (2, ("How tall is Burj Khalifa?",))


def test_interactions_are_chained() -> None:
    """By `previous_interaction_id`, as responses are."""
    session = read("gemini-interactions.jsonl")

    assert (session.turns, session.conversation, session.system) == (1, "i1", "gemini-3")


def test_heartbeats_of_letta_are_no_turns() -> None:
    """Nobody wrote them."""
    assert read("letta.json").turns == 1


def test_a_server_that_is_initialised_again_begins_a_session() -> None:
    """Ids of messages begin again too."""
    twice = (GOLDEN / "mcp.jsonl").read_bytes() * 2
    sessions = list(read_sessions(twice))

    assert [story(session) for session in sessions] == [STORY, STORY]


def test_a_message_that_the_logger_cut_off_is_left_out() -> None:
    """The search has no output then."""
    lines = (GOLDEN / "mcp.txt").read_text(encoding="utf-8").splitlines()
    cut = "\n".join([*lines[:-1], lines[-1][:200]])
    (session,) = read_sessions(cut.encode())

    assert story(session) == [STORY[0], [(MERDEKA, [])]]


def test_an_archive_with_other_compression_is_read() -> None:
    """Older versions of Inspect deflate; long outputs may be attachments."""
    packed = io.BytesIO()
    call = {"id": "c", "function": "web_search", "arguments": {"query": BURJ}}
    output = json.dumps([{"title": "Burj", "url": "https://example.org/burj"}])
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "function": "web_search", "content": "attachment://a1"},
    ]
    sample = {"id": "s", "epoch": 1, "target": "", "messages": messages, "attachments": {"a1": output}}
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"model": "m"}}))
        archive.writestr("samples/s_epoch_1.json", json.dumps(sample, indent=1))
    (session,) = read_sessions(packed.getvalue())

    assert (session.system, session.task, story(session)) == ("m", "s", [[(BURJ, ["burj"])]])


@pytest.mark.parametrize("damage", ["cut", "other"])
def test_archives_that_cannot_be_read_are_refused_in_words(damage: str) -> None:
    """A damaged one, and one of something else."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("notes.txt", "x" * 500)
    content = packed.getvalue()

    with pytest.raises(
        Unreadable, match=r"is a damaged archive|without samples of Inspect; it holds `notes.txt`"
    ):
        read_sessions(content[:100] if damage == "cut" else content)


def test_records_of_other_requests_are_left_out_and_counted() -> None:
    """A recorder of requests has those of files and stores as well; they are not sessions that never searched."""
    lines = (GOLDEN / "responses-queries.jsonl").read_text(encoding="utf-8")
    upload = json.dumps({"request": {"name": "store"}, "response": {"id": "vs_1", "object": "vector_store"}})
    sessions = read_sessions(f"{lines}{upload}\n".encode())

    assert len(sessions) == 1
    assert any("malformed-session (1)" in note for note in sessions.notes)
    with pytest.raises(BadInput, match="holds no items of a response"):
        read_sessions(f"{lines}{upload}\n".encode(), strict=True)


def test_rotated_logs_of_requests_are_one(tmp_path: Path) -> None:
    """The second request of a conversation is in the newer file, whose name sorts first."""
    first, second = (GOLDEN / "gemini-requests.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "app.log.1").write_text(first, encoding="utf-8")
    (tmp_path / "app.log").write_text(second, encoding="utf-8")
    (session,) = read_sessions(tmp_path)

    assert (session.turns, session.earlier) == (2, ("How tall is Burj Khalifa?",))


def test_the_numbers_of_rotated_logs_count_backwards(tmp_path: Path) -> None:
    """Responses name the one before them, whatever the order; the last turn is that of the newest file."""
    for number in range(12):
        question = {
            "request": {"input": f"question {number}", "previous_response_id": f"resp_{number - 1:012d}"}
        }
        call = {"type": "file_search_call", "queries": [str(number)], "results": [{"file_id": f"f{number}"}]}
        response = {"id": f"resp_{number:012d}", "object": "response", "output": [call]}
        name = f"app.log.{11 - number}" if number < 11 else "app.log"
        (tmp_path / name).write_text(json.dumps({**question, "response": response}), encoding="utf-8")
    (session,) = read_sessions(tmp_path)

    assert (session.turns, session.question, len(session.earlier)) == (12, "question 11", 11)


def test_files_of_single_conversations_stay_apart(tmp_path: Path) -> None:
    """A folder of chats, one message per line, is not a log of requests."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_bytes((GOLDEN.parent / "openai-chat.jsonl").read_bytes())

    assert len({session.conversation for session in read_sessions(tmp_path)}) >= 1
    messages = '{"role": "user", "content": "q"}\n{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": {"name": "search", "arguments": "{}"}}]}\n{"role": "tool", "tool_call_id": "c", "content": "[]"}\n'
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(messages, encoding="utf-8")

    assert [session.conversation for session in read_sessions(tmp_path)] == ["one", "two"]


PAGES = [{"title": name, "url": f"https://example.org/{name}"} for name in ("a", "b", "c")]


def answered(answer: str, *outputs: list[dict[str, Any]]) -> tuple[str, ...]:
    """What an answer cites, after a search for each output."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "q"}]
    for at, output in enumerate(outputs):
        call = {"id": f"c{at}", "function": {"name": "search", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{at}", "content": json.dumps(output)},
        ]
    (session,) = read_sessions([{"messages": [*messages, {"role": "assistant", "content": answer}]}])
    return tuple(address.rpartition("/")[2] for address in session.cited)


def test_numeric_footnotes_are_resolved_to_the_results_they_cite() -> None:
    """By the place of a result in the only search; by ids that number pages over several; else not at all."""
    numbered = [[{**page, "id": str(at)} for at, page in enumerate(PAGES, start)] for start in (1, 4)]

    assert answered("Tall [2], old [3, 2] and [9]; not [1](https://example.org/z).", PAGES) == ("z", "b", "c")
    assert answered("Tall 【1†source】.", PAGES, []) == ("a",)
    assert answered(
        "Tall [5].", *([{**page, "id": str(at)} for at, page in enumerate(PAGES, s)] for s in (1, 4))
    ) == ("b",)
    assert answered("Tall [2].", PAGES, PAGES) == ()
    assert numbered[1][0]["id"] == "4"


def test_perplexity_cites_the_pages_that_its_footnotes_name() -> None:
    """`citations` lists everything that the search found."""
    message = {"role": "assistant", "content": "330 metres [2]."}
    response = {
        "choices": [{"message": message}],
        "search_results": PAGES,
        "citations": [p["url"] for p in PAGES],
    }
    (session,) = read_sessions(
        [{"request": {"messages": [{"role": "user", "content": "q"}]}, "response": response}]
    )

    assert session.cited == ("https://example.org/b",)
