"""The number of preferences."""

from __future__ import annotations

import math

import numpy as np

from judged.kernels.preferences.fulfilment import count_possible
from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["number_of_preferences", "prefs_num_prefs_poss"]


def number_of_preferences(opinions: PreferenceView) -> Floats:
    r"""How many preferences the query's groups state.

    $$\mathrm{prefs\_num\_prefs\_poss} = |S|$$

    where $S$ holds a pair for every preference of every group of the query. A preference for $a$ over $b$ is obeyed when $a$ is retrieved and $b$ later or not at all.

    Unjudged: a document that no group speaks of does not matter.
    Ties: do not matter.
    Empty: 0 when no preference is stated.
    Agrees with: `trec_eval -R prefs -m prefs_num_prefs_poss` and `-R qrels_prefs`; of queries missing from the run,
        trec_eval 9 with `-c` counts none, 10 all, as here.

    Example:
        Three documents of different levels, whatever is retrieved:

        >>> from judged.kernels.examples import make_preferences
        >>> said = {"ann": {"a": 3, "b": 2, "c": 1}}
        >>> number_of_preferences(make_preferences((["b", "a"], said)))
        array([3.])

    References:
        Buckley. trec_eval, measure `prefs_num_prefs_poss`. NIST, 2008.
    """
    return count_possible(opinions).astype(np.float64)


prefs_num_prefs_poss = Measure(
    "prefs_num_prefs_poss",
    number_of_preferences,
    bounds=(0.0, math.inf),
    aggregate="sum",
    higher_is_better=None,
    family="preference",
    properties=frozenset({"whole"}),
    of_run=False,
)
