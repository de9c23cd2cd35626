"""judged measures retrieval: ranked runs against judgments, and search sessions of agents, exactly and fast.

    judgments, runs  ─ judged.read_judgments, judged.read_run ─▶ tables
    tables, measures ─ judged.evaluate ─▶ Evaluation: means, per-query Scores, protocol, observations
    judgments, runs  ─ judged.compare ─▶ Comparison: means with intervals, differences, how sure they are
    run, baseline    ─ judged.gate ─▶ GateReport: shown to be no worse than a margin, or worse, or neither
    judgments, runs  ─ judged.lint ─▶ LintReport: what is wrong or notable, counted, with its first places
    traces of agents ─ judged.evaluate_sessions, judged.compare_sessions ─▶ gains by iteration, redundancy
    scores, rankings, labels ─ judged.stats ─▶ tests of several systems, agreement, posteriors
    results, a model ─ judged.label_results ─▶ Labelling: gains of 0 to 4, failures, cost
    labels, grades   ─ judged.agreement ─▶ Agreement: how far labels can be trusted, means corrected by human grades
    any of the above ─ judged.explain, explain_difference, explain_published ─▶ where a number comes from

Everything named here is imported on first use; `import judged` alone loads neither NumPy nor Arrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from judged._version import __version__ as __version__

if TYPE_CHECKING:
    from judged.agreements.api import agreement as agreement
    from judged.agreements.result import Agreement as Agreement
    from judged.checks.lint import lint as lint
    from judged.checks.report import LintReport as LintReport
    from judged.comparison.compare import compare as compare
    from judged.comparison.comparison import Comparison as Comparison
    from judged.engine.evaluate import evaluate as evaluate
    from judged.engine.evaluation import Evaluation as Evaluation
    from judged.engine.observations import Observations as Observations
    from judged.errors import JudgedError as JudgedError
    from judged.explanation.difference import (
        Difference as Difference,
        explain_difference as explain_difference,
    )
    from judged.explanation.explain import explain as explain
    from judged.explanation.explanation import Explanation as Explanation
    from judged.explanation.published import Published as Published, explain_published as explain_published
    from judged.gates.gate import gate as gate
    from judged.gates.report import GateReport as GateReport
    from judged.io.read import (
        read_judgments as read_judgments,
        read_labels as read_labels,
        read_preferences as read_preferences,
        read_run as read_run,
    )
    from judged.label.labelling import Labelling as Labelling
    from judged.label.results import label_results as label_results
    from judged.measures.browsing.bpm import BPM as BPM
    from judged.measures.browsing.ed import ED as ED
    from judged.measures.browsing.etu import ETU as ETU
    from judged.measures.browsing.eu_residual import EU_residual as EU_residual
    from judged.measures.browsing.insq import INSQ as INSQ
    from judged.measures.browsing.inst import INST as INST
    from judged.measures.browsing.nerr8 import NERR8 as NERR8
    from judged.measures.browsing.nerr9 import NERR9 as NERR9
    from judged.measures.browsing.nerr10 import NERR10 as NERR10
    from judged.measures.browsing.nerr11 import NERR11 as NERR11
    from judged.measures.browsing.sdcg import SDCG as SDCG
    from judged.measures.custom import define as define, define_per_query as define_per_query
    from judged.measures.diversity.alpha_dcg import alpha_DCG as alpha_DCG
    from judged.measures.diversity.alpha_ndcg import alpha_nDCG as alpha_nDCG
    from judged.measures.diversity.ap_ia import AP_IA as AP_IA
    from judged.measures.diversity.diversity_count import DiversityCount as DiversityCount
    from judged.measures.diversity.dr import DR as DR
    from judged.measures.diversity.err_ia import ERR_IA as ERR_IA
    from judged.measures.diversity.ia import IA as IA
    from judged.measures.diversity.nerr_ia import nERR_IA as nERR_IA
    from judged.measures.diversity.nnrbp import nNRBP as nNRBP
    from judged.measures.diversity.nrbp import NRBP as NRBP
    from judged.measures.diversity.p_ia import P_IA as P_IA
    from judged.measures.diversity.st_recall import StRecall as StRecall
    from judged.measures.measure import Measure as Measure
    from judged.measures.names import parse_measure as parse_measure
    from judged.measures.parameters import Parameter as Parameter
    from judged.measures.ranked.ap import AP as AP
    from judged.measures.ranked.ap11 import AP11 as AP11
    from judged.measures.ranked.bing import binG as binG
    from judged.measures.ranked.bpref import Bpref as Bpref
    from judged.measures.ranked.compat import Compat as Compat
    from judged.measures.ranked.dcg import DCG as DCG
    from judged.measures.ranked.err import ERR as ERR
    from judged.measures.ranked.f1 import F1 as F1
    from judged.measures.ranked.fallout import FallOut as FallOut
    from judged.measures.ranked.g import G as G
    from judged.measures.ranked.gm_ap import gm_AP as gm_AP
    from judged.measures.ranked.gm_bpref import gm_Bpref as gm_Bpref
    from judged.measures.ranked.idcg import IDCG as IDCG
    from judged.measures.ranked.infap import infAP as infAP
    from judged.measures.ranked.iprec import IPrec as IPrec
    from judged.measures.ranked.judged import Judged as Judged
    from judged.measures.ranked.ncu import NCU as NCU
    from judged.measures.ranked.ndcg import nDCG as nDCG
    from judged.measures.ranked.ndcg_jk import nDCG_JK as nDCG_JK
    from judged.measures.ranked.ndcg_rel import nDCG_rel as nDCG_rel
    from judged.measures.ranked.nerr import nERR as nERR
    from judged.measures.ranked.num_nonrel_judged_ret import NumNonrelJudgedRet as NumNonrelJudgedRet
    from judged.measures.ranked.num_q import NumQ as NumQ
    from judged.measures.ranked.num_rel import NumRel as NumRel
    from judged.measures.ranked.num_rel_ret import NumRelRet as NumRelRet
    from judged.measures.ranked.num_ret import NumRet as NumRet
    from judged.measures.ranked.o import O as O
    from judged.measures.ranked.p_measure import P_measure as P_measure
    from judged.measures.ranked.p_plus import P_plus as P_plus
    from judged.measures.ranked.precision import P as P
    from judged.measures.ranked.q import Q as Q
    from judged.measures.ranked.rbp import RBP as RBP
    from judged.measures.ranked.rbp_residual import RBP_residual as RBP_residual
    from judged.measures.ranked.recall import R as R
    from judged.measures.ranked.relstring import relstring as relstring
    from judged.measures.ranked.rndcg import Rndcg as Rndcg
    from judged.measures.ranked.rprec import Rprec as Rprec
    from judged.measures.ranked.rr import RR as RR
    from judged.measures.ranked.set_ap import SetAP as SetAP
    from judged.measures.ranked.set_f import SetF as SetF
    from judged.measures.ranked.set_p import SetP as SetP
    from judged.measures.ranked.set_r import SetR as SetR
    from judged.measures.ranked.set_rel_p import SetRelP as SetRelP
    from judged.measures.ranked.success import Success as Success
    from judged.measures.ranked.unjudged import Unjudged as Unjudged
    from judged.measures.ranked.utility import Utility as Utility
    from judged.measures.ranked.yaap import yaap as yaap
    from judged.profiles.catalogue import PROFILES as PROFILES
    from judged.profiles.profile import Profile as Profile
    from judged.protocol import Protocol as Protocol
    from judged.sessions.compare import compare_sessions as compare_sessions
    from judged.sessions.evaluate import evaluate_sessions as evaluate_sessions
    from judged.sessions.evaluation import SessionEvaluation as SessionEvaluation
    from judged.sessions.gate import gate_sessions as gate_sessions
    from judged.sessions.protocol import SessionProtocol as SessionProtocol
    from judged.stats.risk import georisk as georisk, trisk as trisk, urisk as urisk, zrisk as zrisk
    from judged.tables.judgments import Judgments as Judgments
    from judged.tables.labels import Labels as Labels
    from judged.tables.preferences import Preferences as Preferences
    from judged.tables.run import Run as Run
    from judged.tables.scores import Scores as Scores
    from judged.tables.sessions import Sessions as Sessions
    from judged.traces.read import read_sessions as read_sessions


_HOMES = {
    "compare": "judged.comparison.compare",
    "Comparison": "judged.comparison.comparison",
    "Evaluation": "judged.engine.evaluation",
    "evaluate": "judged.engine.evaluate",
    "Observations": "judged.engine.observations",
    "PROFILES": "judged.profiles.catalogue",
    "Profile": "judged.profiles.profile",
    "Protocol": "judged.protocol",
    "JudgedError": "judged.errors",
    "Difference": "judged.explanation.difference",
    "explain_difference": "judged.explanation.difference",
    "explain": "judged.explanation.explain",
    "Explanation": "judged.explanation.explanation",
    "Published": "judged.explanation.published",
    "explain_published": "judged.explanation.published",
    "read_labels": "judged.io.read",
    "read_preferences": "judged.io.read",
    "read_judgments": "judged.io.read",
    "read_run": "judged.io.read",
    "read_sessions": "judged.traces.read",
    "gate": "judged.gates.gate",
    "GateReport": "judged.gates.report",
    "Agreement": "judged.agreements.result",
    "agreement": "judged.agreements.api",
    "Labelling": "judged.label.labelling",
    "label_results": "judged.label.results",
    "lint": "judged.checks.lint",
    "LintReport": "judged.checks.report",
    "BPM": "judged.measures.browsing.bpm",
    "ED": "judged.measures.browsing.ed",
    "ETU": "judged.measures.browsing.etu",
    "EU_residual": "judged.measures.browsing.eu_residual",
    "INSQ": "judged.measures.browsing.insq",
    "INST": "judged.measures.browsing.inst",
    "NERR10": "judged.measures.browsing.nerr10",
    "NERR11": "judged.measures.browsing.nerr11",
    "NERR8": "judged.measures.browsing.nerr8",
    "NERR9": "judged.measures.browsing.nerr9",
    "SDCG": "judged.measures.browsing.sdcg",
    "define": "judged.measures.custom",
    "define_per_query": "judged.measures.custom",
    "alpha_DCG": "judged.measures.diversity.alpha_dcg",
    "alpha_nDCG": "judged.measures.diversity.alpha_ndcg",
    "AP_IA": "judged.measures.diversity.ap_ia",
    "DiversityCount": "judged.measures.diversity.diversity_count",
    "DR": "judged.measures.diversity.dr",
    "ERR_IA": "judged.measures.diversity.err_ia",
    "IA": "judged.measures.diversity.ia",
    "nERR_IA": "judged.measures.diversity.nerr_ia",
    "nNRBP": "judged.measures.diversity.nnrbp",
    "NRBP": "judged.measures.diversity.nrbp",
    "P_IA": "judged.measures.diversity.p_ia",
    "StRecall": "judged.measures.diversity.st_recall",
    "Measure": "judged.measures.measure",
    "parse_measure": "judged.measures.names",
    "Parameter": "judged.measures.parameters",
    "AP": "judged.measures.ranked.ap",
    "AP11": "judged.measures.ranked.ap11",
    "binG": "judged.measures.ranked.bing",
    "Bpref": "judged.measures.ranked.bpref",
    "Compat": "judged.measures.ranked.compat",
    "DCG": "judged.measures.ranked.dcg",
    "ERR": "judged.measures.ranked.err",
    "F1": "judged.measures.ranked.f1",
    "FallOut": "judged.measures.ranked.fallout",
    "G": "judged.measures.ranked.g",
    "gm_AP": "judged.measures.ranked.gm_ap",
    "gm_Bpref": "judged.measures.ranked.gm_bpref",
    "IDCG": "judged.measures.ranked.idcg",
    "infAP": "judged.measures.ranked.infap",
    "IPrec": "judged.measures.ranked.iprec",
    "Judged": "judged.measures.ranked.judged",
    "NCU": "judged.measures.ranked.ncu",
    "nDCG": "judged.measures.ranked.ndcg",
    "nDCG_JK": "judged.measures.ranked.ndcg_jk",
    "nDCG_rel": "judged.measures.ranked.ndcg_rel",
    "nERR": "judged.measures.ranked.nerr",
    "NumNonrelJudgedRet": "judged.measures.ranked.num_nonrel_judged_ret",
    "NumQ": "judged.measures.ranked.num_q",
    "NumRel": "judged.measures.ranked.num_rel",
    "NumRelRet": "judged.measures.ranked.num_rel_ret",
    "NumRet": "judged.measures.ranked.num_ret",
    "O": "judged.measures.ranked.o",
    "P_measure": "judged.measures.ranked.p_measure",
    "P_plus": "judged.measures.ranked.p_plus",
    "P": "judged.measures.ranked.precision",
    "Q": "judged.measures.ranked.q",
    "RBP": "judged.measures.ranked.rbp",
    "RBP_residual": "judged.measures.ranked.rbp_residual",
    "R": "judged.measures.ranked.recall",
    "relstring": "judged.measures.ranked.relstring",
    "Rndcg": "judged.measures.ranked.rndcg",
    "Rprec": "judged.measures.ranked.rprec",
    "RR": "judged.measures.ranked.rr",
    "SetAP": "judged.measures.ranked.set_ap",
    "SetF": "judged.measures.ranked.set_f",
    "SetP": "judged.measures.ranked.set_p",
    "SetR": "judged.measures.ranked.set_r",
    "SetRelP": "judged.measures.ranked.set_rel_p",
    "Success": "judged.measures.ranked.success",
    "Unjudged": "judged.measures.ranked.unjudged",
    "Utility": "judged.measures.ranked.utility",
    "yaap": "judged.measures.ranked.yaap",
    "compare_sessions": "judged.sessions.compare",
    "evaluate_sessions": "judged.sessions.evaluate",
    "SessionEvaluation": "judged.sessions.evaluation",
    "gate_sessions": "judged.sessions.gate",
    "SessionProtocol": "judged.sessions.protocol",
    "georisk": "judged.stats.risk",
    "trisk": "judged.stats.risk",
    "urisk": "judged.stats.risk",
    "zrisk": "judged.stats.risk",
    "Judgments": "judged.tables.judgments",
    "Labels": "judged.tables.labels",
    "Preferences": "judged.tables.preferences",
    "Run": "judged.tables.run",
    "Scores": "judged.tables.scores",
    "Sessions": "judged.tables.sessions",
}
"""Where each public name lives; a measure's name leads to the file that defines it."""

