"""The protocol of sessions: every convention that changes a number, printed with and hashed into each result."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

from judged.dedup.rules import Rules
from judged.errors import BadProtocol
from judged.traces.turn_choice import TurnChoice

__all__ = ["Conflict", "SessionProtocol", "Unlabelled"]

Conflict = Literal["first", "max", "last", "error"]
"""Which gain a result has that was labelled differently at different times: the first, greatest or last of them; or
that is an error."""
Unlabelled = Literal["zero", "error"]
"""What a result counts that nobody labelled: 0, or it is an error."""


@dataclass(frozen=True, slots=True)
class SessionProtocol:
    """How sessions are read as gains; which results are the same thing is a matter of its `rules`."""

    rules: Rules = field(default_factory=Rules)
    conflict: Conflict = "first"
    unlabelled: Unlabelled = "zero"
    turn: TurnChoice = "last"

    def __post_init__(self) -> None:
        _refuse_others("conflict", self.conflict, get_args(Conflict))
        _refuse_others("unlabelled", self.unlabelled, get_args(Unlabelled))
        _refuse_others("turn", self.turn, get_args(TurnChoice))

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that change when any convention does."""
        canonical = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    def as_dict(self) -> dict[str, Any]:
        """Every convention by name."""
        return {**asdict(self), "rules": self.rules.to_dict()}

    def but(self, **changes: Any) -> SessionProtocol:
        """This protocol with some conventions changed."""
        return replace(self, **changes)

    def settled(self, known: int, gain: int) -> int:
        """The gain of a thing that has one and was labelled again."""
        return {"first": known, "max": max(known, gain), "last": gain, "error": known}[self.conflict]

    def __str__(self) -> str:
        turn = "last turn" if self.turn == "last" else "last turn that searched"
        unlabelled = "unlabelled counts 0" if self.unlabelled == "zero" else "unlabelled refused"
        conflict = {
            "first": "the first label counts",
            "max": "the greatest label counts",
            "last": "the last label counts",
            "error": "labels that differ refused",
        }[self.conflict]
        rules = str(self.rules).rpartition(" #")[0]
        return f"sessions ({turn}, {rules}, {conflict}, {unlabelled}) #{self.fingerprint}"


def _refuse_others(name: str, value: object, options: tuple[object, ...]) -> None:
    if value not in options:
        told = ", ".join(f"`{option}`" for option in options)
        msg = f"`{name}` of a session protocol is `{value}`, expected one of {told}"
        raise BadProtocol(msg)
