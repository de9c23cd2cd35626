"""Every measure by name, family by family, each imported only when asked for."""

from __future__ import annotations

from typing import Literal, TypeAlias

from judged.measures.measure import Measure
from judged.registry import Registry

__all__ = [
    "FAMILIES",
    "MEASURES",
    "PREFERENCE_MEASURES",
    "SESSION_MEASURES",
    "Scored",
    "measure_named",
    "register",
    "unregister",
]

Scored: TypeAlias = Literal["ranked", "session"]
"""What measures are looked up for: runs of ranked results, or sessions of searches, which have names in common."""

_RANKED = {
    "P": "precision",
    "R": "recall",
    "F1": "f1",
    "Success": "success",
    "RR": "rr",
    "AP": "ap",
    "gm_AP": "gm_ap",
    "infAP": "infap",
    "yaap": "yaap",
    "Rprec": "rprec",
    "IPrec": "iprec",
    "AP11": "ap11",
    "nDCG": "ndcg",
    "DCG": "dcg",
    "IDCG": "idcg",
    "Rndcg": "rndcg",
    "nDCG_rel": "ndcg_rel",
    "G": "g",
    "binG": "bing",
    "ERR": "err",
    "nERR": "nerr",
    "RBP": "rbp",
    "RBP_residual": "rbp_residual",
    "Q": "q",
    "O": "o",
    "P_measure": "p_measure",
    "P_plus": "p_plus",
    "NCU": "ncu",
    "nDCG_JK": "ndcg_jk",
    "Compat": "compat",
    "Bpref": "bpref",
    "gm_Bpref": "gm_bpref",
    "Judged": "judged",
    "Unjudged": "unjudged",
    "FallOut": "fallout",
    "SetP": "set_p",
    "SetR": "set_r",
    "SetF": "set_f",
    "SetAP": "set_ap",
    "SetRelP": "set_rel_p",
    "Utility": "utility",
    "NumQ": "num_q",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
    "NumNonrelJudgedRet": "num_nonrel_judged_ret",
    "relstring": "relstring",
}
_DIVERSITY = {
    "alpha_nDCG": "alpha_ndcg",
    "alpha_DCG": "alpha_dcg",
    "ERR_IA": "err_ia",
    "nERR_IA": "nerr_ia",
    "NRBP": "nrbp",
    "nNRBP": "nnrbp",
    "AP_IA": "ap_ia",
    "P_IA": "p_ia",
    "StRecall": "st_recall",
    "IA": "ia",
    "DR": "dr",
    "DiversityCount": "diversity_count",
}
_BROWSING = {
    "INST": "inst",
    "INSQ": "insq",
    "BPM": "bpm",
    "SDCG": "sdcg",
    "NERR8": "nerr8",
    "NERR9": "nerr9",
    "NERR10": "nerr10",
    "NERR11": "nerr11",
    "ETU": "etu",
    "ED": "ed",
    "EU_residual": "eu_residual",
}
_FILES = {"ranked": _RANKED, "diversity": _DIVERSITY, "browsing": _BROWSING}

FAMILIES: dict[str, tuple[str, ...]] = {family: tuple(files) for family, files in _FILES.items()}
"""The measures of a ranked run, by family, in the order in which they are listed; defined ones are `custom`."""

MEASURES: Registry[Measure] = Registry("measure")
"""Every measure of a ranked run, by its canonical name."""

for _family, _files in _FILES.items():
    for _name, _file in _files.items():
        MEASURES.add(_name, f"judged.measures.{_family}.{_file}:{_name}")

PREFERENCE_MEASURES: Registry[Measure] = Registry("measure of preferences")
"""Every measure of a run against preferences or several judges' grades, by its canonical name."""

for _name in (
    *("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret"),
    *("prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel"),
    *("prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret"),
    *("prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp"),
    *("map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
):
    PREFERENCE_MEASURES.add(_name, f"judged.measures.preference.{_name.lower()}:{_name}")

_SESSION = {
    "CG": "cg",
    "RG": "rg",
    "DCG": "dcg",
    "DRG": "drg",
    "AvgGain": "avg_gain",
    "RAG": "rag",
    "DRAG": "drag",
    "nDRAG": "ndrag",
    "SRE": "sre",
    "SRE_micro": "sre_micro",
    "SRR": "srr",
    "SRR_micro": "srr_micro",
    "IterationsForAllGoodResults": "iterations_for_all_good_results",
    "AllGoodReached": "all_good_reached",
    "R": "r",
    "UR": "ur",
    "GR": "gr",
    "Dup": "dup",
    "N": "n",
    "Searches": "searches",
    "nDCG": "ndcg",
    "MarginalGain": "marginal_gain",
    "Lost": "lost",
    "Recall": "recall",
    "GainPerSearch": "gain_per_search",
    "GainPerKiloToken": "gain_per_kilo_token",
    "GainPerSecond": "gain_per_second",
    "Coverage": "coverage",
}

SESSION_MEASURES: Registry[Measure] = Registry("measure of sessions")
"""Every measure of a session of searches, by its canonical name; some of other families have the same name."""

for _name, _file in _SESSION.items():
    SESSION_MEASURES.add(_name, f"judged.measures.session.{_file}:{_name}")


def measure_named(name: str, family: Scored = "ranked") -> Measure:
    """The measure of that canonical name: of a run, against judgments or preferences, or of sessions."""
    if family == "session":
        return SESSION_MEASURES[name]
    return PREFERENCE_MEASURES[name] if name in PREFERENCE_MEASURES else MEASURES[name]


def register(measure: Measure) -> None:
    """Put a measure that someone defined among all others."""
    MEASURES.add(measure.name, measure)
    FAMILIES["custom"] = (*FAMILIES.get("custom", ()), measure.name)


def unregister(name: str) -> None:
    """Take a measure that someone defined out again."""
    MEASURES.remove(name)
    left = tuple(each for each in FAMILIES.pop("custom") if each != name)
    if left:
        FAMILIES["custom"] = left
