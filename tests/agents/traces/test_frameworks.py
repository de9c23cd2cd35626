"""Traces that agent frameworks wrote of one scripted agent, and formats read by their documentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judged.agents.tables import Session
from judged.agents.traces.open import open_traces
from judged.agents.traces.read import detect, read_sessions
from judged.errors import BadInput

RECORDED = Path(__file__).resolve().parents[2] / "golden" / "traces" / "frameworks"
FORMATS = {
    "claude-code-stream.jsonl": "claude-code",
    "claude-code-transcript.jsonl": "claude-code",
    "codex.jsonl": "codex",
    "vercel-messages.jsonl": "vercel-ai",
    "vercel-ui.jsonl": "vercel-ai",
    "vercel-spans.jsonl": "otlp",
    "google-adk.jsonl": "google-adk",
    "google-adk-openinference.jsonl": "openinference",
    "llama-index.jsonl": "llama-index",
    "autogen.jsonl": "autogen",
    "autogen-state.jsonl": "autogen",
    "crewai.jsonl": "crewai",
    "smolagents.jsonl": "smolagents",
    "inspect-ai.jsonl": "inspect-ai",
    "dspy.jsonl": "dspy",
    "open-webui-before.jsonl": "open-webui",
}
QUESTION = "Which is taller, Burj Khalifa or Merdeka 118?"
BY_HOW_MUCH = "Which is taller, Burj Khalifa or Merdeka 118, and by how much?"
Story = list[list[tuple[str | None, list[str]]]]
STORY: Story = [
    [("Burj Khalifa height", ["burj", "dubai"])],
    [("Merdeka 118 height", ["merdeka", "burj"])],
]
CLAUDE: Story = [
    [("Burj Khalifa height", ["burj", "towers"])],
    [("Merdeka 118 height", ["merdeka", "towers"])],
]
OTHER: dict[str, Story] = {
    "codex.jsonl": [[("Burj Khalifa height", ["burj?utm_source=openai"])]],
    "open-webui-before.jsonl": [[(BY_HOW_MUCH, ["burj", "merdeka", "tallest"])]],
    **dict.fromkeys(("claude-code-stream.jsonl", "claude-code-transcript.jsonl"), CLAUDE),
}
TOKENS = {
    "autogen.jsonl",
    "google-adk.jsonl",
    "smolagents.jsonl",
    "claude-code-transcript.jsonl",
    "vercel-spans.jsonl",
}
"""Those that say what a step took: 25 tokens."""


def story(session: Session) -> Story:
    """The searches of each iteration, with the last part of each result's address."""
    return [
        [
            (search.query, [str(item.url).rpartition("/")[2] for item in search.results])
            for search in part.searches
        ]
        for part in session.iterations
    ]


def read(*documents: Any) -> Session:
    """The only session of documents."""
    (session,) = read_sessions(list(documents))
    return session


def test_no_recording_is_forgotten() -> None:
    """All files of the folder are read here, and the table of sources names them."""
    files = {record.name for record in RECORDED.iterdir()} - {"SOURCES.md"}
    sources = (RECORDED / "SOURCES.md").read_text(encoding="utf-8")

    assert files == set(FORMATS)
    assert all(f"`{name}`" in sources for name in files)


@pytest.mark.parametrize(("file", "name"), FORMATS.items())
def test_every_framework_is_known_by_content_and_tells_the_same_story(file: str, name: str) -> None:
    """Two searches one after the other, each with its results, and an answer."""
    (trace,) = open_traces((RECORDED / file).read_bytes()).traces
    (session,) = read_sessions(RECORDED / file)

    assert detect(trace).name == name
    assert story(session) == OTHER.get(file, STORY)
    if file not in {"claude-code-stream.jsonl", "codex.jsonl", "open-webui-before.jsonl"}:
        assert (session.question or "").strip() == QUESTION
    if file in TOKENS:
        assert [part.tokens for part in session.iterations] == [25.0, 25.0]


def test_citations_stand_in_for_the_sources_that_a_rollout_does_not_keep() -> None:
    """And that is said."""
    assert "what the answer cites stands in for them" in " ".join(
        read_sessions(RECORDED / "codex.jsonl").notes
    )


PAGE = {"title": "Burj Khalifa", "url": "https://e.org/burj", "content": "828 m"}


