"""Results written as text: XML elements, Markdown sections, numbered links, titled documents, and records of named lines."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from itertools import pairwise, takewhile

from judged.agents.traces.json_values import Json, JsonObject
from judged.agents.traces.results.fields import ALIASES

_OPENING = re.compile(
    r"<(document|doc|result|search_result|item|passage|chunk|entry|page|source|hit)\b[^<>]*>", re.IGNORECASE
)
_ATTRIBUTE = re.compile(r"(?<![\w.:-])([\w.:-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)')")
_MARK = re.compile(r"<(?P<closing>/?)(?P<name>(?>[\w.-]*\w))[^<>]*+>")
_CONTENTS = {"document_content": "content", "document_contents": "content", "body": "content"}
_FIELDS = frozenset(name for names in ALIASES.values() for name in names)

_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>[^\n]+)$", re.MULTILINE)
_ADDRESS = re.compile(
    r"^[ \t*_>-]*(?:(?:url|link|source|href)[*_]*:[*_]*[ \t]*)?<?(https?://[^\s<>)]+)>?[ \t]*$", re.IGNORECASE
)
_RULE = re.compile(r"^[ \t]*[-=*_]{3,}[ \t]*$", re.MULTILINE)


def read_elements(text: str) -> list[JsonObject]:
    """Return the results of XML, their fields in attributes or in elements; none if there is other text."""
    first = _OPENING.search(text) if text.lstrip().startswith("<") else None
    if first is None:
        return []
    before, *parts = re.split(rf"<{first[1]}\b([^<>]*)>", text, flags=re.IGNORECASE)
    closed = [re.split(rf"</{first[1]}\s*>", part, maxsplit=1, flags=re.IGNORECASE) for part in parts[1::2]]
    around = "".join([before, *(item[-1] for item in closed)])
    if any(len(item) < 2 for item in closed) or _RULE.sub("", _MARK.sub("", around)).strip():
        return []
    records = [_record(given, part[0]) for given, part in zip(parts[::2], closed, strict=True)]
    return records if all(records) else []


def _record(attributes: str, body: str) -> JsonObject:
    """Return one result; an element without fields inside is its text."""
    given = {name: unescape(one or other) for name, one, other in _ATTRIBUTE.findall(attributes)}
    children = {_CONTENTS.get(name, name): unescape(text).strip() for name, text in _children(body)}
    if _FIELDS.isdisjoint(children):
        children = {"content": unescape(body).strip()}
    return {name: value for name, value in {**given, **children}.items() if name in _FIELDS and value}


def _children(body: str) -> Iterator[tuple[str, str]]:
    """Yield the elements of an element, each with its content."""
    opened: re.Match[str] | None = None
    for mark in _MARK.finditer(body):
        if opened is None:
            opened = None if mark["closing"] else mark
        elif mark["closing"] and mark["name"] == opened["name"]:
            yield mark["name"].lower(), body[opened.end() : mark.start()]
            opened = None


def read_sections(text: str) -> list[JsonObject]:
    """Return the results of Markdown in which every heading is followed by a URL."""
    headings = list(_HEADING.finditer(text))
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    parts = [
        (heading["title"], text[heading.end() : end].strip())
        for heading, end in zip(headings, ends, strict=False)
    ]
    records = [_section(title, body) for title, body in parts if body]
    return [record for record in records if record] if all(records) else []


def _section(title: str, body: str) -> JsonObject | None:
    first, _, below = body.partition("\n")
    address = _ADDRESS.match(first)
    if address is None:
        return None
    return {"title": title.strip("*_# \t"), "url": address[1], "text": _RULE.sub("", below).strip()}


Group = tuple[str | None, list[Json]]
"""A query, where the output names it, and the values of its results."""

_NOTHING = re.compile(
    r"none|null|(?:sorry,? )?(?:(?:no|0|zero)\b.{0,60}\b(?:results?|matches|match|documents?|hits|passages?|information)\b|"
    r"nothing (?:was )?found|(?:could not|couldn't|cannot|did not) find\b(?=.{0,300}\Z|.{0,2000}?\bsimilar:? ?\[)"
    r".*).{0,300}",
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
"""Prefixes of failure reports; `Error handling in Rust` is the title of a page."""
_NOTHING_ELSEWHERE = re.compile(
    # German, French, Spanish and Portuguese
    r"keine?\b.{0,40}\b(?:ergebnis(?:se)?|treffer|dokumente?|resultate?)\b|nichts gefunden|"
    r"aucune?\b.{0,40}\b(?:résultats?|documents?|correspondances?)\b|pas de résultats?|rien trouvé|"
    r"no (?:se|hay|hubo|existen)\b.{0,40}\b(?:resultados?|coincidencias|documentos)\b|ning[uú]n resultado|"
    r"(?:sin|sem|nenhum) resultados?|nada encontrado|não\b.{0,40}\b(?:resultados?|documentos?)\b|"
    # Italian, Dutch, Swedish, Norwegian, Danish, Finnish, Polish, Czech, Hungarian and Turkish
    r"\bnessun\w* (?:risultat\w+|document\w+|corrispondenz\w+)|non\b.{0,40}\brisultati\b|"
    r"geen\b.{0,30}\bresultaten\b|ing(?:a|en) (?:resultat\w*|träffar|treff)|ei tuloksia|"
    r"nie znaleziono|brak wyników|žádné výsledky|nincs találat|sonuç bulunamadı|sonuç yok|"
    # Russian, Ukrainian, Chinese, Japanese and Korean
    r"ничего не (?:найдено|нашлось)|\bрезультат\w* не найден\w*|нет результатов|нічого не знайдено|"
    r"(?:没有|没|未能?|找不到|無|无|查無|沒有)(?:找到|搜索到|搜尋到|检索到|檢索到|发现|發現|搜到|查到)?.{0,20}"
    r"(?:结果|結果|内容|內容|文档|文檔|信息|资料|資料)|"
    r"結果(?:が|は).{0,20}(?:ありません|見つかりません|なし)|該当.{0,20}(?:ありません|見つかりません)|"
    r"결과(?:가|를|는)? ?(?:없|찾을 수 없)|"
    # Arabic, Hindi, Vietnamese, Indonesian and Hebrew
    r"لم (?:يتم|أجد|نعثر).{0,30}نتائج|لا توجد نتائج|कोई परिणाम नहीं|"
    r"không (?:tìm thấy|có).{0,20}kết quả|tidak (?:ada|ditemukan).{0,20}hasil|לא נמצאו תוצאות",
    re.IGNORECASE,
)
"""Sentences that say in other languages that nothing was found."""
_SHORT = 200
"""Most characters of a text that is such a sentence, or says that a request was blocked, and nothing else."""
_BLOCKED = re.compile(
    r"\W*(?:(?:http )?(?:40\d|429|5\d\d)\b\W*(?:client|server|forbidden|unauthori[sz]ed|not found|too many|bad|internal|"
    r"service|gateway|error|access)|access (?:was )?denied|(?:please )?(?:verify|confirm)\b.{0,20}\bhuman\b|"
    r"(?:are|prove) you\b.{0,20}\b(?:human|robot)\b|.{0,80}\bcaptcha\b|(?:just|one) a? ?moment\b|"
    r"unauthori[sz]ed\b|forbidden\b|(?:invalid|missing|incorrect|no) (?:api|access|auth\w*) ?(?:key|token)|"
    r"(?:your |the )?request\b.{0,20}\b(?:blocked|denied|rejected)|quota\b|(?:monthly |daily |usage )?limit\b.{0,20}"
    r"\b(?:reached|exceeded)|(?:the )?(?:service|server|search engine|site)\b.{0,20}\bunavailable|blocked by\b|"
    r"(?:enable|turn on) javascript|checking your browser|you have been blocked)",
    re.IGNORECASE,
)
"""Beginnings of what a server says to a client that it does not answer."""
_BETWEEN = re.compile(r"\n={5,}\n")
"""The separator between the outputs of several queries."""
_BARE_TITLE = re.compile(r"^[ \t]*+(?P<number>\d{1,3})\. \[(?P<title>[^\n]+)\]$", re.MULTILINE)
_ASKED = re.compile(
    r"\A\s*A (?:Google )?search for '(?P<query>.*?)' found (?P<count>\d+) results?:?", re.DOTALL
)
_LINK_PREFIX = r"[ \t]*+(?:#{1,6}[ \t])?+[ \t]*+"
_NUMBERED_LINK = re.compile(_LINK_PREFIX + r"(?:\d++[.)]|\[\d++\]|[-*])[ \t]*+[*_]{0,2}\[")
_BARE_LINK = re.compile(_LINK_PREFIX + r"[*_]{0,2}\[")
_LINK_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*+:", re.IGNORECASE)
_LINK_END = re.compile(r"\)[*_]{0,2}+(?:[ \t]*+[-–—:|][ \t]++(?=\S)|[ \t]*+$)")
_NOT_BLANK = re.compile(r"\S*+")
_TITLED = re.compile(
    r"^[ \t]*+Doc(?:ument)?[ \t]*+\d++[ \t]*+\(Title:[ \t]*+(?P<title>(?:[^()\n]++|\([^()\n]*+\))*+)\)[ \t:]*+",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBERED = re.compile(
    r"^[ \t]*+\((?P<line>\d{1,4})\)|(?<=\s)\((?P<titled>\d{1,4})\)(?=[ \t]*+\"?Title:)",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBERED_TITLE = re.compile(r"[ \t]*+Title:", re.IGNORECASE)
_NUMBERED_TEXT = re.compile(r"Text:[ \t]*+", re.IGNORECASE)
_RECORD_LINE = re.compile(
    r"^[ \t]*+(?:\[?\d++[\].):]*+[ \t]*+|[-*][ \t]++)?[*_]{0,2}(?P<name>title|page|url|link|source|href|snippet|content|summary|text|"
    r"description|abstract|body|doc ?id|document ?id|id|score)[*_]{0,2}+[ \t]*+:[*_]{0,2}+[ \t]*+",
    re.IGNORECASE | re.MULTILINE,
)
_INLINE_RECORD = re.compile(r"(?:^|, )(snippet|title|link): ")
_PASSAGE = re.compile(
    r"^[ \t]*+(?:(?:Doc(?:ument)?|Passage|Result|Source)[ \t]*+\[?(?P<word>\d{1,9}+)\]?[ \t]*+[:.)]|"
    r"\[(?P<box>\d{1,9}+)\][:.]?|(?P<list>\d{1,9}+)[.)])[ \t]++",
    re.IGNORECASE | re.MULTILINE,
)
_EMPTIED = re.compile(r"(?<![ \t])[ \t]*\(?(?:(?:source|url|link):[ \t]*)?\0\)?", re.IGNORECASE)
_URL = re.compile(r"https?://[^\s<>\"')\]]+")
_ADDRESSES = re.compile(r"https?://(?:[^\s<>\"'()\[\]{}|\\]|\([^\s<>\"'()]*+\))++")
_DATED = re.compile(r"^(?:Date published|Source):[^\n]*\n?", re.MULTILINE)
_PAPER = re.compile(
    r"^Published: [^\n]*+\nTitle: (?P<title>[^\n]*+)\nAuthors: [^\n]*+\nSummary: ", re.MULTILINE
)
_FOOTNOTE = re.compile(
    r"(?:\[\^?|【)(\d{1,3}(?:[ \t]{0,3},[ \t]{0,3}\d{1,3})*+)(?:†[^\]】\n]{0,80})?[\]】](?![(\w])"
)
"""A number, or several, in brackets: `[1]`, `[1, 2]`, `[^3]`, `【4†source】`."""
_DIGITS = re.compile(r"\d+")
_TABLE_RULE = re.compile(r"\|?(?:[ \t]*+:?-++:?[ \t]*+\|)++(?:[ \t]*+:?-++:?)?[ \t]*+")
_CELLS = re.compile(r"(?<!\\)\|")
_CELL_LINK = re.compile(r"[*_]{0,2}\[(?P<title>[^\[\]]*)\]\((?P<url>https?://[^\s]+)\)[*_]{0,2}")
_SOURCE_LINE = re.compile(
    r"[ \t*_>(\[-]*+(?:source|url|link|from)[*_]*+:[*_]*+[ \t]*+<?(?P<url>https?://[^\s<>]++)>?[ \t)\]*_]*+\Z",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"https?://")
_BULLET = re.compile(r"(?:[-*•]|\d+[.)])[ \t]*")
_BEFORE_ADDRESS = "-–—:|("
"""Characters between the title of a page and its address in one line."""
_TEXTS = frozenset(ALIASES["snippet"])
_NAMES = {"page": "title", "summary": "text", "abstract": "text", "docid": "id", "documentid": "id"}


def find_groups_in_text(text: str) -> list[Group] | None:
    """Return the results of a text, one group per query if it is split by query; None if it cannot be parsed."""
    parts = _BETWEEN.split(text)
    groups = []
    for part in parts:
        values = _read_results(part)
        if values is None:
            return None
        asked = _ASKED.match(part)
        groups.append((asked["query"] if asked else None, values))
    return groups


def find_addresses(text: str) -> list[str]:
    """Return the web addresses in a text, each once.

    >>> find_addresses("See [the tower](https://en.wikipedia.org/wiki/Eiffel_(tower)), or https://e.org/a.")
    ['https://en.wikipedia.org/wiki/Eiffel_(tower)', 'https://e.org/a']
    """
    addresses = (match.rstrip(".,;:!?*_`") for match in _ADDRESSES.findall(text)) if "://" in text else ()
    return list(dict.fromkeys(addresses))


def find_footnotes(text: str) -> list[int]:
    """Return the numbers of the footnotes in an answer, each once; a number that is a link names its own address.

    >>> find_footnotes("It is tall [2], and old [1, 3]. See [4](https://e.org) and 【5†source】; 10 [m].")
    [2, 1, 3, 5]
    """
    marks = _FOOTNOTE.findall(text) if "[" in text or "【" in text else ()
    return list(dict.fromkeys(int(number) for mark in marks for number in _DIGITS.findall(mark)))


def is_empty(text: str) -> bool:
    """Return whether a text says that nothing was found, or that the search failed."""
    bare = text.strip()
    if not bare or _NOTHING.fullmatch(bare) is not None or is_failure_text(bare):
        return True
    return len(bare) <= _SHORT and "://" not in bare and _NOTHING_ELSEWHERE.search(bare) is not None


def is_failure_text(text: str) -> bool:
    """Return whether a text says that the search failed, or that its request was blocked.

    >>> is_failure_text("429 Too Many Requests"), is_failure_text("404 Not Found: the history of an error")
    (True, True)
    >>> is_failure_text("500 days of summer")
    False
    """
    bare = text.strip()
    return _FAILED.fullmatch(bare) is not None or (len(bare) <= _SHORT and _BLOCKED.match(bare) is not None)


def _read_results(text: str) -> list[Json] | None:
    if is_empty(text):
        return []
    # the order is precedence: marked-up forms first, since passages, records and tables also occur inside them
    readers: tuple[Callable[[str], list[Json]], ...] = (
        read_elements,
        _read_link_lists,
        _read_markdown_table,
        _read_links,
        _read_titled,
        _read_numbered,
        _read_inline,
        _read_papers,
        read_sections,
        _read_records,
        _read_sourced,
        _read_passages,
        _read_addresses,
        _read_table,
    )
    for read in readers:
        if values := read(text):
            return values
    asked = _ASKED.match(text)
    count = None if asked is None else int(asked["count"])
    if (values := _read_bare_titles(text)) and count in {None, len(values)}:
        return values
    return [] if count == 0 else None


def _read_bare_titles(text: str) -> list[Json]:
    """Read `1. [title]` and its passage below, as the Tongyi client of BrowseComp-Plus shows results."""
    starts: list[re.Match[str]] = []
    for match in _BARE_TITLE.finditer(text):
        if int(match["number"]) == len(starts) + 1:  # others are part of a passage
            starts.append(match)
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return [
        {"title": start["title"], "text": text[start.end() : end].strip()}
        for start, end in zip(starts, ends, strict=False)
    ]


def _read_links(text: str) -> list[Json]:
    """Read `1. [title](url)`, each followed by its snippet."""
    links: list[tuple[int, int, str, str]] = []
    start = 0
    for line in text.split("\n") if "](" in text else ():
        for prefix in (_NUMBERED_LINK, _BARE_LINK):
            opened = prefix.match(line)
            if opened is not None and (link := _find_link(line, opened.end())):
                title, url, end = link
                links.append((start, start + end, title, url))
                break
        start += len(line) + 1
    starts = [*(link[0] for link in links[1:]), len(text)]
    return [
        {"title": title, "url": url, "snippet": _DATED.sub("", text[end:following]).strip()}
        for (_, end, title, url), following in zip(links, starts, strict=False)
    ]


def _find_link(line: str, start: int) -> tuple[str, str, int] | None:
    """Return the title and the URL of the link whose title starts here, and its end in the line."""
    at = line.find("](", start)
    while at >= 0:
        scheme = _LINK_SCHEME.match(line, at + 2)
        word = None if scheme is None else _NOT_BLANK.match(line, at + 2)
        if word is not None and scheme is not None:
            closing = line.rfind(")", scheme.end() + 1, word.end())
            while closing > scheme.end() and word.end() - closing <= len(")**:"):
                if (end := _LINK_END.match(line, closing)) is not None:
                    return line[start:at], line[at + 2 : closing], end.end()
                closing = line.rfind(")", scheme.end() + 1, closing)
            # a later URL within the same word would end no better
            at = line.find("](", word.end())
        else:
            at = line.find("](", at + 2)
    return None


def _read_link_lists(text: str) -> list[Json]:
    """Read `Links: [{"title": …, "url": …}]`, a list for each search, as Claude Code's WebSearch shows results."""
    links: list[Json] = []
    for line in text.split("\n") if "Links: [" in text else ():
        if line.startswith("Links: ["):
            try:
                links += json.loads(line.removeprefix("Links: "))
            except ValueError:
                return []
    return links


