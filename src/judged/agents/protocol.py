"""The protocol of sessions: every convention that changes one of their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from judged.agents.dedup.rules import Rules
from judged.agents.traces import TurnChoice
from judged.protocol import BaseProtocol, convention

Conflict = Literal["first", "max", "last", "error"]
"""Rule for the gain of a result that was labelled differently at different times; or that is an error."""
Unlabelled = Literal["zero", "error"]
"""Value of a result without a label: 0, or it is an error."""
DEFAULT_MEASURES = ("CG@last", "DCG@last", "RG@last", "SRE@last", "SRR@last", "N")
"""Default measures of sessions: gains, and rates only together with them and the number of iterations."""
WITHOUT_GAINS = ("R@last", "UR@last", "Dup@last", "SRR@last", "N")
"""The same for traces without any gain."""


@dataclass(frozen=True, slots=True)
class SessionProtocol(BaseProtocol):
    """Conventions by which sessions become gains; `rules` says which results are the same thing."""

    family: ClassVar[str] = "session"

    subject: ClassVar[str] = "a session protocol"

    rules: Rules = convention(Rules(), words=lambda rules: str(rules).rpartition(" #")[0])
    conflict: Conflict = convention(
        "first",
        help="Which label counts for a result that was labelled differently.",
        words={
            "first": "the first label counts",
            "max": "the greatest label counts",
            "last": "the last label counts",
            "error": "labels that differ refused",
        },
        outcomes={
            "first": "the first label counts",
            "max": "the greatest label counts",
            "last": "the last label counts",
            "error": "refused",
        },
    )
    unlabelled: Unlabelled = convention(
        "zero",
        help="Gain of a result without a label.",
        words={"zero": "unlabelled counts 0", "error": "unlabelled refused"},
    )
    turn: TurnChoice = convention(
        "last",
        help="Which turn of a conversation is its session.",
        words={"last": "last turn", "last-with-search": "last turn that searched"},
    )

    @property
    def heading(self) -> str:
        """Heading of its line."""
        return "sessions"

    def phrases(self) -> list[str]:
        """Return the conventions in words, in the order in which they apply."""
        *others, turn = BaseProtocol.phrases(self)
        return [turn, *others]

    def resolve_conflict(self, known: int, gain: int) -> int:
        """Return the gain of a result that has one and was labelled again."""
        return {"first": known, "max": max(known, gain), "last": gain, "error": known}[self.conflict]
