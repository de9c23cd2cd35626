"""Precision, averaged over judges."""

from __future__ import annotations

from judged.kernels.preferences.fulfilment import mean_over_groups
from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import Floats
from judged.measures.measure import Measure
from judged.measures.ranked.precision import precision

__all__ = ["P_avgjg", "precision_of_judges"]


def precision_of_judges(opinions: PreferenceView, *, cutoff: int, rel: float | None = None) -> Floats:
    r"""The precision among the first $k$ results by each group's judgments, averaged over the query's groups.

    $$\mathrm{P\_avgjg}@k = \frac{1}{|J|} \sum_{j \in J} \mathrm{P}_j@k$$

    where $J$ is the set of the query's judgment groups (assessors), each with grades of its own, and $\mathrm{P}_j@k$ is
    P by the grades of group $j$.

    Unjudged: counts as not relevant, group by group; taken out group by group if the protocol removes them.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved; a group without relevant documents brings 0.
    Agrees with: `trec_eval -R qrels_jg -m P_avgjg`.

    Example:
        Ann finds the first result relevant, Bob does not:

        >>> from judged.kernels.examples import make_preferences
        >>> said = {"ann": {"a": 1, "b": 0}, "bob": {"b": 1}}
        >>> precision_of_judges(make_preferences((["a", "b"], said)), cutoff=1)
        array([0.5])

    References:
        Buckley. trec_eval, measure `P_avgjg`. NIST, 2008.
    """
    return mean_over_groups(opinions, precision(opinions.ranking, cutoff=cutoff, rel=rel))


P_avgjg = Measure(
    "P_avgjg", precision_of_judges, at="cutoff", family="preference", properties=frozenset({"share"})
)
