"""The protocol of clicks: every convention that changes one of their numbers and is not a parameter of a measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from judged.protocol import BaseProtocol, convention


@dataclass(frozen=True, slots=True)
class ClickProtocol(BaseProtocol):
    """Conventions by which a log becomes values of impressions."""

    family: ClassVar[str] = "click"
    subject: ClassVar[str] = "a click protocol"

    last_click: Literal["satisfied", "unsatisfied"] = convention(
        "satisfied",
        help="Whether the last click of a session is satisfied where its dwell is not known.",
        words={
            "satisfied": "the last click of a session is satisfied where its dwell is not known",
            "unsatisfied": "clicks of unknown dwell are not satisfied",
        },
        outcomes={"satisfied": "the last one of a session is satisfied", "unsatisfied": "not satisfied"},
        concerns="clicks of unknown dwell",
    )
    """Where the dwell of the last click of a session is not known, it is satisfied, or not; other clicks of unknown
    dwell are not."""
    prefix: Literal["counted", "ignored"] = convention(
        "counted",
        help="Clicks on documents with which both interleaved lists begin.",
        words={
            "counted": "clicks in the common prefix of interleaved lists count",
            "ignored": "clicks in the common prefix of interleaved lists ignored",
        },
        outcomes={"counted": "counted for the team that placed them", "ignored": "ignored"},
        concerns="interleaved lists with a common prefix",
    )
    """A click on a document that both interleaved lists have at the same place, in the part with which they begin,
    counts for the team that placed it, as published, or for neither."""

    @property
    def heading(self) -> str:
        """Heading of its line."""
        return "clicks"
