"""ir_measures, by `calc` with the tools it chooses for each measure."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from conformance.cases import Case, Measured, NotSupported
from conformance.drivers import find_names, find_version
from conformance.verdict import Answer

__all__ = ["answer", "spell", "version"]

PARAMETERS = {"cutoff", "recall", "rel", "beta", "p"}
"""Parameters that it calls as judged does."""
NOVELTY = {"alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall"}
"""Measures of intents, which it takes from ndeval."""


def version(_program: str) -> str | None:
    """Return the version, or None where it is not installed."""
    return find_version("ir-measures")


def answer(case: Case, measure: Measured, _program: str) -> Answer:
    """Score one measure with ir_measures."""
    ir_measures: Any = import_module("ir_measures")
    case.must_follow(measure)
    parsed = ir_measures.parse_measure(spell(measure))
    qrels: Any
    run: Any = None
    if case.by_intent:
        qrels = [
            ir_measures.Qrel(query, document, grade, intent) for query, intent, document, grade in case.rows()
        ]
    elif case.is_text:
        with case.files() as paths:
            qrels, run = (
                list(read(path))
                for read, path in zip(
                    (ir_measures.read_trec_qrels, ir_measures.read_trec_run), paths, strict=True
                )
            )
    else:
        qrels = case.qrels()
    # these measures are read from what gdeval.pl prints
    digits = 5 if measure.name == "ERR" or measure.parameters.get("gain") == "exp" else None
    return _score(ir_measures, parsed, qrels, case.run() if run is None else run, digits)


def spell(measure: Measured) -> str:
    """Return the measure as ir_measures writes it."""
    given, at = dict(measure.parameters), ""
    for name in ("cutoff", "recall"):
        if name in given:
            at = f"@{given.pop(name)}"
    if measure.name == "nDCG":
        renamed = {"gain": ("dcg", "exp-log2"), "gains": ("gains", given.get("gains"))}
        return _write("nDCG", dict(renamed[name] for name in given), at)
    if measure.name == "ERR" and given == {"max_grade": 4}:
        return _write("ERR", {}, at)
    if measure.name == "NumRelRet":
        return f"NumRet(rel={given.get('rel', 1)})"
    own = PARAMETERS | {"alpha"} if measure.name.startswith(("alpha", "NRBP", "nNRBP")) else PARAMETERS
    same = measure.name in NOVELTY or find_names("ir_measures").get(measure.name) == measure.name
    if not same or not set(given) <= own or (measure.name == "RBP" and set(given) != {"p", "rel"}):
        raise NotSupported
    return _write(measure.name, given, at)


def _write(name: str, given: dict[str, Any], at: str) -> str:
    inside = ",".join(f"{key}={_literal(value)}" for key, value in given.items())
    return f"{name}({inside}){at}" if inside else f"{name}{at}"


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{grade}:{gain}" for grade, gain in value.items()) + "}"
    return repr(value)


def _score(ir_measures: Any, measure: Any, qrels: Any, run: Any, digits: int | None) -> Answer:
    try:
        total, queries = ir_measures.calc([measure], qrels, run)
    except ValueError as error:
        if "nsupported" in str(error):
            msg = "says that it does not support this"
            raise NotSupported(msg) from error
        raise
    values = {score.query_id: float(score.value) for score in queries}
    return Answer(values, float(total[measure]), digits, call=f"calc([{measure}], …)")