def test_a_langfuse_trace_is_read_with_its_observations_alone_or_on_a_page() -> None:
    """A retriever inside a tool is one search; a generation that asked for it is the step."""
    observations = [
        {"id": "g1", "traceId": "t1", "type": "GENERATION", "name": "llm", "startTime": "2026-01-01T00:00:01Z",
         "endTime": "2026-01-01T00:00:02Z", "parentObservationId": None, "usageDetails": {"input": 20, "output": 5},
         "input": [{"role": "user", "content": QUESTION}],
         "output": {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "search", "arguments": "{}"}}]}},
        {"id": "o1", "traceId": "t1", "type": "TOOL", "name": "search", "startTime": "2026-01-01T00:00:02Z",
         "endTime": "2026-01-01T00:00:04Z", "parentObservationId": None, "input": {"query": "q"}, "output": "1 page"},
        {"id": "o2", "traceId": "t1", "type": "RETRIEVER", "name": "index", "startTime": "2026-01-01T00:00:03Z",
         "endTime": "2026-01-01T00:00:04Z", "parentObservationId": "o1", "input": "q", "output": [PAGE]},
    ]  # fmt: skip
    trace = {"id": "t1", "timestamp": "2026-01-01T00:00:00Z", "sessionId": "s1", "input": QUESTION}
    forms: list[list[Any]] = [
        [{**trace, "observations": observations}],
        [{"data": [{**trace, "observations": observations}], "meta": {"page": 1}}],
        observations,
        [{"data": observations}],
    ]
    for documents in forms:
        session = read(*documents)
        assert (story(session), session.question, session.iterations[0].tokens) == (
            [[("q", ["burj"])]],
            QUESTION,
            25,
        )


def test_grounding_metadata_of_gemini_is_a_search() -> None:
    """With the chunks that the answer is grounded in."""
    metadata = {
        "webSearchQueries": ["Burj Khalifa height"],
        "groundingChunks": [{"web": {"uri": "https://e.org/burj", "title": "e.org"}}],
    }
    answer = {"content": {"role": "model", "parts": [{"text": "828 m"}]}, "groundingMetadata": metadata}
    document = {
        "contents": [{"role": "user", "parts": [{"text": QUESTION}]}],
        "response": {"candidates": [answer]},
    }

    assert story(read(document)) == [[("Burj Khalifa height", ["burj"])]]


def test_a_trajectory_of_atif_is_read() -> None:
    """Steps of the agent with their observations."""
    call = {"tool_call_id": "c1", "function_name": "web_search", "arguments": {"query": "q"}}
    steps = [
        {"step_id": 1, "source": "user", "message": QUESTION},
        {"step_id": 2, "source": "agent", "message": "", "tool_calls": [call], "metrics": {"prompt_tokens": 9},
         "observation": {"results": [{"source_call_id": "c1", "content": json.dumps([PAGE])}]}},
        {"step_id": 3, "source": "agent", "message": "828 m"},
    ]  # fmt: skip
    session = read({"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "a"}, "steps": steps})

    assert (story(session), session.question) == ([[("q", ["burj"])]], QUESTION)


@pytest.mark.parametrize("found", [{"search_results": [PAGE]}, {"citations": [PAGE["url"]]}])
def test_a_response_of_perplexity_is_one_search(found: dict[str, Any]) -> None:
    """For the question, with what it found or cites."""
    message = {"role": "assistant", "content": "828 m"}
    document = {
        "request": {"messages": [{"role": "user", "content": QUESTION}]},
        "response": {"choices": [{"message": message}], **found},
    }

    assert story(read(document)) == [[(QUESTION, ["burj"])]]


def test_a_response_of_perplexity_in_items_has_its_searches_and_pages() -> None:
    """Items `search_results` and `fetch_url_results`, as its library `perplexityai` 0.46 declares them."""
    items = [
        {"type": "search_results", "queries": ["q"], "results": [{"id": 1, **PAGE}]},
        {
            "type": "fetch_url_results",
            "contents": [{"url": "https://e.org/burj", "title": "", "snippet": ""}],
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "828 m"}]},
    ]
    session = read({"object": "response", "id": "r", "model": "m", "output": items})

    assert (story(session), session.opened) == ([[("q", ["burj"])]], ("https://e.org/burj",))


