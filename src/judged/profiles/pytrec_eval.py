"""pytrec_eval: trec_eval 9 as a library; a query without results is left out of its means."""

from __future__ import annotations

from judged.errors import UnknownName
from judged.measures.trec_eval import expand
from judged.profiles.profile import Profile, Spelling
from judged.protocol import Protocol


def _expand(text: str) -> list[str]:
    """Return the names that a nickname, or a name without its numbers, means."""
    try:
        return [line.name for line in expand(9, [text]) if line.measure is not None]
    except UnknownName:
        return [text]


def _cut(name: str, measure: str, **given: str) -> Spelling:
    return Spelling(name, measure, given, number=True, shown=f"{name}_k")


PROFILE = Profile(
    "pytrec_eval",
    tool="pytrec_eval-terrier",
    version="0.5.11",
    about="`RelevanceEvaluator(qrels, measures).evaluate(run)`, means by `compute_aggregated_measure`",
    protocol=Protocol(missing="skip"),
    expand=_expand,
    spellings=(
        Spelling("map", "AP", number=False),
        _cut("map_cut", "AP"),
        Spelling("gm_map", "gm_AP"),
        Spelling("infAP", "infAP"),
        Spelling("recip_rank", "RR", number=False),
        _cut("P", "P"),
        _cut("recall", "R"),
        _cut("relative_P", "R", over="cutoff"),
        _cut("success", "Success"),
        Spelling("Rprec", "Rprec", number=False),
        Spelling("Rprec_mult", "Rprec", at="multiple", number=True, shown="Rprec_mult_x"),
        Spelling("iprec_at_recall", "IPrec", number=True, shown="iprec_at_recall_x"),
        Spelling("11pt_avg", "AP11"),
        Spelling("ndcg", "nDCG", number=False, takes=()),
        _cut("ndcg_cut", "nDCG"),
        Spelling("ndcg_rel", "nDCG_rel"),
        Spelling("Rndcg", "Rndcg", takes=()),
        Spelling("G", "G", takes=()),
        Spelling("binG", "binG"),
        Spelling("bpref", "Bpref"),
        Spelling("gm_bpref", "gm_Bpref"),
        Spelling("set_P", "SetP"),
        Spelling("set_recall", "SetR"),
        Spelling("set_relative_P", "SetRelP"),
        Spelling("set_map", "SetAP"),
        Spelling("set_F", "SetF", at="weight", shown="set_F[_x]"),
        Spelling("utility", "Utility"),
        Spelling("num_q", "NumQ"),
        Spelling("num_ret", "NumRet"),
        Spelling("num_rel", "NumRel"),
        Spelling("num_rel_ret", "NumRelRet"),
        Spelling("num_nonrel_judged_ret", "NumNonrelJudgedRet"),
        Spelling("relstring", "relstring", shown="relstring[_k]"),
    ),
    caveats=(
        "Gains (`ndcg.1=3,2=9`) crash the interpreter.",
        "A query with only negative grades, scored by `map` and `bpref` together, crashes the interpreter.",
        "Ids are truncated at a NUL character.",
        "`iprec_at_recall` and `11pt_avg` of an empty list are NaN.",
    ),
)
