"""Every trace format by name, in the order in which they are asked whether they recognise a trace."""

from __future__ import annotations

from judged.formats.traces.format import TraceFormat
from judged.registry import Registry

__all__ = ["TRACE_FORMATS"]

TRACE_FORMATS: Registry[TraceFormat] = Registry("trace format")
TRACE_FORMATS.add("plain", "judged.formats.traces.plain:FORMAT")
TRACE_FORMATS.add("mlflow", "judged.formats.traces.mlflow:FORMAT")
TRACE_FORMATS.add("langsmith", "judged.formats.traces.langsmith:FORMAT")
TRACE_FORMATS.add("openinference", "judged.formats.traces.opentelemetry:OPENINFERENCE")
TRACE_FORMATS.add("openllmetry", "judged.formats.traces.opentelemetry:OPENLLMETRY")
TRACE_FORMATS.add("otlp", "judged.formats.traces.opentelemetry:OTLP")
TRACE_FORMATS.add("trec-session", "judged.formats.traces.trec_session:FORMAT")
TRACE_FORMATS.add("conversational-run", "judged.formats.traces.conversational_run:FORMAT")
