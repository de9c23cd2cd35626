"""Which tools are searches, and where the query and the results lie in what goes in and comes out."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from judged.formats.traces.outputs import Unparsed, groups_of

__all__ = ["Tools", "Unparsed"]

_SEARCH = re.compile(
    r"search|retriev|query_engine|wikipedia|arxiv|tavily|exa|brave|duckduckgo|serper|serpapi|bing", re.I
)
_OTHER = re.compile(
    r"visit|open|fetch|get_document|browse|read|scrape|click|finish|lookup|calculator|python|code", re.I
)
_QUERIES = (
    "query",
    "queries",
    "q",
    "search_query",
    "search_term",
    "question",
    "input",
    "text",
    "keywords",
    "term",
)


class Tools:
    """What is known of tools: which are searches, and how to read them."""

    def is_search(self, tool: str) -> bool | None:
        """Whether a tool is a search; None if nothing tells."""
        if _SEARCH.search(tool):
            return True
        return False if _OTHER.search(tool) else None

    def queries(self, tool: str, arguments: Any) -> list[str]:
        """The queries of a call, in order; none where its arguments hold none."""
        if isinstance(arguments, str):
            try:
                arguments = msgspec.json.decode(arguments)
            except (msgspec.DecodeError, RecursionError):
                return [arguments] if arguments.strip() else []
        if isinstance(arguments, dict):
            arguments = next((arguments[name] for name in _QUERIES if arguments.get(name)), None)
        if isinstance(arguments, list):
            return [each for each in arguments if isinstance(each, str)]
        return [arguments] if isinstance(arguments, str) else []

    def found(self, tool: str, output: Any, queries: list[str]) -> list[tuple[str | None, list[Any]]]:
        """The values of the results in a tool's output, by query; raises Unparsed where it cannot be read."""
        groups = groups_of(output)
        if len(groups) == len(queries):
            return [(query, values) for query, (_, values) in zip(queries, groups, strict=True)]
        if len(groups) == 1:
            return [("\n".join(queries) or None, groups[0][1])]
        return list(groups)

    def results(self, tool: str, output: Any) -> list[tuple[str | None, list[Any]]]:
        """The values of the results in a tool's output, whatever was asked."""
        return self.found(tool, output, [])
