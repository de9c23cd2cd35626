"""Laws that measures obey: the tests hold each measure to those it names, and the engine relies on some."""

from __future__ import annotations

from collections.abc import Iterable

from judged.errors import UnknownName

__all__ = ["LAWS", "SESSION_LAWS", "checked_laws"]

LAWS: dict[str, str] = {
    "swap": "moving a better judged result up never hurts",
    "zero-if-nothing-found": "results that are all not relevant or unjudged score 0",
    "one-if-ideal": "exactly the relevant documents, in the best order, score 1",
    "one-or-more": "no value is below 1",
    "zero-if-all-is-known": "with nothing unjudged the value is 0",
    "whole": "values are whole numbers",
    "text": "values are texts",
    "order-free": "the set of results decides, in whatever order",
    "run-free": "the judgments decide, whatever is retrieved",
    "grade-free": "whether a result was judged decides, not how",
    # What decides of a judged document: documents that a measure cannot tell apart are interchanged freely.
    "relevance-only": "whether a result is relevant decides, not its grade; not relevant and unjudged are alike",
    "gain-only": "grades decide; results without a positive or relevant grade and unjudged ones are alike",
    "judgment-only": "it decides whether a result is relevant, judged not relevant, or unjudged",
    # What decides of an order: how means and extremes over the orders of tied results are found.
    "linear": "what a result adds depends on its rank and grade alone",
    "stepwise": "what a result adds depends on its rank and grade, and on which judged ones stand above, not where",
    "by-grade": "of tied results, the orders by descending and by ascending grade have the extreme values",
    # What decides of judgments still to be made: how bounds over unjudged results are found.
    "grows": "raising the grade of a result never lowers the value",
    "in-order": "of judgments with as many relevant results, those with the relevant first and last are extreme",
    "parted": "higher grades of results never lower the value, higher grades of what there was to find never raise it",
    "discounted-ratio": "it is the ratio of discounted gains to those of the best order",
}
"""Every law by name, in words."""

SESSION_LAWS: dict[str, str] = {
    "whole": "values are whole numbers",
    "accumulates": "the value never falls from one iteration to the next",
    "grows": "raising the gain of a result never lowers the value, so that labels to come can only raise it",
    "gain-free": "gains do not matter",
    "rate": "an iteration that brings nothing good never raises the value: it is never shown alone",
    "zero-if-nothing-found": "a session without results has the value 0",
    "undefined-if-nothing-found": "a session without results has no value",
}
"""Every law of measures of sessions by name, in words."""


def checked_laws(names: Iterable[str]) -> frozenset[str]:
    """The laws of these names; a name that is none of them is refused."""
    laws = frozenset(names)
    for name in sorted(laws - LAWS.keys()):
        raise UnknownName("law of measures", name, list(LAWS))
    return laws
