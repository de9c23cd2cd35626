"""Outputs of search tools → the values of their results, in the common shapes."""

from __future__ import annotations

import re

import msgspec

from judged.agents.traces.json_values import Json, JsonObject, get_object, get_str, preview
from judged.agents.traces.results.fields import ALIASES, NESTED
from judged.agents.traces.results.text import (
    Group,
    NotPython,
    find_groups_in_text,
    is_failure_text,
    parse_python,
)

_FRAMED = re.compile(
    r"(?:[^\n]{0,200}:[ \t]*\n+)?(?:```(?:json)?[ \t]*\n)?(?P<value>[\[{].*[\]}])\s*(?:```)?", re.DOTALL
)
"""JSON below a line of introduction, or in a fence of Markdown."""
_CUT = re.compile(r"[(\[<{.…][^\n]{0,40}\btruncated\b[^\n]{0,40}\Z", re.IGNORECASE)
"""A remark at the end of an output that there was more."""


LISTS = (
    *("results", "documents", "organic_results", "organic", "search_results", "web_results"),
    *("passages", "chunks", "hits", "items", "matches", "source_nodes", "nodes", "points", "objects"),
    *("papers", "articles", "docs", "sources", "webPages", "web", "value", "children", "root"),
    *("retrievalResults", "data", "search", "response", "news", "records", "Get"),
)
"""Fields that hold the list of results, in order of precedence; an object under one is searched in turn."""

KINDS = frozenset(
    (
        *("organic", "organic_results", "web", "web_results", "webPages", "news", "news_results"),
        *("papers", "articles"),
    )
)
"""Those of them that hold one kind of results each, next to the others."""

WRAPPERS = (
    *("structuredContent", "raw_output", "output", "result", "content", "artifact", "observation"),
    *("payload", "text", "message"),
)
"""Fields that hold the output itself, if it is wrapped."""

FAILED = frozenset(("error", "failed", "failure", "fail", "timeout", "blocked", "denied", "forbidden"))
"""States of a search that failed."""

COUNTS = ("total", "count", "total_results", "totalResults", "num_results", "result_count", "hits")
"""Fields that say how many results there are."""

MEDIA = frozenset(("image", "image_url", "input_image", "audio", "input_audio"))
"""Types of blocks that are shown to a model and are not results."""

_OWN = frozenset(name for field in ("url", "title", "snippet") for name in ALIASES[field])
_DEEPEST = 8


class Unparsed(Exception):
    """An output without recognisable results; the message shows its beginning."""


class CutOff(Unparsed):
    """An output that ends too early; the message shows its end."""


def find_groups(output: Json, queries: list[str] | None = None) -> list[Group]:
    """Return the results of an output, one group per query if it is split by query, usually one."""
    groups = _find_groups(output, queries or [], 0)
    if groups is None and isinstance(output, str) and is_cut(output):
        msg = (
            f"its output was cut off after {len(output):,} characters, at `…{' '.join(output[-40:].split())}`"
        )
        raise CutOff(msg)
    if groups is None:
        msg = f"its output cannot be parsed as results: {_quote_beginning(output)}"
        raise Unparsed(msg)
    return groups


def parse_text(text: str) -> Json:
    """Return the value of a text that is JSON or was printed by Python, else the text itself."""
    bare = text.strip()
    # most outputs are prose, which two parsers would read in vain
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


def is_marked_cut(output: Json) -> bool:
    """Return whether an output ends in a remark that it was truncated; the results before it can be read."""
    last = output[-1] if isinstance(output, list) and output else output
    text = last.get("text") if isinstance(last, dict) else last
    return isinstance(text, str) and _CUT.search(text[-100:].rstrip()) is not None


def is_cut(text: str) -> bool:
    """Return whether a text ends too early, as exporters with a limit leave it: in the middle of JSON, or in an ellipsis."""
    marked = text.rstrip().endswith(("...", "…", "[truncated]", "(truncated)"))
    if text.lstrip()[:1] not in {"{", "["}:
        return marked
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        return marked or "truncated" in str(error)
    except RecursionError:
        return False
    return False


def _find_groups(output: Json, queries: list[str], depth: int) -> list[Group] | None:
    """Return the groups of an output; None if it cannot be parsed."""
    if output is None:
        return [(None, [])]
    if depth > _DEEPEST:
        return None
    if isinstance(output, str):
        value = parse_text(output)
        if value is output and (lines := _parse_lines(output)):
            value = lines
        if value is output and (framed := _FRAMED.fullmatch(output.strip())):
            value = parse_text(framed["value"])
            value = output if isinstance(value, str) else value
        return find_groups_in_text(output) if value is output else _find_groups(value, queries, depth + 1)
    if isinstance(output, dict):
        return _in_object(output, queries, depth)
    if not isinstance(output, list):
        return None
    return _in_list([item for item in output if not _is_aside(item)], queries, depth)