def _read_table(text: str) -> list[Json]:
    """Read CSV or tab-separated lines whose first names fields, two at least."""
    header, _, below = text.strip().partition("\n")
    separator = "\t" if "\t" in header else ","
    names = [name.strip().strip('"').lower() for name in header.split(separator)]
    if len(names) < 2 or len(set(names) & _FIELDS) < 2 or not below.strip():
        return []
    rows = list(csv.reader(io.StringIO(text.strip()), delimiter=separator))[1:]
    if any(len(row) != len(names) for row in rows if row):
        return []
    return [dict(zip(names, row, strict=True)) for row in rows if row]


def _read_markdown_table(text: str) -> list[Json]:
    """Read a table of Markdown with two of our fields, or with links, in its columns."""
    lines = [line.strip() for line in text.split("\n")]
    at = next((at for at, line in enumerate(lines) if _TABLE_RULE.fullmatch(line)), 0)
    if not at or "|" not in lines[at - 1]:
        return []
    names = [name.strip("*_ ").lower() for name in _split_cells(lines[at - 1])]
    rows = [_split_cells(line) for line in takewhile(lambda line: "|" in line, lines[at + 1 :])]
    records = [_read_cells(names, row) for row in rows]
    return list(records) if records and all(len(record) > 1 for record in records) else []


