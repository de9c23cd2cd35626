"""The kinds of things that lint reports: their codes, severities, and a sentence that explains each."""

from __future__ import annotations

from dataclasses import dataclass

from judged.problem import Severity


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of finding."""

    code: str
    severity: Severity
    """An error is refused by `judged score`; a warning is worth a look; information is harmless."""
    counted: str
    """What is counted, in the plural."""
    explanation: str


_KINDS = (
    Kind("unreadable", "error", "files", "The file cannot be read at all, or lacks a column that is needed."),
    Kind("empty", "error", "files", "The judgments hold no row, so nothing can be scored."),
    Kind(
        "preferences",
        "error",
        "files",
        "The file holds preferences, not judgments: `judged.read_preferences` reads them.",
    ),
    Kind(
        "run-as-judgments",
        "error",
        "files",
        "The file looks like a run, whose ranks would be taken for grades: six columns with a rank and a score.",
    ),
    Kind(
        "no-shared-query",
        "error",
        "files",
        "The run has results for no judged query, so nothing can be scored.",
    ),
    Kind("few-columns", "error", "lines", "The line has too few columns."),
    Kind("malformed-line", "error", "lines", "The line is not what its format says."),
    Kind("not-an-object", "error", "lines", "The line holds a JSON value that is not an object."),
    Kind("missing-value", "error", "values", "A query, document, score, grade or intent is missing."),
    Kind("bad-id", "error", "ids", "An id is neither text nor a whole number."),
    Kind("not-a-number", "error", "numbers", "The score or grade is text that is not a number."),
    Kind("score-nan", "error", "scores", "The score is NaN, which cannot be ordered."),
    Kind("not-finite", "error", "grades", "The grade is NaN or infinite."),
    Kind(
        "repeated-document",
        "error",
        "rows",
        "The document is retrieved or judged again for the same query; if judged, with the same grade.",
    ),
    Kind(
        "conflicting-grades",
        "error",
        "rows",
        "The document is judged again for the same query, with a different grade.",
    ),
    Kind(
        "bad-weight",
        "error",
        "rows",
        "The weight of an intent is negative, not finite, or not the same in all its rows.",
    ),
    Kind(
        "not-utf-8",
        "error",
        "ids",
        "An id is not UTF-8 text: an error in judgments, a warning in a run, where it matches no judgment.",
    ),
    Kind(
        "inverted-grades",
        "warning",
        "queries",
        "Documents with better grades have lower scores, far beyond chance: the grades may be inverted, or the "
        "scores may be distances.",
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
        "In the order of the rank column the score rises here; scores decide the order, ranks are ignored.",
    ),
    Kind("rank-not-a-number", "warning", "rows", "The rank is not a number."),
    Kind("ranks-from-zero", "warning", "queries", "The ranks of the query begin at 0, expected 1."),
    Kind("interleaved-queries", "warning", "queries", "The rows of the query are not contiguous."),
    Kind("negative-grades", "warning", "grades", "The grade is below 0; it counts as not relevant."),
    Kind(
        "fractional-grades",
        "warning",
        "grades",
        "The grade is not a whole number, which other tools cannot read.",
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
        "intents-without-relevant",
        "info",
        "intents",
        "No document has a grade above 0 for the intent, so measures of intents leave it out.",
    ),
    Kind("comments", "info", "lines", "The line begins with `#` and is skipped; other tools would read it."),
    Kind("blank-lines", "info", "lines", "The line is blank and is skipped."),
    Kind("carriage-returns", "info", "lines", "The line ends with a carriage return and a line feed."),
    Kind("byte-order-mark", "info", "files", "The file begins with a byte order mark, which is skipped."),
)

KINDS = {kind.code: kind for kind in _KINDS}
"""Every kind by its code, the most severe first."""
