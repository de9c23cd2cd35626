"""Whether a tool is a search, as far as its name tells."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["is_search"]

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

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@lru_cache(maxsize=4096)
def is_search(tool: str) -> bool | None:
    """Whether a tool of this name is a search; None if the name does not tell.

    >>> [is_search(each) for each in ("mcp__kb__search", "GoogleSearch", "tavily_extract", "visit", "frobnicate")]
    [True, True, False, False, None]
    """
    words = [word.lower() for word in _WORD.findall(tool)]
    if not words or words[:2] == ["tool", "search"]:
        return False if words else None  # a search for tools, not for documents
    if words[0] in OPENING or words[-1] == "replace":
        return False
    if any(word in SEARCHING or (word.endswith("search") and word != "research") for word in words):
        return True
    if any(word in OPENING or word in ACTING for word in words):
        return False
    return True if any(word in PROVIDERS for word in words) else None
