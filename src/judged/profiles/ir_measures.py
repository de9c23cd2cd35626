"""ir_measures: each measure as the tool computes it that ir_measures picks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judged.profiles.profile import Profile, Spelling
from judged.protocol import Protocol

_JUDGED_ONLY: Mapping[tuple[str, Any], Mapping[str, Any]] = {
    ("judged_only", True): {"unjudged": "removed"},
    ("judged_only", False): {},
}
_PYTHON = {"ties": "document-ascending", "precision": "float64"}
"""Sort order of its own code in Python, for `RR@k`, `Judged` and `Compat`."""
_CWL = {"ties": "input-order", "precision": "float64", "depth": 1000}
"""Order of the lists that cwl_eval receives, and the depth to which it reads them."""
_GDEVAL = {"precision": "float64"}
_SCALE = {"max_rel": "max_grade"}
_FROM_0: Mapping[tuple[str, Any], Mapping[str, Any]] = {("min_rel", 0): {}}


def _trec(*names: str, measure: str = "", takes: tuple[str, ...] = ("rel",), **more: Any) -> list[Spelling]:
    """Return the spellings of a measure that it delegates to pytrec_eval, one for each of its names."""
    return [Spelling(name, measure or names[0], takes=takes, switches=_JUDGED_ONLY, **more) for name in names]


def _cwl(name: str, *takes: str, number: bool | None = None) -> Spelling:
    """Return the spelling of a measure that it delegates to cwl_eval."""
    return Spelling(
        name,
        name,
        takes=takes,
        renamed=_SCALE,
        words={**_FROM_0, ("dcg", "log2"): {}},
        conventions=_CWL,
        number=number,
    )


PROFILE = Profile(
    "ir_measures",
    tool="ir_measures",
    version="0.4.3",
    about="`ir_measures.calc(measures, qrels, run)`, with pytrec_eval, cwl_eval and perl installed",
    protocol=Protocol(),
    spellings=(
        *_trec("P", "Precision"),
        *_trec("R", "Recall"),
        *_trec("AP", "MAP"),
        *_trec("RR", "MRR", number=False),
        # pytrec_eval has no cutoff of it, so ir_measures computes that itself
        Spelling("RR", "RR", conventions=_PYTHON, number=True),
        Spelling("MRR", "RR", conventions=_PYTHON, number=True),
        *_trec("nDCG", takes=("gains",), words={("dcg", "log2"): {}}),
        Spelling(
            "nDCG",
            "nDCG",
            {"gain": "exp"},
            takes=(),
            words={("dcg", "exp-log2"): {}},
            conventions=_GDEVAL,
            number=True,
            digits=5,
            shown="nDCG(dcg='exp-log2')@k",
        ),
        Spelling("ERR", "ERR", {"max_grade": 4}, takes=(), conventions=_GDEVAL, number=True, digits=5),
        *_trec("Rprec", "RPrec", number=False),
        *_trec("Success"),
        *_trec("IPrec", shown="IPrec@x"),
        Spelling("Bpref", "Bpref"),
        Spelling("infAP", "infAP"),
        Spelling("Judged", "Judged", takes=(), conventions={**_PYTHON, "negative": "nonrelevant"}),
        Spelling(
            "Compat",
            "Compat",
            {"depth": "longer"},
            takes=("p",),
            words={("normalize", True): {}, ("normalize", False): {"over": "everything"}},
            conventions=_PYTHON,
        ),
        _cwl("RBP", "rel", "p", number=False),
        _cwl("BPM", "T", number=True),
        _cwl("SDCG", number=True),
        _cwl("NERR8", number=True),
        _cwl("NERR9", number=True),
        _cwl("NERR10", "p"),
        _cwl("NERR11", "T"),
        _cwl("INST", "T"),
        _cwl("INSQ", "T"),
        *_trec("SetP", words={("relative", False): {}}),
        *_trec("SetP", measure="SetRelP", words={("relative", True): {}}, shown="SetP(relative=True)"),
        *_trec("SetRelP"),
        Spelling("SetR", "SetR"),
        *_trec("SetF", renamed={"beta": "weight"}),
        *_trec("SetAP"),
        # in this order: with `rel`, it counts relevant results
        Spelling("NumRet", "NumRet", takes=()),
        Spelling("NumRet", "NumRelRet", shown="NumRet(rel=r)"),
        Spelling("NumRelRet", "NumRelRet", {"rel": 1}, takes=()),
        Spelling("NumRel", "NumRel", {"rel": 1}, takes=(), words={("rel", 1): {}}, zero_if_missing=True),
        Spelling("NumQ", "NumQ", takes=(), zero_if_missing=True),
    ),
    caveats=(
        "Measures of diversity (`alpha_nDCG`, `ERR_IA` and the like) and `Accuracy` are not supported.",
        "`ERR` and the exponential `nDCG` fail on grades above 4 and on query ids that are not numbers.",
        "If a document is listed twice under a query, the last row counts, or both do.",
        "Measures of cwl_eval split a query whose rows are not contiguous into several.",
        "`RBP` with a cutoff or without `rel`, and other measures of cwl_eval without `max_rel`, do not exist there.",
        "`Compat` puts documents with equal grades and scores into its ideal list in the order of the judgments, not by id.",
        "`NumRet` in one call with a measure of `judged_only=True` may count judged documents alone, by chance.",
        "A query with only negative grades, scored by `AP` and `Bpref` together, crashes the interpreter.",
    ),
)
