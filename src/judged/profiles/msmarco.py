"""MS MARCO: `ms_marco_eval.py` of the passage ranking task."""

from __future__ import annotations

from judged.profiles.profile import Profile, Spelling
from judged.protocol import Protocol

PROFILE = Profile(
    "msmarco",
    tool="ms_marco_eval.py",
    version="28b3693",
    about="`ms_marco_eval.py qrels candidates`, of a candidate file whose ranks follow its rows",
    protocol=Protocol(order="input", rel=0.0),
    default_measures=("MRR@10",),
    spellings=(Spelling("MRR", "RR", takes=(), number=True),),
    caveats=(
        "It puts a passage at the rank in its line, up to 1,000; here ranks are counted.",
        "Ids must be integers, and at least one judged query must be in the file.",
        "A passage listed twice is reported and counted; here it is refused.",
        "Its cutoff is always 10; here any is accepted.",
    ),
)
