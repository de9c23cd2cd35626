"""Trace formats: how each is recognised and read, and the list of all formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import msgspec

from judged.agents.tables import Session
from judged.agents.traces.context import ReadContext
from judged.agents.traces.json_values import Json
from judged.agents.traces.open import Trace
from judged.plugins import list_announced, refuse_announced
from judged.registry import Registry

ENTRY_POINTS = "judged.trace_formats"


@dataclass(frozen=True)
class Head:
    """The beginning of a trace: its first JSON documents, or its first text."""

    documents: tuple[Json, ...] = ()
    """The first lines of JSONL, the first elements of an array, or one object."""
    text: str = ""
    """Empty if the trace is JSON."""

    @property
    def mappings(self) -> tuple[Mapping[str, Json], ...]:
        """The documents that are objects, as in nearly all formats."""
        return tuple(document for document in self.documents if isinstance(document, dict))

    @property
    def size(self) -> int:
        """Number of documents, or of characters."""
        return len(self.documents) + len(self.text)

    @cached_property
    def searched(self) -> str:
        """The text in which signatures are looked for: JSON is written again, so that escapes and blanks are the same in all."""
        try:
            return self.text or b"\n".join(map(msgspec.json.encode, self.documents)).decode()
        except RecursionError:  # a document that could barely be decoded
            return ""


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """One way of recording what agents did."""

    name: str
    """The name that users write: `openai-chat`."""
    title: str
    """A noun phrase that fits after "read as"."""
    recognises: Callable[[Head], bool]
    """Returns whether a trace with this beginning has this format."""
    read: Callable[[Trace, ReadContext], Iterator[Session]]
    """Yields the sessions of a trace; problems go to the context."""
    joins: bool | Callable[[Trace], bool] = False
    """Whether the files of a folder are read as one, since a conversation may go on in another file; or returns it for one."""


def _check(name: str, announced: object) -> TraceFormat:
    if isinstance(announced, TraceFormat):
        return announced
    got, expected = f"a {type(announced).__name__}", "a `judged.agents.traces.format.TraceFormat`"
    return refuse_announced(ENTRY_POINTS, name, TRACE_FORMATS.kind, got=got, expected=expected)


TRACE_FORMATS: Registry[TraceFormat] = Registry("trace format", group=ENTRY_POINTS, check=_check)
"""Every format by name, imported when it is used."""

Signature = tuple[tuple[str, ...], ...]
"""Groups of marks: a trace whose beginning has none of the marks of a group does not have the format."""

SIGNATURES: dict[str, Signature] = {}
"""The marks that the beginning of a trace must have before a format is imported and asked, by format."""


def _add(name: str, place: str, *signature: tuple[str, ...]) -> None:
    TRACE_FORMATS.add(name, f"judged.agents.traces.{place}")
    SIGNATURES[name] = signature


# The order is precedence: the first format that recognises a trace reads it. Formats with names of their own come first;
# those that a more general reader would accept as well come before it, and each late one says why it is late.
#
# A mark is a key (`"turns":`), a value (`"trace.span"`) or a piece of either. Marks must be necessary, not sufficient: a
# reader confirms what they suggest, and one that is not asked cannot. Marks of spans are without quotes because exporters
# write spans as JSON inside JSON, where quotes are escaped.
_SPAN = ("spanId", "span_id")
_NEVER: tuple[str, ...] = ()
_ALWAYS = ("",)

_add("plain", "plain.plain:FORMAT", ('"turns":', '"iterations":'))
_add("mlflow", "spans.mlflow:FORMAT", ("spans",), ("span_type", "mlflow.", "inputs", "outputs"))
_add("langsmith", "spans.langsmith:FORMAT", ('"run_type":',))
_add("openai-agents", "spans.openai_agents:FORMAT", ("trace.span",), ("span_data",))
_add("openinference", "spans.opentelemetry:OPENINFERENCE", _SPAN, ("openinference", "span_kind"))
_add("openllmetry", "spans.opentelemetry:OPENLLMETRY", _SPAN, ("traceloop",))
_add("langfuse", "spans.langfuse:FORMAT", ("traceId", "trace_id"), ("startTime", "start_time"), ("type",))
_add("weave", "spans.weave:FORMAT", ('"op_name":',), ('"trace_id":',))
_add("monocle", "spans.opentelemetry:MONOCLE", _SPAN, ("monocle_apptrace",))
# Any span of OpenTelemetry is `otlp`: the conventions above, and Langfuse's exports of spans, have more to say about it.
_add("otlp", "spans.opentelemetry:OTLP", _SPAN)
_add("trec-session", "trec.trec_session:FORMAT", ("<session",))
# A run whose queries are turns is an ordinary run of TREC to look at, so that its format must be named.
_add("conversational-run", "trec.conversational_run:FORMAT", _NEVER)
_add("claude-code", "frameworks.claude_code:FORMAT", ('"sessionId":', '"session_id":'))
_add(
    "codex",
    "frameworks.codex:FORMAT",
    ('"payload":',),
    ('"session_meta"', '"response_item"', '"turn_context"'),
)
_add("vercel-ai", "frameworks.vercel:FORMAT", ('"toolCallId":', '"tool-result"', '"toolInvocation'))
_add(
    "google-adk",
    "frameworks.google:FORMAT",
    ('"parts":',),
    ("functionCall", "function_call", "functionResponse", "function_response", "grounding"),
)
_add("llama-index", "frameworks.llama_index:FORMAT", ('"blocks":',), ('"additional_kwargs":',))
_add(
    "autogen",
    "frameworks.autogen:FORMAT",
    ('"ToolCallRequestEvent"', '"AssistantMessage"', '"ToolCallExecutionEvent"', '"FunctionExecutionResult'),
)
_add("crewai", "frameworks.crewai:FORMAT", ('"tasks_output":',))
_add("smolagents", "frameworks.smolagents:FORMAT", ('"step_number":',), ('"model_output":',))
_add("inspect-ai", "frameworks.inspect_ai:FORMAT", ('"messages":',), ('"target":',))
_add("dspy", "frameworks.dspy:FORMAT", ('"tool_name_0":',))
_add("atif", "frameworks.atif:FORMAT", ('"ATIF',))
_add(
    "gemini-interactions",
    "frameworks.interactions:FORMAT",
    ('"interaction"', '_search_call"', '_search_result"'),
    ('"steps":', '"outputs":'),
)
_add("letta", "services.letta:FORMAT", ('"message_type":',))
_add("dify", "services.dify:FORMAT", ('"answer":',), ('"retriever_resources":', '"agent_thoughts":'))
_add("librechat", "services.librechat:FORMAT", ('"isCreatedByUser":',))
_add("bedrock-agents", "services.bedrock_agents:FORMAT", ('"orchestrationTrace":',))
_add("openai-assistants", "services.assistants:FORMAT", ('"thread.run.step"',))
_add("storm", "services.storm:FORMAT", ('"dlg_turns":',))
_add("mcp", "services.mcp:FORMAT", ("jsonrpc",), ("tools/call",))
_add("perplexity", "frameworks.perplexity:FORMAT", ('"choices":',), ('"search_results":', '"citations":'))
_add("open-webui", "frameworks.open_webui:FORMAT", ('"currentId":',))
_add(
    "event-stream",
    "messages.event_stream:FORMAT",
    (
        '"message_start"',
        '"response.',
        '"chat.completion.chunk"',
        '"event_type":',
        '"candidates"',
        '"event"',
        'event":',
    ),
)
_add("browsecomp-plus", "messages.browsecomp_plus:FORMAT", ('"query_id":',), ('"result":',))
_add(
    "openai-responses",
    "messages.openai_responses:FORMAT",
    ('"response"', '_call"', '_call_output"', '"tool_search_output"'),
)
_add("pydantic-ai", "messages.pydantic_ai:FORMAT", ('"part_kind":',))
_add("anthropic", "messages.anthropic:FORMAT", ('tool_use"', '"tool_use_id":', '"toolUse":', '"toolResult":'))
# Calls written into the text of messages: without a look at the text, these are chat messages like any other.
_add("chatml", "tags.chatml:FORMAT", ("<tool_call>",))
_add("search-tags", "tags.search_tags:FORMAT", ("<search>", "begin_of_query", "begin_search_query"))
# Anything with messages and roles is `openai-chat`, also messages of the formats above, which it would read without calls.
_add("openai-chat", "messages.openai_chat:FORMAT", ('"role":', '"from":', '"content":'))
# ReAct is ordinary English ("Action:", "Observation:" in any letter case): asked when nothing else fits.
_add("react", "tags.react:FORMAT", _ALWAYS)


_CALLS = {"openai-chat": (('"tool_calls":[{', '"function_call":{', '"tool_call":{', '"role":"tool"'),)}
"""Marks of calls in formats that also recognise conversations without any, which may turn out to be of another format."""


def find_format(head: Head) -> TraceFormat | None:
    """Return the first format whose signature the beginning of a trace has, and whose reader confirms it."""
    for name, signature in SIGNATURES.items():
        if _has_marks(head, signature) and TRACE_FORMATS[name].recognises(head):
            return TRACE_FORMATS[name]
    for name in list_announced(ENTRY_POINTS):  # last, since asking these means importing them
        if TRACE_FORMATS[name].recognises(head):
            return TRACE_FORMATS[name]
    return None


def shows_calls(written: TraceFormat, head: Head) -> bool:
    """Return whether the beginning of a trace has calls as the format writes them, so that it is not another's."""
    return _has_marks(head, _CALLS.get(written.name, ()))


def _has_marks(head: Head, signature: Signature) -> bool:
    """Return whether the beginning of a trace has a mark of every group."""
    return all(any(mark in head.searched for mark in group) for group in signature)
