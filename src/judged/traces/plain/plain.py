"""The plain form: a conversation a line, with its turns, iterations, searches and results."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from judged.tables.sessions import GRADES, Iteration, Search, Session
from judged.traces.format import Head, TraceFormat
from judged.traces.plain.plain_objects import session_of_object
from judged.traces.reading import Reading
from judged.traces.results.fields import domain_of, has_key
from judged.traces.trace import BROKEN, Trace, told

__all__ = ["FORMAT"]


class _Turn(Struct, kw_only=True, forbid_unknown_fields=True):
    """A turn as it is written with our own names alone."""

    iterations: tuple[Iteration, ...] = ()
    question: str | None = None


class _Line(Struct, kw_only=True, forbid_unknown_fields=True):
    """A conversation as it is written with our own names alone, which is decoded at once."""

    turns: tuple[_Turn, ...]
    conversation: str | None = None
    system: str | None = None
    task: str | None = None


def recognises(head: Head) -> bool:
    """Objects with turns, or with the iterations of one."""
    return any("turns" in each or "iterations" in each for each in head.mappings)


def sessions(trace: Trace, reading: Reading) -> Iterator[Session]:
    """One session for each line, or for each element of an array; those that are not usable are left out."""
    if not trace.is_lines:
        for document in trace.documents():
            yield from _settled(
                session_of_object(document.value, document.place, document.name, reading), reading
            )
        return
    decode = msgspec.json.Decoder(_Line).decode
    for number, line in trace.lines():
        try:
            session = _quick(decode(line), trace.place(number), reading)
        except BROKEN:
            session = None
        if session is None:
            yield from _settled(_slow(line, number, trace, reading), reading)
        else:
            yield session


def _settled(session: Session | None, reading: Reading) -> Iterator[Session]:
    reading.settle()
    if session is not None:
        yield session


def _quick(line: _Line, place: str, reading: Reading) -> Session | None:
    """The session of a line that needs nothing changed; None if anything in it does, or may be wrong."""
    if not line.conversation or not line.turns:
        return None
    turn = line.turns[-1]
    iterations = tuple(each for each in turn.iterations if each.searches)
    if reading.turn != "last" and not iterations:
        return None
    if not all(map(_is_sound, turn.iterations)):
        return None
    for iteration in iterations:
        for search in iteration.searches:
            reading.searches[search.tool or "search"] += 1
    if (
        not iterations
        and len(line.turns) > 1
        and any(each.searches for t in line.turns for each in t.iterations)
    ):
        reading.earlier += 1
    return Session(
        conversation=line.conversation,
        system=line.system or reading.name,
        task=line.task or line.conversation,
        question=turn.question,
        iterations=iterations,
        turns=len(line.turns),
        steps=len(turn.iterations),
        place=place,
    )


def _is_sound(iteration: Iteration) -> bool:
    """Whether an iteration took no less than nothing, and all its searches are sound."""
    if (iteration.tokens or 0) < 0 or (iteration.seconds or 0) < 0:
        return False
    return all(map(_is_sound_search, iteration.searches))


def _is_sound_search(search: Search) -> bool:
    """Whether every result of a search has a key, one kind of id, and a gain that is a grade if any."""
    for result in search.results:
        if result.gain is not None and result.gain not in GRADES:
            return False
        if result.id is None:
            if (result.domain is None) != (result.domain_id is None) or not has_key(result):
                return False
        elif (
            result.domain_id is not None
            or result.domain is not None
            or not result.id
            or (":" in result.id and domain_of(result.id))
        ):
            return False
    return bool(search.results)  # a search that has none may lack them altogether


def _slow(line: bytes, number: int, trace: Trace, reading: Reading) -> Session | None:
    """The session of a line with other names than ours, or with faults, which are noted."""
    place = trace.place(number)
    try:
        value = msgspec.json.decode(line)
    except BROKEN as error:
        trace.broken(place, told(error, line))
        return None
    return session_of_object(value, place, trace.called(number), reading)


FORMAT = TraceFormat("plain", "sessions in the plain form", recognises, sessions)