def _split_cells(line: str) -> list[str]:
    return [cell.replace("\\|", "|").strip() for cell in _CELLS.split(line.strip().strip("|"))]


def _read_cells(names: list[str], row: list[str]) -> JsonObject:
    record: JsonObject = {}
    for name, cell in zip(names, row, strict=False):
        link = _CELL_LINK.fullmatch(cell)
        if link is not None:
            record.setdefault("title", link["title"])
            record["url"] = link["url"]
        elif name in _FIELDS and cell:
            record[name] = cell.strip("<>") if _URL.match(cell.strip("<>")) else cell
    return record


def _read_sourced(text: str) -> list[Json]:
    """Read texts that each begin, or end, with a line `Source: URL`."""
    lines = [line for line in text.strip().split("\n") if not _RULE.fullmatch(line)]
    marks = [at for at, line in enumerate(lines) if _SOURCE_LINE.match(line)]
    # sections under headings are one report, of which the addresses are a part
    if not marks or any(line.startswith("#") for line in lines):
        return []
    if marks[0] == 0:
        parts = [lines[start:end] for start, end in pairwise([*marks, len(lines)])]
    elif marks[-1] == len(lines) - 1:
        parts = [lines[start:end] for start, end in pairwise([0, *(at + 1 for at in marks)])]
    else:
        return []
    return [_read_sourced_part(part) for part in parts]


