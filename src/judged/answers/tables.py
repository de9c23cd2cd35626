"""Tables of answers: nuggets, and the labels of nuggets, citations and claims; each a schema and its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from judged.problem import Note, Problems
from judged.tables.schema import ATTEMPT_COLUMNS, QUERY_COLUMNS, Field, Schema

_QUERY = Field(
    "query",
    ("query_id", "topic_id", "narrative_id", "sample_id", *QUERY_COLUMNS, "question", "user_input"),
)
_SYSTEM = Field("system", ("system", "run_id", "run", "run_name"), required=False)
_LABELLER = Field("labeller", ("labeller", "labeler", "annotator", "judge", "model"), "text", required=False)
_ATTEMPT = Field("attempt", ATTEMPT_COLUMNS, required=False)

RESPONSES = Schema(
    "responses",
    (
        _QUERY,
        _SYSTEM,
        # `answer` after the others: next to them, as in files of ALCE, it is the true one
        Field("text", ("generated_answer", "response", "output", "answer", "answer_text", "text"), "text"),
        Field("part", ("part", "sentence", "sentence_id"), required=False),
        Field("citations", ("citations", "cited"), "text", required=False),
        Field(
            "references",
            (
                "references",
                "documents",
                "docs",
                "passages",
                "retrieved_context",
                "retrieved_contexts",
                "contexts",
            ),
            "text",
            required=False,
        ),
        _ATTEMPT,
    ),
    nested=("system", "query", "text"),
    merge=True,
)
"""Answers: a row for each, or for each part of one; `references` are what numbers of citations count."""
NUGGETS = Schema(
    "nuggets",
    (
        _QUERY,
        Field("nugget", ("nugget", "nugget_id", "nuggets", "text")),
        Field("importance", kind="text", required=False),
        Field("text", ("text", "nugget_text"), "text", required=False),
    ),
    nested=("query", "nugget"),
)
ASSIGNMENTS = Schema(
    "assignments",
    (
        _QUERY,
        _SYSTEM,
        Field("nugget", ("nugget", "nugget_id", "nuggets", "text")),
        Field("label", ("label", "assignment")),
        Field("importance", kind="text", required=False),
        _LABELLER,
        _ATTEMPT,
    ),
)
SUPPORT = Schema(
    "support",
    (
        _QUERY,
        _SYSTEM,
        Field("part", ("part", "sentence", "sentence_id")),
        Field("document", ("document", "docid", "doc_id", "passage", "passage_id", "citation"), "text"),
        Field("label", ("label", "support")),
        _LABELLER,
        _ATTEMPT,
    ),
)
CLAIMS = Schema(
    "claims",
    (
        _QUERY,
        _SYSTEM,
        Field("side"),
        Field("claim"),
        Field("source"),
        Field("label", ("label", "entailment")),
        Field("text", ("text", "claim_text"), "text", required=False),
        _LABELLER,
        _ATTEMPT,
    ),
)
REFERENCES = Schema(
    "references",
    (
        _QUERY,
        Field(
            "answer",
            (
                "answer",
                "reference",
                "short_answer",
                "expected",
                "gold",
                "ground_truth",
                "answers",
                "short_answers",
            ),
            "text",
            required=False,
        ),
        Field("answerable", ("answerable", "is_answerable"), "text", required=False),
        Field("group", ("group", "answer_id"), required=False),
    ),
    nested=("query", "answer"),
)

UNLABELLED = ""
"""The label of a pair on which a labeller failed: nuggetizer writes `failed`."""
IMPORTANCE = {"vital": "vital", "okay": "okay", "ok": "okay", "failed": UNLABELLED}
"""Importance of a nugget by the words that are read."""
NUGGET_LABELS = {
    **dict.fromkeys(("support", "supported", "full", "full_support", "fully_supported"), "support"),
    **dict.fromkeys(("partial_support", "partial", "partially_supported"), "partial_support"),
    **dict.fromkeys(("not_support", "not_supported", "no_support", "none"), "not_support"),
    "failed": UNLABELLED,
}
SUPPORT_LABELS = {
    **dict.fromkeys(("full", "full_support", "fs", "support", "supported", "fully_supported"), "full"),
    **dict.fromkeys(("partial", "partial_support", "ps", "partially_supported"), "partial"),
    **dict.fromkeys(("none", "no_support", "ns", "not_support", "not_supported"), "none"),
}
CLAIM_LABELS = {
    **dict.fromkeys(("entailed", "entailment", "entails"), "entailed"),
    "neutral": "neutral",
    **dict.fromkeys(("contradicted", "contradiction", "contradicts"), "contradicted"),
}
ANSWERABLE = {
    **dict.fromkeys(("yes", "true", "1", "answerable"), True),
    **dict.fromkeys(("no", "false", "0", "unanswerable"), False),
}


class Nugget(NamedTuple):
    """One fact that an answer to a query should state."""

    query: str
    nugget: str
    """Its id, or its text if it has none."""
    importance: str = ""
    """`vital` or `okay`; empty: not known."""
    text: str = ""


class Assignment(NamedTuple):
    """The label of a nugget and an answer."""

    query: str
    system: str | None
    nugget: str
    label: str
    importance: str = ""
    labeller: str = ""
    attempt: str | None = None


class Support(NamedTuple):
    """The label of a sentence and a passage, or a set of passages, that it cites."""

    query: str
    system: str | None
    part: int
    documents: tuple[str, ...]
    label: str
    labeller: str = ""
    attempt: str | None = None


class Claim(NamedTuple):
    """The label of a claim and a source."""

    query: str
    system: str | None
    side: str
    """`response` for a claim of the answer, `truth` for one of the true answer."""
    claim: str
    source: str
    """`answer` (the true one), `response`, or a document; empty: a claim without any label."""
    label: str
    text: str = ""
    labeller: str = ""
    attempt: str | None = None


class Reference(NamedTuple):
    """A true answer; rows of one group are spellings of it."""

    query: str
    answer: str | None = None
    answerable: bool | None = None
    group: str = ""


T = TypeVar("T", Nugget, Assignment, Support, Claim, Reference)


@dataclass(frozen=True, eq=False)
class Rows(Generic[T]):
    """The rows of one source, with the place of each."""

    rows: tuple[T, ...]
    problems: Problems
    """Problems so far: none; later checks add theirs with the place of a row."""
    name: str
    notes: tuple[Note, ...] = ()
    listed: tuple[tuple[str, str | None], ...] = ()
    """Queries, with the system where there is one, that the source has an entry for, even without any row."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts of documents by id, if the source has them."""

    def __len__(self) -> int:
        return len(self.rows)


Labels: TypeAlias = Rows[Assignment] | Rows[Support] | Rows[Claim]
