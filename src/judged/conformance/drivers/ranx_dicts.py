"""ranx, given dicts as they are, which its `evaluate` takes too; it tells no query ids then."""

from __future__ import annotations

from judged.conformance.cases import Case, Measured, NotSupported
from judged.conformance.drivers.ranx import spelling, version
from judged.conformance.verdict import Answer

__all__ = ["answer", "version"]


def answer(case: Case, measure: Measured, _program: str) -> Answer:
    """What ranx makes of one measure, as a mean."""
    from ranx import evaluate

    name = spelling(case, measure)
    if case.is_text and "run" not in case.raw:
        msg = "a case of files; these are dicts"
        raise NotSupported(msg)
    total = evaluate(case.qrels(), case.run(), name)
    return Answer({}, float(total), call=f'evaluate({{…}}, {{…}}, "{name}")')
