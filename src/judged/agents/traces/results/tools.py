"""Recognition of search tools, and the location of queries and results in their inputs and outputs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

from judged.agents.traces.json_values import Json, preview
from judged.agents.traces.results.fields import ALIASES
from judged.agents.traces.results.outputs import Unparsed, find_groups, is_failure, parse_text
from judged.agents.traces.results.text import Group, is_empty
from judged.errors import BadProtocol
from judged.io.open import open_binary
from judged.io.settings import convert_settings, parse_yaml


class JsonPath:
    """A compiled path; its library is imported when the first one is made."""

    def __init__(self, path: str) -> None:
        import jsonpath

        self.text = path
        try:
            self._compiled = jsonpath.compile(path)
        except jsonpath.JSONPathError as error:
            msg = f"`{path}` is not a JSONPath: {str(error).splitlines()[0]}"
            raise BadProtocol(
                msg, hint="`$.results[*]` are the elements of `results`; RFC 9535 has the syntax"
            ) from None

    def __call__(self, value: Json) -> list[Json]:
        """Return the values that the path leads to, in their order."""
        if not isinstance(value, (dict, list)):
            return []
        return list(self._compiled.findall(value))


SEARCHING = frozenset(
    (
        *("search", "searches", "searcher", "searching", "websearch", "retrieve", "retriever"),
        *("retrieval", "query", "rag", "googler", "similarity"),
    )
)
"""Words that make a tool a search."""

PROVIDERS = frozenset(
    (
        *("tavily", "exa", "brave", "duckduckgo", "ddg", "ddgs", "serper", "serpapi", "bing"),
        *("google", "searxng", "wikipedia", "arxiv", "pubmed", "perplexity", "kagi", "jina"),
        *("linkup", "elasticsearch", "opensearch", "vectorstore", "vectordb", "chroma", "pinecone"),
        *("qdrant", "weaviate", "milvus", "faiss", "bm25"),
    )
)
"""Names of search engines and indexes; their tools are searches unless a word says otherwise."""

OPENING = frozenset(
    (
        *("visit", "open", "fetch", "browse", "browser", "read", "reader", "view", "click", "scroll"),
        *("goto", "navigate", "scrape", "scraper", "crawl", "extract", "download", "load"),
        *("contents", "page", "webpage", "document", "docs", "url", "cite", "lookup", "summarize"),
        *("summarise", "summary"),
    )
)
"""Words of tools that look into something found before."""

ACTING = frozenset(
    (
        *("finish", "answer", "final", "submit", "respond", "reply", "done", "end", "stop", "think"),
        *("thought", "thinking", "plan", "planner", "todo", "todos", "reflect", "note", "notes"),
        *("memory", "remember", "calculator", "calculate", "math", "wolfram", "python", "code"),
        *("interpreter", "exec", "execute", "bash", "shell", "terminal", "run", "sql", "write"),
        *("edit", "replace", "create", "update", "delete", "insert", "send", "email", "post"),
        *("weather", "time", "date", "datetime", "image", "screenshot", "computer", "translate"),
        *("transfer", "handoff", "delegate", "task", "agent", "ask", "str"),
    )
)
"""Words of tools that do something other than searching."""

LOCAL = frozenset(
    ("files", "code", "codebase", "directory", "directories", "folder", "folders", "symbols", "workspace")
)
"""Words of tools that may look through the files of the agent itself, or through documents."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@lru_cache(maxsize=4096)
def is_search_name(tool: str) -> bool | None:
    """Return whether a tool of this name is a search; None if the name does not say.

    >>> [is_search_name(name) for name in ("mcp__kb__search", "GoogleSearch", "tavily_extract", "visit", "frobnicate")]
    [True, True, False, False, None]
    """
    words = [word.lower() for word in _WORD.findall(tool)]
    if not words or words[:2] == ["tool", "search"]:
        return False if words else None  # a search for tools, not for documents
    # before the words of searching: `open_search_result` opens, and `search_replace` edits
    if words[0] in OPENING or words[-1] == "replace":
        return False
    if "grep" in words or "glob" in words:
        return None
    if any(word in SEARCHING or (word.endswith("search") and word != "research") for word in words):
        # a coding agent looks through its own files; `file_search` is OpenAI's search of stored documents
        return None if len(words) > 1 and not LOCAL.isdisjoint(words) else True
    if any(word in OPENING or word in ACTING for word in words):
        return False
    return True if any(word in PROVIDERS for word in words) else None


