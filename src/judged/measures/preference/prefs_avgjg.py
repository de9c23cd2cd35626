"""The share of each group's preferences that a run fulfils, averaged over groups."""

from __future__ import annotations

from judged.kernels.preferences.fulfilment import group_share
from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["group_preference_share", "prefs_avgjg"]


def group_preference_share(opinions: PreferenceView) -> Floats:
    r"""The share of a group's preferences that the ranking obeys, averaged over the query's groups.

    $$\mathrm{prefs\_avgjg} = \frac{1}{|J|} \sum_{j \in J}
      \frac{|\{(a, b) \in S_j : a \text{ before } b\}|}{|S_j|}$$

    where $J$ is the set of the query's groups and $S_j$ holds the preferences of group $j$. A preference for $a$ over $b$ is obeyed when $a$ is retrieved and $b$ later or not at all.
    Every preference counts; one of which neither document is retrieved is not fulfilled.
    A person who compared many documents weighs no more than one who compared two.

    Unjudged: a document that no group speaks of does not matter.
    Ties: results stand in the order that the protocol's tie rule gives; trec_eval itself takes equal scores by
        document id ascending here, which is `ties="document-ascending"`.
    Empty: 0 when no preference is stated, and when nothing judged is retrieved. A group without anything
        to count brings 0.
    Agrees with: `trec_eval -R prefs -m prefs_avgjg` and `-R qrels_prefs`.

    Example:
        Ann's only preference is obeyed; of Bob's three, one is:

        >>> from judged.kernels.examples import make_preferences
        >>> said = {"ann": {"a": 2, "b": 1}, "bob": {"c": 3, "b": 2, "a": 1}}
        >>> group_preference_share(make_preferences((["a", "c", "b"], said))).round(4)
        array([0.6667])

    References:
        Buckley. trec_eval, measure `prefs_avgjg`. NIST, 2008.
    """
    return group_share(opinions)


prefs_avgjg = Measure(
    "prefs_avgjg", group_preference_share, family="preference", properties=frozenset({"share"})
)