__all__ = [  # noqa: RUF022 - measures keep their published spelling, in whatever order that sorts
    "AP",
    "AP11",
    "AP_IA",
    "Agreement",
    "BPM",
    "Bpref",
    "Comparison",
    "Compat",
    "DCG",
    "DR",
    "Difference",
    "DiversityCount",
    "ED",
    "ERR",
    "ERR_IA",
    "ETU",
    "EU_residual",
    "Evaluation",
    "Explanation",
    "F1",
    "FallOut",
    "G",
    "GateReport",
    "IA",
    "IDCG",
    "INSQ",
    "INST",
    "IPrec",
    "Judged",
    "JudgedError",
    "Judgments",
    "Labelling",
    "Labels",
    "LintReport",
    "Measure",
    "NCU",
    "NERR10",
    "NERR11",
    "NERR8",
    "NERR9",
    "NRBP",
    "NumNonrelJudgedRet",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "O",
    "Observations",
    "P",
    "PROFILES",
    "P_IA",
    "Parameter",
    "P_measure",
    "P_plus",
    "Preferences",
    "Profile",
    "Protocol",
    "Published",
    "Q",
    "R",
    "RBP",
    "RBP_residual",
    "RR",
    "Rndcg",
    "Rprec",
    "Run",
    "SDCG",
    "Scores",
    "SessionEvaluation",
    "SessionProtocol",
    "Sessions",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "SetRelP",
    "StRecall",
    "Success",
    "Unjudged",
    "Utility",
    "agreement",
    "alpha_DCG",
    "alpha_nDCG",
    "binG",
    "compare",
    "compare_sessions",
    "define",
    "define_per_query",
    "evaluate",
    "evaluate_sessions",
    "explain",
    "explain_difference",
    "explain_published",
    "gate",
    "gate_sessions",
    "georisk",
    "gm_AP",
    "gm_Bpref",
    "infAP",
    "label_results",
    "lint",
    "nDCG",
    "nDCG_JK",
    "nDCG_rel",
    "nERR",
    "nERR_IA",
    "nNRBP",
    "parse_measure",
    "read_judgments",
    "read_labels",
    "read_preferences",
    "read_run",
    "read_sessions",
    "relstring",
    "trisk",
    "urisk",
    "yaap",
    "zrisk",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module `judged` has no attribute `{name}`"
        raise AttributeError(msg)
    thing = getattr(import_module(_HOMES[name]), name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
