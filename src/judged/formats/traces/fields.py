"""One result out of whatever a tool gave back for it: fields by their many names, ids by their kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from judged.tables.session import GRADES, Result

__all__ = ["ALIASES", "result_of"]

ALIASES: dict[str, tuple[str, ...]] = {
    "id": ("id", "docid", "doc_id", "document_id", "chunk_id", "node_id", "file_id", "_id"),
    "domain": ("domain",),
    "domain_id": ("domain_id",),
    "url": ("url", "link", "href", "uri", "doc_uri", "source", "source_url"),
    "title": ("title", "name", "headline", "filename"),
    "snippet": ("snippet", "text", "page_content", "contents", "passage", "content", "body", "description"),
    "score": ("score", "relevance_score", "similarity", "_score"),
    "gain": ("gain",),
}
"""The names that a field goes by, the first that is there winning."""

NESTED = ("metadata", "document", "node", "_source", "attributes", "extra_info")
"""Where a result keeps further fields; those of the result itself come first."""

_DOMAINED = re.compile(r"(doi|arxiv|pmid|pmcid|isbn|issn|youtube|github):\s*(\S.*)", re.IGNORECASE)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S|www\.\S+\.\S", re.IGNORECASE)

Faults = list[tuple[str, str]]
"""What is wrong with a result: the kind of each fault, and its sentence."""


def result_of(value: Any) -> Result | Faults:
    """The result that a value stands for, or what is wrong with it; a text alone is its snippet."""
    if isinstance(value, str):
        return Result(snippet=value) if value.strip() else [("results without any key", "is an empty text")]
    if not isinstance(value, Mapping):
        return [("malformed results", f"is {_shown(value)}, expected an object or a text")]
    found = {field: each for field in ALIASES if (each := _first(value, field)) is not None}
    faults: Faults = []
    result = Result(
        **_identity(found, faults),
        url=_text(found, "url", faults),
        title=_text(found, "title", faults),
        snippet=_text(found, "snippet", faults),
        score=_score(found.get("score"), faults),
        gain=_gain(found.get("gain"), faults),
    )
    if not faults and not has_key(result):
        faults.append(("results without any key", "has no id, domain id, URL, title or snippet"))
    return faults or result


def has_key(result: Result) -> bool:
    """Whether a result can be told from others by anything."""
    return bool(result.id or result.domain_id or result.url or result.title or result.snippet)


def _first(value: Mapping[str, Any], field: str) -> Any:
    """A field by the first of its names that holds something, in the result or what it keeps inside."""
    for holder in _holders(value):
        for name in ALIASES[field]:
            found = holder.get(name)
            if found is None or found == "" or isinstance(found, (Mapping, list)):
                continue
            if field == "url" and name == "source" and not (isinstance(found, str) and _URL.match(found)):
                continue
            return found
    return None


def _holders(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield value
    for name in NESTED:
        inner = value.get(name)
        if isinstance(inner, Mapping):
            yield from _holders(inner)


def _identity(found: dict[str, Any], faults: Faults) -> dict[str, str | None]:
    """The generic id, or the domain with the id in it."""
    own, domain, within = (_text(found, name, faults) for name in ("id", "domain", "domain_id"))
    if own and within:
        faults.append(
            (
                "results with both kinds of id",
                f"has the id `{own}` and the id `{within}` of a domain, expected one of them",
            )
        )
    if within:
        return {"domain": domain, "domain_id": within}
    matched = _DOMAINED.fullmatch(own) if own else None
    if matched:
        return {"domain": matched[1].lower(), "domain_id": matched[2]}
    return {"id": own}


def _text(found: dict[str, Any], field: str, faults: Faults) -> str | None:
    """A field as text; whole numbers become text, since ids are often numbers."""
    value = found.get(field)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    faults.append(("malformed results", f"its {field} is {_shown(value)}, expected text"))
    return None


def _score(value: Any, faults: Faults) -> float | None:
    """A score as a number; none where it is none."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if value is not None:
        faults.append(("malformed results", f"its score is {_shown(value)}, expected a number"))
    return None


def _gain(value: Any, faults: Faults) -> int | None:
    """A gain that is one of the grades."""
    if value is None or (type(value) is int and value in GRADES):
        return value
    faults.append(
        ("gains outside 0 to 4", f"its gain is {_shown(value)}, expected a whole number from 0 to 4")
    )
    return None


def _shown(value: Any) -> str:
    """A value as messages show it, cut short."""
    text = repr(value)
    return f"`{text if len(text) <= 60 else text[:59] + '…'}`"
