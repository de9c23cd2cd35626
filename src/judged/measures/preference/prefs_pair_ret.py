"""Preferences fulfilled, averaged over the pairs of retrieved documents."""

from __future__ import annotations

from judged.kernels.preferences.fulfilment import pair_share
from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["pair_preference_share_retrieved", "prefs_pair_ret"]


def pair_preference_share_retrieved(opinions: PreferenceView) -> Floats:
    r"""The share of preferences obeyed for each pair of retrieved documents, averaged over pairs.

    $$\mathrm{prefs\_pair} = \frac{1}{|P|} \sum_{\{a, b\} \in P}
      \frac{n_{ab} \, [a \text{ before } b] + n_{ba} \, [b \text{ before } a]}{n_{ab} + n_{ba}}$$

    where $P$ holds the pairs of documents between which some group has a preference, and $n_{ab}$ is the number of
    groups that prefer $a$ to $b$. A preference for $a$ over $b$ is obeyed when $a$ is retrieved and $b$ later or not at all.
    Only preferences of which both documents are retrieved count.
    Equal to prefs_simp where no two groups speak of the same pair.

    Unjudged: a document that no group speaks of does not matter.
    Ties: results stand in the order that the protocol's tie rule gives; trec_eval itself takes equal scores by
        document id ascending here, which is `ties="document-ascending"`.
    Empty: 0 when no two documents between which a preference is stated are retrieved.
    Agrees with: `trec_eval -R prefs -m prefs_pair_ret` and `-R qrels_prefs`.

    Example:
        Two of three groups prefer a to b, so a list with a first earns 2/3 of that pair:

        >>> from judged.kernels.examples import make_preferences
        >>> said = {"ann": {"a": 2, "b": 1}, "bob": {"a": 1, "b": 2}, "eve": {"a": 5, "b": 1}}
        >>> pair_preference_share_retrieved(make_preferences((["a", "b"], said))).round(4)
        array([0.6667])

    References:
        Buckley. trec_eval, measure `prefs_pair_ret`. NIST, 2008.
    """
    return pair_share(opinions, least=2)


prefs_pair_ret = Measure(
    "prefs_pair_ret", pair_preference_share_retrieved, family="preference", properties=frozenset({"share"})
)