def _read_sourced_part(lines: list[str]) -> JsonObject:
    matched = next(filter(None, map(_SOURCE_LINE.match, lines)))
    body = "\n".join(line for line in lines if not _SOURCE_LINE.match(line)).strip()
    return {"url": matched["url"].rstrip(")]*_"), **({"text": body} if body else {})}


def _read_addresses(text: str) -> list[Json]:
    """Read lines that each end with an address, after its title if it has one."""
    found = [_read_address(line) for line in text.strip().split("\n") if line.strip()]
    if None in found or (len(found) == 1 and found[0] is not None and "title" in found[0]):
        return []
    return list(filter(None, found))


def _read_address(line: str) -> JsonObject | None:
    """Return the address that is the last word of a line, and its title; None if the line is something else.

    By hand, for a pattern with a title of any characters before the address takes quadratic time on long lines.
    """
    *before, last = line.rsplit(maxsplit=1)
    start = _SCHEME.search(last)
    url = last[start.start() :].removesuffix(")").removesuffix(">") if start else ""
    if start is None or url == start[0] or any(mark in url for mark in "<>)"):
        return None
    lead = " ".join([*before, last[: start.start()]]).strip().removesuffix("<").rstrip()
    lead = lead[found.end() :] if (found := _BULLET.match(lead)) else lead
    if not lead:
        return {"url": url}
    title = lead[:-1].rstrip()
    return {"url": url, "title": title} if title and lead[-1] in _BEFORE_ADDRESS else None


