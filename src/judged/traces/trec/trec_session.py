"""Sessions of the TREC Session Track (2011 to 2014): what people searched for and were shown, in XML.

Documented by the track's guidelines: `<session num>` has a `<topic>`, an `<interaction>` for each query with the
`<results>` that were shown and what was `<clicked>`, and the `<currentquery>`, for which nothing was shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from judged.tables.sessions import Session
from judged.traces.assemble import to_sessions
from judged.traces.context import ReadContext
from judged.traces.conversation import Call, Conversation, Step, Turn
from judged.traces.format import Head, TraceFormat
from judged.traces.open import Trace

__all__ = ["FORMAT"]

IDS = ("clueweb09id", "clueweb12id", "docno")
"""What the id of a document is called, by the collection of the year."""

_STRAY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9A-Fa-f]+);)")
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def sessions(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """One session for each `<session>`, in the order of the file."""
    return to_sessions((_conversation(*each) for each in _elements(trace, context)), context)


def _conversation(element: Element, place: str) -> Conversation:
    """A session of one turn: an interaction is a step with one search."""
    number = element.get("num") or place
    topic = element.find("topic")
    told = [] if topic is None else [_text(topic, name) for name in ("desc", "title")]
    steps = [_step(each) for each in element.iterfind("interaction")]
    return Conversation(
        id=number,
        place=place,
        turns=[Turn(question=next(filter(None, told), None), steps=steps)],
        # qrels are by topic, but in 2011, whose topics have no number, by session
        task=number if topic is None else topic.get("num", number),
    )


def _step(interaction: Element) -> Step:
    results = sorted(interaction.iterfind("results/result"), key=_rank)
    found = [_result(each) for each in results]
    return Step(
        calls=[
            Call(tool="search", arguments={"query": _text(interaction, "query")}, output=found, search=True)
        ]
    )


def _rank(result: Element) -> float:
    try:
        return float(result.get("rank", ""))
    except ValueError:
        return float("inf")


def _result(element: Element) -> dict[str, Any]:
    fields = {name: _text(element, name) for name in ("url", "title", "snippet")}
    return {"id": next(filter(None, (_text(element, name) for name in IDS)), None), **fields}


def _text(element: Element, name: str) -> str | None:
    found = element.find(name)
    return None if found is None else " ".join("".join(found.itertext()).split()) or None


def _elements(trace: Trace, context: ReadContext) -> Iterator[tuple[Element, str]]:
    """Each `<session>` with the place of its first line; one at a time, so that memory holds no more."""
    parser = _Parser()
    begun = 1
    for number, line in trace.lines():
        begun = begun if parser.inside else number
        wrong = parser.feed(line)
        yield from ((each, trace.place(begun)) for each in parser.taken())
        if wrong:
            context.fault("broken-xml", trace.place(number), wrong)
            break
    else:
        if parser.open:
            context.fault("broken-xml", trace.label, "ends before its last element does")
    context.settle()


class _DocumentType(Exception):
    """The XML declares a document type."""


class _Parser:
    """Elements `<session>` out of XML that comes in pieces; entities are not expanded, for none can be declared."""

    def __init__(self) -> None:
        self.open = 0
        """How many elements have begun and not ended."""
        self._level = 0
        """How many had, with it, when the session at hand began; 0 outside sessions."""
        self._builder = TreeBuilder()
        self._taken: list[Element] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data

    def feed(self, line: bytes) -> str | None:
        """Take a line; what is wrong with it, if anything is.

        Signs that XML forbids are left out, and ampersands that stand for themselves are mended.
        """
        mended = _STRAY.sub(b"&amp;", _FORBIDDEN.sub(b"", line)) + b"\n"
        try:
            self._parser.Parse(mended, False)  # noqa: FBT003 - expat's
        except expat.ExpatError as error:
            return f"is no XML: {expat.ErrorString(error.code)}"
        except (LookupError, ValueError) as error:
            return f"is no XML in an encoding known here: {error}"
        except _DocumentType:
            return "has a document type, which could define entities without end, expected none"
        return None

    @property
    def inside(self) -> bool:
        """Whether a session has begun and not ended."""
        return self._level > 0

    def taken(self) -> list[Element]:
        """The sessions that ended since this was last asked."""
        taken, self._taken = self._taken, []
        return taken

    def _refuse(self, *_: object) -> None:
        raise _DocumentType

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.open += 1
        if name == "session" and not self.inside:
            self._level, self._builder = self.open, TreeBuilder()
        if self.inside:
            self._builder.start(name, attributes)

    def _end(self, name: str) -> None:
        if self.inside:
            self._builder.end(name)
        if self.open == self._level:
            self._level = 0
            self._taken.append(self._builder.close())
        self.open -= 1

    def _data(self, text: str) -> None:
        if self.inside:
            self._builder.data(text)


def recognises(head: Head) -> bool:
    """XML of sessions with interactions."""
    text = head.text.lstrip("\ufeff \r\n\t")
    return text.startswith("<") and (
        "<sessiontrack" in text or ("<session" in text and "<interaction" in text)
    )


FORMAT = TraceFormat("trec-session", "sessions of the TREC Session Track", recognises, sessions)
