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
    from judged.checks.result import LintReport as LintReport
    from judged.comparison.api import compare as compare
    from judged.comparison.result import Comparison as Comparison
    from judged.engine.counts import RunCounts as RunCounts
    from judged.engine.evaluate import evaluate as evaluate, evaluate_many as evaluate_many
    from judged.engine.evaluation import Evaluation as Evaluation
    from judged.engine.evaluations import Evaluations as Evaluations
    from judged.errors import JudgedError as JudgedError
    from judged.explanation.api import explain as explain
    from judged.explanation.difference import (
        Difference as Difference,
        explain_difference as explain_difference,
    )
    from judged.explanation.published import Published as Published, explain_published as explain_published
    from judged.explanation.result import Explanation as Explanation
    from judged.gates.api import gate as gate
    from judged.gates.result import GateReport as GateReport
    from judged.io.read import (
        read_judgments as read_judgments,
        read_labels as read_labels,
        read_preferences as read_preferences,
        read_run as read_run,
    )
    from judged.label.api import label_results as label_results
    from judged.label.result import Labelling as Labelling
    from judged.measures.browsing.totals import ED as ED, ETU as ETU, EU_residual as EU_residual
    from judged.measures.browsing.utility import (
        BPM as BPM,
        INSQ as INSQ,
        INST as INST,
        NERR8 as NERR8,
        NERR9 as NERR9,
        NERR10 as NERR10,
        NERR11 as NERR11,
        SDCG as SDCG,
    )
    from judged.measures.custom import define as define, define_per_query as define_per_query
    from judged.measures.diversity.intents import (
        AP_IA as AP_IA,
        DR as DR,
        IA as IA,
        P_IA as P_IA,
        DiversityCount as DiversityCount,
        StRecall as StRecall,
    )
    from judged.measures.diversity.novelty import (
        ERR_IA as ERR_IA,
        NRBP as NRBP,
        alpha_DCG as alpha_DCG,
        alpha_nDCG as alpha_nDCG,
        nERR_IA as nERR_IA,
        nNRBP as nNRBP,
    )
    from judged.measures.measure import Measure as Measure
    from judged.measures.parameters import Parameter as Parameter
    from judged.measures.parse import parse_measure as parse_measure
    from judged.measures.ranked.average_precision import (
        AP as AP,
        AP11 as AP11,
        IPrec as IPrec,
        gm_AP as gm_AP,
        yaap as yaap,
    )
    from judged.measures.ranked.blended import (
        NCU as NCU,
        O as O,
        P_measure as P_measure,
        P_plus as P_plus,
        Q as Q,
    )
    from judged.measures.ranked.cascade import (
        ERR as ERR,
        RBP as RBP,
        RBP_residual as RBP_residual,
        nERR as nERR,
    )
    from judged.measures.ranked.compatibility import Compat as Compat
    from judged.measures.ranked.counts import (
        NumNonrelJudgedRet as NumNonrelJudgedRet,
        NumQ as NumQ,
        NumRel as NumRel,
        NumRelRet as NumRelRet,
        NumRet as NumRet,
        relstring as relstring,
    )
    from judged.measures.ranked.gain import (
        DCG as DCG,
        IDCG as IDCG,
        G as G,
        Rndcg as Rndcg,
        binG as binG,
        nDCG as nDCG,
        nDCG_JK as nDCG_JK,
        nDCG_rel as nDCG_rel,
    )
    from judged.measures.ranked.incomplete import (
        Bpref as Bpref,
        Judged as Judged,
        Unjudged as Unjudged,
        gm_Bpref as gm_Bpref,
        infAP as infAP,
    )
    from judged.measures.ranked.precision import (
        F1 as F1,
        RR as RR,
        FallOut as FallOut,
        P as P,
        R as R,
        Rprec as Rprec,
        Success as Success,
    )
    from judged.measures.ranked.sets import (
        SetAP as SetAP,
        SetF as SetF,
        SetP as SetP,
        SetR as SetR,
        SetRelP as SetRelP,
        Utility as Utility,
    )
    from judged.profiles.catalogue import PROFILES as PROFILES
    from judged.profiles.profile import Profile as Profile
    from judged.protocol import Protocol as Protocol
    from judged.result import Result as Result, load as load
    from judged.sessions.compare import compare_sessions as compare_sessions, gate_sessions as gate_sessions
    from judged.sessions.evaluate import evaluate_sessions as evaluate_sessions
    from judged.sessions.protocol import SessionProtocol as SessionProtocol
    from judged.stats.risk import georisk, trisk, urisk, zrisk
    from judged.tables.judgments import Judgments as Judgments
    from judged.tables.labels import Labels as Labels
    from judged.tables.preferences import Preferences as Preferences
    from judged.tables.run import Run as Run
    from judged.tables.scores import Scores as Scores
    from judged.tables.sessions import Sessions as Sessions
    from judged.traces.read import read_sessions as read_sessions


