"""R-precision, averaged over judges."""

from __future__ import annotations

from judged.kernels.preferences.fulfilment import mean_over_groups
from judged.kernels.preferences.view import PreferenceView
from judged.kernels.segments import Floats
from judged.measures.measure import Measure
from judged.measures.ranked.rprec import r_precision

__all__ = ["Rprec_mult_avgjg", "r_precision_of_judges"]


def r_precision_of_judges(
    opinions: PreferenceView, *, rel: float | None = None, multiple: float = 1.0
) -> Floats:
    r"""The R-precision by each group's judgments, averaged over the query's groups.

    $$\mathrm{Rprec\_mult\_avgjg} = \frac{1}{|J|} \sum_{j \in J} \mathrm{Rprec}_j$$

    where $J$ is the set of the query's judgment groups (assessors), each with grades of its own, and $\mathrm{Rprec}_j$ is
    Rprec by the grades of group $j$, at the same `multiple` of its own number of relevant documents.

    Unjudged: counts as not relevant, group by group; taken out group by group if the protocol removes them.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing relevant is retrieved; a group without relevant documents brings 0.
    Agrees with: `trec_eval -R qrels_jg -m Rprec_mult_avgjg`.

    Example:
        One document is relevant to each, and among the first two:

        >>> from judged.kernels.examples import make_preferences
        >>> said = {"ann": {"a": 1, "b": 0}, "bob": {"b": 1}}
        >>> r_precision_of_judges(make_preferences((["a", "b"], said)), multiple=2)
        array([0.5])

    References:
        Buckley. trec_eval, measure `Rprec_mult_avgjg`. NIST, 2008.
    """
    return mean_over_groups(opinions, r_precision(opinions.ranking, rel=rel, multiple=multiple))


Rprec_mult_avgjg = Measure(
    "Rprec_mult_avgjg",
    r_precision_of_judges,
    at="multiple",
    family="preference",
    properties=frozenset({"share"}),
)
