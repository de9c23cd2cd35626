"""MS MARCO: `ms_marco_eval.py` of the passage ranking task."""

from __future__ import annotations

from judged.profiles.profile import Profile
from judged.profiles.spelling import Spelling
from judged.protocol import Protocol

__all__ = ["PROFILE"]

PROFILE = Profile(
    "msmarco",
    tool="ms_marco_eval.py",
    version="28b3693",
    about="`ms_marco_eval.py qrels candidates`, of a candidate file whose ranks follow its rows",
    protocol=Protocol(order="input", rel=0.0),
    default_measures=("MRR@10",),
    spellings=(Spelling("MRR", "RR", takes=(), number=True),),
    caveats=(
        "Ranks are counted here; it puts a passage at the rank in its line, up to 1,000.",
        "Ids must be whole numbers, and one judged query at least must be in the file.",
        "A passage that occurs twice is reported and counted; it is refused here.",
        "Its cutoff is 10; any is read here.",
    ),
)
