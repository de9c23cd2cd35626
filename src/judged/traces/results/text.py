"""Results written as text: XML elements, Markdown sections, numbered links, titled documents, and records of named lines."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

from judged.traces.results.fields import ALIASES

__all__ = ["Group", "NotPython", "find_groups_in_text", "is_empty", "parse_python"]

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


def read_elements(text: str) -> list[dict[str, Any]]:
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


def read_sections(text: str) -> list[dict[str, Any]]:
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


Group = tuple[str | None, list[Any]]
"""A query, where the output names it, and the values of its results."""

_NOTHING = re.compile(
    r"none|null|(?:sorry,? )?(?:(?:no|0|zero)\b.{0,60}\b(?:results?|matches|match|documents?|hits|passages?|information)\b|"
    r"(?:could not|couldn't|cannot|did not) find\b|nothing (?:was )?found).{0,300}",
    re.IGNORECASE | re.DOTALL,
)
_FAILED = re.compile(
    r"\W*(?:\[?(?:(?:an?|the|there was|unexpected|internal|encountered|tool|search|mcp|api|http|server|network|"
    r"connection|execution)\s+){0,4}(?:\w+)?(?:error|exception|traceback)\b(?=\s*(?:[:.!,(\d]|-\d|\](?!\()|\Z|occurred|"
    r"encountered|while|when|during|code|message|(?:executing|running|calling|invoking|performing|fetching|searching|"
    r"retrieving|processing|connecting|accessing|querying|getting)\b|(?:from|with|on|in)\s(?:the\s)?"
    r"(?:tool|search|server|request|api)\b))|failed\b|failure\b|timed? ?out|request timed|rate limit|"
    r"too many requests|the (?:search|tool|request)\b.{0,40}(?:fail|error|timed)|(?:search|tool)\b.{0,20} failed|"
    r"unable to (?:search|retrieve|fetch|connect|reach|complete)).{0,2000}|"
    r".{1,2000}\bfix the errors and try again\.?",
    re.IGNORECASE | re.DOTALL,
)
"""How the report of a failure begins; `Error handling in Rust` is the title of a page."""
_BETWEEN = re.compile(r"\n={5,}\n")
"""What lies between the outputs for several queries."""
_ASKED = re.compile(r"\A\s*A Google search for '(?P<query>.*?)' found \d+ results?:?", re.DOTALL)
_LINK = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t])?[ \t]*(?:\d+[.)]|\[\d+\]|[-*])?[ \t]*[*_]{0,2}\[(?P<title>[^\n]*?)\]"
    r"\((?P<url>[a-z][a-z0-9+.-]*:[^\s]+)\)[*_]{0,2}(?:[ \t]*[-–—:|][ \t]+(?=\S)|[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_TITLED = re.compile(
    r"^[ \t]*Doc(?:ument)?[ \t]*\d+[ \t]*\(Title:[ \t]*(?P<title>(?:[^()\n]|\([^()\n]*\))*)\)[ \t:]*",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBERED_TITLE = re.compile(
    r"\(\d+\)[ \t]*Title:[ \t]*(?P<title>.*?)[ \t\n]*Text:[ \t]*", re.IGNORECASE | re.DOTALL
)
_RECORD_LINE = re.compile(
    r"^[ \t]*(?:\[?\d+[\].):]*[ \t]*|[-*][ \t]+)?[*_]{0,2}(?P<name>title|page|url|link|source|href|snippet|content|summary|text|"
    r"description|abstract|body|doc ?id|document ?id|id|score)[*_]{0,2}[ \t]*:[*_]{0,2}[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_INLINE_RECORD = re.compile(r"(?:^|, )(snippet|title|link): ")
_PASSAGE = re.compile(
    r"^[ \t]*(?:(?:Doc(?:ument)?|Passage|Result|Source)[ \t]*\[?(?P<word>\d+)\]?[ \t]*[:.)]|\[(?P<box>\d+)\][:.]?|"
    r"(?P<list>\d+)[.)])[ \t]+",
    re.IGNORECASE | re.MULTILINE,
)
_URL = re.compile(r"https?://[^\s<>\"')\]]+")
_DATED = re.compile(r"^(?:Date published|Source):[^\n]*\n?", re.MULTILINE)
_NAMES = {"page": "title", "summary": "text", "abstract": "text", "docid": "id", "documentid": "id"}


def find_groups_in_text(text: str) -> list[Group] | None:
    """The results of a text, one group for each query that it tells apart; None if there is no reading it."""
    parts = _BETWEEN.split(text)
    groups = []
    for part in parts:
        values = _values(part)
        if values is None:
            return None
        asked = _ASKED.match(part)
        groups.append((asked["query"] if asked else None, values))
    return groups


def is_empty(text: str) -> bool:
    """Whether a text says that nothing was found, or that the search failed."""
    bare = text.strip()
    return not bare or _NOTHING.fullmatch(bare) is not None or _FAILED.fullmatch(bare) is not None


def _values(text: str) -> list[Any] | None:
    if is_empty(text):
        return []
    readers: tuple[Callable[[str], list[Any]], ...] = (
        read_elements,
        _links,
        _titled,
        _numbered,
        _inline,
        read_sections,
        _records,
        _passages,
    )
    for read in readers:
        if values := read(text):
            return values
    return [] if _ASKED.match(text) else None


def _links(text: str) -> list[Any]:
    """`1. [title](url)`, then what was shown of it."""
    return [
        {"title": match["title"], "url": match["url"], "snippet": _DATED.sub("", below).strip()}
        for match, below in _with_rest(_LINK, text)
    ]


def _titled(text: str) -> list[Any]:
    """`Doc 1(Title: "…") text`, as Search-R1 shows passages."""
    return [
        {"title": match["title"].strip().strip('"'), "text": below.strip()}
        for match, below in _with_rest(_TITLED, text)
    ]


def _numbered(text: str) -> list[Any]:
    """`(1)Title: … Text: …`, as R1-Searcher shows them."""
    return [
        {"title": match["title"].strip().strip('"'), "text": below.strip()}
        for match, below in _with_rest(_NUMBERED_TITLE, text)
    ]


def _inline(text: str) -> list[Any]:
    """`snippet: …, title: …, link: …` on one line, as LangChain shows DuckDuckGo's."""
    if not _INLINE_RECORD.match(text.strip()) or text.count("link: ") < 1:
        return []
    return _gathered([(match[1], below) for match, below in _with_rest(_INLINE_RECORD, text.strip())])


