"""Results written as text with marks: elements of XML, and sections of Markdown that each have a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from judged.traces.results.fields import ALIASES

__all__ = ["elements", "sections"]

_OPENING = re.compile(
    r"<(document|doc|result|search_result|item|passage|chunk|entry|page|source|hit)\b[^<>]*>", re.IGNORECASE
)
_ATTRIBUTE = re.compile(r"([\w.:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_MARK = re.compile(r"<(?P<closing>/?)(?P<name>[\w.-]+)\b[^<>]*>")
_CONTENTS = {"document_content": "content", "document_contents": "content", "body": "content"}
_FIELDS = frozenset(name for names in ALIASES.values() for name in names)

_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>[^\n]+)$", re.MULTILINE)
_ADDRESS = re.compile(
    r"^[ \t*_>-]*(?:(?:url|link|source|href)[*_]*:[*_]*[ \t]*)?<?(https?://[^\s<>)]+)>?[ \t]*$", re.IGNORECASE
)
_RULE = re.compile(r"^[ \t]*[-=*_]{3,}[ \t]*$", re.MULTILINE)


def elements(text: str) -> list[dict[str, Any]]:
    """The results of XML, their fields in attributes or in elements; none if there is text beside them."""
    first = _OPENING.search(text) if text.lstrip().startswith("<") else None
    if first is None:
        return []
    before, *parts = re.split(rf"<{first[1]}\b([^<>]*)>", text, flags=re.IGNORECASE)
    closed = [re.split(rf"</{first[1]}\s*>", each, maxsplit=1, flags=re.IGNORECASE) for each in parts[1::2]]
    beside = "".join([before, *(each[-1] for each in closed)])
    if any(len(each) < 2 for each in closed) or _RULE.sub("", _MARK.sub("", beside)).strip():
        return []
    records = [_record(given, each[0]) for given, each in zip(parts[::2], closed, strict=True)]
    return records if all(records) else []


def _record(attributes: str, body: str) -> dict[str, Any]:
    """One result; an element without elements that are fields is its text."""
    given = {name: unescape(one or other) for name, one, other in _ATTRIBUTE.findall(attributes)}
    children = {_CONTENTS.get(name, name): unescape(text).strip() for name, text in _children(body)}
    if _FIELDS.isdisjoint(children):
        children = {"content": unescape(body).strip()}
    return {name: value for name, value in {**given, **children}.items() if name in _FIELDS and value}


def _children(body: str) -> Iterator[tuple[str, str]]:
    """The elements of an element, each with what is in it."""
    opened: re.Match[str] | None = None
    for mark in _MARK.finditer(body):
        if opened is None:
            opened = None if mark["closing"] else mark
        elif mark["closing"] and mark["name"] == opened["name"]:
            yield mark["name"].lower(), body[opened.end() : mark.start()]
            opened = None


def sections(text: str) -> list[dict[str, Any]]:
    """The results of Markdown in which every heading has its result's address beneath it."""
    headings = list(_HEADING.finditer(text))
    ends = [*(each.start() for each in headings[1:]), len(text)]
    parts = [
        (each["title"], text[each.end() : end].strip()) for each, end in zip(headings, ends, strict=False)
    ]
    records = [_section(title, body) for title, body in parts if body]
    return [each for each in records if each] if all(records) else []


def _section(title: str, body: str) -> dict[str, Any] | None:
    first, _, below = body.partition("\n")
    address = _ADDRESS.match(first)
    if address is None:
        return None
    return {"title": title.strip("*_# \t"), "url": address[1], "text": _RULE.sub("", below).strip()}
