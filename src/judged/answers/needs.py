"""Labels that each measure of answers needs, and the measures that given labels allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from judged.errors import BadMeasure
from judged.measures.measure import Measure

NUGGETS, CITATIONS, SETS, REFERENCES, ANSWERABLE = "nuggets", "citations", "sets", "references", "answerable"
FIRST = "first"
"""Citations that are the first of their sentences."""
IMPORTANCE = "importance"
SAID_TRUE, SAID_FOUND, TRUTH_SAID, TRUTH_FOUND = "said-true", "said-found", "truth-said", "truth-found"

WORDS = {
    NUGGETS: "labels of nuggets (`query`, `nugget`, `label`)",
    IMPORTANCE: "the importance of nuggets (`vital` or `okay`)",
    **dict.fromkeys((CITATIONS, FIRST, SETS), "labels of citations (`query`, `part`, `document`, `label`)"),
    REFERENCES: "reference answers (`references=`, `--references`)",
    ANSWERABLE: "references with a column `answerable`",
    SAID_TRUE: "labels of the answer's claims against the true answer (side `response`, source `answer`)",
    SAID_FOUND: "labels of the answer's claims against passages (side `response`)",
    TRUTH_SAID: "labels of true claims against the answer (side `truth`, source `response`)",
    TRUTH_FOUND: "labels of true claims against passages (side `truth`)",
}
PAIRS = {
    NUGGETS: "nuggets",
    CITATIONS: "citations",
    FIRST: "first citations of sentences",
    SETS: "sets of citations",
    SAID_TRUE: "pairs of a claim and the true answer",
    SAID_FOUND: "pairs of a claim and a passage",
    TRUTH_SAID: "pairs of a true claim and the answer",
    TRUTH_FOUND: "pairs of a true claim and a passage",
}
"""Names of the pairs that are labelled."""

_NEEDS = {
    "NuggetRecall": (NUGGETS,),
    **dict.fromkeys(("CitationPrecision", "CitationRecall", "CitationF"), (CITATIONS,)),
    "ClaimPrecision": (SAID_TRUE,),
    "ClaimRecall": (TRUTH_SAID,),
    "ClaimF": (SAID_TRUE, TRUTH_SAID),
    "ContextRecall": (TRUTH_FOUND,),
    "ContextPrecision": (TRUTH_FOUND,),
    "ContextUse": (TRUTH_FOUND, TRUTH_SAID),
    "Faithfulness": (SAID_FOUND,),
    "Hallucination": (SAID_TRUE, SAID_FOUND),
    "SelfKnowledge": (SAID_TRUE, SAID_FOUND),
    "NoiseSensitivity": (SAID_TRUE, SAID_FOUND, TRUTH_FOUND),
    **dict.fromkeys(("ExactMatch", "TokenF1", "Contains"), (REFERENCES,)),
    **dict.fromkeys(("AbstentionPrecision", "AbstentionRecall"), (ANSWERABLE,)),
}
_DEFAULTS = (
    'NuggetRecall(importance="vital", strict=True)',
    "NuggetRecall",
    "CitationPrecision",
    "CitationRecall",
    "ClaimPrecision",
    "ClaimRecall",
    "ContextRecall",
    "Faithfulness",
    "Hallucination",
    "ExactMatch",
    "TokenF1",
    "Contains",
    "AbstentionPrecision",
    "AbstentionRecall",
    "Cited",
    "Answered",
    "Words",
)
"""Default measures, as far as there are labels for them."""


def list_needs(measure: Measure) -> tuple[str, ...]:
    """Return what a measure needs besides answers."""
    needs = list(_NEEDS.get(measure.name, ()))
    if measure.parameters.get("importance") in {"vital", "weighted"}:
        needs.append(IMPORTANCE)
    averaged = {measure.parameters[name] for name in ("over", "per") if name in measure.parameters}
    if averaged == {"first"}:
        needs[needs.index(CITATIONS)] = FIRST
    if measure.parameters.get("per") == "joint" or measure.parameters.get("over") == "necessary":
        needs.append(SETS)
    return tuple(needs)


def check_needs(measures: Iterable[Measure], given: frozenset[str]) -> None:
    """Raise `BadMeasure` for a measure that needs labels which are not there."""
    for measure in measures:
        missing = [WORDS[need] for need in list_needs(measure) if need not in given]
        if missing:
            msg = f"{measure} needs {missing[0]}, and there are none"
            raise BadMeasure(
                msg, hint="give them with `labels=` (`--labels FILE`)" if "labels" in missing[0] else None
            )


def choose_defaults(given: frozenset[str], parse: Sequence[Measure]) -> list[Measure]:
    """Return those of the default measures for which everything is there."""
    return [measure for measure in parse if given.issuperset(list_needs(measure))]


def list_defaults() -> tuple[str, ...]:
    """Return the names of the default measures."""
    return _DEFAULTS


def list_companions(measures: Sequence[Measure], given: frozenset[str]) -> Iterator[str]:
    """Yield the names of measures that others are not shown without, as far as there are labels for them."""
    known = {measure.name for measure in measures}
    for name in dict.fromkeys(name for measure in measures for name in measure.companions):
        if name not in known and given.issuperset(_NEEDS.get(name, ())):
            yield name
