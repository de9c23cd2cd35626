"""Ragas: context precision from verdicts on the retrieved contexts, and its measures by id."""

from __future__ import annotations

from judged.profiles.profile import Profile, Spelling
from judged.protocol import Protocol

PROFILE = Profile(
    "ragas",
    tool="ragas",
    version="0.4.3",
    about="`LLMContextPrecisionWithReference`, its verdicts given as grades; `IDBasedContextPrecision` and `…Recall`",
    protocol=Protocol(ties="input-order", precision="float64"),
    default_measures=("context_precision", "id_based_context_precision", "id_based_context_recall"),
    spellings=(
        Spelling("context_precision", "AP_found", takes=()),
        Spelling("id_based_context_precision", "SetP", takes=(), number=False),
        Spelling("id_based_context_recall", "SetR", takes=(), number=False),
    ),
    caveats=(
        "Context precision adds 1e-10 to its divisor, so that its values are below 1 by as much.",
        "A relevant context that was not retrieved costs nothing in context precision (issue 2013): read it with recall.",
        "Verdicts are those of a language model there: give them as grades 0 and 1.",
        "The value of an empty list, or without reference contexts, is NaN in the measures by id, and 0 here.",
        "`context_recall`, `context_entity_recall` and noise sensitivity look at texts: not supported.",
    ),
)
