"""Results written as text with marks: elements of XML, and sections of Markdown that each have a heading."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from judged.formats.traces.results.fields import ALIASES

__all__ = ["elements", "sections"]

_ELEMENT = re.compile(
    r"<(?P<tag>document|doc|result|search_result|item|passage|chunk|entry|page|source|hit)\b(?P<attributes>[^<>]*)>"
    r"(?P<body>.*?)</(?P=tag)\s*>",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([\w.:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_CHILD = re.compile(r"<(?P<name>[\w.-]+)\b[^<>]*>(?P<text>.*?)</(?P=name)\s*>", re.DOTALL)
_MARKS = re.compile(r"</?[\w.-]+(?:\s[^<>]*)?>")
_CONTENTS = {"document_content": "content", "document_contents": "content", "body": "content"}
_FIELDS = frozenset(name for names in ALIASES.values() for name in names)

_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>[^\n]+?)[ \t#]*$", re.MULTILINE)
_ADDRESS = re.compile(
    r"^[ \t*_>-]*(?:(?:url|link|source|href)[*_]*:[*_]*[ \t]*)?<?(https?://[^\s<>)]+)>?[ \t]*$", re.IGNORECASE
)
_RULE = re.compile(r"^[ \t]*[-=*_]{3,}[ \t]*$", re.MULTILINE)


def elements(text: str) -> list[dict[str, Any]]:
    """The results of XML, their fields in attributes or in elements; none if there is text beside them."""
    if not text.lstrip().startswith("<"):
        return []
    found = list(_ELEMENT.finditer(text))
    beside = _RULE.sub("", _MARKS.sub("", _ELEMENT.sub("", text))).strip()
    if not found or beside:
        return []
    records = [_element(each) for each in found]
    return records if all(records) else []


def _element(match: re.Match[str]) -> dict[str, Any]:
    """One result; an element without elements is its text."""
    attributes = {
        name: unescape(one or other) for name, one, other in _ATTRIBUTE.findall(match["attributes"])
    }
    children = {
        _CONTENTS.get(each["name"].lower(), each["name"].lower()): unescape(each["text"]).strip()
        for each in _CHILD.finditer(match["body"])
    }
    if _FIELDS.isdisjoint(children):
        children = {"content": unescape(match["body"]).strip()}
    return {name: value for name, value in {**attributes, **children}.items() if name in _FIELDS and value}


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
    return {"title": title.strip("*_ "), "url": address[1], "text": _RULE.sub("", below).strip()}
