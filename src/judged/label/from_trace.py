"""Traces of agents → the pool of their results, each different one once for its task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from judged.dedup.find import find_duplicates
from judged.dedup.rules import Rules
from judged.errors import Unusable
from judged.io.read import read_labels
from judged.label.pool import Item, Pool
from judged.label.texts import Text, read_documents, read_queries
from judged.problem import Place, Problems
from judged.tables.labels import Label
from judged.tables.sessions import Result, Session
from judged.traces.read import stream_sessions
from judged.traces.results.search_tools import Tools
from judged.traces.skipped import Skipped
from judged.traces.turn_choice import TurnChoice

__all__ = ["pool_of_trace"]


@dataclass(frozen=True, slots=True)
class _Found:
    """A result, the query that found it and where: what its id is scoped to, and what messages call the place."""

    result: Result
    tool: str | None
    query: str | None
    place: str


@dataclass(slots=True)
class _Task:
    """All that was found for one task, by any system."""

    question: str | None = None
    found: list[_Found] = field(default_factory=list)


def pool_of_trace(
    sources: Sequence[Any],
    *,
    queries: Any = None,
    docs: Any = None,
    judged: Any = None,
    relabel: bool = False,
    depth: int | None = None,
    rules: Rules | None = None,
    tools: Tools | str | Path | None = None,
    trace_format: str | None = None,
    turn: TurnChoice = "last",
    lenient: bool = False,
) -> Pool:
    """What the agents of traces were given, each different result once for its task.

    What the person wants is the text of the task in `queries`, else the question of the session, else the query
    that found the result. `docs` has the texts of results that the trace shows none of, by their ids.
    """
    skipped = Skipped()
    sessions = (
        session
        for source in sources
        for session in stream_sessions(
            source, format=trace_format, tools=tools, turn=turn, lenient=lenient, skipped=skipped
        )
    )
    tasks = _by_task(sessions, depth)
    for task, text in ({} if queries is None else read_queries(queries, lenient=lenient)).items():
        if task in tasks:
            tasks[task].question = text
    labels = () if judged is None else read_labels(judged).rows
    texts = {} if docs is None else read_documents(docs, _ids(tasks.values()), lenient=lenient)
    maker = _Maker(rules or Rules(), labels, texts, relabel=relabel)
    items = [item for name, task in tasks.items() for item in maker.items(name, task)]
    notes = [*skipped.sentences(), *maker.notes(lenient=lenient)]
    return Pool(
        "trace",
        tuple(items),
        sum(len(task.found) for task in tasks.values()),
        judged=maker.judged,
        notes=tuple(notes),
    )


def _by_task(sessions: Iterable[Session], depth: int | None) -> dict[str, _Task]:
    """Everything found, task by task; the first question that a session of the task has is the task's."""
    tasks: dict[str, _Task] = {}
    for session in sessions:
        task = tasks.setdefault(session.task, _Task())
        task.question = task.question or session.question
        task.found += [
            _Found(result, search.tool, search.query, f"{session.place}, session `{session.conversation}`")
            for iteration in session.iterations
            for search in iteration.searches
            for result in search.results[:depth]
        ]
    return tasks


def _ids(tasks: Iterable[_Task]) -> set[str]:
    found = (each.result for task in tasks for each in task.found)
    return {key for result in found for key in (result.id, result.domain_id) if key is not None}


class _Maker:
    """Makes items of tasks, and counts what becomes none."""

    def __init__(
        self, rules: Rules, labels: Iterable[Label], texts: Mapping[str, Text], *, relabel: bool
    ) -> None:
        self.judged = 0
        self._rules = rules
        self._labels = tuple(labels)
        self._texts = texts
        self._relabel = relabel
        self._places: list[str] = []
        self._faults = Problems("the trace", lambda row: Place(self._places[row]))

    def items(self, name: str, task: _Task) -> Iterator[Item]:
        """An item for every different result that has no gain yet."""
        tools = dict.fromkeys(each.tool for each in task.found)
        known = [
            (_as_result(label), tool)
            for label in self._labels
            if label.task in {None, name}
            for tool in ([label.tool] if label.tool else tools)  # an id without a tool is that of any
        ]
        clusters = find_duplicates(
            [*known, *((each.result, each.tool) for each in task.found)], self._rules
        ).of
        groups: dict[int, list[_Found]] = {}
        for number, each in zip(clusters[len(known) :].tolist(), task.found, strict=True):
            groups.setdefault(number, []).append(each)
        done = set(clusters[: len(known)].tolist())
        for number, group in groups.items():
            if number in done or (not self._relabel and any(each.result.gain is not None for each in group)):
                self.judged += 1
            else:
                yield from self._item(name, task.question, group)

    def _item(self, name: str, question: str | None, group: list[_Found]) -> Iterator[Item]:
        """The item of a group of equal results: its first, with what that lacks from the others."""
        first = group[0]
        shown = {key: _first(group, key) for key in ("url", "title", "snippet")}
        text = self._texts.get(first.result.id or first.result.domain_id or "", Text("", ""))
        title, body = shown["title"] or text.title, text.text or shown["snippet"] or ""
        query = question or next((each.query for each in group if each.query), None)
        if not query:
            self._leave_out("result-without-question", first, "neither question nor search query is there")
        elif not (title + body).strip():
            self._leave_out("result-without-text", first, "neither title nor snippet is there")
        else:
            tool = None if first.result.id is None else first.tool
            keys = {"id": first.result.id, "tool": tool}
            keys |= {"domain": first.result.domain, "domain_id": first.result.domain_id}
            row = {"task": name, **keys, **shown, "intent_from": "question" if question else "search"}
            yield Item(query, title, body, {key: value for key, value in row.items() if value is not None})

    def _leave_out(self, kind: str, found: _Found, what: str) -> None:
        self._places.append(found.place)
        self._faults.add(kind, len(self._places) - 1, f"{_named(found.result)}: {what}")

    def notes(self, *, lenient: bool) -> list[str]:
        """What was left out; strictly, that is refused."""
        if not lenient:
            hint = "give texts with `--docs`, questions with `--queries`, or leave these out with `--lenient`"
            self._faults.raise_if_any(hint=hint, error=Unusable)
        return [f"left out: {kind} ({count:,})" for kind, count in self._faults.counts.items()]


def _first(group: list[_Found], key: str) -> str | None:
    """The first value that a field has in a group."""
    return next((value for each in group if (value := getattr(each.result, key))), None)


def _named(result: Result) -> str:
    """What a message calls a result."""
    key = result.id or result.domain_id or result.url or result.title
    return "a result" if key is None else f"result `{key}`"


def _as_result(label: Label) -> Result:
    """The result that a label speaks of, as far as it tells."""
    told = msgspec.structs.asdict(label)
    return Result(**{key: told[key] for key in ("id", "domain", "domain_id", "url", "title", "snippet")})
