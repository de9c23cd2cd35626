"""What search tools return → the values of their results, in the shapes that are common."""

from __future__ import annotations

from typing import Any

import msgspec

from judged.traces.json_values import get_object, get_str, preview
from judged.traces.results.fields import ALIASES, NESTED
from judged.traces.results.text import Group, NotPython, find_groups_in_text, parse_python

__all__ = ["Group", "Unparsed", "find_groups", "is_failure", "is_result", "parse_text"]


LISTS = (
    *("results", "documents", "organic_results", "organic", "search_results", "web_results"),
    *("passages", "chunks", "hits", "items", "matches", "source_nodes", "nodes", "points", "objects"),
    *("papers", "articles", "docs", "sources", "webPages", "web", "value", "children", "root"),
    *("data", "search", "response", "news", "records"),
)
"""Where the list of results lies, the first that is there winning; what lies within an object is looked for again."""

WRAPPERS = (
    *("structuredContent", "raw_output", "output", "result", "content", "artifact", "observation"),
    *("payload", "text", "message"),
)
"""Where the output itself lies, if it was wrapped once more."""

_OWN = frozenset(name for field in ("url", "title", "snippet") for name in ALIASES[field])
_DEEPEST = 8


class Unparsed(Exception):
    """An output that holds results in no known way; its message says what was got."""


def find_groups(output: Any, queries: list[str] | None = None) -> list[Group]:
    """The results of an output, one group for each query that it tells apart, most often one."""
    found = _groups(output, queries or [], 0)
    if found is None:
        msg = f"its output cannot be read as results: {_begins(output)}"
        raise Unparsed(msg)
    return found


def parse_text(text: str) -> Any:
    """The value of a text that is JSON or was printed by Python, else the text itself."""
    bare = text.strip()
    if bare[:1] not in {"{", "[", '"', "("} and not bare.endswith(")"):
        return text
    try:
        return msgspec.json.decode(bare)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        pass
    try:
        return parse_python(bare)
    except NotPython:
        return text


def _groups(output: Any, queries: list[str], depth: int) -> list[Group] | None:
    """The groups of an output; None if there is no reading it."""
    if output is None:
        return [(None, [])]
    if depth > _DEEPEST:
        return None
    if isinstance(output, str):
        value = parse_text(output)
        return find_groups_in_text(output) if value is output else _groups(value, queries, depth + 1)
    if isinstance(output, dict):
        return _of_mapping(output, queries, depth)
    return _of_list(output, queries, depth) if isinstance(output, list) else None


def _of_mapping(output: dict[str, Any], queries: list[str], depth: int) -> list[Group] | None:
    if len(queries) > 1 and all(query in output for query in queries):
        return _apart([(query, output[query]) for query in queries], depth)
    if isinstance(output.get("ids"), list):
        return _of_columns(output)
    if output.get("isError") is True or output.get("is_error") is True:
        return [(None, [])]
    held = _held(output)
    if held is not None:
        return _groups(held, queries, depth + 1)
    return [(None, [])] if is_failure(output) or not output else None


def is_failure(output: dict[str, Any]) -> bool:
    """Whether an object says that something went wrong."""
    return any(output.get(name) for name in ("error", "errors", "error_code"))


def _held(output: dict[str, Any]) -> Any:
    """What an object holds its results in: a list of them, itself if it is one, or the output that it wraps."""
    for name in LISTS:
        if isinstance(held := output.get(name), (list, dict)) or _is_json(held):
            return held
    if isinstance(output.get("query"), dict):  # MediaWiki
        return output["query"]
    if is_result(output):
        return [output]
    return next((output[name] for name in WRAPPERS if output.get(name) is not None), None)


def _is_json(value: Any) -> bool:
    """Whether a value is the JSON text of a list or an object."""
    return isinstance(value, str) and value[:1] in {"{", "["} and not isinstance(parse_text(value), str)


def _of_list(output: list[Any], queries: list[str], depth: int) -> list[Group] | None:
    if output and all(isinstance(each, list) for each in output):
        return _apart([(None, each) for each in output], depth)
    if output and all(_is_block(each) for each in output):
        return _of_blocks(output, queries, depth)
    if len(output) == 1 and _holds_results(output[0]):
        return _groups(output[0], queries, depth + 1)
    if output and all(isinstance(each, dict) and "query" in each and not is_result(each) for each in output):
        return _apart([(str(each["query"]), _without(each, "query")) for each in output], depth)
    return [(None, [_unwrapped(each) for each in output])]


def _holds_results(value: Any) -> bool:
    """Whether a value is an object that has results in it, rather than being one."""
    return isinstance(value, dict) and not is_result(value) and _held(value) is not None


def _apart(named: list[tuple[str | None, Any]], depth: int) -> list[Group] | None:
    """Outputs for one query each, put together."""
    groups: list[Group] = []
    for query, output in named:
        inner = _groups(output, [], depth + 1)
        if inner is None:
            return None
        groups.append((query, [value for _, values in inner for value in values]))
    return groups


def _of_columns(output: dict[str, Any]) -> list[Group]:
    """Ids, texts and metadata in lists beside each other, as Chroma gives them, one list a query or one for all."""
    names = {"ids": "id", "documents": "text", "metadatas": "metadata", "uris": "uri"}
    columns = {field: output[name] for name, field in names.items() if isinstance(output.get(name), list)}
    if not all(isinstance(each, list) for column in columns.values() for each in column):
        columns = {field: [column] for field, column in columns.items()}
    groups: list[Group] = []
    for at in range(len(columns["id"])):
        rows = zip(*(column[at] for column in columns.values()), strict=False)
        groups.append((None, [dict(zip(columns, row, strict=True)) for row in rows]))
    return groups


def _is_block(value: Any) -> bool:
    """Whether a value is a block of text, as messages are made of."""
    return (
        isinstance(value, dict)
        and get_str(value, "type") in {"text", "output_text", "input_text"}
        and "text" in value
    )


def _of_blocks(blocks: list[Any], queries: list[str], depth: int) -> list[Group] | None:
    """Blocks of text: each one result in JSON, or all together one output."""
    texts = [str(block["text"]) for block in blocks]
    values = [parse_text(text) for text in texts]
    if len(values) > 1 and all(isinstance(value, dict) and is_result(value) for value in values):
        return [(None, list(values))]
    return _groups("\n".join(texts), queries, depth + 1)


def _unwrapped(value: Any) -> Any:
    """A result that was written as JSON, printed, or put into LangChain's constructor once more."""
    value = parse_text(value) if isinstance(value, str) else value
    return get_object(value, "kwargs") or value if isinstance(value, dict) and "lc" in value else value


def is_result(value: dict[str, Any]) -> bool:
    """Whether an object is a result itself, rather than something that holds results."""
    if any(isinstance(value.get(name), (str, int)) for name in _OWN):
        return not any(isinstance(value.get(name), list) for name in LISTS)
    return any(isinstance(inner := value.get(name), dict) and is_result(inner) for name in NESTED)


def _without(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {each: inner for each, inner in value.items() if each != name}


def _begins(output: Any) -> str:
    """The beginning of an output, as messages show it."""
    return f"`{' '.join(output.split())[:79]}`" if isinstance(output, str) else preview(output, size=80)
