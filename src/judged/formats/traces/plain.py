"""The plain form: a conversation a line, with its turns, iterations, searches and results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judged.formats.traces.conversation import Call, Conversation, Step, Turn
from judged.formats.traces.assemble import sessions_of
from judged.formats.traces.format import Head, TraceFormat
from judged.formats.traces.reading import Reading
from judged.formats.traces.trace import Document, Trace
from judged.tables.session import Session

__all__ = ["FORMAT"]


def recognises(head: Head) -> bool:
    """Objects with turns or iterations."""
    return bool(head.mappings) and all("turns" in each or "iterations" in each for each in head.mappings)


def sessions(trace: Trace, reading: Reading) -> Iterator[Session]:
    """One session for each document."""
    return sessions_of((_conversation(each) for each in trace.documents()), reading)


def _conversation(document: Document) -> Conversation:
    value = document.value
    turns = value.get("turns") or [{"iterations": value.get("iterations") or []}]
    identity = str(value.get("conversation") or value.get("session_id") or value.get("id") or document.place)
    return Conversation(
        id=identity,
        place=document.place,
        system=value.get("system"),
        task=value.get("task"),
        turns=[
            Turn(question=each.get("question"), steps=[_step(it) for it in each.get("iterations", [])])
            for each in turns
        ],
    )


def _step(value: Any) -> Step:
    calls = [
        Call(
            tool=each.get("tool") or "search",
            arguments=each.get("query"),
            output=each.get("results") or [],
            search=True,
        )
        for each in value.get("searches") or []
    ]
    return Step(calls=calls, tokens=value.get("tokens"), seconds=value.get("seconds"))


FORMAT = TraceFormat("plain", "sessions in the plain form", recognises, sessions)
