"""CatBoost: ranking metrics such as `NDCG:top=10;type=Exp`, by `eval_metric` and in training."""

from __future__ import annotations

import re
from typing import Any

from judged.profiles.profile import Choices, Profile, Spelling
from judged.protocol import Protocol

_ZERO = {"no_relevant": "zero"}
"""Convention of the metrics that give a group without a relevant document 0."""
_FORMS: Choices = {
    ("type", "Base"): {},
    ("type", "Exp"): {"gain": "exp"},
    ("denominator", "LogPosition"): {},
    ("denominator", "Position"): {"discount": "position"},
}


def _read_parameters(text: str) -> list[str]:
    """Return `NDCG(type="Exp")@3` for `NDCG:top=3;type=Exp`."""
    name, colon, rest = text.partition(":")
    if not colon or not re.fullmatch(r"\w+=[\w.-]+(;\w+=[\w.-]+)*", rest):
        return [text]
    given = dict(part.split("=") for part in rest.split(";"))
    top = given.pop("top", "-1")
    inside = ", ".join(f'{key}="{value}"' for key, value in given.items())
    return [f"{name}{f'({inside})' if inside else ''}{'' if top == '-1' else f'@{top}'}"]


def _gain(name: str, measure: str, **more: Any) -> Spelling:
    return Spelling(name, measure, takes=("gain", "discount"), words=_FORMS, shown=f"{name}[:top=k]", **more)


PROFILE = Profile(
    "catboost",
    tool="CatBoost",
    version="1.2.10",
    about='`catboost.utils.eval_metric(label, approx, "NDCG:top=k", group_id=…)`, and `eval_metric=` in training',
    protocol=Protocol(ties="pessimistic", precision="float64", no_relevant="one"),
    default_measures=("NDCG:top=10", "MAP:top=10", "MRR:top=10"),
    expand=_read_parameters,
    spellings=(
        _gain("NDCG", "nDCG"),
        _gain("DCG", "DCG", conventions=_ZERO),
        Spelling("MAP", "AP", {"over": "cutoff"}, takes=(), conventions=_ZERO, shown="MAP[:top=k]"),
        Spelling("MRR", "RR", takes=(), conventions=_ZERO, shown="MRR[:top=k]"),
        Spelling(
            "PrecisionAt",
            "P",
            {"over": "retrieved"},
            takes=(),
            conventions=_ZERO,
            number=True,
            shown="PrecisionAt:top=k",
        ),
        Spelling("PrecisionAt", "SetP", takes=(), conventions=_ZERO, number=False),
        Spelling("RecallAt", "R", takes=(), number=True, shown="RecallAt:top=k"),
        Spelling("RecallAt", "SetR", takes=(), number=False),
    ),
    caveats=(
        "`ERR` and `PFound` take grades as probabilities and exceed 1 for others: not supported.",
        "`border`, which says from which grade a document is relevant, is 0.5 there: of grades between 0 and 1 only nDCG and DCG are the same.",
        "Weights of groups are not supported: the mean is over groups, each counted once.",
        "A negative grade is a negative gain there, and means unjudged here.",
    ),
)
