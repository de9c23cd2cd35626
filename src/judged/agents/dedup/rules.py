"""The rules of deduplication: what counts as one thing, and how much each field that agrees adds to that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from judged.errors import BadProtocol, UnknownName
from judged.protocol import BaseProtocol, convention

Unit = Literal["document", "passage", "strict"]
"""Whether two passages of one document are the same result (`document`) or two (`passage`); under `strict`, any
field that differs keeps two results apart."""

STRICT_RULES = {
    "letter-case": "scheme and host are compared without regard to case",
    "scheme": "http and https are the same where no port is given",
    "scheme-less": "`www.…` and `//…` without a scheme are https",
    "default-port": "port 80 of http and port 443 of https are left out",
    "idn": "an international host is the same in Unicode and in Punycode",
    "trailing-dot": "a dot at the end of the host is left out",
    "empty-path": "an empty path is `/`",
    "dot-segments": "`.` and `..` in the path are resolved",
    "double-slash": "consecutive slashes are one",
    "percent-encoding": "unreserved characters are decoded, others are encoded in upper case",
    "unicode-form": "composed and decomposed letters are the same (NFC)",
    "fragment": "what follows `#` is left out, unless it is a route (`#!…`, `#/…`)",
    "text-fragment": "what follows `:~:` in the fragment is left out",
    "tracking": "parameters that record where a visitor came from are left out (`utm_…`, `gclid`, `si` of YouTube)",
    "session-path": "session ids in the path are left out (`;jsessionid=…`, `/(S(…))/`)",
    "session-query": "session ids of web servers in the query are left out (`jsessionid=…`, `PHPSESSID=…`)",
    "plus": "`+` and `%20` in the query are the same",
    "arxiv": "arXiv's pages of one paper are the same, whatever their form and version",
    "video": "`youtu.be/ID` and `youtube.com/watch?v=ID`, mobile or not and wherever it starts, are the same",
    "query-order": "parameters are sorted by name; repeated ones keep their order",
    "empty-query": "an empty query, and empty parameters, are left out",
}
"""Rules of both keys: differences that never make another page."""

LOOSE_RULES = {
    "trailing-slash": "a slash at the end of the path is left out",
    "www": "`www.` before the host is left out",
    "mobile": "`m.` and `mobile.` before the host, and `.m.` within it, are left out",
    "amp": "`amp.` before the host, `/amp` around the path, the parameter `amp` and Google's AMP cache are left out",
    "index": "`index.html` and the like at the end of the path are left out",
    "content-parameters": "parameters that may be content are left out (`session_id`, `sid`, `cmpid`, `ncid`, `mc_…`)",
}
"""Further rules of the loose key: differences that often make no other page, and sometimes do; see `match.compare`."""

URL_RULES = STRICT_RULES | LOOSE_RULES
"""Every rule for URLs, with what it does."""


def _weight(field: str, default: float) -> float:
    return convention(
        default,
        words=lambda weight: f"{field} {weight:g}" if weight else "",
        check=lambda weight: 0 <= weight <= 1,
        expected="a number from 0 to 1",
        hint="a field that should not count has weight 0",
    )


@dataclass(frozen=True, slots=True)
class Weights(BaseProtocol):
    """Weight of each field that agrees in the confidence that two results are the same."""

    subject: ClassVar[str] = "the weights of deduplication"

    domain: float = _weight("domain", 1.0)
    generic: float = _weight("generic", 0.6)
    url: float = _weight("url", 0.6)
    """The strict keys of the URLs are equal."""
    loose_url: float = _weight("loose_url", 0.6)
    """Only the loose keys are equal, and title or text confirm it."""
    text: float = _weight("text", 0.6)
    """The texts are informative, and equal, or one is a prefix of the other."""
    short_text: float = _weight("short_text", 0.3)
    """The texts are equal, too short to be informative, and not those of the title."""
    title: float = _weight("title", 0.3)

    def __post_init__(self) -> None:
        BaseProtocol.__post_init__(self)
        # weaker evidence never counts for more, so a user who lowers one weight need not know of the other
        object.__setattr__(self, "loose_url", min(self.loose_url, self.url))
        object.__setattr__(self, "short_text", min(self.short_text, self.text))


@dataclass(frozen=True, slots=True)
class Rules(BaseProtocol):
    """Rules by which two results of a session are the same; printed with every result.

    >>> print(Rules())
    duplicates by document (domain 1, generic 0.6, url 0.6, loose_url 0.6, text 0.6, short_text 0.3, title 0.3; the same from 0.6) #5503332e1934
    """

    subject: ClassVar[str] = "the rules of deduplication"

    unit: Unit = convention(
        "document",
        help="Unit of deduplication: a document, a passage, or results that agree in every field.",
        hint="`document` for web search, `passage` for stores of chunks",
    )
    weights: Weights = convention(Weights())
    threshold: float = convention(
        0.6,
        help="Minimum confidence at which two results are the same.",
        check=lambda threshold: 0 < threshold <= 1,
        expected="a number above 0 and at most 1",
        hint="confidence lies between 0 and 1",
        metavar="P",
    )
    """Minimum confidence at which two results are the same."""
    url_rules_off: frozenset[str] = convention(frozenset())
    """Rules of URL normalisation that are not applied, by their names in `URL_RULES`."""
    near: float | None = convention(
        None,
        help="Texts whose three-word sequences overlap by this share are the same.",
        check=lambda near: near is None or 0 < near < 1,
        expected="a number between 0 and 1",
        hint="leave it out to compare texts exactly; 0.8 is a common choice",
        metavar="SHARE",
    )
    """Texts whose sets of three-word sequences overlap by this share count as equal; None: only equal texts do."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "url_rules_off", frozenset(self.url_rules_off))
        BaseProtocol.__post_init__(self)
        for name in sorted(self.url_rules_off - URL_RULES.keys()):
            raise UnknownName("rule for URLs", name, URL_RULES)
        if self.weights.title >= self.threshold:
            msg = f"the weight of `title` is {self.weights.title}, expected less than the threshold, {self.threshold}"
            raise BadProtocol(
                msg, hint="a title alone never makes two results the same: many pages share one"
            )

    @property
    def heading(self) -> str:
        """Heading of its line."""
        return f"duplicates by {self.unit}"

    def phrases(self) -> list[str]:
        """Return the weights and the threshold, and what departs from the defaults, in words."""
        off = [f"without URL rule {name}" for name in sorted(self.url_rules_off)]
        near = [] if self.near is None else [f"texts alike by {self.near:g}"]
        return [f"{', '.join(self.weights.phrases())}; the same from {self.threshold:g}", *near, *off]
