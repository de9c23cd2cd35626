"""ranx, by `Qrels` and `Run` objects with `make_comparable`, as its documentation recommends."""

from __future__ import annotations

from typing import Any

from conformance.cases import Case, Measured, NotSupported
from conformance.drivers import find_names, find_version
from conformance.verdict import Answer

__all__ = ["answer", "spell", "version"]


def version(_program: str) -> str | None:
    """Return the version, or None where it is not installed."""
    return find_version("ranx")


def answer(case: Case, measure: Measured, _program: str) -> Answer:
    """Score one measure with ranx."""
    from ranx import Qrels, Run, evaluate

    name = spell(case, measure)
    if case.is_text:
        with case.files() as files:
            qrels, run = (
                kind.from_file(file, kind="trec") for kind, file in zip((Qrels, Run), files, strict=True)
            )
    else:
        qrels, run = Qrels(case.qrels()), Run(case.run())
    total = evaluate(qrels, run, name, make_comparable=True)
    values: dict[str, Any] = run.scores[name]
    shown = {query: float(value) for query, value in values.items()}
    return Answer(shown, float(total), call=f'evaluate(Qrels(…), Run(…), "{name}", make_comparable=True)')


def spell(case: Case, measure: Measured) -> str:
    """Return the measure as ranx writes it."""
    case.must_follow(measure, precision={"float64"}, rel={case.protocol["rel"]})
    given = dict(measure.parameters)
    cutoff = given.pop("cutoff", None)
    level = given.pop("rel", case.protocol["rel"] if "rel" in measure.depends_on else 1)
    name = "" if measure.name.startswith("Set") else find_names("ranx").get(measure.name, "")
    if measure.name == "RBP" and cutoff is None and set(given) == {"p"}:
        name = f"{name}.{round(100 * given.pop('p')):02}"
    elif measure.name in {"nDCG", "DCG"} and given.pop("gain", None) == "exp":
        name = f"{name}_burges"
    if not name or given:
        raise NotSupported
    return name + (f"@{cutoff}" if cutoff else "") + (f"-l{level}" if level != 1 else "")
