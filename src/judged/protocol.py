"""The protocol: every convention that changes a number, stated once and applied once, to every measure."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from judged.errors import BadProtocol, UnknownName

__all__ = ["PROTOCOLS", "Protocol"]


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a run meets its judgments. The defaults are those of trec_eval 9 with `-c`.

    >>> Protocol().fingerprint == PROTOCOLS["trec_eval-9"].fingerprint
    True
    """

    ties: Literal["document-descending", "document-ascending", "input-order", "expected"] = (
        "document-descending"
    )
    """Documents with equal scores: by id from the greatest down (bytewise), from the least up, or as given; or
    in every order, and the value is the mean over them."""
    precision: Literal["float32", "float64"] = "float32"
    """The width at which scores are compared; what is equal there is tied."""
    missing: Literal["zero", "skip", "error"] = "zero"
    """A judged query without results scores 0, is left out, or is an error."""
    unjudged: Literal["nonrelevant", "removed"] = "nonrelevant"
    """Unjudged documents count as not relevant, or are taken out before ranks are counted."""
    rel: float = 1.0
    """The grade from which a document is relevant, for measures that set no `rel` of their own."""
    depth: int | None = None
    """Only the first `depth` documents of each query are looked at; None: all."""
    recall_points: Literal["truncated", "rounded"] = "truncated"
    """A share x of R relevant documents is ⌊xR + 0.9⌋ of them (trec_eval 9) or round(xR) (trec_eval 10)."""
    order: Literal["score", "input"] = "score"
    """Documents are ranked by score, or stand as they came and scores are not looked at."""
    extra: Literal["ignored", "zero"] = "ignored"
    """A query of the run that nobody judged is not scored, or scores 0."""
    barren: Literal["zero", "skip"] = "zero"
    """A query without any relevant document scores 0, or is left out."""
    negative: Literal["unjudged", "nonrelevant"] = "unjudged"
    """A negative grade means that nobody judged the document, or that it is not relevant."""
    itself: Literal["kept", "removed"] = "kept"
    """A document with the id of its query is ranked like any other, or taken out first."""

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for each in fields(self):
            options = get_args(hints[each.name])
            value = getattr(self, each.name)
            if options and all(isinstance(option, str) for option in options) and value not in options:
                told = ", ".join(f"`{option}`" for option in options)
                msg = f"`{each.name}` of a protocol is `{value}`, expected one of {told}"
                raise BadProtocol(msg)
        if not self.rel >= 0:
            msg = f"`rel` of a protocol is {self.rel}, expected a number from 0"
            raise BadProtocol(msg)
        if self.depth is not None and self.depth < 1:
            msg = f"`depth` of a protocol is {self.depth}, expected a whole number from 1"
            raise BadProtocol(msg)
        if self.ties == "expected" and self.unjudged == "removed" and self.depth is not None:
            msg = "a protocol has `ties` expected, `unjudged` removed and a `depth`, expected two of them at most"
            raise BadProtocol(
                msg, hint="which unjudged documents lie within the depth depends on the order of ties"
            )

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that change when any convention does."""
        every = self.as_dict().items()
        stated = {name: value for name, value in every if name not in _LATER or value != _LATER[name]}
        canonical = json.dumps(stated, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    @property
    def profile(self) -> str | None:
        """The name of the profile that has exactly these conventions, if one has."""
        return next((name for name, protocol in PROTOCOLS.items() if protocol == self), None)

    def as_dict(self) -> dict[str, Any]:
        """Every convention by name."""
        return {**asdict(self), "rel": float(self.rel)}

    def but(self, **changes: Any) -> Protocol:
        """This protocol with some conventions changed."""
        unknown = [name for name in changes if name not in {each.name for each in fields(self)}]
        if unknown:
            raise UnknownName("convention of a protocol", unknown[0], [each.name for each in fields(self)])
        return replace(self, **changes)

    def __str__(self) -> str:
        """The profile, every convention in words, and the fingerprint; later ones only where they matter."""
        depth = "full depth" if self.depth is None else f"depth {self.depth}"
        words = {
            "document-descending": "ties by document id descending",
            "document-ascending": "ties by document id ascending",
            "input-order": "ties in input order",
            "expected": "ties averaged over all orders",
            "zero": "missing queries score 0",
            "skip": "missing queries skipped",
            "error": "missing queries refused",
            "nonrelevant": "unjudged not relevant",
            "removed": "unjudged removed",
        }
        return (
            f"{self.profile or 'custom protocol'} ({words[self.ties]}, {self.precision} scores, "
            f"{words[self.missing]}, {words[self.unjudged]}, relevant from grade {self.rel:g}, {depth}, "
            f"recall points {self.recall_points}{self._later()}) #{self.fingerprint}"
        )

    def _later(self) -> str:
        words = {
            "order": "ranks as in the input",
            "extra": "queries nobody judged score 0",
            "barren": "queries without a relevant document skipped",
            "negative": "negative grades not relevant",
            "itself": "documents with their query's id removed",
        }
        return "".join(f", {told}" for name, told in words.items() if getattr(self, name) != _LATER[name])


_LATER = {"order": "score", "extra": "ignored", "barren": "zero", "negative": "unjudged", "itself": "kept"}
"""Conventions that came later, with their defaults: left out there, so that older fingerprints stand."""

PROTOCOLS: dict[str, Protocol] = {
    "trec_eval-9": Protocol(),
    "trec_eval-10": Protocol(precision="float64", recall_points="rounded"),
}
"""trec_eval's protocols, by the names of their profiles; the first is the default."""