def test_a_react_log_in_a_field_of_each_line_is_read() -> None:
    """As scripts store what a model wrote."""
    log = "Thought 1: hm\nAction 1: Search[Burj]\nObservation 1: A tower.\nAction 2: Finish[x]"
    session = read({"id": "7", "question": QUESTION, "prediction": log})

    assert (
        session.conversation,
        session.question,
        [part.searches[0].query for part in session.iterations],
    ) == (
        "7",
        QUESTION,
        ["Burj"],
    )


def test_steps_of_n8n_are_read_and_a_list_that_was_cut_off_is_no_page() -> None:
    """`intermediateSteps` with `toolInput`; text alone is the page that was asked for."""

    def step(observation: str) -> dict[str, Any]:
        action = {"tool": "web_search", "toolInput": {"query": "q"}, "toolCallId": "c"}
        return {
            "output": f"See {PAGE['url']}.",
            "intermediateSteps": [{"action": action, "observation": observation}],
        }

    session = read(step(json.dumps([PAGE])))
    with pytest.raises(BadInput, match="cut off"):
        read(step(json.dumps([PAGE])[:40]))

    assert (story(session), session.cited) == ([[("q", ["burj"])]], (PAGE["url"],))
    assert [result.snippet for result, _ in read(step("A tower that is...")).results()] == [
        "A tower that is..."
    ]


