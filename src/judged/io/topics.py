"""TREC topics: queries in XML or SGML, whose elements need not be closed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judged.io.open import BOM, File, read_text
from judged.io.sniff import Format
from judged.io.table import RawTable, from_records
from judged.problem import Problems
from judged.tables.schema import Schema

_TOPICS = re.compile(
    rb"<(?:\?xml|!doctype|!--|top\b|topics?\b|xml\b|webtrack|parameters\b|root\b|queries\b)", re.IGNORECASE
)
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)((?:\s[^<>]*)?)/?>")
_NUMBER_ATTRIBUTE = re.compile(r"""\b(?:number|num|id|qid)\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
LABELS = {"number", "topic", "description", "summary"}
"""Words before a colon with which elements of older topics begin."""
IGNORED = (("<!--", "-->"), ("<?", "?>"), ("<!", ">"))
"""Beginning and end of comments and declarations, which are not part of a topic."""
TOPIC = {"top", "topic"}
NUMBER = ("num", "number", "id", "qid", "query_id")
TEXT = ("title", "query", "question", "desc", "description", "summary")
"""The elements that may hold the text of a query: the first that is there."""


def is_topics(head: bytes) -> bool:
    """Return whether a text begins as topics do."""
    return _TOPICS.match(head.removeprefix(BOM).lstrip()) is not None


def read(file: File, schema: Schema) -> RawTable:
    """Return id and text of every topic; what lacks one of them is a problem with its line."""
    text = bytes(read_text(file)).decode(errors="replace").replace("<![CDATA[", "").replace("]]>", "")
    for begin, end in IGNORED:
        text = _blank_out(text, begin, end)
    problems = Problems(file.label)
    rows, lines = [], []
    for line, elements in _list_topics(text):
        number = next((elements[name] for name in NUMBER if elements.get(name)), None)
        query = next((elements[name] for name in TEXT if elements.get(name)), None)
        if number is None or query is None:
            known = ", ".join(f"<{name}>" for name in elements) or "nothing"
            lacking = " and ".join(
                words
                for words, value in (
                    ("a number", number),
                    (f"one of {', '.join(f'<{name}>' for name in TEXT)}", query),
                )
                if value is None
            )
            problems.add_line("incomplete-topic", line, f"the topic has {known}, expected {lacking}")
            continue
        rows.append({"id": number, "text": query})
        lines.append(line)
    problems.line = lines.__getitem__
    return from_records(rows, schema, problems)


def _blank_out(text: str, begin: str, end: str) -> str:
    """Return the text without the parts between two marks, but with their line breaks."""
    kept: list[str] = []
    at = 0
    while (start := text.find(begin, at)) >= 0 and (stop := text.find(end, start)) >= 0:
        kept += [text[at:start], "\n" * text.count("\n", start, stop)]
        at = stop + len(end)
    return "".join([*kept, text[at:]])


def _list_topics(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield every topic: its line, and the text of each of its elements; a tag ends the element before it."""
    import html  # its table of entities is large, and detecting any format imports this module

    elements: dict[str, str] | None = None
    start, name, begin = 0, "", 0

    def close(end: int) -> None:
        if elements is not None and name:
            label, _, rest = text[begin:end].partition(":")
            words = " ".join(
                html.unescape(rest if label.strip().lower() in LABELS else text[begin:end]).split()
            )
            elements.setdefault(name, words)

    for tag in _TAG.finditer(text):
        closing, own = tag.group(1), tag.group(2).lower()
        close(tag.start())
        name, begin = ("" if closing else own), tag.end()
        if own in TOPIC:
            if elements is not None:
                yield text.count("\n", 0, start) + 1, elements
            number = _NUMBER_ATTRIBUTE.search(tag.group(3))
            elements = None if closing else {"number": html.unescape(number.group(1))} if number else {}
            start, name = tag.start(), ""
    if elements is not None:
        close(len(text))
        yield text.count("\n", 0, start) + 1, elements


FORMAT = Format(
    "topics",
    "TREC topics",
    read,
    extensions=(".xml", ".sgml", ".sgm"),
    holds=lambda schema: schema.name == "queries",
)
