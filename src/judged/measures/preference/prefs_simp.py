"""The share of the preferences that a run fulfils."""

from __future__ import annotations

from judged.kernels.preferences.fulfilment import simple_share
from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["preference_share", "prefs_simp"]


def preference_share(opinions: PreferenceView) -> Floats:
    r"""The share of all stated preferences that the ranking obeys.

    $$\mathrm{prefs\_simp} = \frac{|\{(a, b) \in S : a \text{ before } b\}|}{|S|}$$

    where $S$ holds a pair for every preference of every group of the query, so that what two
    groups say counts twice. A preference for $a$ over $b$ is obeyed when $a$ is retrieved and $b$ later or not at all.
    Every preference counts; one of which neither document is retrieved is not fulfilled. Where groups contradict each other, 1 is out of reach.

    Unjudged: a document that no group speaks of does not matter.
    Ties: results stand in the order that the protocol's tie rule gives; trec_eval itself takes equal scores by
        document id ascending here, which is `ties="document-ascending"`.
    Empty: 0 when no preference is stated, and when nothing judged is retrieved.
    Agrees with: `trec_eval -R prefs -m prefs_simp` and `-R qrels_prefs`.

    Example:
        Of a > b, a > c and b > c, the list b, a obeys two: c is not retrieved, so both are before it:

        >>> from judged.kernels.examples import make_preferences
        >>> said = {"ann": {"a": 3, "b": 2, "c": 1}}
        >>> preference_share(make_preferences((["b", "a"], said))).round(4)
        array([0.6667])

    References:
        Buckley. trec_eval, measure `prefs_simp`. NIST, 2008.
    """
    return simple_share(opinions)


prefs_simp = Measure("prefs_simp", preference_share, family="preference", properties=frozenset({"share"}))
