"""A span: one thing that an agent did, with its ids and times, in any convention."""

from __future__ import annotations

import binascii
import re
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from msgspec import Struct

from judged.agents.traces.conversation import Call, Step
from judged.agents.traces.json_values import Json, JsonObject

SpanKind: TypeAlias = Literal["llm", "search", "tool", "other"]


class Span(Struct, kw_only=True, omit_defaults=True):
    """The parts of a span that are kept; the messages sent to a model are dropped to save memory."""

    id: str
    trace: str
    """Spans of one trace are one turn."""
    parent: str | None = None
    start: int | None = None
    """Nanoseconds since 1970."""
    end: int | None = None
    order: str = ""
    """The order of spans that start together, if the format has one."""
    kind: SpanKind = "other"
    """A retriever is a search; whether a tool is one depends on its name."""
    name: str = ""
    """The tool's or the retriever's name, else the span's."""
    arguments: Json = None
    outputs: tuple[Json, ...] = ()
    """The outputs, in each recorded form; the same results may be recorded twice, once with fewer fields."""
    call: str | None = None
    """The id of the tool call that this span carries out."""
    calls: tuple[str, ...] = ()
    """The ids of the tool calls that a model asked for, in its order."""
    asks: tuple[Call, ...] = ()
    """The same calls, as the model wrote them."""
    answers: JsonObject = {}
    """The outputs of tools since the previous model call, by the id of the call."""
    sent: tuple[tuple[str, ...], ...] = ()
    """The ids of the calls in each message of an agent whose model calls have no spans: those of one were made at once."""
    steps: tuple[Step, ...] = ()
    """The agent's steps, reconstructed from its messages because it has no child spans."""
    cited: tuple[str, ...] = ()
    """The addresses in the answer of a model that requested no tool."""
    answer: str | None = None
    """What a model returned as text, or an agent, or the program that is the root of a trace."""
    tokens: float | None = None
    cost: float | None = None
    failed: bool = False
    question: str | None = None
    session: str | None = None
    """The conversation that the trace is a turn of."""
    system: str | None = None
    task: str | None = None
    place: str = ""

    @property
    def rank(self) -> tuple[int, str, str]:
        """The sort key of spans: start, then the format's own order, then id."""
        return (-1 if self.start is None else self.start, self.order, self.id)


_HEX = re.compile(r"(?:0x)?([0-9a-f]+)", re.IGNORECASE)
_FRACTION = re.compile(r"\.(\d+)")
_WIDTHS = frozenset((8, 16))
"""Bytes of a span's id and of a trace's."""


def normalise_id(value: Json) -> str | None:
    """Return an id of OpenTelemetry as hexadecimal digits, any other unchanged; None if it is empty.

    The same id is written as hexadecimal digits (OTLP), with `0x` before them (SDKs), or in base64 (protobuf).

    >>> normalise_id("0x97A1"), normalise_id("l5v1+7DJLjc="), normalise_id("979bf5fbb0c92e37"), normalise_id("0000000000000000")
    ('97a1', '979bf5fbb0c92e37', '979bf5fbb0c92e37', None)
    """
    text = "" if value is None else str(value).strip()
    digits = _HEX.fullmatch(text)
    if digits and (text[:2] in {"0x", "0X"} or len(digits[1]) in {16, 32}):
        text = digits[1].lower()
    elif text.endswith("="):
        text = _decode_base64(text)
    return text if text.strip("0") else None


def _decode_base64(text: str) -> str:
    try:
        content = binascii.a2b_base64(text.replace("-", "+").replace("_", "/"), strict_mode=True)
    except (binascii.Error, ValueError):
        return text
    return content.hex() if len(content) in _WIDTHS else text


def parse_nanoseconds(value: Json) -> int | None:
    """Return a time as nanoseconds since 1970, from ISO 8601 (UTC without a zone) or a number.

    The size of a number decides whether it counts nanoseconds, microseconds, milliseconds or seconds.

    >>> parse_nanoseconds("2026-11-15T20:07:10.161195Z") == parse_nanoseconds("1794773230161195000")
    True
    >>> parse_nanoseconds(1794773230161), parse_nanoseconds("yesterday"), parse_nanoseconds(None)
    (1794773230161000000, None, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return _scale(value)
    text = str(value).strip()
    if text.isdecimal() and len(text) <= 20:
        return _scale(int(text))
    return _parse_iso(text)


def _scale(number: float) -> int | None:
    """Convert a number in any of four units; the bounds correspond to the years 1973 to 5138."""
    if not 0 < number < 1e20:
        return None
    for bound, factor in ((1e17, 1), (1e14, 1_000), (1e11, 1_000_000)):
        if number >= bound:
            return int(number * factor)
    return int(number * 1_000_000_000)


def _parse_iso(text: str) -> int | None:
    fraction = _FRACTION.search(text)
    try:
        moment = datetime.fromisoformat(_FRACTION.sub("", text, count=1))
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    # counted in whole numbers: a float holds no nanoseconds of this century
    whole = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (whole.days * 86_400 + whole.seconds) * 1_000_000_000 + int(
        f"{fraction[1] if fraction else '':0<9.9}"
    )
