"""Measures of sessions of searches: `from judged.measures.session import CG, SRR`.

They are not at the root of the package, because some have the names of measures of rankings: `DCG`, `nDCG`, `R`.
"""

from __future__ import annotations

from judged.measures.families import SESSION_MEASURES, Alias, Scope
from judged.measures.measure import Measure

__all__ = ["SESSION"]  # and every name of `SESSION_MEASURES`, each imported only when asked for

SESSION = Scope(
    "session",
    subject="sessions",
    example="CG@3",
    form="write it as `CG@3`, `CG@last` or `CG(good=3)@3`",
    takes="`judged.evaluate_sessions` and `judged sessions`",
    aliases={
        "DupR": Alias("Dup"),
        "G": Alias("MarginalGain"),
        "iterations": Alias("N"),
        "IterationsForAllGood": Alias("IterationsForAllGoodResults"),
        "IterationsToLastGood": Alias("IterationsForAllGoodResults"),
        "reached": Alias("AllGoodReached"),
    },
)


def __getattr__(name: str) -> Measure:
    if name not in SESSION_MEASURES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return SESSION_MEASURES[name]


def __dir__() -> list[str]:
    return sorted([*globals(), *SESSION_MEASURES])