_HOMES = {
    "compare": "judged.comparison.api",
    "Comparison": "judged.comparison.result",
    "Evaluation": "judged.engine.evaluation",
    "Evaluations": "judged.engine.evaluations",
    "evaluate": "judged.engine.evaluate",
    "evaluate_many": "judged.engine.evaluate",
    "RunCounts": "judged.engine.counts",
    "PROFILES": "judged.profiles.catalogue",
    "Profile": "judged.profiles.profile",
    "Protocol": "judged.protocol",
    "JudgedError": "judged.errors",
    "Result": "judged.result",
    "load": "judged.result",
    "Difference": "judged.explanation.difference",
    "explain_difference": "judged.explanation.difference",
    "explain": "judged.explanation.api",
    "Explanation": "judged.explanation.result",
    "Published": "judged.explanation.published",
    "explain_published": "judged.explanation.published",
    "read_labels": "judged.io.read",
    "read_preferences": "judged.io.read",
    "read_judgments": "judged.io.read",
    "read_run": "judged.io.read",
    "read_sessions": "judged.traces.read",
    "gate": "judged.gates.api",
    "GateReport": "judged.gates.result",
    "Agreement": "judged.agreements.result",
    "agreement": "judged.agreements.api",
    "Labelling": "judged.label.result",
    "label_results": "judged.label.api",
    "lint": "judged.checks.lint",
    "LintReport": "judged.checks.result",
    "BPM": "judged.measures.browsing.utility",
    "ED": "judged.measures.browsing.totals",
    "ETU": "judged.measures.browsing.totals",
    "EU_residual": "judged.measures.browsing.totals",
    "INSQ": "judged.measures.browsing.utility",
    "INST": "judged.measures.browsing.utility",
    "NERR10": "judged.measures.browsing.utility",
    "NERR11": "judged.measures.browsing.utility",
    "NERR8": "judged.measures.browsing.utility",
    "NERR9": "judged.measures.browsing.utility",
    "SDCG": "judged.measures.browsing.utility",
    "define": "judged.measures.custom",
    "define_per_query": "judged.measures.custom",
    "alpha_DCG": "judged.measures.diversity.novelty",
    "alpha_nDCG": "judged.measures.diversity.novelty",
    "AP_IA": "judged.measures.diversity.intents",
    "DiversityCount": "judged.measures.diversity.intents",
    "DR": "judged.measures.diversity.intents",
    "ERR_IA": "judged.measures.diversity.novelty",
    "IA": "judged.measures.diversity.intents",
    "nERR_IA": "judged.measures.diversity.novelty",
    "nNRBP": "judged.measures.diversity.novelty",
    "NRBP": "judged.measures.diversity.novelty",
    "P_IA": "judged.measures.diversity.intents",
    "StRecall": "judged.measures.diversity.intents",
    "Measure": "judged.measures.measure",
    "parse_measure": "judged.measures.parse",
    "Parameter": "judged.measures.parameters",
    "AP": "judged.measures.ranked.average_precision",
    "AP11": "judged.measures.ranked.average_precision",
    "binG": "judged.measures.ranked.gain",
    "Bpref": "judged.measures.ranked.incomplete",
    "Compat": "judged.measures.ranked.compatibility",
    "DCG": "judged.measures.ranked.gain",
    "ERR": "judged.measures.ranked.cascade",
    "F1": "judged.measures.ranked.precision",
    "FallOut": "judged.measures.ranked.precision",
    "G": "judged.measures.ranked.gain",
    "gm_AP": "judged.measures.ranked.average_precision",
    "gm_Bpref": "judged.measures.ranked.incomplete",
    "IDCG": "judged.measures.ranked.gain",
    "infAP": "judged.measures.ranked.incomplete",
    "IPrec": "judged.measures.ranked.average_precision",
    "Judged": "judged.measures.ranked.incomplete",
    "NCU": "judged.measures.ranked.blended",
    "nDCG": "judged.measures.ranked.gain",
    "nDCG_JK": "judged.measures.ranked.gain",
    "nDCG_rel": "judged.measures.ranked.gain",
    "nERR": "judged.measures.ranked.cascade",
    "NumNonrelJudgedRet": "judged.measures.ranked.counts",
    "NumQ": "judged.measures.ranked.counts",
    "NumRel": "judged.measures.ranked.counts",
    "NumRelRet": "judged.measures.ranked.counts",
    "NumRet": "judged.measures.ranked.counts",
    "O": "judged.measures.ranked.blended",
    "P_measure": "judged.measures.ranked.blended",
    "P_plus": "judged.measures.ranked.blended",
    "P": "judged.measures.ranked.precision",
    "Q": "judged.measures.ranked.blended",
    "RBP": "judged.measures.ranked.cascade",
    "RBP_residual": "judged.measures.ranked.cascade",
    "R": "judged.measures.ranked.precision",
    "relstring": "judged.measures.ranked.counts",
    "Rndcg": "judged.measures.ranked.gain",
    "Rprec": "judged.measures.ranked.precision",
    "RR": "judged.measures.ranked.precision",
    "SetAP": "judged.measures.ranked.sets",
    "SetF": "judged.measures.ranked.sets",
    "SetP": "judged.measures.ranked.sets",
    "SetR": "judged.measures.ranked.sets",
    "SetRelP": "judged.measures.ranked.sets",
    "Success": "judged.measures.ranked.precision",
    "Unjudged": "judged.measures.ranked.incomplete",
    "Utility": "judged.measures.ranked.sets",
    "yaap": "judged.measures.ranked.average_precision",
    "compare_sessions": "judged.sessions.compare",
    "evaluate_sessions": "judged.sessions.evaluate",
    "gate_sessions": "judged.sessions.compare",
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
    "Evaluations",
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
    "Result",
    "Rndcg",
    "Rprec",
    "Run",
    "RunCounts",
    "SDCG",
    "Scores",
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
    "evaluate_many",
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
    "load",
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