def _read_titled(text: str) -> list[Json]:
    """Read `Doc 1(Title: "…") text`, as Search-R1 shows passages."""
    return [
        {"title": match["title"].strip().strip('"'), "text": below.strip()}
        for match, below in _split_at(_TITLED, text)
    ]


def _read_numbered(text: str) -> list[Json]:
    """Read `(1)Title: … Text: …`, `(2)"Title: …"` or `(3)…`, as R1-Searcher shows passages: numbered from 1."""
    starts: list[re.Match[str]] = []
    for match in _NUMBERED.finditer(text):
        if int(match["line"] or match["titled"]) == len(starts) + 1:
            starts.append(match)
    if not starts or text[: starts[0].start()].strip():
        return []
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return [_parse_numbered(text[start.end() : end].strip()) for start, end in zip(starts, ends, strict=True)]


def _parse_numbered(passage: str) -> JsonObject:
    """Return a passage, which may be quoted as in CSV, with its title: before `Text:`, or quoted on the first line."""
    if len(passage) > 1 and passage[0] == passage[-1] == '"' and "\n" not in passage.partition('"\n')[0]:
        passage = passage[1:-1].replace('""', '"')
    titled = _NUMBERED_TITLE.match(passage)
    body = None if titled is None else _NUMBERED_TEXT.search(passage, titled.end())
    if titled is not None and body is not None:
        title = passage[titled.end() : body.start()].strip()
        title = title[1:-1] if len(title) > 1 and title[0] == title[-1] == '"' else title
        return {"title": title, "text": passage[body.end() :].strip()}
    first, _, below = (line.strip() for line in passage.partition("\n"))
    if below and len(first) > 2 and first[0] == first[-1] == '"':
        return {"title": first[1:-1], "text": below}
    return {"text": passage}