def _records(text: str) -> list[Any]:
    """Lines `Title: …`, `URL: …`, `Content: …`, a new record where a name comes again."""
    named = [
        (match["name"].lower().replace(" ", ""), below) for match, below in _with_rest(_RECORD_LINE, text)
    ]
    return [
        _with_metadata(record)
        for record in _gathered([(_NAMES.get(name, name), below) for name, below in named])
    ]


def _with_metadata(record: dict[str, Any]) -> dict[str, Any]:
    """A record whose source is not a name but all metadata, as Python prints it, which LangChain's guides do."""
    source = record.get("source")
    if not isinstance(source, str) or not source.startswith("{"):
        return record
    try:
        return {**record, "metadata": parse_python(source)}
    except NotPython:
        return record


def _passages(text: str) -> list[Any]:
    """Passages numbered from 1, each with its first line as title where more follow, and its first URL.

    A bare list must have a URL in each of its entries, since answers in prose have lists as well.
    """
    matches = _with_rest(_PASSAGE, text)
    if any(match.lastgroup == "list" and not _URL.search(below) for match, below in matches):
        return []
    if [int(match[match.lastgroup or 0]) for match, _ in matches] != list(range(1, len(matches) + 1)):
        return []
    return [_passage(below.strip()) for _, below in matches]


def _passage(text: str) -> dict[str, Any]:
    found = _URL.search(text)
    title, _, below = (line.strip() for line in text.replace(found[0] if found else "\0", "").partition("\n"))
    if not below:
        return {"url": found and found[0], "text": title}
    return {"url": found and found[0], "title": title.strip(" -–—:|*_"), "text": below}


def _gathered(named: list[tuple[str, str]]) -> list[Any]:
    """Records out of named parts in their order; alone in a record, only a title with text, or a link, will do."""
    records: list[dict[str, Any]] = []
    for name, below in named:
        if not records or name in records[-1]:
            records.append({})
        records[-1][name] = _number(below) if name == "score" else below.strip().rstrip(",")
    telling = [each for each in records if len(each) > 1]
    return telling if len(telling) == len(records) else []


def _number(text: str) -> float | str:
    try:
        return float(text.strip())
    except ValueError:
        return text.strip()


def _with_rest(pattern: re.Pattern[str], text: str) -> list[tuple[re.Match[str], str]]:
    """Each match with the text from its end to the next one."""
    matches = list(pattern.finditer(text))
    ends = [*(match.start() for match in matches[1:]), len(text)]
    return [(match, text[match.end() : end]) for match, end in zip(matches, ends, strict=False)]


class NotPython(Exception):
    """A text that Python did not print."""


def parse_python(text: str) -> Any:
    """The value that a text printed by Python stands for; an object becomes a dict of its named parts.

    >>> parse_python("[Document(page_content='Paris', metadata={'score': 0.9})]")
    [{'page_content': 'Paris', 'metadata': {'score': 0.9}}]
    """
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        raise NotPython from None


def _value(node: ast.expr) -> Any:
    """The value of one part; nothing is run, names and calls mean nothing."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [_value(each) for each in node.elts]
    if isinstance(node, ast.Dict):
        return {_value(key): _value(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    if isinstance(node, ast.Call) and not node.args:
        return {each.arg: _value(each.value) for each in node.keywords if each.arg}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        return _value(node.args[0])  # UUID('…'), float32(0.5)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    raise NotPython
