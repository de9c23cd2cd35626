"""The rules of deduplication: what counts as one thing, what speaks for it and against it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, get_args

from judged.dedup.url_rules import URL_RULES
from judged.errors import BadProtocol, UnknownName

__all__ = ["Rules", "Unit", "Weights"]

Unit = Literal["document", "passage", "strict"]
"""Whether two passages of one document are the same result (`document`) or two (`passage`); under `strict`, any
field that differs makes two results of them."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each field that agrees adds to the confidence that two results are the same."""

    domain: float = 1.0
    generic: float = 0.6
    url: float = 0.6
    """The strict keys of the URLs are equal."""
    loose_url: float = 0.0
    """Only the loose keys are."""
    text: float = 0.5
    """Equal, or one a beginning of the other."""
    title: float = 0.3

    def __post_init__(self) -> None:
        for name, weight in asdict(self).items():
            if not 0 <= weight <= 1:
                msg = f"the weight of `{name}` is {weight}, expected a number from 0 to 1"
                raise BadProtocol(msg, hint="a field that should say nothing has weight 0")
        if self.loose_url > self.url:
            msg = f"the weight of `loose_url` is {self.loose_url}, expected at most that of `url`, {self.url}"
            raise BadProtocol(msg, hint="whatever agrees in the strict key agrees in the loose key as well")


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
    """Texts whose sets of three-word sequences overlap by this share count as equal; None: only equal ones do."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "url_rules_off", frozenset(self.url_rules_off))
        if self.unit not in get_args(Unit):
            told = ", ".join(f"`{unit}`" for unit in get_args(Unit))
            msg = f"the unit of deduplication is `{self.unit}`, expected one of {told}"
            raise BadProtocol(msg, hint="`document` for web search, `passage` for stores of chunks")
        for name in sorted(self.url_rules_off - URL_RULES.keys()):
            raise UnknownName("rule for URLs", name, URL_RULES)
        self._check_threshold()
        if self.near is not None and not 0 < self.near < 1:
            msg = f"`near` of the rules of deduplication is {self.near}, expected a number between 0 and 1"
            raise BadProtocol(msg, hint="leave it out to compare texts exactly; 0.8 is a usual choice")

    def _check_threshold(self) -> None:
        if not 0 < self.threshold <= 1:
            msg = f"the threshold of deduplication is {self.threshold}, expected above 0 and at most 1"
            raise BadProtocol(msg, hint="confidence lies between 0 and 1")
        if self.weights.title >= self.threshold:
            msg = f"the weight of `title` is {self.weights.title}, expected less than the threshold, {self.threshold}"
            raise BadProtocol(
                msg, hint="a title alone never makes two results the same: many pages share one"
            )

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that change when any rule does."""
        canonical = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    def as_dict(self) -> dict[str, Any]:
        """Every rule by name."""
        weights = {name: float(weight) for name, weight in asdict(self.weights).items()}
        threshold = float(self.threshold)
        off = sorted(self.url_rules_off)
        return {**asdict(self), "weights": weights, "threshold": threshold, "url_rules_off": off}

    def but(self, **changes: Any) -> Rules:
        """These rules with some changed."""
        for name in changes.keys() - {each.name for each in fields(self)}:
            raise UnknownName("rule of deduplication", name, [each.name for each in fields(self)])
        return replace(self, **changes)

    def __str__(self) -> str:
        weights = ", ".join(f"{name} {weight:g}" for name, weight in asdict(self.weights).items() if weight)
        off = "".join(f", without URL rule {name}" for name in sorted(self.url_rules_off))
        near = "" if self.near is None else f", texts alike by {self.near:g}"
        return (
            f"duplicates by {self.unit} ({weights}; the same from {self.threshold:g}{near}{off}) "
            f"#{self.fingerprint}"
        )
