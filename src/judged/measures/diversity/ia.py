"""Intent-aware measures in general: another measure for each intent, averaged."""

from __future__ import annotations

from judged.kernels.diversity.intent_aware import intent_mean, split_by_intent
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure
from judged.measures.names import parse_measure
from judged.measures.parameters import Parameter, Value

__all__ = ["IA", "intent_aware"]


def intent_aware(ranking: Ranking, *, of: str) -> Floats:
    r"""Another measure of the results, for each intent by itself, averaged over intents.

    $$M\text{-}\mathrm{IA} = \sum_{j} \frac{w_j}{\sum_{l} w_l} \, M_j$$

    where $M_j$ is the measure `of` with the grades that documents have for intent $j$, and $w_j$ the weight of
    the intent, 1 unless the judgments give others. Intents without a relevant document are left out; relevant
    means what it does in the measure. `nDCG_IA@10` is read as `IA(of="nDCG@10")`, and so are all others.

    Unjudged: as in the measure; a document that was not judged for the intent is unjudged.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when no intent has a relevant document; else the mean of what the measure says.
    Agrees with: its definition; of ndeval, only `MAP-IA`, `P-IA` and `strec` are of this kind, as `AP_IA`,
        `P_IA` and `StRecall` here.

    Example:
        The first result answers one intent, the second another, so the reciprocal ranks are 1 and 1/2:

        >>> from judged.kernels.examples import make_ranking
        >>> intent_aware(make_ranking([1, 1], intents=[[{1}, {2}]]), of="RR")
        array([0.75])

    References:
        Agrawal, Gollapudi, Halverson and Ieong. Diversifying search results. WSDM 2009.
        doi:10.1145/1498759.1498766
    """
    measure = parse_measure(of)
    rel = measure.parameters.get("rel")
    values = measure.per_query(split_by_intent(ranking))
    return intent_mean(ranking, values, rel if isinstance(rel, int | float) else None)


def _named(value: object) -> Value:
    """The measure as it is written, if a mean of it over intents means something."""
    measure = parse_measure(value) if isinstance(value, str | Measure) else None
    if measure is None or measure.intents or measure.text:
        raise ValueError
    if measure.bounds != (0.0, 1.0) or measure.aggregate != "mean" or not measure.of_run:
        raise ValueError
    if set(measure.defaults) != set(measure.parameters):  # one that must be given is not
        raise ValueError
    return str(measure)


IA = Measure(
    "IA",
    intent_aware,
    family="diversity",
    properties=frozenset({"zero-if-nothing-found"}),
    own={
        "of": Parameter(
            "the measure that is averaged over intents",
            "a measure from 0 to 1, complete with its cutoff, that does not look at intents itself, such as `nDCG@10`",
            _named,
        )
    },
    intents=True,
)
