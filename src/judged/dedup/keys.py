"""The keys of a result: what it can be found by, and compared by."""

from __future__ import annotations

import re

from msgspec import Struct

from judged.dedup.rules import Rules
from judged.dedup.text import comparable, normalised, stem
from judged.dedup.url import loosen, strict_key
from judged.errors import BadInput
from judged.problem import Problem
from judged.tables.sessions import Result

__all__ = ["Keys", "keys_of"]

_DOI = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/)?(?:doi:)?", re.IGNORECASE)


class Keys(Struct, gc=False):
    """What one result is known by under some rules; None where it has nothing of the kind.

    An id is looked for within its space only: a domain (`domain:doi`), or the tool that gave it (`tool:search`).
    """

    space: str | None = None
    id: str | None = None
    url: str | None = None
    """The strict key of the URL."""
    loose_url: str | None = None
    title: str | None = None
    """Normalised."""
    stem: str | None = None
    """The first characters of the normalised text."""
    snippet: str | None = None
    """The text as it was shown."""
    words: str | None = None
    """The comparable text, once it has been asked for, or that of the text which stands for it."""

    @property
    def text(self) -> str | None:
        """The comparable text."""
        if self.words is None and self.stem is not None and self.snippet is not None:
            self.words = comparable(self.snippet)
        return self.words

    def __bool__(self) -> bool:
        """Whether there is anything at all to compare."""
        return any((self.id, self.url, self.title, self.stem))


def keys_of(result: Result, scope: str | None, rules: Rules) -> Keys:
    """The keys of a result that the tool `scope` gave."""
    space = identity = url = loose_url = title = opening = None
    snippet = result.snippet
    if result.id or result.domain_id:
        space, identity = _identity(result, scope)
    if result.url:
        url = strict_key(result.url, rules)
        if url is not None and rules.weights.loose_url:
            loose_url = loosen(url, rules)
    if result.title:
        title = normalised(result.title) or None
    if snippet:
        opening = stem(snippet) or None
    return Keys(space, identity, url, loose_url, title, opening, snippet)


def _identity(result: Result, scope: str | None) -> tuple[str, str] | tuple[None, None]:
    """The space of a result's id, and the id within it."""
    if result.id and result.domain_id:
        what = f"both an id (`{result.id}`) and a domain id (`{result.domain_id}`), expected one of them"
        hint = "an id of a tool or index is an `id`; one that means the same everywhere is a `domain_id`"
        raise BadInput("a result", [Problem.error("two-ids", f"tool `{scope}`", what)], hint=hint)
    if result.domain_id:
        domain = (result.domain or "").strip().lower()
        identity = result.domain_id.strip()
        if domain == "doi":  # the only common one of which case, and how it is written, say nothing
            identity = _DOI.sub("", identity).lower()
        return (f"domain:{domain}", identity) if identity else (None, None)
    identity = (result.id or "").strip()
    return (f"tool:{scope or ''}", identity) if identity else (None, None)
