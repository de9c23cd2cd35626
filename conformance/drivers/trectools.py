"""trectools, by files and `TrecEval`."""

from __future__ import annotations

from typing import Any

from conformance.cases import Case, Measured, NotSupported
from conformance.drivers import find_names, find_version
from conformance.verdict import Answer

__all__ = ["answer", "spell", "version"]

DEEP = 1000
"""The depth it uses where none is given."""
METHODS = {"MAP": "map", "recip_rank": "reciprocal_rank", "P": "precision", "R": "recall", "NDCG": "ndcg"}
"""The method `get_…` for each of its names of measures that take a depth."""
CONDENSED = {"get_ndcg", "get_precision", "get_recall", "get_reciprocal_rank", "get_rbp"}
"""Methods that can leave unjudged documents out."""
WITHOUT_DEPTH = {"Rprec": "get_rprec", "Bpref": "get_bpref", "gm_AP": "get_geometric_map"}


def version(_program: str) -> str | None:
    """Return the version, or None where it is not installed."""
    return find_version("trectools")


def answer(case: Case, measure: Measured, _program: str) -> Answer:
    """Score one measure with trectools."""
    method, given = spell(measure)
    case.must_follow(measure, unjudged={"removed"} if method in CONDENSED else set())
    removed = {"removeUnjudged": True} if case.protocol["unjudged"] == "removed" else {}
    from trectools import TrecEval, TrecQrel, TrecRun

    with case.files() as (qrels, run):
        total = getattr(TrecEval(TrecRun(run), TrecQrel(qrels)), method)(**given, **removed)
    mean = float(total[0] if isinstance(total, tuple) else total)  # RBP comes with its residual
    written = ", ".join(f"{name}={value}" for name, value in given.items())
    return Answer({}, mean, call=f"{method}({written})")


def spell(measure: Measured) -> tuple[str, dict[str, Any]]:
    """Return the method and its arguments."""
    given = dict(measure.parameters)
    depth = given.pop("cutoff", DEEP)
    method = METHODS.get(find_names("trectools").get(measure.name, ""), "")
    if method == "ndcg":
        return "get_ndcg", {"depth": depth, "trec_eval": _check(given, {"gain"}).get("gain") != "exp"}
    if method:
        return f"get_{method}", {"depth": depth, **_check(given, set())}
    if measure.name == "RBP" and "cutoff" not in measure.parameters:
        return "get_rbp", {"p": _check(given, {"p", "rel"})["p"], "depth": depth}
    if measure.name in WITHOUT_DEPTH and not measure.parameters:
        return WITHOUT_DEPTH[measure.name], {}
    raise NotSupported


def _check(given: dict[str, Any], known: set[str]) -> dict[str, Any]:
    """Return the parameters, if all of them are known and the relevance level is 1."""
    if not set(given) <= known or given.get("rel", 1) != 1:
        raise NotSupported
    return given
