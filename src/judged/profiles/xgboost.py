"""XGBoost: the metrics `ndcg`, `map` and `pre`, with and without the minus that changes hopeless groups."""

from __future__ import annotations

import re

from judged.profiles.profile import Choices, Profile, Spelling, Values
from judged.protocol import Protocol

_ZERO = {"no_relevant": "zero"}
"""Convention of a name that ends in a minus, as in `ndcg@3-`."""


def _read_minus(text: str) -> list[str]:
    """Return `ndcg-@3` for `ndcg@3-`."""
    return [re.sub(r"^(ndcg|map)(\([^)]*\))?@(\d+)-$", r"\1-\2@\3", text)]


def _gain(name: str, conventions: Values, shown: str) -> tuple[Spelling, ...]:
    """Return the spellings of nDCG with both gains, the exponential one first, which is the default."""
    linear: Choices = {("ndcg_exp_gain", False): {}}
    shown_linear = shown.replace("ndcg", "ndcg(ndcg_exp_gain=False)")
    return (
        Spelling(
            name,
            "nDCG",
            {"gain": "exp"},
            takes=(),
            conventions=conventions,
            words={("ndcg_exp_gain", True): {}},
            shown=shown,
        ),
        Spelling(name, "nDCG", takes=(), conventions=conventions, words=linear, shown=shown_linear),
    )


PROFILE = Profile(
    "xgboost",
    tool="XGBoost",
    version="3.2.0",
    about='`train({"eval_metric": "ndcg@k"}, …)` on a matrix with groups',
    protocol=Protocol(ties="input-order", no_relevant="one"),
    default_measures=("ndcg@10", "map@10", "pre@10"),
    expand=_read_minus,
    spellings=(
        *_gain("ndcg", {}, "ndcg[@k]"),
        *_gain("ndcg-", _ZERO, "ndcg[@k]-"),
        Spelling("map", "AP", {"over": "cutoff"}, takes=()),
        Spelling("map-", "AP", {"over": "cutoff"}, takes=(), conventions=_ZERO, shown="map[@k]-"),
        Spelling("pre", "P", {"over": "retrieved"}, takes=(), conventions=_ZERO, number=True),
        Spelling("pre", "SetP", takes=(), conventions=_ZERO, number=False),
    ),
    caveats=(
        "`map` and `pre` accept grades of 0 and 1 alone; here grade 1 and above is relevant.",
        "Weights of groups are not supported: the mean is over groups, each counted once.",
        "A negative grade is an error there, and means unjudged here.",
        "A metric computed by several workers weighs each worker's groups; here all groups are seen at once.",
    ),
)
