"""Group preferences fulfilled, with as many non-relevant documents as relevant ones."""

from __future__ import annotations

from judged.kernels.preferences.fulfilment import balanced_share
from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["balanced_preference_share", "prefs_avgjg_Rnonrel"]


def balanced_preference_share(opinions: PreferenceView) -> Floats:
    r"""As prefs_avgjg, as if each group had judged as many documents not relevant as relevant.

    $$\frac{1}{|J|} \sum_{j \in J} \frac{F_j + r_j (R_j - N_j)}{S_j + R'_j (R_j - N_j)}
      \quad \text{where } R_j \ge N_j$$

    where $F_j$ of $S_j$ preferences of group $j$ are obeyed, $R_j$ and $N_j$ count its relevant (level above 0) and
    its other documents, $R'_j$ all its relevant documents and $r_j$ those retrieved.
    Where $R_j < N_j$, only the first $R_j$ documents of the lowest level are kept, in the order of the ranking, and
    trec_eval's count is followed to the letter: it also compares every document of that level with these first ones.
    In a group of several sub-groups, only level 0 counts as not relevant, the first documents kept are as many as
    the group has relevant ones, and nothing else is compared.
    Where levels below 0 leave the lowest level with fewer than $R_j$ documents, all of them are kept; trec_eval then
    reads beyond them.

    Unjudged: a document that no group speaks of does not matter.
    Ties: results stand in the order that the protocol's tie rule gives; trec_eval itself takes equal scores by
        document id ascending here, which is `ties="document-ascending"`.
    Empty: 0 when one of the groups has nothing to count, whatever the others say, as in trec_eval.
    Agrees with: `trec_eval -R prefs -m prefs_avgjg_Rnonrel` and `-R qrels_prefs`.

    Example:
        One relevant document and one other, in the right order; a second group judged nothing but relevant ones:

        >>> from judged.kernels.examples import make_preferences
        >>> said = {"ann": {"a": 1, "b": 0}, "bob": {"a": 2, "c": 1}}
        >>> balanced_preference_share(make_preferences((["a", "b"], said))).round(4)
        array([0.8])

    References:
        Buckley. trec_eval, measure `prefs_avgjg_Rnonrel`. NIST, 2008.
    """
    return balanced_share(opinions)


prefs_avgjg_Rnonrel = Measure(
    "prefs_avgjg_Rnonrel", balanced_preference_share, family="preference", properties=frozenset({"share"})
)
