"""The share of the preferences between retrieved documents that a run fulfils."""

from __future__ import annotations

from judged.kernels.preferences.fulfilment import simple_share
from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["preference_share_retrieved", "prefs_simp_ret"]


def preference_share_retrieved(opinions: PreferenceView) -> Floats:
    r"""The share that the ranking obeys of the preferences of which it retrieves both documents.

    $$\mathrm{prefs\_simp} = \frac{|\{(a, b) \in S : a \text{ before } b\}|}{|S|}$$

    where $S$ holds a pair for every preference of every group of the query, so that what two
    groups say counts twice. A preference for $a$ over $b$ is obeyed when $a$ is retrieved and $b$ later or not at all.
    Only preferences of which both documents are retrieved count.

    Unjudged: a document that no group speaks of does not matter.
    Ties: results stand in the order that the protocol's tie rule gives; trec_eval itself takes equal scores by
        document id ascending here, which is `ties="document-ascending"`.
    Empty: 0 when no two documents between which a preference is stated are retrieved.
    Agrees with: `trec_eval -R prefs -m prefs_simp_ret` and `-R qrels_prefs`.

    Example:
        Of a > b, a > c and b > c, the list b, a speaks of the first only, and does not obey it:

        >>> from judged.kernels.examples import make_preferences
        >>> said = {"ann": {"a": 3, "b": 2, "c": 1}}
        >>> preference_share_retrieved(make_preferences((["b", "a"], said))).round(4)
        array([0.])

    References:
        Buckley. trec_eval, measure `prefs_simp_ret`. NIST, 2008.
    """
    return simple_share(opinions, least=2)


prefs_simp_ret = Measure(
    "prefs_simp_ret", preference_share_retrieved, family="preference", properties=frozenset({"share"})
)