PAGES = OPENING - {"lookup", "summarize", "summarise", "summary", "cite", "scroll", "click"}
"""Words of tools that open a page or a document."""
OPENED = (
    *("url", "urls", "link", "links", "href", "uri", "docid", "doc_id", "docids", "document_id"),
    *("file_id", "id", "ids"),
)
"""The arguments that name what is opened, in order of precedence."""


def find_opened(tool: str, arguments: Json) -> list[str]:
    """Return the addresses or ids that a call opens; none if the tool opens nothing, or the number of a link.

    >>> find_opened("visit", '{"url": ["https://example.org"], "goal": "height"}'), find_opened("browser.open", {"id": 3})
    (['https://example.org'], [])
    """
    if PAGES.isdisjoint(word.lower() for word in _WORD.findall(tool)):
        return []
    value = parse_text(arguments) if isinstance(arguments, str) else arguments
    if isinstance(value, Mapping):
        name = next((name for name in OPENED if value.get(name)), "")
        # the number of a document is its id; under `id` it is that of a link on the page
        value = (
            str(value[name]) if name.startswith("doc") and isinstance(value[name], int) else value.get(name)
        )
    targets = value if isinstance(value, list) else [value]
    return [
        item.strip() for item in targets if isinstance(item, str) and item.strip() and " " not in item.strip()
    ]


QUERIES = (
    *("query", "queries", "q", "search_query", "search_queries", "query_list", "search_term"),
    *("question", "input", "text", "keywords", "keyword", "term", "terms", "prompt", "objective"),
    *("input_str", "topic", "search", "query_texts", "query_text", "search_text"),
)
"""The arguments that hold queries, in order of precedence."""


class Tool(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One tool of a mapping."""

    search: bool = True
    query: str | None = None
    """The path of the query, or the queries, in the arguments."""
    results: str | None = None
    """The path of the results in the output."""
    fields: dict[str, str] = {}
    """The paths of our fields in a result, by name."""
    whole: bool = False
    """Whether the whole output is one result, its text."""
    separator: str | None = None
    """Separator of the results in an output that is one text."""

    @property
    def has_places(self) -> bool:
        """Whether it says where the results are."""
        return bool(self.results or self.whole or self.fields or self.separator)


class Tools:
    """A mapping of tools by names or patterns of names; other tools are judged by their names."""

    def __init__(self, tools: Mapping[str, Tool] | None = None) -> None:
        self.tools = dict(tools or {})

    def is_search(self, tool: str) -> bool | None:
        """Return whether a tool is a search; None if that is unknown."""
        mapped = self.get(tool)
        return is_search_name(tool) if mapped is None else mapped.search

    def get(self, tool: str) -> Tool | None:
        """Return the mapping's entry for a tool: by its name, or by the first pattern that it matches."""
        if tool in self.tools:
            return self.tools[tool]
        return next((item for pattern, item in self.tools.items() if fnmatchcase(tool, pattern)), None)

    def queries(self, tool: str, arguments: Json) -> list[str]:
        """Return the queries of a call, in order; none if its arguments have none."""
        value = parse_text(arguments) if isinstance(arguments, str) else arguments
        mapped = self.get(tool)
        if mapped is not None and mapped.query is not None:
            return _flatten_texts(self._path(mapped.query)(value))
        return _flatten_texts(_find_query(value))

    def find_results(self, tool: str, output: Json, queries: list[str]) -> list[Group]:
        """Return the values of the results in a tool's output, by query; raise Unparsed if it cannot be parsed."""
        mapped = self.get(tool)
        if mapped is None or not mapped.has_places:
            return _assign_queries(find_groups(output, queries), queries)
        if mapped.separator:
            return _assign_queries([(None, _split_text(output, mapped.separator))], queries)
        if mapped.whole:
            return _assign_queries([(None, [output if isinstance(output, str) else str(output)])], queries)
        value = parse_text(output) if isinstance(output, str) else output
        if mapped.results is None:
            groups = find_groups(value, queries)
        else:
            groups = [(None, self._find_at(mapped.results, value))]
        return _assign_queries(
            [(query, [self._read_result(mapped, value) for value in values]) for query, values in groups],
            queries,
        )

    def _find_at(self, path: str, output: Json) -> list[Json]:
        """Return the values at a path in an output; none if the list is empty or the search failed."""
        find_results = self._path(path)(output)
        if find_results:
            return (
                find_results[0]
                if len(find_results) == 1 and isinstance(find_results[0], list)
                else find_results
            )
        if path.endswith("[*]") and self._path(path.removesuffix("[*]"))(output):
            return []
        if is_empty(output) if isinstance(output, str) else isinstance(output, dict) and is_failure(output):
            return []
        msg = f"its output has nothing at `{path}`: {preview(output)}"
        raise Unparsed(msg)

    def _read_result(self, mapped: Tool, value: Json) -> Json:
        """Return a result with the mapped fields under our names, which take precedence."""
        if not mapped.fields:
            return value
        named = {field: self._path(path)(value) for field, path in mapped.fields.items()}
        return {"metadata": value, **{field: name[0] for field, name in named.items() if name}}

    def check(self, label: str) -> Tools:
        """Return the mapping itself; raise BadProtocol for unknown fields or malformed paths."""
        for name, tool in self.tools.items():
            strange = sorted(set(tool.fields) - set(ALIASES))
            if strange:
                msg = f"{label}: the tool `{name}` maps the field `{strange[0]}`, expected one of {', '.join(ALIASES)}"
                raise BadProtocol(msg)
            for path in filter(None, (tool.query, tool.results, *tool.fields.values())):
                self._path(path)
        return self

    @cached_property
    def _paths(self) -> dict[str, JsonPath]:
        return {}

    def _path(self, path: str) -> JsonPath:
        if path not in self._paths:
            self._paths[path] = JsonPath(path)
        return self._paths[path]


def _split_text(output: Json, separator: str) -> list[Json]:
    """Return the parts of an output that is one text, or blocks of it; none if it says that nothing was found."""
    blocks = output if isinstance(output, list) else []
    texts = [
        block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)
    ]
    text = "\n".join(texts) if texts else output
    if not isinstance(text, str):
        msg = f"its output is not a text to be split: {preview(output)}"
        raise Unparsed(msg)
    return [] if is_empty(text) else [part.strip() for part in text.split(separator) if part.strip()]


