"""The seam of the trace formats: what a format is shown to be recognised by, and what it makes of a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judged.tables.sessions import Session
from judged.traces.reading import Reading
from judged.traces.trace import Trace

__all__ = ["Head", "TraceFormat"]


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a trace: its first JSON documents, or its first text."""

    documents: tuple[Any, ...] = ()
    """At most `trace.SHOWN` of them: the first lines of JSONL, the first elements of an array, or one object."""
    text: str = ""
    """Empty where the trace is JSON."""

    @property
    def mappings(self) -> tuple[Mapping[str, Any], ...]:
        """The documents that are objects, which nearly all formats are."""
        return tuple(each for each in self.documents if isinstance(each, dict))


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """One way in which others write down what agents did."""

    name: str
    """What users call it: `openai-chat`."""
    title: str
    """What it is, in words that fit after "read as"."""
    recognises: Callable[[Head], bool]
    """Whether a trace that begins so is written in this way."""
    sessions: Callable[[Trace, Reading], Iterator[Session]]
    """The sessions of a trace, one at a time; faults go to the reading."""
