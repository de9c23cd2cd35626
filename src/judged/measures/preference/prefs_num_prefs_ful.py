"""The number of preferences fulfilled."""

from __future__ import annotations

import math

import numpy as np

from judged.kernels.preferences.fulfilment import count_fulfilled
from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["number_of_preferences_fulfilled", "prefs_num_prefs_ful"]


def number_of_preferences_fulfilled(opinions: PreferenceView) -> Floats:
    r"""How many of the preferences the ranking obeys.

    $$\mathrm{prefs\_num\_prefs\_ful} = |\{(a, b) \in S : a \text{ before } b\}|$$

    where $S$ holds a pair for every preference of every group of the query. A preference for $a$ over $b$ is obeyed when $a$ is retrieved and $b$ later or not at all.

    Unjudged: a document that no group speaks of does not matter.
    Ties: results stand in the order that the protocol's tie rule gives; trec_eval itself takes equal scores by
        document id ascending here, which is `ties="document-ascending"`.
    Empty: 0 when no preference is stated, and when nothing judged is retrieved.
    Agrees with: `trec_eval -R prefs -m prefs_num_prefs_ful` and `-R qrels_prefs`.

    Example:
        Both documents retrieved come before c, which is not:

        >>> from judged.kernels.examples import make_preferences
        >>> said = {"ann": {"a": 3, "b": 2, "c": 1}}
        >>> number_of_preferences_fulfilled(make_preferences((["b", "a"], said)))
        array([2.])

    References:
        Buckley. trec_eval, measure `prefs_num_prefs_ful`. NIST, 2008.
    """
    return count_fulfilled(opinions).astype(np.float64)


prefs_num_prefs_ful = Measure(
    "prefs_num_prefs_ful",
    number_of_preferences_fulfilled,
    bounds=(0.0, math.inf),
    aggregate="sum",
    higher_is_better=True,
    family="preference",
    properties=frozenset({"whole"}),
)
