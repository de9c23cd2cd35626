"""XGBoost: the metrics `ndcg`, `map` and `pre`, with and without the minus that changes hopeless groups."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from judged.profiles.profile import Choices, Profile, Spelling, Values
from judged.protocol import Protocol

_ZERO = {"no_relevant": "zero"}
"""Convention of a name that ends in a minus, as in `ndcg@3-`."""
WITHOUT_CUTOFF = 32
"""Cutoff of a name without any: the default number of pairs for each document in training, whatever that is set to."""


def _read_minus(text: str) -> list[str]:
    """Return `ndcg-@3` for `ndcg@3-`."""
    return [re.sub(r"^(ndcg|map)(\([^)]*\))?@(\d+)-$", r"\1-\2@\3", text)]


def _both(name: str, measure: str, given: Values, **more: Any) -> Iterator[Spelling]:
    """Yield the spelling with a cutoff, and the one without, whose cutoff is the library's."""
    yield Spelling(name, measure, given, takes=(), number=True, **more)
    yield Spelling(name, measure, {**given, "cutoff": WITHOUT_CUTOFF}, takes=(), number=False, **more)


def _gain(name: str, conventions: Values, shown: str) -> Iterator[Spelling]:
    """Yield the spellings of nDCG with both gains, the exponential one first, which is the default."""
    exponential: Choices = {("ndcg_exp_gain", True): {}}
    yield from _both(name, "nDCG", {"gain": "exp"}, conventions=conventions, words=exponential, shown=shown)
    linear: Choices = {("ndcg_exp_gain", False): {}}
    shown_linear = shown.replace("ndcg", "ndcg(ndcg_exp_gain=False)")
    yield from _both(name, "nDCG", {}, conventions=conventions, words=linear, shown=shown_linear)


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
        *_both("map", "AP", {"over": "cutoff"}, shown="map[@k]"),
        *_both("map-", "AP", {"over": "cutoff"}, conventions=_ZERO, shown="map[@k]-"),
        *_both("pre", "P", {"over": "retrieved"}, conventions=_ZERO, shown="pre[@k]"),
    ),
    caveats=(
        "`ndcg`, `map` and `pre` without a cutoff look at the first 32 documents of a group, there and here.",
        "`map` and `pre` accept grades of 0 and 1 alone; here grade 1 and above is relevant.",
        "Weights of groups are not supported: the mean is over groups, each counted once.",
        "A negative grade is an error there, and means unjudged here.",
        "A metric computed by several workers weighs each worker's groups; here all groups are seen at once.",
    ),
)
