"""Search-R1, R1-Searcher and similar: queries and documents between tags in the text of the model."""

from __future__ import annotations

from collections.abc import Iterator

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Call
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.messages.messages import Messages, Transcript, join_text, messages_in_head
from judged.agents.traces.open import Trace
from judged.agents.traces.tags.tagged_text import (
    Tags,
    read_tagged,
    read_tagged_conversations,
    record_outputs,
    strip_instruction,
    tagged_texts,
)


def _search(text: str) -> list[Call]:
    return [Call(tool="search", arguments={"query": text.strip()}, search=True)]


FAMILIES = (
    Tags(("<search>", "</search>"), ("<information>", "</information>"), _search),
    Tags(("<search>", "</search>"), ("<result>", "</result>"), _search),
    Tags(("<search>", "</search>"), ("<observation>", "</observation>"), _search),
    Tags(
        ("<|begin_of_query|>", "<|end_of_query|>"),
        ("<|begin_of_documents|>", "<|end_of_documents|>"),
        _search,
    ),
    Tags(("<begin_of_query>", "<end_of_query>"), ("<begin_of_documents>", "<end_of_documents>"), _search),
    Tags(
        ("<|begin_search_query|>", "<|end_search_query|>"),
        ("<|begin_search_result|>", "<|end_search_result|>"),
        _search,
    ),
)
"""The tags in use: Search-R1's, ReSearch's, those of later systems, R1-Searcher's in two spellings, and Search-o1's."""


def recognises(head: Head) -> bool:
    """Recognise texts of the agent with queries between tags."""
    texts = [*tagged_texts(head), *(_agent_text(messages) for messages in messages_in_head(head))]
    return any(family.call[0] in text for family in FAMILIES for text in texts)


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield a session for each text, or each list of messages."""
    return to_sessions(read_tagged_conversations(trace, context, _record), context)


def _record(messages: Messages, transcript: Transcript) -> None:
    tags = _choose_tags("\n".join(join_text(message.get("content")) for message in messages))
    for message in messages:
        text, role = join_text(message.get("content")), message["role"]
        if role == "assistant":
            read_tagged(text, tags, transcript)
        elif role in {"user", "tool"} and text.lstrip().startswith(tags.output[0]):
            record_outputs(text, tags, transcript)
        elif role == "user":
            transcript.ask(strip_instruction(text))


def _agent_text(messages: Messages) -> str:
    return "\n".join(
        join_text(message.get("content")) for message in messages if message["role"] == "assistant"
    )


def _choose_tags(text: str) -> Tags:
    """Return the tags that a conversation uses: those whose outputs occur, or else whose calls do."""
    asked = [family for family in FAMILIES if family.call[0] in text] or list(FAMILIES)
    return next((family for family in asked if family.output[0] in text), asked[0])


FORMAT = TraceFormat(
    "search-tags", "text with search tags, as Search-R1 and R1-Searcher write it", recognises, read
)
