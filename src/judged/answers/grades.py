"""Labels of answers as grades, which `judged agreement` compares: the place of each label on its scale."""

from __future__ import annotations

from collections.abc import Mapping

from judged.answers.reading.labels import read_labels
from judged.answers.tables import Assignment, Claim, Support
from judged.errors import BadInput, Unreadable, WrongKind
from judged.labels.task import WordLabel, WordLabels

LEVELS: Mapping[str, Mapping[str, int]] = {
    "nuggets": {"not_support": 0, "partial_support": 1, "support": 2},
    "citations": {"none": 0, "partial": 1, "full": 2},
    "claims": {"contradicted": 0, "neutral": 1, "entailed": 2},
}
"""The place of each label on its scale."""


def read_word_labels(source: object) -> WordLabels | None:
    """Return the labels of nuggets, citations or claims in a source; None if it has none."""
    try:
        tables = read_labels(source)
    except (BadInput, Unreadable, WrongKind) as error:
        if isinstance(error, BadInput) and any(problem.code == "unknown-label" for problem in error.problems):
            raise
        return None
    rows = [row for table in tables for row in table.rows if row.label]
    if not rows:
        return None
    kind = (
        "nuggets"
        if isinstance(rows[0], Assignment)
        else "citations"
        if isinstance(rows[0], Support)
        else "claims"
    )
    labels = [WordLabel(row.query, _describe(row), LEVELS[kind][row.label]) for row in rows]
    return WordLabels(tuple(labels), tuple(LEVELS[kind]))


def _describe(row: Assignment | Support | Claim) -> str:
    """Return what a label is about: its answer, and the nugget, the citation or the claim."""
    if isinstance(row, Assignment):
        keys: tuple[str, ...] = (row.nugget,)
    elif isinstance(row, Support):
        keys = (f"part {row.part}", *row.documents)
    else:
        keys = (row.side, row.claim, row.source)
    return " · ".join((row.system or "", row.attempt or "", *keys))
