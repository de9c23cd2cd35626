"""The kinds of things that lint reports, each with its severity and one sentence that explains it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["KINDS", "Kind", "Severity"]

Severity: TypeAlias = Literal["error", "warning", "note"]
"""An error is refused by `judged score`; a warning is worth a look; a note is harmless."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of finding."""

    name: str
    severity: Severity
    counted: str
    """What is counted, in the plural."""
    explanation: str


_KINDS = (
    Kind("unreadable", "error", "files", "The file cannot be read at all, or lacks a column that is needed."),
    Kind("no-judgments", "error", "files", "The judgments hold no row, so nothing can be scored."),
    Kind(
        "preferences",
        "error",
        "files",
        "The file holds preferences, which are no judgments: `judged.read_preferences` reads them.",
    ),
    Kind("malformed", "error", "lines", "The line has too few columns, or is not what its format says."),
    Kind("missing-value", "error", "rows", "A query, document, score, grade or intent is null."),
    Kind("bad-id", "error", "ids", "An id is neither text nor a whole number."),
    Kind("score-not-a-number", "error", "scores", "The score is text that is no number."),
    Kind("score-nan", "error", "scores", "The score is NaN, which has no place in any order."),
    Kind("grade-not-a-number", "error", "grades", "The grade is text that is no number."),
    Kind("grade-not-finite", "error", "grades", "The grade is NaN or infinite."),
    Kind("retrieved-twice", "error", "rows", "The run lists the document again for the same query."),
    Kind(
        "judged-twice",
        "error",
        "rows",
        "The document is judged again for the same query, with the same grade.",
    ),
    Kind(
        "judged-differently",
        "error",
        "rows",
        "The document is judged again for the same query, with a different grade: only one can be meant.",
    ),
    Kind(
        "intent-weight",
        "error",
        "rows",
        "The weight of an intent is no number from 0, or not the same in all its rows.",
    ),
    Kind("judgment-not-utf-8", "error", "ids", "An id of the judgments is not UTF-8 text."),
    Kind(
        "inverted-grades",
        "warning",
        "queries",
        "Documents with better grades have lower scores, far beyond chance: the grades may be upside down, or the "
        "scores be distances.",
    ),
    Kind("missing-queries", "warning", "queries", "The query is judged but has no results; it scores 0."),
    Kind(
        "unjudged-queries", "warning", "queries", "The query has results but no judgments; it is not scored."
    ),
    Kind("ids-case", "warning", "ids", "The id differs only by case from another, so the two do not match."),
    Kind(
        "ids-white-space",
        "warning",
        "ids",
        "The id differs only by white space at its ends from another, so the two do not match.",
    ),
    Kind(
        "ids-unicode",
        "warning",
        "ids",
        "The id differs only by its Unicode form (NFKC) from another, so the two do not match.",
    ),
    Kind("run-not-utf-8", "warning", "ids", "An id of the run is not UTF-8 text, so it matches no judgment."),
    Kind(
        "score-infinite", "warning", "scores", "The score is infinite once it is compared as a 32-bit float."
    ),
    Kind(
        "tied-scores",
        "warning",
        "rows",
        "The document shares its score, as a 32-bit float, with another of its query: a tie rule decides.",
    ),
    Kind(
        "rank-contradicts-score",
        "warning",
        "rows",
        "In the order of the rank column the score rises here; ranks are not looked at, scores are.",
    ),
    Kind("rank-not-a-number", "warning", "rows", "The rank column holds no number."),
    Kind("ranks-from-zero", "warning", "queries", "The ranks of the query begin at 0, expected 1."),
    Kind("interleaved-queries", "warning", "queries", "The rows of the query do not stand together."),
    Kind("negative-grades", "warning", "grades", "The grade is below 0; it counts as not relevant."),
    Kind(
        "fractional-grades",
        "warning",
        "grades",
        "The grade is no whole number, which other tools cannot read.",
    ),
    Kind(
        "many-columns",
        "warning",
        "lines",
        "The line has more columns than its kind of file; the rest is ignored.",
    ),
    Kind(
        "single-intent",
        "warning",
        "files",
        "No query has more than one intent: the column that was read as intents may hold something else.",
    ),
    Kind("tag-changes", "warning", "lines", "The tag differs from that of the row before: is this one run?"),
    Kind(
        "barren-intents",
        "note",
        "intents",
        "No document has a grade above 0 for the intent, so measures of intents leave it out.",
    ),
    Kind("comments", "note", "lines", "The line begins with `#` and is skipped; other tools would read it."),
    Kind("blank-lines", "note", "lines", "The line holds nothing and is skipped."),
    Kind("carriage-returns", "note", "lines", "The line ends with a carriage return and a line feed."),
    Kind("byte-order-mark", "note", "files", "The file begins with a byte order mark, which is skipped."),
)

KINDS = {kind.name: kind for kind in _KINDS}
"""Every kind by name, the gravest first."""
