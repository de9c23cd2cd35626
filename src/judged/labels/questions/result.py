"""A set of questions with their sources: what was written, what was rejected and why, and how far to trust it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from judged.blocks import Block, Display, Notes, Sentence, Table
from judged.problem import Note
from judged.result import Provenance, Result, tabulate
from judged.store.files import write_file
from judged.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa

SINGLE, DOUBLE = "single-hop", "multi-hop"
GRADES = {SINGLE: 3, DOUBLE: 2}
"""Grade of the sources as first judgments: a full answer amid other material, or a part of the answer."""


@dataclass(frozen=True, eq=False, repr=False)
class QuestionSet(Result):
    """Questions that documents answer, with these documents as their first judgments."""

    kind: ClassVar[str] = "questions"
    detail: ClassVar[str] = "questions"

    writer: str
    """Model that wrote the questions."""
    questions: tuple[Mapping[str, Any], ...]
    """A dict for each question: query, text, kind, documents, answer, overlap with its source and with another document."""
    rejected: tuple[Mapping[str, Any], ...]
    """A dict for each draft that was rejected: text, kind, documents, reason; for a draft that was not written also."""
    wanted: int
    """Number of questions that were asked for."""
    documents: int
    """Number of documents that questions could be about."""
    checked_by: tuple[str, ...] = ()
    """Models that checked the drafts."""
    tokens_in: int = 0
    """Tokens read by all models now."""
    tokens_out: int = 0
    """Tokens written by all models now."""
    spent: float = 0.0
    """Cost of all answers, those of earlier jobs included."""
    stopped: str | None = None
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def complete(self) -> bool:
        """Whether there are as many questions as wanted."""
        return len(self.questions) == self.wanted

    @property
    def queries(self) -> dict[str, str]:
        """The text of each question by its id."""
        return {row["query"]: row["text"] for row in self.questions}

    @property
    def judgments(self) -> list[dict[str, Any]]:
        """The sources of each question as judgments."""
        return [
            {"query": row["query"], "document": document, "grade": GRADES[row["kind"]]}
            for row in self.questions
            for document in row["documents"]
        ]

    def sentences(self) -> list[str]:
        """Return what was written and rejected, the overlap with the sources, and the cost, a sentence each."""
        kinds = Counter(row["kind"] for row in self.questions)
        parts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        sentences = [
            f"{len(self.questions):,} of {self.wanted:,} questions{f' ({parts})' if parts else ''} by {self.writer}"
        ]
        reasons = Counter(row["reason"] for row in self.rejected)
        sentences += [f"rejected: {count:,} ({reason})" for reason, count in reasons.most_common()]
        if self.questions:
            own, other = (
                fmean(row[name] for row in self.questions) for name in ("overlap", "overlap_elsewhere")
            )
            sentences.append(
                f"lexical overlap: {100 * own:.0f} % of the words of a question are in its source,"
                f" {100 * other:.0f} % in another document drawn at random"
            )
        sentences.append(f"tokens: {self.tokens_in:,} read, {self.tokens_out:,} written")
        if self.spent:
            sentences.append(f"cost: {self.spent:.4f}")
        if self.stopped:
            sentences.append(f"stopped: {self.stopped}")
        return sentences

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the questions, their first judgments, and the drafts that were rejected."""
        return {
            "questions": tabulate([_join_documents(row) for row in self.questions]),
            "judgments": tabulate(self.judgments),
            "rejected": tabulate([_join_documents(row) for row in self.rejected]),
        }

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return the summary, and the first questions."""
        yield from (Sentence(f"{sentence[0].upper()}{sentence[1:]}") for sentence in self.sentences())
        rows = tuple((row["query"], row["kind"], row["text"]) for row in self.questions[:10])
        title = display.title or f"The first of {counted(len(self.questions), 'question')}"
        yield Table(("query", "kind", "text"), rows, title=title)
        if display.notes and self.notes:
            yield Notes(self.notes)

    def write(self, folder: str | Path) -> list[Path]:
        """Write queries, judgments and rejected drafts as JSONL into a folder; return their paths."""
        encode = msgspec.json.Encoder().encode_lines
        queries = [{"id": row["query"], **row} for row in self.questions]
        contents: dict[str, list[dict[str, Any]]] = {
            "queries.jsonl": [
                {name: value for name, value in row.items() if name != "query"} for row in queries
            ],
            "judgments.jsonl": self.judgments,
            "rejected.jsonl": [dict(row) for row in self.rejected],
        }
        paths = []
        for name, rows in contents.items():
            paths.append(Path(folder) / name)
            write_file(paths[-1], encode(rows))
        return paths


def _join_documents(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "documents": " ".join(row["documents"])}
