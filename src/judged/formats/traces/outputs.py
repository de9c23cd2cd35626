"""What search tools give back → the values of their results, in the shapes that are common."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Unparsed", "groups_of"]

Group = tuple[str | None, list[Any]]
"""A query, where the output names it, and the values of its results."""

LISTS = (
    "results",
    "documents",
    "data",
    "organic",
    "organic_results",
    "items",
    "hits",
    "value",
    "webPages",
    "web",
    "nodes",
    "source_nodes",
)


class Unparsed(Exception):  # noqa: N818 - it is caught and worded, never shown
    """An output that holds results in no known way; its message says what was got."""


def groups_of(output: Any) -> list[Group]:
    """The results of an output, one group for each query that it tells apart, most often one."""
    if isinstance(output, str):
        try:
            output = msgspec.json.decode(output)
        except (msgspec.DecodeError, RecursionError):
            raise Unparsed(f"its output cannot be read as results: {output[:60]!r}") from None
    return [(None, _values(output))]


def _values(output: Any) -> list[Any]:
    if output is None:
        return []
    if isinstance(output, list):
        return output
    if isinstance(output, dict):
        for name in LISTS:
            if isinstance(output.get(name), (list, dict)):
                return _values(output[name])
    raise Unparsed(f"its output cannot be read as results: {str(output)[:60]}")
