"""The parameters that measures of sessions take: what each name means there, and which values make sense."""

from __future__ import annotations

from dataclasses import replace

from judged.kernels.sessions.view import GAINS
from judged.measures.parameters import PARAMETERS, Parameter

__all__ = ["LONGEST", "LOOKED_AT", "SESSION_PARAMETERS"]

LONGEST = 1_000_000
"""The highest number of an iteration that can be asked for."""

SESSION_PARAMETERS: dict[str, Parameter] = {
    "iteration": Parameter.whole("the iteration up to which a session counts", high=LONGEST),
    "good": Parameter.whole("the gain from which a result is good", high=GAINS[-1]),
    "gain": Parameter("what a good result is worth: its gain (`graded`), or 1 (`binary`)"),
    "discount": replace(
        PARAMETERS["p"],
        meaning="how the weight of iterations falls: as 1 / log₂(i + 1) (`log2`), as 1 / i (`zipf`), not at all "
        "(`none`), or each to that share of the one before (a number)",
    ),
    "beyond": Parameter(
        "what a session has after its last iteration: its value there (`hold`), or further iterations that found "
        "nothing (`pad`)"
    ),
    "reference": Parameter(
        "what there was to find: what the session found itself (`own`), or what is known of its task (`given`)"
    ),
}
"""Every parameter of measures of sessions by name."""

LOOKED_AT = {"iteration": Parameter.whole("the iteration that is looked at", high=LONGEST)}
"""What `iteration` means in measures of a single one."""