def _parse_lines(text: str) -> list[Json] | None:
    """Return the objects of a text that has one on each line, or blocks joined by blank lines; None if it has others."""
    if text.lstrip()[:1] not in {"{", "["}:
        return None
    values: list[Json] = []
    for part in re.split(r"\n\s*(?=[{\[])", text.strip()):
        try:
            value = msgspec.json.decode(part)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return None
        values += value if isinstance(value, list) else [value]
    return values if len(values) > 1 and all(isinstance(value, dict) for value in values) else None


def _in_object(output: JsonObject, queries: list[str], depth: int) -> list[Group] | None:
    if len(queries) > 1 and all(query in output for query in queries):
        return _combine([(query, output[query]) for query in queries], depth)
    # before lists of results: one of Chroma's columns is called `documents`
    if isinstance(output.get("ids"), list):
        return _in_columns(output)
    if output.get("isError") is True or output.get("is_error") is True:
        return [(None, [])]
    held = _find_held(output)
    groups = None if held is None else _find_groups(held, queries, depth + 1)
    if groups is None and (not output or is_failure(output) or _is_blank(output)):
        return [(None, [])]
    return groups


def is_failure(output: JsonObject) -> bool:
    """Return whether an object says that something went wrong."""
    if any(output.get(name) for name in ("error", "errors", "error_code")):
        return True
    states = [output.get(name) for name in ("status", "code", "statusCode", "status_code")]
    failed = any(
        state >= 400 if type(state) is int else isinstance(state, str) and state.lower() in FAILED
        for state in states
    )
    refused = any(output.get(name) is False for name in ("success", "ok"))
    return failed or refused or (output.keys() == {"detail"} and isinstance(output["detail"], str))


def _is_blank(output: JsonObject) -> bool:
    """Return whether an object says that nothing was found: null in place of a list, or a count of 0."""
    return any(name in output and output[name] is None for name in LISTS) or any(
        output.get(name) == 0 and output.get(name) is not False for name in COUNTS
    )


def describe_failure(output: Json) -> str | None:
    """Return the beginning of an output that says that the search failed or was blocked; None for any other."""
    value = parse_text(output) if isinstance(output, str) else output
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        inner = next((value[name] for name in WRAPPERS if isinstance(value.get(name), (str, list))), None)
        failed = is_failure(value) or value.get("isError") is True or value.get("is_error") is True
        return _quote_beginning(output) if failed else describe_failure(inner) if inner is not None else None
    return (
        _quote_beginning(value)
        if isinstance(value, str) and value.strip() and is_failure_text(value)
        else None
    )


def _find_held(output: JsonObject) -> Json:
    """Return the list of results in an object, the object itself if it is a result, or the output that it wraps."""
    kinds = [held for name, held in output.items() if name in KINDS and isinstance(held, (list, dict))]
    if len(kinds) > 1:
        return _join_kinds(kinds)
    for name in LISTS:
        if isinstance(held := output.get(name), (list, dict)) or _is_json(held):
            return held
    if isinstance(output.get("query"), dict):  # MediaWiki
        return output["query"]
    if is_result(output):
        return [output]
    unnamed = _find_unnamed(output)
    return unnamed or next((output[name] for name in WRAPPERS if output.get(name) is not None), None)


def _find_unnamed(output: JsonObject) -> list[Json]:
    """Return results under names of no meaning: their ranks, or the class of a Weaviate query."""
    if output and all(str(name).isdecimal() and len(str(name)) < 9 for name in output):
        ranked = [output[name] for name in sorted(output, key=int)]
        return ranked if all(map(_is_result_object, ranked)) else []
    only = next(iter(output.values())) if len(output) == 1 else None
    return only if isinstance(only, list) and all(map(_is_result_object, only)) else []


def _is_result_object(value: Json) -> bool:
    return isinstance(value, dict) and is_result(value)


def _join_kinds(kinds: list[Json]) -> list[Json]:
    """Return the results of several kinds one after the other, from their lists or the objects that hold those."""
    lists = (held if isinstance(held, list) else _find_held(held) for held in kinds)
    return [result for results in lists if isinstance(results, list) for result in results]


