"""The share of the preferences that a run fulfils, of those it says something about."""

from __future__ import annotations

from judged.kernels.preferences.fulfilment import simple_share
from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["preference_share_implied", "prefs_simp_imp"]


def preference_share_implied(opinions: PreferenceView) -> Floats:
    r"""The share that the ranking obeys of the preferences of which it retrieves one document or both.

    $$\mathrm{prefs\_simp} = \frac{|\{(a, b) \in S : a \text{ before } b\}|}{|S|}$$

    where $S$ holds a pair for every preference of every group of the query, so that what two
    groups say counts twice. A preference for $a$ over $b$ is obeyed when $a$ is retrieved and $b$ later or not at all.
    A preference of which neither document is retrieved is left out.

    Unjudged: a document that no group speaks of does not matter.
    Ties: results stand in the order that the protocol's tie rule gives; trec_eval itself takes equal scores by
        document id ascending here, which is `ties="document-ascending"`.
    Empty: 0 when nothing judged is retrieved.
    Agrees with: `trec_eval -R prefs -m prefs_simp_imp` and `-R qrels_prefs`.

    Example:
        Of a > b, a > c and b > c, the list c leaves a > b out, and obeys neither of the others:

        >>> from judged.kernels.examples import make_preferences
        >>> said = {"ann": {"a": 3, "b": 2, "c": 1}}
        >>> preference_share_implied(make_preferences((["c"], said))).round(4)
        array([0.])

    References:
        Buckley. trec_eval, measure `prefs_simp_imp`. NIST, 2008.
    """
    return simple_share(opinions, least=1)


prefs_simp_imp = Measure(
    "prefs_simp_imp", preference_share_implied, family="preference", properties=frozenset({"share"})
)
