"""Retrieval between images and captions: R@k as its papers have it, after the published code of VSE++."""

from __future__ import annotations

from judged.profiles.profile import Profile, Spelling
from judged.protocol import Protocol

PROFILE = Profile(
    "cross-modal",
    tool="VSE++",
    version="of 2018",
    about="`i2t` and `t2i` of its `evaluation.py`, as most papers on images and captions compute R@k",
    protocol=Protocol(precision="float64"),
    default_measures=("R@1", "R@5", "R@10"),
    spellings=(Spelling("R", "Success", takes=(), number=True),),
    caveats=(
        "R@k there is whether one of the matches is among the first k; recall, the share of them, is lower.",
        "Equal similarities are in no defined order there.",
        "Values are in percent there.",
        "`MedR`, `MeanR` and `Rsum` are of whole rankings in both directions: `judged.evaluate_embeddings` has them.",
    ),
)
