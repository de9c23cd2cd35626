"""One result from the value that a tool returned for it: fields by their many names, ids by their kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from judged.agents.tables import Hit
from judged.agents.traces.json_values import Json, JsonObject, preview
from judged.tables.schema import GRADES

ALIASES: dict[str, tuple[str, ...]] = {
    "id": (
        *("id", "docid", "doc_id", "document_id", "chunk_id", "node_id", "id_", "_id", "passage_id"),
        *("file_id", "paperId", "pageid", "uuid"),
    ),
    "domain": ("domain",),
    "domain_id": ("domain_id",),
    "url": ("url", "link", "href", "uri", "doc_uri", "source_url", "source"),
    "title": ("title", "name", "headline", "filename", "document_title"),
    "snippet": (
        *("snippet", "text", "page_content", "contents", "passage", "content", "body", "description"),
        *("abstract", "summary", "highlights", "document", "raw_content", "chunk"),
    ),
    "score": ("score", "relevance_score", "similarity", "relevance", "_score", "@search.score"),
    "gain": ("gain",),
}
"""The names of each field, in order of precedence; the first is ours."""

NESTED = (
    *("metadata", "document", "node", "_source", "payload", "fields", "attributes", "chunk", "extra_info"),
    *("properties", "_additional", "content", "location", "s3Location", "webLocation", "source"),
    *("resource", "data"),
)
"""Objects inside a result with further fields; those of the result itself take precedence."""

DOMAINS = {
    "doi": "doi",
    "arxiv_id": "arxiv",
    "pmid": "pmid",
    "pmcid": "pmcid",
    "isbn": "isbn",
    "issn": "issn",
}
"""Fields that hold the id of a domain, and the domain's name."""

BOTH_IDS = "two-ids"
NO_KEY = "result-without-key"
OUTSIDE = "gain-out-of-range"
MALFORMED = "malformed-result"

_NESTED = frozenset(NESTED)
_BY_NAME = {name: (field, rank) for field, names in ALIASES.items() for rank, name in enumerate(names)}
_DOMAINED = re.compile(r"(doi|arxiv|pmid|pmcid|isbn|issn|youtube|github|urn):\s*(\S.*)", re.IGNORECASE)
_DOI_URL = re.compile(r"https?://(?:dx\.)?doi\.org/", re.IGNORECASE)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S|www\.\S+\.\S", re.IGNORECASE)

Defects = list[tuple[str, str]]
"""The problems of a result: code and message of each."""


def parse_result(value: Json, *, plain: bool = False) -> Hit | Defects:
    """Parse a result, or return what is wrong with it; a text alone is its snippet.

    In the `plain` form our own names must hold values of their type; the outputs of tools are parsed leniently.
    """
    if isinstance(value, str) and not plain:
        return Hit(snippet=value) if value.strip() else [(NO_KEY, "is an empty text")]
    if not isinstance(value, dict):
        return [(MALFORMED, f"is {preview(value)}, expected an object")]
    defects: Defects = []
    fields = _find_fields(value, defects, plain=plain)
    result = Hit(**_ids(fields, defects), **_other_fields(fields, defects))
    if not defects and not has_key(result):
        defects.append((NO_KEY, f"has no id, domain id, URL, title or snippet, only {preview(value)}"))
    return defects or result


def has_key(result: Hit) -> bool:
    """Return whether a result has anything that identifies it."""
    return bool(result.id or result.domain_id or result.url or result.title or result.snippet)


def split_domain(identity: str) -> tuple[str, str] | None:
    """Split an id with the prefix of a domain into domain and id; None if it is a generic id.

    >>> split_domain("doi:10.1145/582415.582418"), split_domain("chunk-17")
    (('doi', '10.1145/582415.582418'), None)
    """
    matched = _DOMAINED.fullmatch(identity)
    return (matched[1].lower(), matched[2]) if matched else None


