"""What a trace holds that no reader took: fields that look like searches or their results, named by their place."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from judged.agents.traces.json_values import Json, get_str
from judged.agents.traces.results.outputs import LISTS, is_result
from judged.agents.traces.results.tools import is_search_name

CALLS = ("name", "tool", "tool_name", "toolName", "function", "type", "method")
"""Fields that name what is called."""
REQUESTS = (
    "web_search_requests",
    "num_search_queries",
    "search_requests",
    "web_search_calls",
    "x_search_calls",
)
"""Fields that count searches whose results are not in the trace."""
CITED = frozenset(
    ("citations", "references", "annotations", "groundingChunks", "retrieved", "contexts", "context")
)
OFFERED = frozenset(("tools", "functions", "tool_choice", "available_tools", "tool_definitions"))
"""Fields that say what may be called."""
_LISTS = frozenset(LISTS) | CITED
_DEEPEST = 12
_MOST = 20_000
"""Limit of the values that are looked at."""


def find_unread(documents: Iterable[Json]) -> str | None:
    """Return the place of the first field that looks like a search, and what it seems to be; None if there is none.

    Lists of results are looked for first, then calls of tools whose names are those of searches, then counts of searches.

    >>> find_unread([{"log": [{"hits": [{"title": "A tower", "url": "https://example.org"}]}]}])
    '`log[0].hits` looks like results of a search'
    """
    found: dict[str, str] = {}
    for number, (path, name, value) in enumerate(_walk(documents)):
        kind = _classify(name, value)
        if kind is not None:
            found.setdefault(kind, path)
        if number > _MOST or "results of a search" in found:
            break
    for kind in ("results of a search", "a call of a search", "a count of searches"):
        if kind in found:
            return f"`{found[kind]}` looks like {kind}"
    return None


def _classify(name: str, value: Json) -> str | None:
    """Return what a field looks like, None for anything else."""
    if isinstance(value, list) and name in _LISTS:
        entries = [item for item in value if isinstance(item, dict)]
        addressed = any(
            any(get_str(item, key).startswith("http") for key in ("url", "link", "uri")) for item in entries
        )
        if entries and (addressed or all(is_result(item) and "role" not in item for item in entries)):
            return "results of a search"
    if isinstance(value, str) and name in CALLS and len(value) < 80 and is_search_name(value):
        return "a call of a search"
    if name in REQUESTS and isinstance(value, int) and value > 0:
        return "a count of searches"
    return None


def _walk(documents: Iterable[Json]) -> Iterator[tuple[str, str, Json]]:
    """Yield each field with its path and its name, the nearest to the top first in every object."""
    waiting = deque(("", "", document) for document in documents)
    while waiting:
        path, name, value = waiting.popleft()
        if path:
            yield path, name, value
        if path.count(".") + path.count("[") > _DEEPEST:
            continue
        if isinstance(value, dict):
            fields = ((key, item) for key, item in value.items() if key not in OFFERED)
            waiting += [(f"{path}.{key}".lstrip("."), key, item) for key, item in fields]
        elif isinstance(value, list):
            waiting += [
                (f"{path}[{at}]", name, item)
                for at, item in enumerate(value)
                if isinstance(item, (dict, list))
            ]
