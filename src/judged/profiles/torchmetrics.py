"""torchmetrics: the classes of `torchmetrics.retrieval`, of which nDCG alone averages over the orders of ties."""

from __future__ import annotations

from typing import Any

from judged.profiles.profile import Choices, Profile, Spelling
from judged.protocol import Protocol

_EMPTY: Choices = {
    ("empty_target_action", "neg"): {},
    ("empty_target_action", "pos"): {"no_relevant": "one"},
    ("empty_target_action", "skip"): {"no_relevant": "skip"},
}


def _of(name: str, measure: str, **more: Any) -> Spelling:
    renamed = {} if measure == "Rprec" else {"top_k": "cutoff"}
    shown = name if measure in {"Rprec", "SetP", "SetR"} else f"{name}(top_k=k)"
    return Spelling(name, measure, takes=(), renamed=renamed, switches=_EMPTY, shown=shown, **more)


PROFILE = Profile(
    "torchmetrics",
    tool="torchmetrics",
    version="1.9.0",
    about="`RetrievalNormalizedDCG(top_k=k)(preds, target, indexes=…)` and the other classes",
    protocol=Protocol(ties="input-order"),
    default_measures=("RetrievalNormalizedDCG(top_k=10)", "RetrievalMAP(top_k=10)", "RetrievalMRR(top_k=10)"),
    digits=6,
    spellings=(
        _of("RetrievalNormalizedDCG", "nDCG", conventions={"ties": "expected"}),
        _of("RetrievalMAP", "AP_found"),
        # what its average precision is called elsewhere
        Spelling("AP", "AP_found", takes=(), switches=_EMPTY),
        _of("RetrievalMRR", "RR"),
        Spelling("RetrievalPrecision", "SetP", takes=(), switches=_EMPTY, number=False),
        _of("RetrievalPrecision", "P"),
        Spelling("RetrievalRecall", "SetR", takes=(), switches=_EMPTY, number=False),
        _of("RetrievalRecall", "R"),
        _of("RetrievalHitRate", "Success"),
        _of("RetrievalRPrecision", "Rprec"),
    ),
    caveats=(
        "Equal scores are in no defined order, except in `RetrievalNormalizedDCG`; here they are as in the input.",
        "A document with a score of 0 or below is never relevant in MAP, MRR, precision and recall: give probabilities, not logits.",
        "Computed in single precision: values agree to six decimals.",
        "`RetrievalFallOut`, `adaptive_k`, `aggregation` and `ignore_index` are not supported.",
        "All but `RetrievalNormalizedDCG` accept grades of 0 and 1 alone; here grade 1 and above is relevant.",
        "A matrix without `indexes` is flattened to a single ranking there; `judged.evaluate_arrays` never does that.",
    ),
)
