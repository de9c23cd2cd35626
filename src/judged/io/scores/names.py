"""Names that are surely those of measures, by which tables without names for their columns are understood."""

from __future__ import annotations

import re
from collections.abc import Iterable

_FAMILIES = (
    *(
        "map",
        "ap",
        "gm_map",
        "gm_ap",
        "ndcg",
        "alpha_ndcg",
        "dcg",
        "p",
        "r",
        "recall",
        "precision",
        "mrr",
        "rr",
    ),
    *(
        "recip_rank",
        "rprec",
        "bpref",
        "gm_bpref",
        "iprec",
        "iprec_at_recall",
        "ircl_prn",
        "11pt_avg",
        "success",
        "hit",
    ),
    *(
        "hits",
        "hit_rate",
        "accuracy",
        "f1",
        "set",
        "err",
        "err_ia",
        "rbp",
        "infap",
        "inf_ap",
        "num",
        "numret",
        "numrel",
    ),
    *(
        "numq",
        "relative",
        "relstring",
        "runid",
        "utility",
        "bing",
        "g",
        "rndcg",
        "judged",
        "bpm",
        "inst",
        "st_rec",
    ),
    *(
        "strec",
        "compat",
        "exact_match",
        "faithfulness",
        "answer_relevancy",
        "context_precision",
        "context_recall",
    ),
)
"""The first parts of names of measures in the tools of this field, in lower case."""
_NAME = re.compile(
    rf"(?:{'|'.join(sorted(map(re.escape, _FAMILIES), key=len, reverse=True))})(?:[@_(.%][^\s]*)?",
    re.IGNORECASE,
)


def may_be_measures(names: Iterable[str]) -> bool:
    """Return whether all names look like those of measures, such as `ndcg_cut_10`, `nDCG@10` and `P(rel=2)@5`.

    >>> may_be_measures(["map", "ndcg_cut_10", "P(rel=2)@5"]), may_be_measures(["q1", "who?", "p12"])
    (True, False)
    """
    listed = set(names)
    return bool(listed) and all(_NAME.fullmatch(name.replace("-", "_")) for name in listed)
