"""Every trace format by name, in the order in which they are asked whether they recognise a trace."""

from __future__ import annotations

from judged.formats.traces.format import TraceFormat
from judged.registry import Registry

__all__ = ["TRACE_FORMATS"]

TRACE_FORMATS: Registry[TraceFormat] = Registry("trace format")
TRACE_FORMATS.add("plain", "judged.formats.traces.plain.plain:FORMAT")
TRACE_FORMATS.add("mlflow", "judged.formats.traces.spans.mlflow:FORMAT")
TRACE_FORMATS.add("langsmith", "judged.formats.traces.spans.langsmith:FORMAT")
TRACE_FORMATS.add("openai-agents", "judged.formats.traces.spans.openai_agents:FORMAT")
TRACE_FORMATS.add("openinference", "judged.formats.traces.spans.opentelemetry:OPENINFERENCE")
TRACE_FORMATS.add("openllmetry", "judged.formats.traces.spans.opentelemetry:OPENLLMETRY")
TRACE_FORMATS.add("otlp", "judged.formats.traces.spans.opentelemetry:OTLP")
TRACE_FORMATS.add("trec-session", "judged.formats.traces.trec.trec_session:FORMAT")
TRACE_FORMATS.add("conversational-run", "judged.formats.traces.trec.conversational_run:FORMAT")
TRACE_FORMATS.add("browsecomp-plus", "judged.formats.traces.messages.browsecomp_plus:FORMAT")
TRACE_FORMATS.add("openai-responses", "judged.formats.traces.messages.openai_responses:FORMAT")
TRACE_FORMATS.add("pydantic-ai", "judged.formats.traces.messages.pydantic_ai:FORMAT")
TRACE_FORMATS.add("anthropic", "judged.formats.traces.messages.anthropic:FORMAT")
TRACE_FORMATS.add("chatml", "judged.formats.traces.tags.chatml:FORMAT")
TRACE_FORMATS.add("search-tags", "judged.formats.traces.tags.search_tags:FORMAT")
TRACE_FORMATS.add("openai-chat", "judged.formats.traces.messages.openai_chat:FORMAT")
TRACE_FORMATS.add("react", "judged.formats.traces.tags.react:FORMAT")