def stream(*events: dict[str, Any]) -> bytes:
    """Events as a server sends them."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def test_event_streams_are_read_as_the_responses_that_they_make() -> None:
    """Of Anthropic, with the input of a search in pieces; and of OpenAI Responses."""
    found = {"type": "web_search_result", "url": "https://e.org/burj", "title": "Burj"}
    anthropic = stream(
        {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0,
         "content_block": {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"que'}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": 'ry": "q"}'}},
        {"type": "content_block_start", "index": 1,
         "content_block": {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [found]}},
        {"type": "message_stop"},
    )  # fmt: skip
    item = {
        "type": "web_search_call",
        "action": {"type": "search", "query": "q", "sources": [{"url": "https://e.org/burj"}]},
    }
    responses = stream(
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"id": "r", "output": [item]}},
    )
    for content in (anthropic, responses):
        (session,) = read_sessions(content)
        assert story(session) == [[("q", ["burj"])]]


def called(output: Any) -> dict[str, Any]:
    """A conversation with one search and this output."""
    call = {"id": "1", "function": {"name": "search", "arguments": '{"query": "q"}'}}
    answer = {"role": "tool", "tool_call_id": "1", "content": output}
    return {"messages": [{"role": "assistant", "tool_calls": [call]}, answer]}


BEDROCK = {
    "content": {"text": "828 m", "type": "TEXT"},
    "location": {"type": "WEB", "webLocation": {"url": "https://e.org/burj"}},
    "score": 0.7,
}
OUTPUTS = {
    "Weaviate": {"data": {"Get": {"Page": [{**PAGE, "_additional": {"id": "u1", "distance": 0.1}}]}}},
    "Bedrock knowledge base": {"retrievalResults": [BEDROCK]},
    "MediaWiki opensearch": ["q", ["Burj Khalifa"], ["828 m"], ["https://e.org/burj"]],
    "NDJSON": f"{json.dumps(PAGE)}\n{json.dumps({**PAGE, 'url': 'https://e.org/dubai'})}",
    "joined MCP blocks": f"{json.dumps(PAGE, indent=1)}\n\n{json.dumps({**PAGE, 'url': 'https://e.org/dubai'}, indent=1)}",
    "CSV": 'title,url,text\n"Burj, Khalifa",https://e.org/burj,828 m\n',
    "Cohere documents": [{"type": "document", "document": {"id": "1", "data": json.dumps(PAGE)}}],
    "MCP resource": [{"type": "resource", "resource": {"uri": "https://e.org/burj", "text": "828 m"}}],
    "several kinds": {
        "web": {"results": [PAGE]},
        "news": [{**PAGE, "url": "https://e.org/dubai"}],
        "videos": [],
    },
    "records with rules": "Title: A\nURL: https://e.org/burj\nText: 828 m\n\n---\n\nTitle: B\nURL: https://e.org/dubai\nText: x",
    "DuckDuckGo in brackets": "[snippet: 828 m, title: A, link: https://e.org/burj], [snippet: x, title: B, link: https://e.org/dubai]",
    "JSON in a fence": f"```json\n{json.dumps([PAGE])}\n```",
    "JSON below a line": f"Search results for 'q':\n{json.dumps({'results': [PAGE]})}",
    "printed by rank": str({1: PAGE}),
    "by rank": {"2": {**PAGE, "url": "https://e.org/dubai"}, "1": PAGE},
    "printed with a date": "[{'title': 'A', 'url': 'https://e.org/burj', 'date': datetime.datetime(2024, 1, 1)}]",
    "Solr": {"response": {"docs": [{"id": "s", "title": ["A"], "url": ["https://e.org/burj"]}]}},
    "WebSearch of Claude Code": f'Web search results for query: "q"\n\nLinks: {json.dumps([PAGE])}\n\nIt is tall.',
}


PAIRS = {
    *("NDJSON", "joined MCP blocks", "several kinds", "records with rules", "DuckDuckGo in brackets"),
    "by rank",
}
"""Those with two results."""


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_of_stores_and_tables_are_results(name: str) -> None:
    """In their own shapes."""
    output = OUTPUTS[name]
    urls = [
        result.url
        for result, _ in read(called(output if isinstance(output, str) else json.dumps(output))).results()
    ]

    assert urls == ["https://e.org/burj", "https://e.org/dubai"][: 2 if name in PAIRS else 1]


def test_fields_that_stores_name_otherwise_are_found() -> None:
    """A chunk of Azure AI Search, data of Cohere; a rule between records is no text."""
    outputs = [{"value": [{"@search.score": 1.5, "chunk_id": "k", "chunk": "828 m"}]}, OUTPUTS["Cohere documents"],
               OUTPUTS["records with rules"]]  # fmt: skip
    first = [next(read(called(output)).results())[0] for output in outputs]

    assert [result.snippet for result in first] == ["828 m"] * 3
    assert (first[0].id, first[0].score, first[1].title) == ("k", 1.5, "Burj Khalifa")


def test_passages_under_bare_titles_are_results() -> None:
    """As the Tongyi client of BrowseComp-Plus shows them."""
    output = "A search for 'q' found 2 results:\n\n## Web Results\n1. [One]\nfirst\n\n2. [Two]\nsecond"

    assert [(result.title, result.snippet) for result, _ in read(called(output)).results()] == [
        ("One", "first"),
        ("Two", "second"),
    ]


@pytest.mark.parametrize(
    ("output", "length"),
    [(json.dumps({"results": [PAGE] * 3})[:60], 60), ("The tower is 330 metres tall. Paris is the...", 45)],
)
def test_an_output_that_was_cut_off_is_named_as_such(output: str, length: int) -> None:
    """An exporter's limit, not a shape that is unknown; Monocle's retrievers have 100 characters of text and an ellipsis."""
    with pytest.raises(BadInput, match=f"its output was cut off after {length} characters") as error:
        read(called(output))

    assert [problem.code for problem in error.value.problems] == ["cut-output"]
    assert "raise the limit" in str(error.value)


@pytest.mark.parametrize(
    "remark", ["... [truncated]", "<output truncated>", "(truncated, 1200 more characters)"]
)
def test_an_output_that_says_it_was_truncated_is_read_and_noted(remark: str) -> None:
    """What precedes the remark is there; a page about truncated trees is none."""
    listed = "1. [One](https://e.org/1)\nfirst\n2. [Two](https://e.org/2)\n"
    cut, whole = (read_sessions([called(listed + end)]) for end in (remark, "Truncated trees."))

    assert [len(list(session.results())) for session in (*cut, *whole)] == [2, 2]
    assert "the output of 1 search was cut off" in " ".join(cut.notes)
    assert "cut off" not in " ".join(whole.notes)


def test_joined_texts_of_a_retriever_tool_are_refused_until_a_separator_is_named(tmp_path: Path) -> None:
    """LangChain's `create_retriever_tool` joins documents by blank lines, which documents have themselves."""
    document = called("The tower is 330 metres tall.\n\nParis is the capital of France.")
    tools = tmp_path / "tools.yaml"
    tools.write_text('tools: {search: {separator: "\\n\\n"}}')
    with pytest.raises(BadInput, match="separator"):
        read(document)
    (session,) = read_sessions([document], tools=tools)
    (empty,) = read_sessions([called("No results found.")], tools=tools)

    assert [result.snippet for result, _ in session.results()] == [
        "The tower is 330 metres tall.",
        "Paris is the capital of France.",
    ]
    assert list(empty.results()) == []


