"""The protocol of answers: every convention that changes one of their numbers and is not a parameter of a measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from judged.protocol import BaseProtocol, convention

Unlabelled = Literal["zero", "error"]
Choice = Literal["skip", "zero"]


@dataclass(frozen=True, slots=True)
class AnswerProtocol(BaseProtocol):
    """Conventions by which labels of answers become shares."""

    family: ClassVar[str] = "answer"
    subject: ClassVar[str] = "an answer protocol"

    missing: Literal["zero", "skip"] = convention(
        "zero",
        help="Score of a query that a system did not answer.",
        words={"zero": "unanswered queries score 0", "skip": "unanswered queries skipped"},
        outcomes={"zero": "scored as 0", "skip": "left out"},
        affects="queries",
        concerns="no answer",
    )
    """A query that a system did not answer scores 0, or is left out."""
    unlabelled: Unlabelled = convention(
        "zero",
        help="Value of a pair without a label.",
        words={"zero": "unlabelled counts as no support", "error": "unlabelled refused"},
        outcomes={"zero": "counted as no support", "error": "refused"},
        alternatives=("zero",),
    )
    """A pair without a label, such as a nugget and an answer, counts as no support, or is an error."""
    conflict: Literal["first", "last", "error"] = convention(
        "first",
        help="Which label counts for a pair that was labelled differently.",
        words={
            "first": "the first label counts",
            "last": "the last label counts",
            "error": "labels that differ refused",
        },
        outcomes={"first": "the first one counts", "last": "the last one counts", "error": "refused"},
        alternatives=("first", "last"),
    )
    """Of several labels of one pair that differ, the first or the last counts, or that is an error."""
    no_vital: Choice = convention(
        "skip",
        help="Recall of vital nuggets for a query that has none.",
        words={
            "skip": "queries without vital nuggets skipped",
            "zero": "queries without vital nuggets score 0",
        },
        outcomes={"skip": "left out of the means of vital nuggets", "zero": "scored as 0"},
        affects="queries",
        concerns="no vital nugget",
    )
    """A query without vital nuggets is left out of their recall, or scores 0 there."""
    no_statements: Choice = convention(
        "zero",
        help="Precision and faithfulness of an answer without any claim.",
        words={"zero": "answers without claims score 0", "skip": "answers without claims skipped"},
        outcomes={"zero": "scored as 0", "skip": "left out"},
        affects="queries",
        concerns="an answer without claims",
    )
    """An answer that makes no claim scores 0 in precision and faithfulness, or is left out there."""
    no_passages: Literal["unsupported", "zero"] = convention(
        "unsupported",
        help="Claims of an answer without any passage.",
        words={
            "unsupported": "claims without passages are unsupported",
            "zero": "answers without passages score 0",
        },
        outcomes={"unsupported": "its claims are unsupported", "zero": "scored as 0"},
        concerns="no passage",
    )
    """Where nothing was retrieved, every claim of the answer is unsupported; or hallucination and own knowledge are 0."""
    sentences: Literal["rule-1"] = convention(
        "rule-1",
        help="Rule by which texts are split into sentences.",
        words={"rule-1": "texts split by rule 1"},
    )
    """Answers that come in sentences keep them; other texts are split by this rule of `judged.answers.sentences`.

    A change of what it returns is another rule, with another name."""

    @property
    def heading(self) -> str:
        """Heading of its line."""
        return "answers"
