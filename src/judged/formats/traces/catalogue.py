"""Every trace format by name, in the order in which they are asked whether they recognise a trace."""

from __future__ import annotations

from judged.formats.traces.format import TraceFormat
from judged.registry import Registry

__all__ = ["TRACE_FORMATS"]

TRACE_FORMATS: Registry[TraceFormat] = Registry("trace format")
TRACE_FORMATS.add("plain", "judged.formats.traces.plain:FORMAT")
TRACE_FORMATS.add("browsecomp-plus", "judged.formats.traces.browsecomp_plus:FORMAT")
TRACE_FORMATS.add("openai-responses", "judged.formats.traces.openai_responses:FORMAT")
TRACE_FORMATS.add("anthropic", "judged.formats.traces.anthropic:FORMAT")
TRACE_FORMATS.add("chatml", "judged.formats.traces.chatml:FORMAT")
TRACE_FORMATS.add("search-tags", "judged.formats.traces.search_tags:FORMAT")
TRACE_FORMATS.add("openai-chat", "judged.formats.traces.openai_chat:FORMAT")
TRACE_FORMATS.add("react", "judged.formats.traces.react:FORMAT")
