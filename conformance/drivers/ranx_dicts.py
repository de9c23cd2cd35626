"""ranx, given dicts as they are, which its `evaluate` takes too; it returns no query ids then."""

from __future__ import annotations

from conformance.cases import Case, Measured, NotSupported
from conformance.drivers.ranx import spell, version
from conformance.verdict import Answer

__all__ = ["answer", "version"]


def answer(case: Case, measure: Measured, _program: str) -> Answer:
    """Score one measure with ranx, as a mean."""
    from ranx import evaluate

    name = spell(case, measure)
    if case.is_text and "run" not in case.raw:
        msg = "a case of files; these are dicts"
        raise NotSupported(msg)
    total = evaluate(case.qrels(), case.run(), name)
    return Answer({}, float(total), call=f'evaluate({{…}}, {{…}}, "{name}")')
