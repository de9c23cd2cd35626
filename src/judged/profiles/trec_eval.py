"""trec_eval with `-c`, as official TREC scores are made; every measure that judged has can be asked for."""

from __future__ import annotations

from judged.profiles.profile import Profile
from judged.protocol import PROTOCOLS

_FATAL = "A topic with only negative grades stops the program."
_NAN = "Where it divides 0 by 0 and prints `-nan` (`-J` that leaves an empty list, `Rndcg` with `-l 0`), judged has 0."

TREC_EVAL_9 = Profile(
    "trec_eval-9",
    tool="trec_eval",
    version="9.0.4",
    about="`trec_eval -c`: score in single precision, then document id descending; missing queries score 0.",
    protocol=PROTOCOLS["trec_eval-9"],
    caveats=(
        _FATAL,
        _NAN,
        "It prints four decimals.",
        "It checks the preferences of queries that are in the run; judged refuses conflicts in any query.",
    ),
)
TREC_EVAL_10 = Profile(
    "trec_eval-10",
    tool="trec_eval",
    version="10.0-rc3",
    about="`trec_eval -c`: as 9, with scores in double precision and recall points rounded to the nearest.",
    protocol=PROTOCOLS["trec_eval-10"],
    caveats=(
        _FATAL,
        _NAN,
        "It prints four decimals.",
        "Blank lines and comment lines in judgments stop it, or are called malformed.",
        "Without `-c` a query that is missing from the run is fatal.",
        "`rbp` reads memory that was never written.",
    ),
)
