"""Logs that are text without names: Yandex (a line for each query and each click), MIND (`N1-1 N2-0`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

from judged.clicks.tables import WHOLE_LOG, Log
from judged.io.open import File, read_text
from judged.problem import Problems
from judged.wording import counted

_YANDEX = re.compile(rb"[^\t]+\t\d+\t[QC]\t[^\t\n]+")
_MIND = re.compile(rb"[^\t]+\t[^\t]+\t[^\t]+\t[^\t]*\t\S+-[01]( \S+-[01])*\s*$")
_MIND_TIME = "%m/%d/%Y %I:%M:%S %p"


def recognise(head: bytes) -> Callable[[File], Log] | None:
    """Return the reader of a text, by its first line; None for one that may be a table."""
    first = head.lstrip(b"\r\n").partition(b"\n")[0].rstrip(b"\r")
    if _YANDEX.match(first):
        return read_yandex
    if _MIND.match(first):
        return read_mind
    return None


def read_yandex(file: File) -> Log:
    """Return the log of Yandex's challenges: `session⇥time⇥Q⇥query⇥region⇥urls…` and `session⇥time⇥C⇥url`.

    A click belongs to the last results of its session that have the URL. Times are in units that Yandex does not say.
    """
    problems = Problems(file.label)
    log = Log({}, problems, form="yandex")
    sessions: list[str] = []
    impressions: list[int] = []
    queries: list[str] = []
    documents: list[str] = []
    ranks: list[int] = []
    clicks: list[int] = []
    shown: dict[str, dict[str, int]] = {}
    stray = count = 0
    for number, line in enumerate(bytes(read_text(file)).decode(errors="replace").split("\n"), start=1):
        parts = line.rstrip("\r").split("\t")
        if parts == [""]:
            continue
        if len(parts) > 5 and parts[2] == "Q":
            session, _, _, query, _, *urls = parts
            count += 1
            places = shown.setdefault(session, {})
            for rank, url in enumerate(urls, start=1):
                places[url] = len(documents)
                sessions.append(session)
                impressions.append(count)
                queries.append(query)
                documents.append(url)
                ranks.append(rank)
                clicks.append(0)
        elif len(parts) == 4 and parts[2] == "C":
            row = shown.get(parts[0], {}).get(parts[3])
            if row is None:
                stray += 1
            else:
                clicks[row] += 1
        else:
            expected = "expected `session⇥time⇥Q⇥query⇥region⇥url…` or `session⇥time⇥C⇥url`"
            problems.add_line("malformed-line", number, f"{counted(len(parts), 'column')}, {expected}")
    problems.raise_if_any()
    _note_stray(log, stray)
    log.columns = {
        "session": sessions,
        "impression": impressions,
        "query": queries,
        "document": documents,
        "rank": ranks,
        "click": clicks,
    }
    return log


def read_mind(file: File) -> Log:
    """Return the behaviours of MIND: `impression⇥user⇥time⇥history⇥N1-1 N2-0`, whose order is shuffled."""
    problems = Problems(file.label)
    log = Log({}, problems, form="mind", missing_queries=True)
    columns: dict[str, list[object]] = {
        name: [] for name in ("impression", "user", "time", "query", "document", "click")
    }
    for number, line in enumerate(bytes(read_text(file)).decode(errors="replace").split("\n"), start=1):
        parts = line.rstrip("\r").split("\t")
        if parts == [""]:
            continue
        if len(parts) != 5 or not all(item[-2:] in {"-0", "-1"} for item in parts[4].split()):
            expected = "expected `impression⇥user⇥time⇥history⇥N1-1 N2-0 …`"
            problems.add_line("malformed-line", number, f"{counted(len(parts), 'column')}, {expected}")
            continue
        try:
            time = datetime.strptime(parts[2], _MIND_TIME).replace(tzinfo=UTC).timestamp()
        except ValueError:
            problems.add_line(
                "bad-time", number, f"time is `{parts[2]}`, expected e.g. `11/11/2019 9:05:58 AM`"
            )
            continue
        for item in parts[4].split():
            document, _, click = item.rpartition("-")
            values = (parts[0], parts[1], time, WHOLE_LOG, document, int(click))
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
    problems.raise_if_any()
    log.columns = dict(columns)
    return log


def _note_stray(log: Log, stray: int) -> None:
    if stray:
        message = f"{counted(stray, 'click')} on documents that were not shown before: left out"
        log.note("stray-clicks", message, "warning")
