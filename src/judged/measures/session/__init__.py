"""Measures of sessions of searches: `from judged.measures.session import CG, SRR`.

They are not at the root of the package, because some have the names of measures of rankings: `DCG`, `nDCG`, `R`.
"""

from __future__ import annotations

from judged.measures.catalogue import SESSION_MEASURES
from judged.measures.measure import Measure

__all__: list[str] = []  # every name of `SESSION_MEASURES`, each imported only when asked for


def __getattr__(name: str) -> Measure:
    if name not in SESSION_MEASURES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return SESSION_MEASURES[name]


def __dir__() -> list[str]:
    return sorted([*globals(), *SESSION_MEASURES])
