"""The number of preferences between retrieved documents fulfilled."""

from __future__ import annotations

import math

import numpy as np

from judged.kernels.preferences.fulfilment import count_fulfilled
from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["number_of_preferences_fulfilled_retrieved", "prefs_num_prefs_ful_ret"]


def number_of_preferences_fulfilled_retrieved(opinions: PreferenceView) -> Floats:
    r"""How many of the preferences between retrieved documents the ranking obeys.

    $$\mathrm{prefs\_num\_prefs\_ful\_ret} = |\{(a, b) \in S : a \text{ before } b, \; b \text{ retrieved}\}|$$

    where $S$ holds a pair for every preference of every group of the query. A preference for $a$ over $b$ is obeyed when $a$ is retrieved and $b$ later or not at all.

    Unjudged: a document that no group speaks of does not matter.
    Ties: results stand in the order that the protocol's tie rule gives; trec_eval itself takes equal scores by
        document id ascending here, which is `ties="document-ascending"`.
    Empty: 0 when no preference is stated, and when nothing judged is retrieved.
    Agrees with: `trec_eval -R prefs -m prefs_num_prefs_ful_ret` and `-R qrels_prefs`.

    Example:
        The only preference between retrieved documents is a > b:

        >>> from judged.kernels.examples import make_preferences
        >>> said = {"ann": {"a": 3, "b": 2, "c": 1}}
        >>> number_of_preferences_fulfilled_retrieved(make_preferences((["b", "a"], said)))
        array([0.])

    References:
        Buckley. trec_eval, measure `prefs_num_prefs_ful_ret`. NIST, 2008.
    """
    return count_fulfilled(opinions, least=2).astype(np.float64)


prefs_num_prefs_ful_ret = Measure(
    "prefs_num_prefs_ful_ret",
    number_of_preferences_fulfilled_retrieved,
    bounds=(0.0, math.inf),
    aggregate="sum",
    higher_is_better=True,
    family="preference",
    properties=frozenset({"whole"}),
)
