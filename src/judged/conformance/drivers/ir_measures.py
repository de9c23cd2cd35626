"""ir_measures, by `calc` with the tools it chooses for each measure."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version as version_of
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judged.conformance.cases import Case, Measured, NotSupported
from judged.conformance.verdict import Answer

__all__ = ["answer", "spelling", "version"]

SAME = {"P", "R", "AP", "RR", "Success", "Rprec", "Bpref", "infAP", "Judged", "NumRel", "NumRet", "IPrec"} | {
    "SetP",
    "SetR",
    "SetF",
    "SetAP",
    "SetRelP",
}
"""Measures that it writes as judged does, as far as their parameters are its own."""
OWN = {"cutoff", "recall", "rel", "beta", "p"}
NOVELTY = {"alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall"}
"""Measures of intents, which it takes from ndeval."""


def version(_program: str) -> str | None:
    """The version, or None where it is not installed."""
    try:
        return version_of("ir-measures")
    except PackageNotFoundError:
        return None


def answer(case: Case, measure: Measured, _program: str) -> Answer:
    """What ir_measures makes of one measure."""
    ir_measures: Any = import_module("ir_measures")
    case.must_follow(measure)
    written = spelling(measure)
    if written is None:
        msg = "has no such measure"
        raise NotSupported(msg)
    asked = ir_measures.parse_measure(written)
    if case.by_intent:
        rows = [
            ir_measures.Qrel(query, document, grade, intent) for query, intent, document, grade in case.rows()
        ]
        return _scored(ir_measures, asked, rows, case.run(), _digits(measure))
    if not case.is_text:
        return _scored(ir_measures, asked, case.qrels(), case.run(), _digits(measure))
    with TemporaryDirectory() as folder:
        qrels, run = case.write(Path(folder))
        judgments, results = list(ir_measures.read_trec_qrels(qrels)), list(ir_measures.read_trec_run(run))
    return _scored(ir_measures, asked, judgments, results, _digits(measure))


def spelling(measure: Measured) -> str | None:
    """The measure as ir_measures writes it; None where it has no such measure."""
    given, at = dict(measure.parameters), ""
    for name in ("cutoff", "recall"):
        if name in given:
            at = f"@{given.pop(name)}"
    if measure.name in SAME or measure.name in NOVELTY:
        own = OWN | {"alpha"} if measure.name.startswith(("alpha", "NRBP", "nNRBP")) else OWN
        return _written(measure.name, given, at) if set(given) <= own else None
    if measure.name == "nDCG":
        renamed = {"gain": ("dcg", "exp-log2"), "gains": ("gains", given.get("gains"))}
        return _written("nDCG", dict(renamed[name] for name in given), at)
    if measure.name == "RBP" and set(given) == {"p", "rel"}:
        return _written("RBP", given, at)
    if measure.name == "ERR" and given == {"max_grade": 4}:
        return _written("ERR", {}, at)
    if measure.name == "NumRelRet":
        return f"NumRet(rel={given.get('rel', 1)})"
    return None


def _written(name: str, given: dict[str, Any], at: str) -> str:
    inside = ",".join(f"{key}={_literal(value)}" for key, value in given.items())
    return f"{name}({inside}){at}" if inside else f"{name}{at}"


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{grade}:{gain}" for grade, gain in value.items()) + "}"
    return repr(value)


def _digits(measure: Measured) -> int | None:
    """How many digits there are: these measures are read from what gdeval.pl prints."""
    return 5 if measure.name == "ERR" or measure.parameters.get("gain") == "exp" else None


def _scored(ir_measures: Any, asked: Any, qrels: Any, run: Any, digits: int | None) -> Answer:
    try:
        total, queries = ir_measures.calc([asked], qrels, run)
    except ValueError as error:
        if "nsupported" in str(error):
            msg = "says that it does not support this"
            raise NotSupported(msg) from error
        raise
    values = {each.query_id: float(each.value) for each in queries}
    return Answer(values, float(total[asked]), digits, call=f"calc([{asked}], …)")