def _read_inline(text: str) -> list[Json]:
    """Read `snippet: …, title: …, link: …` on one line, as LangChain shows DuckDuckGo's results."""
    bare = text.strip()
    if bare.startswith("[snippet: ") and bare.endswith("]"):  # as older versions write them
        bare = bare[1:-1].replace("], [snippet: ", ", snippet: ")
    if not _INLINE_RECORD.match(bare) or bare.count("link: ") < 1:
        return []
    return _group_parts([(match[1], below) for match, below in _split_at(_INLINE_RECORD, bare)])


def _read_papers(text: str) -> list[Json]:
    """Read `Published: … Title: … Authors: … Summary: …` on lines of their own, as LangChain shows papers of arXiv."""
    parts = _split_at(_PAPER, text)
    if not parts or text[: parts[0][0].start()].strip():
        return []
    return [{"title": match["title"].strip(), "text": below.strip()} for match, below in parts]


def _read_records(text: str) -> list[Json]:
    """Read lines `Title: …`, `URL: …`, `Content: …`; a repeated name starts a new record."""
    named = [
        (match["name"].lower().replace(" ", ""), below) for match, below in _split_at(_RECORD_LINE, text)
    ]
    return [
        _parse_metadata(_cut_lines(record))
        for record in _group_parts([(_NAMES.get(name, name), below) for name, below in named])
    ]


