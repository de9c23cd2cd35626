"""The keys of a result: what it can be found by, and compared by."""

from __future__ import annotations

import re

from msgspec import Struct

from judged.agents.dedup.rules import Rules
from judged.agents.dedup.url import drop_content_parameters, find_arxiv, is_redirect, loosen, strict_key
from judged.agents.tables import Hit
from judged.errors import BadInput
from judged.problem import Problem
from judged.tables.content import normalise_text

INFORMATIVE_WORDS, INFORMATIVE_LENGTH = 8, 40
"""Least number of words, or else of characters, of a normalised text whose equality is evidence enough."""
SHORTEST_PREFIX = 30
"""Number of characters, normalised, by which texts are found; a shorter text is a prefix of none."""
_HEAD = 48
"""Length of a long text's beginning that usually suffices for its prefix; some of it is lost to punctuation and blanks."""
_TELLING = 64
"""Length of a text's beginning that usually suffices to see that it is informative."""
_FORM = re.compile(
    r"^\s*(?:[\[(](?:PDF|DOC|PPT|XLS|HTML)[\])]|\[\d{4}\.\d{4,5}(?:v\d+)?\])\s*(?=\w)", re.IGNORECASE
)
"""Prefixes that search engines and arXiv add to titles: the form of a page, or the number of a paper."""
_CLOSING = " \t\n\r\"')]”’»"
_DOI = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/)?(?:doi:)?", re.IGNORECASE)
_ARXIV = re.compile(r"^arxiv:\s*|v\d+$", re.IGNORECASE)


class Keys(Struct, gc=False):
    """Identifiers of one result under some rules; None if absent.

    An id is looked up within its space only: a domain (`domain:doi`), or the tool that gave it (`tool:search`).
    """

    space: str | None = None
    id: str | None = None
    url: str | None = None
    """The strict key of the URL."""
    page_url: str | None = None
    """The strict key without parameters that may be content."""
    loose_url: str | None = None
    title: str | None = None
    """Normalised."""
    prefix: str | None = None
    """The first characters of the normalised text."""
    snippet: str | None = None
    """The original text."""
    words: str | None = None
    """The comparable text, computed when first needed, or that of a near-duplicate which represents it."""
    result: int = 0
    """The number of the result, from 0."""

    @property
    def text(self) -> str | None:
        """The comparable text."""
        if self.words is None and self.prefix is not None and self.snippet is not None:
            self.words = to_comparable(self.snippet)
        return self.words

    @property
    def title_repeated(self) -> bool:
        """Whether the text says nothing but the title."""
        return self.title is not None and (self.text or "").rstrip() == self.title

    def equals_text(self, other: Keys) -> bool:
        """Return whether both texts are one text as it was given, so that either may be looked at for both.

        Where a text is represented by a near-duplicate, its words are set, and count.
        """
        return self.snippet == other.snippet and (self.words is None or other.words is None)

    @property
    def informative(self) -> bool:
        """Whether the text is informative; the beginning of a long one tells, without normalising it in full."""
        if self.words is None and self.snippet is not None and len(self.snippet) > _TELLING:
            head = self.snippet[:_TELLING]
            # a sign that belongs to the last word may have been cut off
            if head.isascii() and len(normalise_text(head)) >= INFORMATIVE_LENGTH + 2:
                return True
        return is_informative(self.text or "")

    def fields(self) -> tuple[str | None, ...]:
        """Return all that is compared; results with equal fields are compared alike with everything."""
        return (self.space, self.id, self.url, self.loose_url, self.title, self.snippet)

    def __bool__(self) -> bool:
        """Return whether there is anything to compare."""
        return any((self.id, self.url, self.title, self.prefix))


class KeyMemory:
    """The keys of the URLs and titles of one session, which come again with other snippets."""

    __slots__ = ("titles", "urls")

    def __init__(self) -> None:
        self.urls: dict[str, tuple[str | None, str | None, str | None]] = {}
        """By URL: the strict key, that without parameters that may be content, and the loose key."""
        self.titles: dict[str, str | None] = {}
        """By title, the normalised one."""


