"""Measures of sessions of searches: `from judged.agents.measures import CG, SRR`.

They are not at the root of the package, because some have the names of measures of rankings: `DCG`, `nDCG`, `R`.
"""

from __future__ import annotations

from judged.measures.groups import Alias, Scope, expose_measures, registry_for

SESSION_MEASURES = registry_for("session")
"""Every measure of a session of searches, by its canonical name; some of other families have the same name."""

SESSION = Scope(
    "session",
    subject="sessions",
    example="CG@3",
    form="write it as `CG@3`, `CG@last` or `CG(good=3)@3`",
    takes="`judged.evaluate_sessions` or `judged sessions`",
    unit="sessions",
    unknown="unlabelled",
    about={
        "session": (
            "Measures of agents that search in iterations: how much that is new and good each iteration "
            "contributes, how soon, and how much is repeated. A session is the last turn of a conversation; "
            "its iterations are those that searched, numbered from 1. A result is new ($UR$) when it is "
            "no duplicate of an earlier one of the session, and good when its gain, from 0 to 4, is at "
            "least `good`; a duplicate never adds gain. `@i` is the value after iteration $i$, `@last`, "
            "and no `@` at all, the one after the session's own last; further on a session keeps its "
            "value. An unlabelled result counts as gain 0. What is undefined is NaN: left out of the "
            "mean, and counted. A rate rises when an agent stops early, so it is never shown alone, but "
            "with `CG` and `N`. Some names are those of other families (`DCG`, `nDCG`, `R`): a name is "
            "looked up in the family of what is scored."
        )
    },
    aliases={
        "DupR": Alias("Dup"),
        "G": Alias("MarginalGain"),
        "iterations": Alias("N"),
        "IterationsForAllGood": Alias("IterationsForAllGoodResults"),
        "IterationsToLastGood": Alias("IterationsForAllGoodResults"),
        "reached": Alias("AllGoodReached"),
    },
)

__getattr__, __dir__ = expose_measures(__name__, SESSION_MEASURES, globals())
