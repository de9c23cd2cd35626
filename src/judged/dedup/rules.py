"""The rules of deduplication: what counts as one thing, and which fields speak for it and against it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Literal, get_args

from judged.errors import BadProtocol, UnknownName

__all__ = ["LOOSE_RULES", "STRICT_RULES", "URL_RULES", "Rules", "Unit", "Weights"]

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
    "empty-path": "no path is the path `/`",
    "dot-segments": "`.` and `..` in the path are followed",
    "double-slash": "several slashes in a row are one",
    "percent-encoding": "what need not be encoded is not, in upper-case digits what must be",
    "unicode-form": "composed and decomposed letters are the same (NFC)",
    "fragment": "what follows `#` is left out, unless it is a route (`#!…`, `#/…`)",
    "text-fragment": "what follows `:~:` in the fragment is left out",
    "tracking": "parameters that say where the visitor came from are left out",
    "session-path": "session ids in the path are left out (`;jsessionid=…`, `/(S(…))/`)",
    "session-query": "session ids in the query are left out",
    "query-order": "parameters are sorted by name; those of one name keep their order",
    "empty-query": "`?` with nothing after it, and parameters that are empty, are left out",
}
"""Rules of both keys: differences that never, or hardly ever, make another page."""

LOOSE_RULES = {
    "trailing-slash": "a slash at the end of the path is left out",
    "www": "`www.` before the host is left out",
    "mobile": "`m.` and `mobile.` before the host, and `.m.` within it, are left out",
    "amp": "`amp.` before the host, `/amp` around the path and the parameter `amp` are left out",
    "index": "`index.html` and the like at the end of the path are left out",
}
"""Further rules of the loose key: differences that often make no other page, and sometimes do."""

URL_RULES = STRICT_RULES | LOOSE_RULES
"""Every rule for URLs, with what it does."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each field that agrees adds to the confidence that two results are the same."""

    domain: float = 1.0
    generic: float = 0.6
    url: float = 0.6
    """The strict keys of the URLs are equal."""
    loose_url: float = 0.0
    """Only the loose keys are equal."""
    text: float = 0.5
    """Equal, or one a prefix of the other."""
    title: float = 0.3

    def __post_init__(self) -> None:
        for name, weight in asdict(self).items():
            if not 0 <= weight <= 1:
                msg = f"the weight of `{name}` is {weight}, expected a number from 0 to 1"
                raise BadProtocol(msg, hint="a field that should not count has weight 0")
        if self.loose_url > self.url:
            msg = f"the weight of `loose_url` is {self.loose_url}, expected at most that of `url`, {self.url}"
            raise BadProtocol(msg, hint="URLs with equal strict keys have equal loose keys as well")


@dataclass(frozen=True, slots=True)
class Rules:
    """When two results of a session are the same thing; printed with every result.

    >>> print(Rules())
    duplicates by document (domain 1, generic 0.6, url 0.6, text 0.5, title 0.3; the same from 0.6) #97130c29f31b
    """

    unit: Unit = "document"
    weights: Weights = field(default_factory=Weights)
    threshold: float = 0.6
    """The confidence from which two results are the same."""
    url_rules_off: frozenset[str] = frozenset()
    """Rules of URL normalisation that are not applied, by their names in `URL_RULES`."""
    near: float | None = None
    """The share of common three-word sequences from which two texts count as equal; None: only equal ones do."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "url_rules_off", frozenset(self.url_rules_off))
        if self.unit not in get_args(Unit):
            known = ", ".join(f"`{unit}`" for unit in get_args(Unit))
            msg = f"the unit of deduplication is `{self.unit}`, expected one of {known}"
            raise BadProtocol(msg, hint="`document` for web search, `passage` for stores of chunks")
        for name in sorted(self.url_rules_off - URL_RULES.keys()):
            raise UnknownName("rule for URLs", name, URL_RULES)
        if not 0 < self.threshold <= 1:
            msg = f"the threshold of deduplication is {self.threshold}, expected above 0 and at most 1"
            raise BadProtocol(msg, hint="confidence lies between 0 and 1")
        if self.weights.title >= self.threshold:
            msg = f"the weight of `title` is {self.weights.title}, expected less than the threshold, {self.threshold}"
            hint = "a title alone never makes two results the same: many pages share one"
            raise BadProtocol(msg, hint=hint)
        if self.near is not None and not 0 < self.near < 1:
            msg = f"`near` of the rules of deduplication is {self.near}, expected a number between 0 and 1"
            raise BadProtocol(msg, hint="leave it out to compare texts exactly; 0.8 is a usual choice")

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that change when any rule does."""
        canonical = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    def to_dict(self) -> dict[str, object]:
        """Return every rule by name."""
        weights = {name: float(weight) for name, weight in asdict(self.weights).items()}
        threshold = float(self.threshold)
        off = sorted(self.url_rules_off)
        return {**asdict(self), "weights": weights, "threshold": threshold, "url_rules_off": off}

    def replace(self, **changes: object) -> Rules:
        """Return these rules with some changed."""
        known = [rule.name for rule in fields(self)]
        for name in changes.keys() - set(known):
            raise UnknownName("rule of deduplication", name, known)
        return replace(self, **changes)  # type: ignore[arg-type]

    def __str__(self) -> str:
        weights = ", ".join(f"{name} {weight:g}" for name, weight in asdict(self.weights).items() if weight)
        off = "".join(f", without URL rule {name}" for name in sorted(self.url_rules_off))
        near = "" if self.near is None else f", texts alike by {self.near:g}"
        return (
            f"duplicates by {self.unit} ({weights}; the same from {self.threshold:g}{near}{off}) "
            f"#{self.fingerprint}"
        )
