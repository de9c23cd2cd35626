"""Measures, each imported when it is first used: `from judged.measures import nDCG, AP`.

Those of sessions are in `judged.measures.session`, because some have the same names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.measures._index import MEASURE_INDEX

if TYPE_CHECKING:
    from judged.measures.measure import Measure

_HOMES = {
    name: module
    for family, entries in MEASURE_INDEX.items()
    if family != "session"
    for name, (module, _, _) in entries.items()
}


def __getattr__(name: str) -> Measure:
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module

    measure: Measure = getattr(import_module(_HOMES[name]), name)
    return measure


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