def test_a_title_with_brackets_and_a_list_in_a_passage_begin_no_other_result() -> None:
    """The number of results that the text states must be found, or the text is refused."""
    listed = "1. [A [1] b]\nfirst\n1. [x]\n\n2. [Two]\nsecond"
    head = "A search for 'q' found {} results:\n\n## Web Results\n"
    found = [(result.title, result.snippet) for result, _ in read(called(head.format(2) + listed)).results()]

    assert found == [("A [1] b", "first\n1. [x]"), ("Two", "second")]
    assert list(read(called(head.format(0))).results()) == []
    for wrong in (head.format(3) + listed, head.format(2) + "no list"):
        with pytest.raises(BadInput, match="cannot be parsed"):
            read(called(wrong))


def test_papers_of_arxiv_keep_their_fields_apart() -> None:
    """As LangChain's tool writes them: the date of the next one is no part of a summary."""
    paper = "Published: 2024-01-0{0}\nTitle: Paper {0}\nAuthors: X, Y\nSummary: It is {0}."
    output = "\n\n".join(paper.format(number) for number in (1, 2))

    assert [(result.title, result.snippet) for result, _ in read(called(output)).results()] == [
        ("Paper 1", "It is 1."),
        ("Paper 2", "It is 2."),
    ]


def test_an_address_ends_with_its_line() -> None:
    """A prompt for documents may put the text below it, without a name."""
    output = "Title: Eiffel\nURL: https://e.org/eiffel\nIt is tall.\n\nVery.\n\nTitle: Paris\nURL: https://e.org/paris\nA city."

    assert [(result.url, result.snippet) for result, _ in read(called(output)).results()] == [
        ("https://e.org/eiffel", "It is tall.\n\nVery."),
        ("https://e.org/paris", "A city."),
    ]


def test_open_webui_shows_one_branch_of_a_chat() -> None:
    """Regenerated answers are other branches; the model that wrote the last answer is the system."""
    source = {"source": {"type": "collection", "name": "docs"}, "document": ["A", "B"],
              "metadata": [{"source": "a.txt", "file_id": "a"}, {"source": "b.txt", "file_id": "b"}]}  # fmt: skip
    failed = {"action": "web_search", "queries": ["x"], "done": True, "error": True, "description": "down"}
    messages = {
        "u": {"id": "u", "parentId": None, "role": "user", "content": QUESTION},
        "a": {"id": "a", "parentId": "u", "role": "assistant", "content": "?", "model": "one", "output": []},
        "b": {"id": "b", "parentId": "u", "role": "assistant", "content": "!", "model": "two", "sources": [source],
              "statusHistory": [failed, {"action": "queries_generated", "queries": ["q"]}]},
    }  # fmt: skip
    chat = {"id": "c", "chat": {"history": {"messages": messages, "currentId": "b"}}}
    session = read(chat)
    (only,) = session.iterations
    found = [(s.tool, s.query, [result.id for result in s.results]) for s in only.searches]

    assert found == [("web_search", "x", []), ("collection_search", "q", ["a", "b"])]
    assert (session.system, session.conversation, session.question) == ("two", "c", QUESTION)


def test_a_pipeline_of_haystack_asks_what_its_components_are_given() -> None:
    """Not the prompt, which holds what was retrieved."""
    inputs = {"data": {"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}}}
    documents = {"retrieval.documents.0.document.id": "burj"}
    spans = [
        ("1", None, "CHAIN", {"input.value": json.dumps(inputs)}),
        ("2", "1", "RETRIEVER", {"input.value": json.dumps({"query": QUESTION}), **documents}),
        ("3", "1", "LLM", {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": f"828 m. {QUESTION}"}),
    ]  # fmt: skip
    session = read(
        *(
            {
                "name": kind,
                "context": {"trace_id": "t", "span_id": span},
                "parent_id": parent,
                "start_time": f"2026-01-01T00:00:0{span}Z",
                "attributes": {"openinference.span.kind": kind, **attributes},
            }
            for span, parent, kind, attributes in spans
        )
    )

    assert (session.question, [result.id for result, _ in session.results()]) == (QUESTION, ["burj"])
