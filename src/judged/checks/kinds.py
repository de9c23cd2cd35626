"""Kinds of findings. Each is declared where it is checked: a code, its severity, and a sentence that explains it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from judged.problem import Severity

MODULES = ("sources", "rows", "queries", "ids", "lint")
"""The modules of this package that declare kinds."""
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
_DECLARED: dict[str, Kind] = {}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of finding."""

    code: str
    severity: Severity
    """An error is refused by `judged score`; a warning is worth a look; information is harmless."""
    counted: str
    """Plural noun for what is counted."""
    explanation: str


def declare(code: str, severity: Severity, counted: str, explanation: str) -> Kind:
    """Return a new kind; raise `ValueError` if its code is taken."""
    if code in _DECLARED:
        msg = f"two kinds of findings have the code `{code}`"
        raise ValueError(msg)
    _DECLARED[code] = Kind(code, severity, counted, explanation)
    return _DECLARED[code]


@cache
def list_kinds() -> Mapping[str, Kind]:
    """Return every kind by its code: the most severe first, those of one severity by code."""
    for (
        module
    ) in MODULES:  # not imported above: they import this module, and a saved report needs only the kinds
        import_module(f"judged.checks.{module}")
    kinds = sorted(_DECLARED.values(), key=lambda kind: (SEVERITIES.index(kind.severity), kind.code))
    return {kind.code: kind for kind in kinds}
