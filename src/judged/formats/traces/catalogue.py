"""Every trace format by name, in the order in which they are asked whether they recognise a trace."""

from __future__ import annotations

from judged.formats.traces.format import TraceFormat
from judged.registry import Registry

__all__ = ["TRACE_FORMATS"]

TRACE_FORMATS: Registry[TraceFormat] = Registry("trace format")
TRACE_FORMATS.add("plain", "judged.formats.traces.plain:FORMAT")