def load_tools(given: Tools | str | Path | None) -> Tools:
    """Return the given mapping of tools, or that of a file, or an empty one."""
    if isinstance(given, Tools):
        return given
    return Tools() if given is None else read_tools(given)


def read_tools(path: str | Path) -> Tools:
    """Read a mapping of tools from a YAML or JSON file."""
    with open_binary(path) as file:
        content = parse_yaml(file.read(), path)
    written = convert_settings(content, _File, path, hint=EXAMPLE)
    tools = {name: item if isinstance(item, Tool) else SHORT[item] for name, item in written.tools.items()}
    return Tools(tools).check(str(path))


class _File(Struct, forbid_unknown_fields=True):
    """A file of a mapping."""

    tools: dict[str, Tool | Literal["search", "other"]]


SHORT = {"search": Tool(), "other": Tool(search=False)}

EXAMPLE = """it is written so:
  tools:
    kb_lookup: search
    open_ticket: other
    find_papers: {query: $.question, results: "$.papers[*]", fields: {id: $.key, snippet: $.abstract}}"""


def _find_query(value: Json) -> Json:
    """Return the query in the arguments of a call, by the usual names."""
    if not isinstance(value, Mapping):
        return value
    for name in QUERIES:
        if value.get(name):
            inner = value[name]
            return (
                _find_query(parse_text(inner))
                if name in {"input", "input_str"} and isinstance(inner, str)
                else inner
            )
    nested = next(
        (value[name] for name in ("inputs", "args", "kwargs", "arguments") if value.get(name)), None
    )
    return None if nested is None else _find_query(nested)


def _flatten_texts(value: Json) -> list[str]:
    """Return the texts that a value is or holds."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, Mapping):
        return _flatten_texts(_find_query(value))
    return [text for item in value for text in _flatten_texts(item)] if isinstance(value, list) else []


def _assign_queries(groups: list[Group], queries: list[str]) -> list[Group]:
    """Return the groups with their queries: those in the output, else those of the call if their numbers match."""
    if len(groups) == len(queries):
        return [(name or query, values) for query, (name, values) in zip(queries, groups, strict=True)]
    if len(groups) == 1:
        return [(groups[0][0] or "\n".join(queries) or None, groups[0][1])]
    return groups
