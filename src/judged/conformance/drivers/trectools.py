"""trectools, by files and `TrecEval`."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version as version_of
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judged.conformance.cases import Case, Measured, NotSupported
from judged.conformance.verdict import Answer

__all__ = ["answer", "version"]

DEEP = 1000
"""The depth it takes where none is asked for."""
DEPTHS = {"P": "get_precision", "R": "get_recall", "AP": "get_map", "RR": "get_reciprocal_rank"}
CONDENSED = {"get_ndcg", "get_precision", "get_recall", "get_reciprocal_rank", "get_rbp"}
"""Methods that can leave unjudged documents out."""
PLAIN = {"Rprec": "get_rprec", "Bpref": "get_bpref", "gm_AP": "get_geometric_map"}


def version(_program: str) -> str | None:
    """The version, or None where it is not installed."""
    try:
        return version_of("trectools")
    except PackageNotFoundError:
        return None


def answer(case: Case, measure: Measured, _program: str) -> Answer:
    """What trectools makes of one measure."""
    method, given = _spelling(measure)
    case.must_follow(measure, unjudged={"removed"} if method in CONDENSED else set())
    removed = {"removeUnjudged": True} if case.protocol["unjudged"] == "removed" else {}
    from trectools import TrecEval, TrecQrel, TrecRun

    with TemporaryDirectory() as folder:
        qrels, run = case.write(Path(folder))
        scorer = TrecEval(TrecRun(run), TrecQrel(qrels))
        total = _mean(getattr(scorer, method)(**given, **removed))
    written = ", ".join(f"{name}={value}" for name, value in given.items())
    return Answer({}, total, call=f"{method}({written})")


def _spelling(measure: Measured) -> tuple[str, dict[str, Any]]:
    """The method and its arguments."""
    given = dict(measure.parameters)
    depth = given.pop("cutoff", DEEP)
    if measure.name == "nDCG":
        return "get_ndcg", {"depth": depth, "trec_eval": _only(given, {"gain"}).get("gain") != "exp"}
    if measure.name in DEPTHS:
        return DEPTHS[measure.name], {"depth": depth, **_only(given, set())}
    if measure.name == "RBP" and "cutoff" not in measure.parameters:
        return "get_rbp", {"p": _only(given, {"p", "rel"})["p"], "depth": depth}
    if measure.name in PLAIN and not measure.parameters:
        return PLAIN[measure.name], {}
    msg = "has no such measure"
    raise NotSupported(msg)


def _only(given: dict[str, Any], known: set[str]) -> dict[str, Any]:
    if not set(given) <= known or given.get("rel", 1) != 1:
        msg = "has no such measure"
        raise NotSupported(msg)
    return given


def _mean(told: Any) -> float:
    """The number; RBP comes with its residual."""
    return float(told[0] if isinstance(told, tuple) else told)
