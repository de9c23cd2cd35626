"""Measures of ranked results against graded judgments, and the names by which measures of runs are found."""

from __future__ import annotations

from judged.measures.groups import Alias, Scope
from judged.measures.trec_eval import TREC_ALIASES

RANKED = Scope(
    "ranked",
    subject="ranked results",
    kind="measure",
    example="nDCG@10",
    form="write it as `nDCG@10` or `P(rel=2)@5`",
    groups=("ranked", "diversity", "browsing", "custom", "preference", "exposure"),
    trec_spelling=True,
    about={
        "ranked": ("Measures of ranked results against graded judgments."),
        "diversity": (
            "Measures of how many different answers a ranking contains. `DR` and `DiversityCount` look at "
            "the `target` that judgments may give each document; a document without one is its own. All "
            "others look at intents: a document may be judged for several intents of its query, with a "
            "grade for each. Where judgments have targets and no intents, a document's target is its "
            "intent; where they have neither, these measures are refused."
        ),
        "browsing": (
            "Measures by a model of the reader, who goes on from each result to the next with a chance "
            "that may depend on rank and gain (C/W/L). `RBP` and `ERR` are of this kind too."
        ),
        "preference": (
            "Measures against preferences, and against the grades of several judges: what groups of "
            "judgments say, which may contradict each other. They need preferences "
            "(`judged.read_preferences`) in place of judgments."
        ),
        "exposure": (
            "Measures of exposure: who is seen. `AWRF` needs the groups of documents (`--groups FILE`, `judged.read_groups`) "
            "and a target; the others need judgments, and look at documents one by one. A query may have several rankings, "
            "which a run calls `q1.1`, `q1.2`, … where `q1` is judged: their mean exposure counts."
        ),
    },
    aliases=TREC_ALIASES
    | {
        "mrr": Alias("RR"),
        "precision": Alias("P"),
        "R_cap": Alias("R", {"over": "cutoff"}),
        "capped_recall": Alias("R", {"over": "cutoff"}),
        "hit": Alias("Success"),
        "hit_rate": Alias("Success"),
        "ndcg_burges": Alias("nDCG", {"gain": "exp"}),
        "dcg_burges": Alias("DCG", {"gain": "exp"}),
        "r-precision": Alias("Rprec"),
        "11pt": Alias("AP11"),
        "gmap": Alias("gm_AP"),
        "mean_average_precision_at_r": Alias("AP_R"),
        "MAP_R": Alias("AP_R"),
        "fall_out": Alias("FallOut"),
        "MSnDCG": Alias("nDCG"),
        "Q-measure": Alias("Q"),
        "QMeasure": Alias("Q"),
        "O-measure": Alias("O"),
        "OMeasure": Alias("O"),
        "P-measure": Alias("P_measure"),
        "PMeasure": Alias("P_measure"),
        "P-plus": Alias("P_plus"),
        "PPlusMeasure": Alias("P_plus"),
        "NCUguP": Alias("NCU", {"stop": "graded", "beta": 0}),
        "NCUguBR": Alias("NCU", {"stop": "graded"}),
        "NCUrbP": Alias("NCU", {"stop": "biased", "beta": 0}),
        "NCUrbBR": Alias("NCU", {"stop": "biased"}),
        "trec_AWRF": Alias("AWRF", {"discount": "trec", "base": "e"}),
        "trec_EER": Alias("EER", {"factor": 1}),
        "compatibility": Alias("Compat"),
        "diversity_count": Alias("DiversityCount"),
        "diversity": Alias("DiversityCount"),
        "alpha-nDCG": Alias("alpha_nDCG"),
        "alpha-DCG": Alias("alpha_DCG"),
        "α_nDCG": Alias("alpha_nDCG"),
        "α-nDCG": Alias("alpha_nDCG"),
        "α_DCG": Alias("alpha_DCG"),
        "α-DCG": Alias("alpha_DCG"),
        "ERR-IA": Alias("ERR_IA"),
        "nERR-IA": Alias("nERR_IA"),
        "MAP-IA": Alias("AP_IA"),
        "MAP_IA": Alias("AP_IA"),
        "AP-IA": Alias("AP_IA"),
        "P-IA": Alias("P_IA"),
        "strec": Alias("StRecall"),
    },
)
"""Left out where the other tool's number is another one: ranx' `hits` counts, BEIR's `Hole` looks at all queries."""
