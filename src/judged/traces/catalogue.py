"""Every trace format by name, in the order in which they are asked whether they recognise a trace."""

from __future__ import annotations

from judged.registry import Registry
from judged.traces.format import TraceFormat

__all__ = ["TRACE_FORMATS"]

TRACE_FORMATS: Registry[TraceFormat] = Registry("trace format")
TRACE_FORMATS.add("plain", "judged.traces.plain.plain:FORMAT")
TRACE_FORMATS.add("mlflow", "judged.traces.spans.mlflow:FORMAT")
TRACE_FORMATS.add("langsmith", "judged.traces.spans.langsmith:FORMAT")
TRACE_FORMATS.add("openai-agents", "judged.traces.spans.openai_agents:FORMAT")
TRACE_FORMATS.add("openinference", "judged.traces.spans.opentelemetry:OPENINFERENCE")
TRACE_FORMATS.add("openllmetry", "judged.traces.spans.opentelemetry:OPENLLMETRY")
TRACE_FORMATS.add("otlp", "judged.traces.spans.opentelemetry:OTLP")
TRACE_FORMATS.add("trec-session", "judged.traces.trec.trec_session:FORMAT")
TRACE_FORMATS.add("conversational-run", "judged.traces.trec.conversational_run:FORMAT")
TRACE_FORMATS.add("browsecomp-plus", "judged.traces.messages.browsecomp_plus:FORMAT")
TRACE_FORMATS.add("openai-responses", "judged.traces.messages.openai_responses:FORMAT")
TRACE_FORMATS.add("pydantic-ai", "judged.traces.messages.pydantic_ai:FORMAT")
TRACE_FORMATS.add("anthropic", "judged.traces.messages.anthropic:FORMAT")
TRACE_FORMATS.add("chatml", "judged.traces.tags.chatml:FORMAT")
TRACE_FORMATS.add("search-tags", "judged.traces.tags.search_tags:FORMAT")
TRACE_FORMATS.add("openai-chat", "judged.traces.messages.openai_chat:FORMAT")
TRACE_FORMATS.add("react", "judged.traces.tags.react:FORMAT")
