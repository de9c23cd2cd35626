"""gdeval.pl of TREC's web track: exponential nDCG, and ERR on a scale up to 4."""

from __future__ import annotations

from judged.profiles.profile import Profile, Spelling
from judged.protocol import Protocol

PROFILE = Profile(
    "gdeval",
    tool="gdeval.pl",
    version="1.2",
    about="`gdeval.pl qrels run`: over those queries of the run that have a relevant document",
    protocol=Protocol(precision="float64", missing="skip", no_relevant="skip"),
    default_measures=("ndcg@20", "err@20"),
    digits=5,
    spellings=(
        Spelling("ndcg", "nDCG", {"gain": "exp"}, takes=(), number=True),
        Spelling("err", "ERR", {"max_grade": 4}, takes=(), number=True),
    ),
    caveats=(
        "Grades above 4 and query ids that are not numbers stop the program.",
        "Only the part of a query id after its last hyphen counts.",
        "A document listed twice under a query gains twice, so nDCG can exceed 1.",
        "It prints five decimals.",
    ),
)
