"""Sessions of the TREC Session Track (2011 to 2014): searches of people and the results shown, in XML.

Documented by the track's guidelines: `<session num>` has a `<topic>`, an `<interaction>` for each query with the
`<results>` that were shown and what was `<clicked>`, and the `<currentquery>`, for which nothing was shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from judged.agents.tables import Session
from judged.agents.traces.assemble import to_sessions
from judged.agents.traces.context import ReadContext
from judged.agents.traces.conversation import Call, Conversation, Step, Turn
from judged.agents.traces.format import Head, TraceFormat
from judged.agents.traces.json_values import JsonObject
from judged.agents.traces.open import Trace

IDS = ("clueweb09id", "clueweb12id", "docno")
"""The names of document ids, which depend on the collection of the year."""

_STRAY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9A-Fa-f]+);)")
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def read(trace: Trace, context: ReadContext) -> Iterator[Session]:
    """Yield one session for each `<session>`, in the order of the file."""
    return to_sessions((_conversation(*text) for text in _read_elements(trace, context)), context)


def _conversation(element: Element, place: str) -> Conversation:
    """Return a session of one turn: an interaction is a step with one search."""
    number = element.get("num") or place
    topic = element.find("topic")
    questions = [] if topic is None else [_text(topic, name) for name in ("desc", "title")]
    steps = [_step(item) for item in element.iterfind("interaction")]
    return Conversation(
        id=number,
        place=place,
        turns=[Turn(question=next(filter(None, questions), None), steps=steps)],
        # qrels are by topic, but in 2011, whose topics have no number, by session
        task=number if topic is None else topic.get("num", number),
    )


def _step(interaction: Element) -> Step:
    results = sorted(interaction.iterfind("results/result"), key=_rank)
    hits = [_result(result) for result in results]
    return Step(
        calls=[
            Call(tool="search", arguments={"query": _text(interaction, "query")}, output=hits, search=True)
        ]
    )


def _rank(result: Element) -> float:
    try:
        return float(result.get("rank", ""))
    except ValueError:
        return float("inf")


def _result(element: Element) -> JsonObject:
    fields = {name: _text(element, name) for name in ("url", "title", "snippet")}
    return {"id": next(filter(None, (_text(element, name) for name in IDS)), None), **fields}


def _text(element: Element, name: str) -> str | None:
    child = element.find(name)
    return None if child is None else " ".join("".join(child.itertext()).split()) or None


def _read_elements(trace: Trace, context: ReadContext) -> Iterator[tuple[Element, str]]:
    """Yield each `<session>` with the place of its first line; one at a time, to save memory."""
    parser = _Parser()
    begun = 1
    for number, line in trace.lines():
        begun = begun if parser.inside else number
        error = parser.feed(line)
        yield from ((item, trace.place(begun)) for item in parser.take())
        if error:
            context.report("broken-xml", trace.place(number), error)
            break
    else:
        if parser.open:
            context.report("broken-xml", trace.label, "ends before its last element does")
    context.settle()


class _DocumentType(Exception):
    """The XML declares a document type."""


class _Parser:
    """An incremental parser of `<session>` elements; entities cannot be declared and so are not expanded."""

    def __init__(self) -> None:
        self.open = 0
        """The number of open elements."""
        self._level = 0
        """The number of open elements at the start of the current session, with it; 0 outside sessions."""
        self._builder = TreeBuilder()
        self._finished: list[Element] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data

    def feed(self, line: bytes) -> str | None:
        """Parse a line and return what is wrong with it, if anything.

        Characters that XML forbids are dropped, and bare ampersands are escaped.
        """
        mended = _STRAY.sub(b"&amp;", _FORBIDDEN.sub(b"", line)) + b"\n"
        try:
            self._parser.Parse(mended, False)  # noqa: FBT003 - expat's
        except expat.ExpatError as error:
            return f"is not XML: {expat.ErrorString(error.code)}"
        except (LookupError, ValueError) as error:
            return f"is not XML in a known encoding: {error}"
        except _DocumentType:
            return "has a document type, which could define entities without end, expected none"
        return None

    @property
    def inside(self) -> bool:
        """Whether a session has begun and not ended."""
        return self._level > 0

    def take(self) -> list[Element]:
        """Return the sessions that ended since the last call."""
        take, self._finished = self._finished, []
        return take

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
            self._finished.append(self._builder.close())
        self.open -= 1

    def _data(self, text: str) -> None:
        if self.inside:
            self._builder.data(text)


def recognises(head: Head) -> bool:
    """Recognise XML of sessions with interactions."""
    text = head.text.lstrip("\ufeff \r\n\t")
    return text.startswith("<") and (
        "<sessiontrack" in text or ("<session" in text and "<interaction" in text)
    )


FORMAT = TraceFormat("trec-session", "sessions of the TREC Session Track", recognises, read)
