"""trectools: `TrecEval` on files read by `TrecRun` and `TrecQrel`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judged.profiles.profile import Profile, Spelling
from judged.protocol import Protocol

_AS_READ = {"ties": "document-ascending"}
"""Sort order of `TrecRun` on reading; these measures do not sort again."""
_AVERAGED = {"ties": "expected"}
"""`get_rbp` gives documents with equal scores the mean of their weights."""
_REMOVED: Mapping[tuple[str, Any], Mapping[str, Any]] = {
    ("removeUnjudged", True): {"unjudged": "removed"},
    ("removeUnjudged", False): {},
}


def _deep(name: str, measure: str, given: Mapping[str, Any] | None = None, **more: Any) -> list[Spelling]:
    """Return the spellings with a depth, and without one, which means a depth of 1000."""
    own = given or {}
    return [
        Spelling(name, measure, own, takes=(), number=True, **more),
        Spelling(name, measure, {**own, "cutoff": 1000}, takes=(), number=False, **more),
    ]


PROFILE = Profile(
    "trectools",
    tool="trectools",
    version="0.0.50",
    about="`TrecEval(run, qrels).get_…(depth=k)`; a mean over the queries of the run",
    protocol=Protocol(precision="float64", missing="skip", unjudged_queries="zero"),
    default_measures=("MAP", "P@10", "R@100", "NDCG@10", "recip_rank"),
    spellings=(
        *_deep("MAP", "AP"),
        *_deep("recip_rank", "RR"),
        *_deep("P", "P", switches=_REMOVED),
        *_deep("R", "R", switches=_REMOVED),
        *_deep("NDCG", "nDCG", conventions=_AS_READ, switches=_REMOVED, words={("trec_eval", True): {}}),
        *_deep(
            "NDCG",
            "nDCG",
            {"gain": "exp"},
            conventions=_AS_READ,
            switches=_REMOVED,
            words={("trec_eval", False): {}},
            shown="NDCG(trec_eval=False)@k",
        ),
        Spelling("RBP", "RBP", takes=("p",), conventions=_AS_READ, switches=_REMOVED, number=True),
        Spelling(
            "RBP",
            "RBP",
            {"cutoff": 1000},
            takes=("p",),
            conventions=_AVERAGED,
            switches=_REMOVED,
            number=False,
        ),
        Spelling("Bpref", "Bpref", takes=()),
    ),
    caveats=(
        "`get_rbp` averages the weights of equal scores even across two adjacent queries.",
        "`get_rbp` with a depth averages the weights of equal scores within it; here ties are ordered by ascending id.",
        "`get_bpref` is 0 where no document is judged not relevant.",
        "`get_bpref` looks at 1,000 judged documents of each query.",
        "`get_rprec` mixes up queries with pandas 3, and fails on a query without judgments.",
        "`get_geometric_map`, `get_unjudged` and the measures of understandability are not supported.",
        "Ids that look like numbers lose their leading zeros.",
    ),
)
