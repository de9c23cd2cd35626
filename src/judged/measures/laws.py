"""Laws that measures obey: the tests check every measure against those it declares, and scoring relies on some."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Self, TypeAlias

from judged.errors import UnknownName


class Law(StrEnum):
    """A law by name; `meaning` says it in words."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        """Make a member from its name and its meaning."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    # What values look like.
    SWAP = "swap", "exchanging any two results, so that the better judged comes first, never hurts"
    ZERO_IF_NOTHING_FOUND = (
        "zero-if-nothing-found",
        "results that are all not relevant or unjudged score 0, and so does a session without results",
    )
    UNDEFINED_IF_NOTHING_FOUND = "undefined-if-nothing-found", "a session without results has no value"
    ONE_IF_IDEAL = "one-if-ideal", "exactly the relevant documents, in the best order, score 1"
    ONE_OR_MORE = "one-or-more", "no value is below 1"
    ZERO_IF_ALL_IS_KNOWN = "zero-if-all-is-known", "with nothing unjudged the value is 0"
    WHOLE = "whole", "values are whole numbers"
    TEXT = "text", "values are strings"

    # How sessions go on.
    ACCUMULATES = "accumulates", "the value never falls from one iteration to the next"
    RATE = "rate", "an iteration that finds nothing good never raises the value, so it is never shown alone"

    # What the value does not depend on.
    ORDER_FREE = "order-free", "the set of results decides, in any order"
    RUN_FREE = "run-free", "the judgments alone decide, not what is retrieved"
    GRADE_FREE = "grade-free", "whether a result was judged decides, not its grade"
    GAIN_FREE = "gain-free", "the gains of a session's results do not matter"

    # What the value depends on: documents that a measure does not distinguish are interchanged freely.
    RELEVANCE_ONLY = (
        "relevance-only",
        "whether a result is relevant decides, not its grade; not relevant and unjudged are alike",
    )
    GAIN_ONLY = (
        "gain-only",
        "grades decide; results without a positive or relevant grade and unjudged ones are alike",
    )
    JUDGMENT_ONLY = "judgment-only", "whether a result is relevant, judged not relevant or unjudged decides"

    # How means and extremes over the orders of tied results are found.
    LINEAR = "linear", "what a result adds depends on its rank and grade alone"
    STEPWISE = (
        "stepwise",
        "what a result adds depends on its rank and grade, and on which judged results are above it, not where",
    )
    BY_GRADE = (
        "by-grade",
        "of tied results, the orders by descending and by ascending grade have the extreme values",
    )

    # How bounds over unjudged results are found.
    GROWS = "grows", "raising the grade of a result, or in a session its gain, never lowers the value"
    IN_ORDER = (
        "in-order",
        "of judgments with equally many relevant results, those with the relevant first and last are extreme",
    )
    ONE_WAY = (
        "one-way",
        "of judgments of the results within the cutoff, and of those below, all relevant and none relevant are extreme",
    )
    PARTED = (
        "parted",
        "higher grades of results never lower the value, higher grades of what there was to find never raise it",
    )
    DISCOUNTED_RATIO = "discounted-ratio", "it is the ratio of discounted gains to those of the best order"


Laws: TypeAlias = frozenset[Law]

_RANKED = frozenset({Law.SWAP, Law.ZERO_IF_NOTHING_FOUND, Law.BY_GRADE})

BINARY: Laws = _RANKED | {Law.ONE_IF_IDEAL, Law.RELEVANCE_ONLY}
"""A measure of ranks and relevance, 1 at best."""
BINARY_IN_ORDER: Laws = BINARY | {Law.IN_ORDER}
"""The same, where it matters how many relevant documents the query has."""
BINARY_SET: Laws = BINARY_IN_ORDER | {Law.ORDER_FREE, Law.ONE_WAY}
"""A measure of the set of results and its relevant documents."""
GRADED: Laws = _RANKED | {Law.GAIN_ONLY}
"""A measure of ranks and graded gains."""
SESSION_COUNT: Laws = frozenset({Law.WHOLE, Law.ACCUMULATES, Law.GAIN_FREE, Law.ZERO_IF_NOTHING_FOUND})
"""A number of results, searches or iterations."""
SESSION_RATE: Laws = frozenset({Law.GROWS, Law.RATE, Law.ZERO_IF_NOTHING_FOUND})
"""Good gain in relation to what it cost."""


def parse_laws(names: Iterable[Law | str]) -> Laws:
    """Return the laws of these names; raise `UnknownName` for a name that no law has.

    >>> sorted(parse_laws(["swap", Law.GROWS]))
    [<Law.GROWS: 'grows'>, <Law.SWAP: 'swap'>]
    """
    laws = set()
    for name in names:
        if name not in set(Law):
            raise UnknownName("law of measures", str(name), [law.value for law in Law])
        laws.add(Law[str(name).upper().replace("-", "_")])
    return frozenset(laws)