def _read_url(url: str, rules: Rules) -> tuple[str | None, str | None, str | None]:
    strict = strict_key(url, rules)
    return (
        (None, None, None)
        if strict is None
        else (strict, drop_content_parameters(strict, rules), loosen(strict, rules))
    )


def make_keys(result: Hit, scope: str | None, rules: Rules, memory: KeyMemory | None = None) -> Keys:
    """Return the keys of a result that the tool `scope` gave; those in the memory are not computed again."""
    known = KeyMemory() if memory is None else memory
    space = identity = url = page_url = loose_url = title = prefix = None
    snippet = result.snippet
    if result.id or result.domain_id:
        space, identity = _identify(result, scope)
    if result.title:
        title = known.titles.get(result.title, "")
        if title == "":
            title = _normalise_title(result.title)
            known.titles[result.title] = title
    if snippet:
        prefix = cut_prefix(snippet) or None
    if result.url and not ((title or prefix) and is_redirect(result.url)):
        keys = known.urls.get(result.url)
        if keys is None:
            keys = known.urls[result.url] = _read_url(result.url, rules)
        url, page_url, loose_url = keys
        if not result.domain_id and (paper := find_arxiv(result.url)):
            space, identity = "domain:arxiv", paper
    return Keys(space, identity, url, page_url, loose_url, title, prefix, snippet)


def _normalise_title(title: str) -> str | None:
    bare = _FORM.sub("", title) if title.lstrip().startswith(("[", "(")) else title
    return normalise_text(bare) or None


def _identify(result: Hit, scope: str | None) -> tuple[str, str] | tuple[None, None]:
    """Return the space of a result's id, and the id within it."""
    if result.id and result.domain_id:
        message = f"both an id (`{result.id}`) and a domain id (`{result.domain_id}`), expected one of them"
        hint = "an id of a tool or index is an `id`; one that means the same everywhere is a `domain_id`"
        raise BadInput("a result", [Problem.error("two-ids", f"tool `{scope}`", message)], hint=hint)
    if result.domain_id:
        domain = (result.domain or "").strip().lower()
        identity = result.domain_id.strip()
        if domain == "doi":  # the only common one whose case and prefix are meaningless
            identity = _DOI.sub("", identity).lower()
        elif domain == "arxiv":
            identity = _ARXIV.sub("", identity).lower()
        return (f"domain:{domain}", identity) if identity else (None, None)
    identity = (result.id or "").strip()
    return (f"tool:{scope or ''}", identity) if identity else (None, None)


def cut_prefix(text: str) -> str:
    """Return the first characters of the normalised text, which related texts share."""
    if len(text) > _HEAD:
        # A blank separates what follows from what comes before; in ASCII, every character does.
        cut = _HEAD if text.isascii() else text.rfind(" ", 0, 3 * _HEAD)
        head = normalise_text(text[: max(cut, 0)])
        if len(head) >= SHORTEST_PREFIX + 2:  # a sign that belongs to the last word may have been cut off
            return head[:SHORTEST_PREFIX]
    return normalise_text(text)[:SHORTEST_PREFIX]


def to_comparable(text: str) -> str | None:
    """Return the normalised text with an ending that says what it may be a prefix of; None if it has no words.

    A short text ends with a line break, and so is a prefix of no other. A long one ends with a blank, after a whole
    word; one that was truncated, and shows it, with its last letter: `capi…` may have been `capital`, but `page 1` is
    not `page 10`.
    """
    words = normalise_text(text)
    if len(words) < SHORTEST_PREFIX:
        return words + "\n" if words else None
    truncated = text.rstrip(_CLOSING).endswith(("…", "..."))
    return words if truncated else words + " "


def is_informative(words: str) -> bool:
    """Return whether a comparable text is long enough for its equality to be evidence that two results are the same."""
    words = words.rstrip()
    return len(words) >= INFORMATIVE_LENGTH or words.count(" ") >= INFORMATIVE_WORDS - 1


def related(one: str, other: str) -> bool:
    """Return whether two comparable texts are equal, or one is a prefix of the other."""
    return one.startswith(other) or other.startswith(one)