def _cut_lines(record: JsonObject) -> JsonObject:
    """Return a record whose address ends with its line; what follows is the text, if it has no other."""
    cut = dict(record)
    for name in ("url", "link", "href", "source"):
        first, _, rest = str(record.get(name) or "").partition("\n")
        if rest and _URL.match(first):
            cut[name] = first.strip()
            if rest.strip() and _TEXTS.isdisjoint(record):
                cut["text"] = rest.strip()
    return cut


def _parse_metadata(record: JsonObject) -> JsonObject:
    """Return a record with the metadata that its source holds as a printed dict, as in LangChain's guides."""
    source = record.get("source")
    if not isinstance(source, str) or not source.startswith("{"):
        return record
    try:
        return {**record, "metadata": parse_python(source)}
    except NotPython:
        return record


def _read_passages(text: str) -> list[Json]:
    """Read passages numbered from 1: their first line is the title if more follow, their first URL the URL.

    A bare list must have a URL in every entry, since answers in prose have lists as well.
    """
    matches = _split_at(_PASSAGE, text)
    if any(match.lastgroup == "list" and not _URL.search(below) for match, below in matches):
        return []
    if [int(match[match.lastgroup or 0]) for match, _ in matches] != list(range(1, len(matches) + 1)):
        return []
    return [_passage(below.strip()) for _, below in matches]


def _passage(text: str) -> JsonObject:
    match = _URL.search(text)
    bare = _EMPTIED.sub("", text.replace(match[0], "\0")) if match else text
    title, _, below = (line.strip() for line in bare.partition("\n"))
    if not below:
        return {"url": match and match[0], "text": title}
    return {"url": match and match[0], "title": title.strip(" -–—:|*_"), "text": below}


def _group_parts(named: list[tuple[str, str]]) -> list[Json]:
    """Group named parts into records; all are dropped unless every record has at least two parts."""
    records: list[JsonObject] = []
    for name, below in named:
        if not records or name in records[-1]:
            records.append({})
        records[-1][name] = _number(below) if name == "score" else _strip_rule(below).rstrip(",")
    complete = [record for record in records if len(record) > 1]
    return complete if len(complete) == len(records) else []


def _strip_rule(text: str) -> str:
    """Return a text without the line below it that separates records."""
    bare = text.strip()
    body, _, last = bare.rpartition("\n")
    return body.strip() if _RULE.fullmatch(last) else bare


def _number(text: str) -> float | str:
    try:
        return float(text.strip())
    except ValueError:
        return text.strip()


def _split_at(pattern: re.Pattern[str], text: str) -> list[tuple[re.Match[str], str]]:
    """Return each match with the text between its end and the next match."""
    matches = list(pattern.finditer(text))
    ends = [*(match.start() for match in matches[1:]), len(text)]
    return [(match, text[match.end() : end]) for match, end in zip(matches, ends, strict=False)]


class NotPython(Exception):
    """A text that is not a Python literal."""


def parse_python(text: str) -> Json:
    """Parse a value printed by Python; an object becomes a dict of its keyword arguments.

    >>> parse_python("[Document(page_content='Paris', metadata={'score': 0.9})]")
    [{'page_content': 'Paris', 'metadata': {'score': 0.9}}]
    """
    try:
        node = ast.parse(text.strip(), mode="eval").body
        if isinstance(node, ast.Call) and node.args:
            raise NotPython
        return _value(node)
    # MemoryError is what `ast.parse` raises for some texts that are nested too deeply
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        raise NotPython from None


def _value(node: ast.expr) -> Json:
    """Return the value of one node; nothing is executed."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {_value(key): _value(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    if isinstance(node, ast.Call):
        return _call_value(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    raise NotPython


def _call_value(node: ast.Call) -> Json:
    """Return the keyword arguments of an object, the one thing that `UUID('…')` wraps, or the text of another call."""
    if not node.args:
        return {item.arg: _value(item.value) for item in node.keywords if item.arg}
    if isinstance(node.func, ast.Name) and len(node.args) == 1:
        return _value(node.args[0])  # UUID('…'), float32(0.5)
    return ast.unparse(node)  # datetime.datetime(2024, 1, 1)