def _find_fields(value: JsonObject, defects: Defects, *, plain: bool) -> JsonObject:
    """Return the values of our fields, by the first of their names, in the result or the objects inside it."""
    fields: JsonObject = {}
    for holder in _holders(value, 0):
        here: dict[str, tuple[int, Json]] = {}
        for name, item in holder.items():
            field, rank = _BY_NAME.get(name, ("", 0))
            if not field or field in fields or item is None or item == "":
                continue
            taken = item if plain and rank == 0 else _convert(field, name, item)
            if taken is not None and rank <= here.get(field, (rank, None))[0]:
                here[field] = rank, taken
        if not (plain and "id" in here):
            _take_domain(holder, here, fields)
        fields.update((field, taken) for field, (_, taken) in here.items())
    for field in ("id", "domain", "domain_id", "url", "title", "snippet"):
        fields[field] = _to_text(field, fields.get(field), defects)
    return fields


def _take_domain(holder: JsonObject, here: dict[str, tuple[int, Json]], fields: JsonObject) -> None:
    """Take a field that is the id of a domain, such as `doi`, in place of the generic id."""
    if DOMAINS.keys().isdisjoint(holder) or "domain_id" in here or "domain_id" in fields:
        return
    for name, domain in DOMAINS.items():
        identity = holder.get(name)
        if isinstance(identity, (str, int)) and identity:
            here["domain"], here["domain_id"] = (0, domain), (0, _DOI_URL.sub("", str(identity)))
            here.pop("id", None)
            fields.pop("id", None)
            return


def _convert(field: str, name: str, value: Json) -> Json:
    """Return a value under another name than ours, if it suits the field."""
    if field == "snippet" and isinstance(value, list):
        texts = [item.get("text") if isinstance(item, dict) else item for item in value]
        return "\n".join(text for text in texts if isinstance(text, str)) or None
    if isinstance(value, list) and len(value) == 1:  # Solr's fields of several values
        value = value[0]
    if field == "url" and name == "source" and not (isinstance(value, str) and _URL.match(value)):
        return None
    if field == "score":
        return _to_number(value)
    return None if isinstance(value, (dict, list)) else value


def _holders(value: JsonObject, depth: int) -> Iterator[JsonObject]:
    yield value
    inside = [name for name, inner in value.items() if name in _NESTED and _may_hold(name, inner)]
    for name in sorted(inside, key=NESTED.index) if len(inside) > 1 else inside:
        inner = value[name]
        if isinstance(inner, str):
            inner = _decode(inner)
        if isinstance(inner, dict) and depth < 4:
            yield from _holders(inner, depth + 1)


def _may_hold(name: str, inner: Json) -> bool:
    """Return whether a value has fields inside: an object, or metadata and data as their text."""
    return isinstance(inner, dict) or (
        name in {"metadata", "data"} and isinstance(inner, str) and inner.startswith("{")
    )


def _decode(text: str) -> Json:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None


def _ids(fields: JsonObject, defects: Defects) -> JsonObject:
    """Return the generic id, or the domain with the id in it."""
    own, domain, within = fields["id"], fields["domain"], fields["domain_id"]
    if own and within:
        defects.append(
            (BOTH_IDS, f"has the id `{own}` and the domain id `{within}`, expected one or the other")
        )
    if within and domain is None:
        domain, within = split_domain(within) or (None, within)
        if domain is None:
            defects.append((MALFORMED, f"has the domain id `{within}` and no `domain` that it belongs to"))
    if within:
        return {"domain": domain, "domain_id": within}
    named = split_domain(own) if own else None
    return {"domain": named[0], "domain_id": named[1]} if named else {"id": own}


def _other_fields(fields: JsonObject, defects: Defects) -> JsonObject:
    """Return all fields but the ids."""
    score, gain = fields.get("score"), fields.get("gain")
    if score is not None and _to_number(score, text=False) is None:
        defects.append((MALFORMED, f"its score is {preview(score)}, expected a number"))
        score = None
    if gain is not None and (type(gain) is not int or gain not in GRADES):
        defects.append((OUTSIDE, f"its gain is {preview(gain)}, expected a whole number from 0 to 4"))
        gain = None
    kept = {field: fields[field] for field in ("url", "title", "snippet")}
    return {**kept, "score": None if score is None else float(score), "gain": gain}


def _to_text(field: str, value: Json, defects: Defects) -> str | None:
    """Return a field as text; integer ids become text."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and field in {"id", "domain_id"}:
        return str(value)
    defects.append((MALFORMED, f"its {field} is {preview(value)}, expected text"))
    return None


def _to_number(value: Json, *, text: bool = True) -> float | None:
    """Return a value as a number, if it is one or (with `text`) the text of one."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str) if text else (int, float)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
