"""The source documents: the measures of 000, 002, 003 and 004 under the names that those have for them."""

from __future__ import annotations

from judged.profiles.profile import Profile, Spelling
from judged.protocol import Protocol

PROFILE = Profile(
    "sources",
    tool="the source documents",
    about="lists in input order; an empty list, or a query without a relevant document, scores 0",
    protocol=Protocol(ties="input-order", precision="float64"),
    default_measures=("Hit@1", "Hit@5", "Hit@10", "Hit@20", "MRR", "Recall@20"),
    spellings=(
        Spelling("Hit", "Success", takes=(), number=True),
        Spelling("NDCG", "nDCG", takes=()),
        Spelling("MRR", "RR", takes=(), number=False),
        Spelling("MAP", "AP", takes=()),
        Spelling("Recall", "R", takes=(), number=True),
        Spelling("Precision", "P", takes=(), number=True),
        Spelling(
            "Precision",
            "P",
            {"over": "retrieved"},
            takes=(),
            words={("over", "retrieved"): {}},
            number=True,
            shown='Precision(over="retrieved")@k',
        ),
        Spelling("DR", "DR", takes=(), number=True),
        Spelling("Diversity_Count", "DiversityCount", takes=()),
    ),
    caveats=(
        "004's worked examples have slips, and its sample code counts a repeated document twice.",
        "Sessions (001), timings, routing and index measures are not measures of a ranked run.",
    ),
)
