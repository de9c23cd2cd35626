"""Average precision, averaged over judges."""

from __future__ import annotations

from judged.kernels.preferences.fulfilment import mean_over_groups
from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import Floats
from judged.measures.measure import Measure
from judged.measures.ranked.ap import average_precision

__all__ = ["average_precision_of_judges", "map_avgjg"]


def average_precision_of_judges(opinions: PreferenceView, *, rel: float | None = None) -> Floats:
    r"""The average precision by each group's judgments, averaged over the query's groups.

    $$\mathrm{map\_avgjg} = \frac{1}{|J|} \sum_{j \in J} \mathrm{AP}_j$$

    where $J$ is the set of the query's judgment groups (assessors), each with grades of its own, and $\mathrm{AP}_j$ is
    AP by the grades of group $j$.

    Unjudged: counts as not relevant, group by group; taken out group by group if the protocol removes them.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved; a group without relevant documents brings 0.
    Agrees with: `trec_eval -R qrels_jg -m map_avgjg`.

    Example:
        Ann finds the first result relevant, Bob the second, so their average precisions are 1 and 1/2:

        >>> from judged.kernels.examples import make_preferences
        >>> said = {"ann": {"a": 1, "b": 0}, "bob": {"b": 1}}
        >>> average_precision_of_judges(make_preferences((["a", "b"], said)))
        array([0.75])

    References:
        Buckley. trec_eval, measure `map_avgjg`. NIST, 2008.
    """
    return mean_over_groups(opinions, average_precision(opinions.ranking, rel=rel))


map_avgjg = Measure(
    "map_avgjg", average_precision_of_judges, family="preference", properties=frozenset({"share"})
)