def _is_json(value: Json) -> bool:
    """Return whether a value is the JSON text of a list or an object."""
    return isinstance(value, str) and value[:1] in {"{", "["} and not isinstance(parse_text(value), str)


def _in_list(output: list[Json], queries: list[str], depth: int) -> list[Group] | None:
    if _is_opensearch(output):
        names = zip(*output[1:4], strict=True)
        return [(output[0], [{"title": title, "snippet": text, "url": url} for title, text, url in names])]
    if output and all(isinstance(item, list) for item in output):
        return _combine([(None, item) for item in output], depth)
    if output and all(_is_block(item) for item in output):
        return _in_blocks(output, queries, depth)
    if len(output) == 1 and _holds_results(output[0]):
        return _find_groups(output[0], queries, depth + 1)
    if output and all(isinstance(item, dict) and "query" in item and not is_result(item) for item in output):
        return _combine([(str(item["query"]), _without(item, "query")) for item in output], depth)
    return [(None, [_unwrap(item) for item in output])]


def _is_aside(item: Json) -> bool:
    """Return whether an item of an output is an image, or says only that something went wrong."""
    if not isinstance(item, dict):
        return False
    return get_str(item, "type") in MEDIA or (
        is_failure(item) and not is_result(item) and _find_held(item) is None
    )


def _is_opensearch(output: list[Json]) -> bool:
    """Return whether an output is MediaWiki's: the query, and lists of titles, descriptions and addresses."""
    return (
        len(output) == 4
        and isinstance(output[0], str)
        and all(isinstance(column, list) and len(column) == len(output[1]) for column in output[1:])
        and all(isinstance(url, str) and "://" in url for url in output[3])
    )


def _holds_results(value: Json) -> bool:
    """Return whether a value is an object that has results in it, rather than being one."""
    return isinstance(value, dict) and not is_result(value) and _find_held(value) is not None


def _combine(named: list[tuple[str | None, Json]], depth: int) -> list[Group] | None:
    """Combine outputs of one query each."""
    groups: list[Group] = []
    for query, output in named:
        inner = _find_groups(output, [], depth + 1)
        if inner is None:
            return None
        groups.append((query, [value for _, values in inner for value in values]))
    return groups


def _in_columns(output: JsonObject) -> list[Group]:
    """Convert parallel lists of ids, texts and metadata, as from Chroma, one list per query or one for all."""
    names = {"ids": "id", "documents": "text", "metadatas": "metadata", "uris": "uri"}
    columns = {field: output[name] for name, field in names.items() if isinstance(output.get(name), list)}
    if not all(isinstance(item, list) for column in columns.values() for item in column):
        columns = {field: [column] for field, column in columns.items()}
    groups: list[Group] = []
    for at in range(len(columns["id"])):
        rows = zip(*(column[at] for column in columns.values()), strict=False)
        groups.append((None, [dict(zip(columns, row, strict=True)) for row in rows]))
    return groups


def _is_block(value: Json) -> bool:
    """Return whether a value is a text block of a message."""
    return (
        isinstance(value, dict)
        and get_str(value, "type") in {"text", "output_text", "input_text"}
        and "text" in value
    )


def _in_blocks(blocks: list[Json], queries: list[str], depth: int) -> list[Group] | None:
    """Parse text blocks: each one result in JSON, or all together one output."""
    texts = [str(block["text"]) for block in blocks]
    values = [parse_text(text) for text in texts]
    if len(values) > 1 and all(isinstance(value, dict) and is_result(value) for value in values):
        return [(None, list(values))]
    return _find_groups("\n".join(texts), queries, depth + 1)


def _unwrap(value: Json) -> Json:
    """Return a result that was written as JSON, printed by Python, or serialised by LangChain, as a value."""
    value = parse_text(value) if isinstance(value, str) else value
    return get_object(value, "kwargs") or value if isinstance(value, dict) and "lc" in value else value


def is_result(value: JsonObject) -> bool:
    """Return whether an object is a result itself, rather than something that holds results."""
    if any(isinstance(value.get(name), (str, int)) for name in _OWN):
        return not any(isinstance(value.get(name), list) for name in LISTS)
    return any(isinstance(inner := value.get(name), dict) and is_result(inner) for name in NESTED)


def _without(value: JsonObject, name: str) -> JsonObject:
    return {item: inner for item, inner in value.items() if item != name}


def _quote_beginning(output: Json) -> str:
    """Return the beginning of an output, for a message."""
    return f"`{' '.join(output.split())[:79]}`" if isinstance(output, str) else preview(output, size=80)
