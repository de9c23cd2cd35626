"""Ids that are only ranks: numbered from 1 in every answer, they stand for different results and identify none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from judged.agents.tables import Hit, Iteration, Search, Session

_NUMBER = re.compile(r"\d+(?!.*\d)")
_SPELLING = re.compile(r"^[a-z]++://(?:www\.)?+|[?#].*+$|(?<!/)/++$", re.IGNORECASE | re.DOTALL)
"""Parts in which two spellings of one URL may differ."""


def set_ranks_aside(session: Session, counts: Counter[str]) -> Session:
    """Return the session without the ids of tools whose ids do not identify results; count the results that lose theirs.

    That is so if the same id has several URLs (or, without any, several titles), if ids are ranks in every answer and
    name different texts, or if they number the results of all answers and a URL has several.
    """
    answers: dict[str | None, list[tuple[Hit, ...]]] = {}
    for iteration in session.iterations:
        for search in iteration.searches:
            if search.results and search.results[0].id is not None:
                answers.setdefault(search.tool, []).append(search.results)
    ranked = {tool for tool, lists in answers.items() if len(lists) > 1 and _is_ranked(lists)}
    if not ranked:
        return session
    for tool in ranked:
        counts[tool or "search"] += sum(map(len, answers[tool]))
    return replace(session, iterations=tuple(_without_ids(session.iterations, ranked)))


def _is_ranked(answers: list[tuple[Hit, ...]]) -> bool:
    first: dict[str, Hit] = {}
    retold = False
    for results in answers:
        for result in results:
            if result.id is None:
                return False
            known = first.setdefault(result.id, result)
            if known is result:
                continue
            if _differ(known, result):
                return True
            retold = retold or (not (known.url or known.title) and known.snippet != result.snippet)
    return (retold and _are_ranks(answers)) or _are_numbered(answers)


def _differ(one: Hit, other: Hit) -> bool:
    """Return whether two results of one id are different things, by URL if both have one, else by title and text."""
    if one.url and other.url:
        same_title = one.title is not None and one.title == other.title
        return not same_title and _spell(one.url) != _spell(other.url)
    if one.url or other.url or not (one.title and other.title):
        return False
    return one.title.casefold() != other.title.casefold() and one.snippet != other.snippet


def _spell(url: str) -> str:
    return _SPELLING.sub("", _SPELLING.sub("", url)).casefold()


def _are_ranks(answers: Iterable[tuple[Hit, ...]]) -> bool:
    """Return whether the ids of every answer count from the same number, alike in all else."""
    patterns = {
        (_NUMBER.sub("#", result.id or "", count=1), _number(result) - at)
        for results in answers
        for at, result in enumerate(results)
    }
    return len(patterns) == 1


def _are_numbered(answers: list[tuple[Hit, ...]]) -> bool:
    """Return whether the ids count the results of all answers together, and a URL has several."""
    everything = [result for results in answers for result in results]
    urls = {result.url for result in everything if result.url}
    return bool(urls) and len(urls) < len(everything) and _are_ranks([tuple(everything)])


def _number(result: Hit) -> int:
    match = _NUMBER.search(result.id or "")
    return int(match[0]) if match and len(match[0]) < 10 else -1


def _without_ids(iterations: Iterable[Iteration], tools: set[str | None]) -> Iterator[Iteration]:
    for iteration in iterations:
        searches = tuple(_drop(search) if search.tool in tools else search for search in iteration.searches)
        yield replace(iteration, searches=searches)


def _drop(search: Search) -> Search:
    return replace(search, results=tuple(_drop_id(result) for result in search.results))


def _drop_id(result: Hit) -> Hit:
    return replace(result, id=None) if result.url or result.title or result.snippet else result
