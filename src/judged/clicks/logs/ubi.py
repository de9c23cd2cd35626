"""User Behavior Insights, the logs of OpenSearch: events by impression, with the queries that they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judged.clicks.tables import Log
from judged.errors import BadInput, BadMeasure
from judged.io.scores.content import open_content
from judged.problem import Problem, Problems
from judged.wording import counted, name_setting, name_some

SHOWN = "impression"
"""The action of the events that say what was shown, as OpenSearch counts them."""


@dataclass(slots=True)
class _Impression:
    """One showing of results."""

    query: str | None = None
    user: str | None = None
    session: str | None = None
    time: Any = None
    shown: dict[str, float | None] = field(default_factory=dict)
    """The rank of each document; None where the event does not say it."""
    clicked: dict[str, Any] = field(default_factory=dict)
    """The time of the first click on each document."""
    ranks: dict[str, float] = field(default_factory=dict)
    """The ranks that clicks state."""


def read(source: object, queries: object, actions: Sequence[str]) -> Log:
    """Return the log of `ubi_events`; what was shown are events `impression`, else the hits of `ubi_queries`."""
    events, subject = _open(source, "ubi_events")
    log = Log({}, Problems(subject), form="ubi")
    found: dict[str, _Impression] = {}
    counts: dict[str, int] = {}
    unnamed = 0
    for number, event in enumerate(events):
        action = str(event.get("action_name") or "")
        counts[action] = counts.get(action, 0) + 1
        if action != SHOWN and action not in actions:
            continue
        key = event.get("query_id")
        document = _find(event, "event_attributes", "object", "object_id")
        if not isinstance(key, str | int | float) or key == "":
            unnamed += 1
            continue
        if not isinstance(document, str | int | float) or document == "":
            log.problems.add(
                "no-document", number, f"event `{action}` has no `event_attributes.object.object_id`"
            )
            continue
        impression = found.setdefault(str(key), _Impression())
        _describe(impression, event)
        rank = _find(event, "event_attributes", "position", "ordinal")
        if action == SHOWN:
            impression.shown.setdefault(str(document), rank)
            impression.time = impression.time or event.get("timestamp")
        else:
            impression.clicked.setdefault(str(document), event.get("timestamp"))
            if rank is not None:
                impression.ranks.setdefault(str(document), rank)
    log.problems.raise_if_any()
    by_events = any(impression.shown for impression in found.values())
    if queries is not None:
        _join_queries(found, queries, log, by_events=by_events)
    _check_found(counts, actions, subject, by_events=by_events, queries=queries is not None)
    _note_shown(log, found, unnamed, by_events=by_events)
    _fill(log, found)
    return log


def _open(source: object, what: str) -> tuple[list[Mapping[str, Any]], str]:
    content = open_content(source, name=None)
    rows: Sequence[Mapping[str, Any]] = content.rows
    if content.document is not None:  # the response of a search
        hits = content.document.get("hits")
        inner = hits.get("hits") if isinstance(hits, Mapping) else None
        rows = inner if isinstance(inner, list) else [content.document]
    content.problems.raise_if_any()
    if not rows:
        raise BadInput(content.label, [Problem.error("empty", content.label, f"holds no {what}")])
    return [row["_source"] if isinstance(row.get("_source"), Mapping) else row for row in rows], content.label


def _find(event: Mapping[str, Any], *path: str) -> Any:
    """Return a value by its path, nested or flat: exports to CSV call a column `event_attributes.position.ordinal`."""
    flat = event.get(".".join(path))
    if flat is not None:
        return flat
    value: Any = event
    for at, name in enumerate(path):
        if not isinstance(value, Mapping):
            return None
        rest = ".".join(path[at:])
        value = value.get(name) if name in value else value.get(rest)
        if value is None:
            return None
        if name not in event and rest in event:
            return value
    return value


def _describe(impression: _Impression, event: Mapping[str, Any]) -> None:
    impression.query = impression.query or _text(event.get("user_query"))
    impression.user = impression.user or _text(event.get("client_id") or event.get("user_id"))
    impression.session = impression.session or _text(
        event.get("session_id") or _find(event, "event_attributes", "session_id")
    )


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int | float) and value != "" else None


def _join_queries(found: dict[str, _Impression], queries: object, log: Log, *, by_events: bool) -> None:
    rows, _ = _open(queries, "ubi_queries")
    for row in rows:
        key = row.get("query_id")
        if not isinstance(key, str | int | float) or key == "":
            continue
        hits = row.get("query_response_hit_ids")
        if by_events and str(key) not in found:
            continue
        impression = found.setdefault(str(key), _Impression())
        _describe(impression, row)
        if not by_events and hits is not None:
            ids = hits if isinstance(hits, list) else [hit for hit in str(hits).strip("[]").split(",") if hit]
            impression.shown = {str(hit).strip(): rank for rank, hit in enumerate(ids, start=1)}
            impression.time = row.get("timestamp")
    without = [key for key, impression in found.items() if impression.query is None]
    if without:
        message = f"{counted(len(without), 'impression')} without `user_query`: the id of each is its query"
        log.note("no-user-query", message, "warning")


def _check_found(
    counts: Mapping[str, int], actions: Sequence[str], subject: str, *, by_events: bool, queries: bool
) -> None:
    known = [action for action in counts if action]
    missing = [action for action in actions if action not in counts]
    if len(missing) == len(actions):
        option = name_setting("--action", "action")
        msg = f"{subject} has no event `{', '.join(missing)}`; there: {name_some(known, 8) or 'none'}"
        raise BadMeasure(msg, hint=f"{option} names the actions that count as a click")
    if not by_events and not queries:
        option = name_setting("--queries", "queries")
        message = "no events `impression`, which say what was shown"
        hint = f"give `ubi_queries` with {option}: its `query_response_hit_ids` say it too"
        raise BadInput(subject, [Problem.error("nothing-shown", "events", message)], hint=hint)


def _note_shown(log: Log, found: Mapping[str, _Impression], unnamed: int, *, by_events: bool) -> None:
    source = "events `impression`" if by_events else "`query_response_hit_ids` of the queries"
    log.note("shown", f"what was shown is taken from {source}")
    if unnamed:
        log.note("no-query-id", f"{counted(unnamed, 'event')} without `query_id`: left out", "warning")
    unshown = sum(not impression.shown for impression in found.values())
    if unshown:
        message = f"{counted(unshown, 'impression')} of which nothing says what was shown: left out"
        log.note("nothing-shown", message, "warning")
    stray = sum(
        document not in impression.shown
        for impression in found.values()
        if impression.shown
        for document in impression.clicked
    )
    if stray:
        message = f"{counted(stray, 'click')} on documents that were not shown: left out"
        log.note("stray-clicks", message, "warning")


def _fill(log: Log, found: Mapping[str, _Impression]) -> None:
    """Write the columns, a row for each document that was shown."""
    columns: dict[str, list[Any]] = {
        name: []
        for name in (
            "impression",
            "query",
            "document",
            "rank",
            "click",
            "time",
            "click_time",
            "user",
            "session",
        )
    }
    for key, impression in found.items():
        for document, rank in impression.shown.items():
            stated = impression.ranks.get(document) if rank is None else rank
            values = (
                key,
                impression.query or key,
                document,
                stated,
                int(document in impression.clicked),
                impression.time,
                impression.clicked.get(document),
                impression.user,
                impression.session,
            )
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
    if any(rank is None for rank in columns["rank"]):
        log.note(
            "no-ranks",
            "some events have no `event_attributes.position.ordinal`: ranks are not used",
            "warning",
        )
        del columns["rank"]
    for name in ("user", "session", "click_time", "time"):
        if all(value is None for value in columns[name]):
            del columns[name]
    log.columns = dict(columns)
