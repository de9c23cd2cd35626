"""Names of columns: which of the many names that people use stands for what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from judged.errors import BadInput, Fault
from judged.formats.format import Kind

__all__ = ["NAMES", "Roles", "find_columns", "has_ids", "kind_of_columns"]

NAMES: dict[str, tuple[str, ...]] = {
    "query": ("query_id", "query-id", "qid", "q_id", "topic", "query"),
    "document": (
        *("docno", "doc_id", "document_id", "corpus-id", "corpus_id", "passage_id", "pid"),
        *("docid", "did", "document", "doc"),
    ),
    "score": ("score", "sim", "similarity"),
    "grade": ("grade", "relevance", "rel", "label", "judgment", "score"),
    "target": ("target",),
}
"""For each role, the names it is known by, without regard to case; the first one present is taken.

Names that say "id" come first: beside them, a column `query` or `document` holds the text itself, and
a column `docid` a number of PyTerrier's index.
"""


@dataclass(frozen=True)
class Roles:
    """Which column plays which role, and what to tell about the choice."""

    query: str
    document: str
    number: str
    target: str | None = None
    notes: tuple[str, ...] = ()

    def all(self) -> list[str]:
        """The columns that are needed."""
        return [self.query, self.document, self.number, *([self.target] if self.target else [])]


def find_columns(columns: Sequence[str], kind: Kind, *, subject: str) -> Roles:
    """The columns that hold query, document and score or grade; the names are refused if one is not there."""
    number = "score" if kind == "run" else "grade"
    found = {role: _present(columns, role) for role in ("query", "document", number)}
    absent = [role for role, names in found.items() if not names]
    if absent:
        raise _no_column(columns, absent, subject)
    notes = tuple(
        f"column `{names[0]}` was taken as the {role}, not {_told(names[1:])}"
        for role, names in found.items()
        if len(names) > 1 and role != "grade"
    )
    target = _present(columns, "target") if kind == "judgments" else []
    return Roles(
        found["query"][0], found["document"][0], found[number][0], target[0] if target else None, notes
    )


def has_ids(columns: Iterable[str]) -> bool:
    """Whether these are names of columns, a query and a document among them."""
    names = list(columns)
    return bool(_present(names, "query") and _present(names, "document"))


def kind_of_columns(columns: Iterable[str]) -> Kind | None:
    """Judgments if there is a grade, a run if there is a score, None if there are both or neither."""
    names = {name.strip().lower() for name in columns}
    if {"query-id", "corpus-id", "score"} == names:
        return "judgments"  # as BEIR writes them
    graded, scored = bool(names & set(NAMES["grade"][:-1])), bool(names & set(NAMES["score"]))
    if graded == scored:
        return None
    return "judgments" if graded else "run"


def _present(columns: Sequence[str], role: str) -> list[str]:
    """The columns that may play a role, the likeliest first."""
    by_name: dict[str, str] = {}
    for column in columns:
        by_name.setdefault(column.strip().lower(), column)
    return [by_name[name] for name in NAMES[role] if name in by_name]


def _no_column(columns: Sequence[str], absent: Sequence[str], subject: str) -> BadInput:
    fault = Fault(
        "columns", "columns", f"{_told(columns) or 'none'}; no {' and no '.join(absent)} among them"
    )
    hint = "; ".join(f"name the {role} one of {', '.join(NAMES[role])}" for role in absent)
    if "score" in absent and "rank" in {column.strip().lower() for column in columns}:
        hint = "a rank is no score: add a column `score` that falls as the rank grows, such as −rank"
    return BadInput(subject, [fault], hint=hint)


def _told(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
