"""Names of columns: which of the many names that people use stands for what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judged.errors import BadInput
from judged.io.format import Kind
from judged.problem import Problem

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
    "intent": ("intent", "intent_id", "subtopic", "subtopic_id"),
    "weight": ("intent_weight", "intent_probability"),
}
"""For each role, the names it is known by, without regard to case; the first one present is taken.

Names that say "id" come first: beside them, a column `query` or `document` holds the text itself, and
a column `docid` a number of PyTerrier's index.
"""


ITERATION = "iteration"
"""What ir_measures and ir_datasets call the second column of TREC judgments, which may hold intents."""


@dataclass(frozen=True)
class Roles:
    """Which column plays which role, and what to tell about the choice."""

    query: str
    document: str
    number: str
    more: Mapping[str, str] = field(default_factory=dict)
    """Of judgments, the columns that hold `target`, `intent` and `weight`, as far as they are there."""
    notes: tuple[str, ...] = ()

    def all(self) -> list[str]:
        """The columns that are needed."""
        return [self.query, self.document, self.number, *self.more.values()]

    def judged(self, columns: Sequence[Any]) -> dict[str, Any]:
        """Of columns in the order of `all`, what `Judgments.from_columns` calls each."""
        return dict(zip(("query", "document", "grade", *self.more), columns, strict=True))


def find_columns(columns: Sequence[str], kind: Kind, *, subject: str, intents: bool = False) -> Roles:
    """The columns that hold query, document and score or grade; the names are refused if one is not there.

    `intents` takes a column `iteration` as that of intents, where no other is.
    """
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
    more = _more(columns, intents=intents) if kind == "judgments" else {}
    return Roles(found["query"][0], found["document"][0], found[number][0], more, notes)


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


def _more(columns: Sequence[str], *, intents: bool) -> dict[str, str]:
    """The columns that judgments may have beside the three they need; weights are those of intents."""
    found = {role: _present(columns, role) for role in ("target", "intent", "weight")}
    if intents and not (found["intent"] or found["target"]):
        found["intent"] = [column for column in columns if column.strip().lower() == ITERATION]
    if not found["intent"]:
        found["weight"] = []
    return {role: names[0] for role, names in found.items() if names}


def _no_column(columns: Sequence[str], absent: Sequence[str], subject: str) -> BadInput:
    fault = Problem.error(
        "columns", "columns", f"{_told(columns) or 'none'}; no {' and no '.join(absent)} among them"
    )
    hint = "; ".join(f"name the {role} one of {', '.join(NAMES[role])}" for role in absent)
    if "score" in absent and "rank" in {column.strip().lower() for column in columns}:
        hint = "a rank is no score: add a column `score` that falls as the rank grows, such as −rank"
    return BadInput(subject, [fault], hint=hint)


def _told(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
