"""Trace formats: how one recognises and reads a trace, and the list of all formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from judged.agents.tables import Session
from judged.agents.traces.context import ReadContext
from judged.agents.traces.json_values import Json
from judged.agents.traces.open import Trace
from judged.registry import Registry


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a trace: its first JSON documents, or its first text."""

    documents: tuple[Json, ...] = ()
    """At most `open.SHOWN` of them: the first lines of JSONL, the first elements of an array, or one object."""
    text: str = ""
    """Empty where the trace is JSON."""

    @property
    def mappings(self) -> tuple[Mapping[str, Json], ...]:
        """The documents that are objects, as in nearly all formats."""
        return tuple(document for document in self.documents if isinstance(document, dict))


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """One way of recording what agents did."""

    name: str
    """The name that users write: `openai-chat`."""
    title: str
    """What it is, in words that fit after "read as"."""
    recognises: Callable[[Head], bool]
    """Returns whether a trace with this beginning has this format."""
    read: Callable[[Trace, ReadContext], Iterator[Session]]
    """Yields the sessions of a trace; problems go to the context."""
    joins: bool = False
    """Whether the files of a folder are read as one, since a conversation may go on in another file."""


TRACE_FORMATS: Registry[TraceFormat] = Registry("trace format")
TRACE_FORMATS.add("plain", "judged.agents.traces.plain.plain:FORMAT")
TRACE_FORMATS.add("mlflow", "judged.agents.traces.spans.mlflow:FORMAT")
TRACE_FORMATS.add("langsmith", "judged.agents.traces.spans.langsmith:FORMAT")
TRACE_FORMATS.add("openai-agents", "judged.agents.traces.spans.openai_agents:FORMAT")
TRACE_FORMATS.add("openinference", "judged.agents.traces.spans.opentelemetry:OPENINFERENCE")
TRACE_FORMATS.add("openllmetry", "judged.agents.traces.spans.opentelemetry:OPENLLMETRY")
TRACE_FORMATS.add("langfuse", "judged.agents.traces.spans.langfuse:FORMAT")
TRACE_FORMATS.add("monocle", "judged.agents.traces.spans.opentelemetry:MONOCLE")
TRACE_FORMATS.add("otlp", "judged.agents.traces.spans.opentelemetry:OTLP")
TRACE_FORMATS.add("trec-session", "judged.agents.traces.trec.trec_session:FORMAT")
TRACE_FORMATS.add("conversational-run", "judged.agents.traces.trec.conversational_run:FORMAT")
TRACE_FORMATS.add("claude-code", "judged.agents.traces.frameworks.claude_code:FORMAT")
TRACE_FORMATS.add("codex", "judged.agents.traces.frameworks.codex:FORMAT")
TRACE_FORMATS.add("vercel-ai", "judged.agents.traces.frameworks.vercel:FORMAT")
TRACE_FORMATS.add("google-adk", "judged.agents.traces.frameworks.google:FORMAT")
TRACE_FORMATS.add("llama-index", "judged.agents.traces.frameworks.llama_index:FORMAT")
TRACE_FORMATS.add("autogen", "judged.agents.traces.frameworks.autogen:FORMAT")
TRACE_FORMATS.add("crewai", "judged.agents.traces.frameworks.crewai:FORMAT")
TRACE_FORMATS.add("smolagents", "judged.agents.traces.frameworks.smolagents:FORMAT")
TRACE_FORMATS.add("inspect-ai", "judged.agents.traces.frameworks.inspect_ai:FORMAT")
TRACE_FORMATS.add("dspy", "judged.agents.traces.frameworks.dspy:FORMAT")
TRACE_FORMATS.add("atif", "judged.agents.traces.frameworks.atif:FORMAT")
TRACE_FORMATS.add("perplexity", "judged.agents.traces.frameworks.perplexity:FORMAT")
TRACE_FORMATS.add("open-webui", "judged.agents.traces.frameworks.open_webui:FORMAT")
TRACE_FORMATS.add("event-stream", "judged.agents.traces.messages.event_stream:FORMAT")
TRACE_FORMATS.add("browsecomp-plus", "judged.agents.traces.messages.browsecomp_plus:FORMAT")
TRACE_FORMATS.add("openai-responses", "judged.agents.traces.messages.openai_responses:FORMAT")
TRACE_FORMATS.add("pydantic-ai", "judged.agents.traces.messages.pydantic_ai:FORMAT")
TRACE_FORMATS.add("anthropic", "judged.agents.traces.messages.anthropic:FORMAT")
TRACE_FORMATS.add("chatml", "judged.agents.traces.tags.chatml:FORMAT")
TRACE_FORMATS.add("search-tags", "judged.agents.traces.tags.search_tags:FORMAT")
TRACE_FORMATS.add("openai-chat", "judged.agents.traces.messages.openai_chat:FORMAT")
TRACE_FORMATS.add("react", "judged.agents.traces.tags.react:FORMAT")
