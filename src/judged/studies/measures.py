"""Routing, skipping and reranking: how well a pipeline decides, query by query."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.kernels.elementary import log2
from judged.measures.groups import Alias, Scope
from judged.measures.measure import Measure
from judged.measures.parameters import MOST_RANKS, Parameter

ROUTING = Scope(
    "routing",
    subject="choices",
    example="Accuracy@3",
    takes="`judged routing`, and `judged.evaluate` with a table of choices",
    unknown="unknown",
    aliases={"routing_accuracy": Alias("Accuracy"), "load_balance": Alias("Balance")},
    about={
        "routing": (
            "Measures of a router that sends each query to one of several experts. The optimal expert is given, or is the "
            "one with the highest quality on the query; of several equally good ones each is right."
        )
    },
)
SKIPPING = Scope(
    "skipping",
    subject="skip decisions",
    example="SkipEfficiency",
    takes="`judged routing`, and `judged.evaluate` with a table of skip decisions",
    unknown="unknown",
    aliases={"gate_efficiency": Alias("SkipEfficiency")},
    about={
        "skipping": (
            "Measures of a skip policy that skips retrieval where it is not needed. Efficiency alone is highest for a skip policy that "
            "always skips, so it comes with precision, recall, wrong skips and the quality they cost."
        )
    },
)
RERANKING = Scope(
    "reranking",
    subject="rerankings",
    example="Improvement",
    takes="`judged routing`, and `judged.evaluate` with values before and after reranking",
    unknown="unknown",
    aliases={"reranking_improvement": Alias("Improvement")},
    about={
        "reranking": "What reranking changes in a measure, from its values before and after on the same queries."
    },
)


class _View:
    """Arrays with a value for each query."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))  # type: ignore[arg-type]

    def select(self, units: Ints) -> Self:
        """Return the view of some queries."""
        return type(self)(*(getattr(self, item.name)[units] for item in fields(self)))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class RoutingView(_View):
    """A router's choices, and their quality."""

    right: Flags
    """Whether the chosen expert is optimal."""
    rank: Floats
    """The rank of the best-placed optimal expert in the router's order, infinite if it lacks it; NaN: no order."""
    chosen: Floats
    """The quality of the chosen expert; NaN: unknown."""
    best: Floats
    """The quality of the best expert; NaN: unknown."""
    share: Floats
    """The share of the system's queries that went to the chosen expert."""
    experts: Ints
    """The number of experts."""


@dataclass(frozen=True, eq=False)
class SkipView(_View):
    """A skip policy's decisions, and whether retrieval was needed."""

    skipped: Flags
    needed: Flags
    retrieved_quality: Floats
    """The quality with retrieval; NaN: unknown."""
    skipped_quality: Floats
    """The quality without retrieval; NaN: unknown."""


@dataclass(frozen=True, eq=False)
class RerankingView(_View):
    """The values of a measure before and after reranking."""

    before: Floats
    after: Floats
    base: Floats
    """The mean before reranking, of all queries of the system."""


def accuracy(view: RoutingView, *, cutoff: int | None = None) -> Floats:
    r"""Return 1 where the chosen expert is optimal; with a cutoff, where one of the first $k$ of its order is.

    $$\mathrm{Accuracy} = \frac{1}{|Q|} \sum_{q \in Q} \mathbf{1}(\mathrm{route}_q = \mathrm{optimal}_q)$$

    where $\mathrm{route}_q$ is the expert chosen for query $q$. With a cutoff, a query without an order is undefined.

    References: Retrieval Metrics Specification, §4.1 (document 004 in docs/concepts/sources.md).

    Example:
        The second choice is wrong, and its optimal expert was ranked second:

        >>> rows = [
        ...     {"query": "q1", "chosen": "dense", "optimal": "dense", "ranked": ["dense", "bm25"]},
        ...     {"query": "q2", "chosen": "dense", "optimal": "bm25", "ranked": ["dense", "bm25"]},
        ... ]
        >>> judged.evaluate_routing(rows, "Accuracy Accuracy@2", name="router")["router"].mean()
        {'Accuracy': 0.5, 'Accuracy@2': 1.0}
    """
    if cutoff is None:
        return view.right.astype(np.float64)
    return np.where(np.isnan(view.rank), np.nan, view.rank <= cutoff)


Accuracy = Measure(
    "Accuracy",
    accuracy,
    title="The share of queries that went to the optimal expert.",
    family="routing",
    at_parameter="cutoff",
    values="binary",
    extra_parameters={
        "cutoff": Parameter.whole(
            "the number of experts, from the router's first, that may be right", high=MOST_RANKS
        )
    },
)


def regret(view: RoutingView) -> Floats:
    r"""Return how much quality the choice gave away: that of the best expert less that of the chosen one.

    $$\mathrm{Regret} = \frac{1}{|Q|} \sum_{q \in Q} \left(\max_e m_q(e) - m_q(\mathrm{route}_q)\right)$$

    where $m_q(e)$ is the value of any measure for expert $e$ on query $q$. Queries without qualities are undefined.

    References: Added to §4.1 of document 004 in docs/concepts/sources.md: a wrong choice may cost nothing or everything.

    Example:
        The best expert, and one that is 0.5 worse:

        >>> quality = {"bm25": [0.25, 0.75], "dense": [0.5, 0.25]}
        >>> choices = judged.Choices.from_columns(["q1", "q2"], ["dense", "dense"], quality=quality)
        >>> judged.evaluate(None, choices, "Regret").mean()
        {'Regret': 0.25}
    """
    return view.best - view.chosen


Regret = Measure(
    "Regret",
    regret,
    title="The quality that choices gave away against the best expert of each query.",
    family="routing",
    bounds=(0.0, math.inf),
    higher_is_better=False,
)


def chosen_quality(view: RoutingView) -> Floats:
    r"""Return the quality of the chosen expert on each query.

    $$\mathrm{Quality} = \frac{1}{|Q|} \sum_{q \in Q} m_q(\mathrm{route}_q)$$

    where $m_q(e)$ is the value of any measure for expert $e$ on query $q$. Queries without qualities are undefined.

    References: The value of the measure for the routed system as a whole.

    Example:
        >>> quality = {"bm25": [0.25, 0.75], "dense": [0.5, 0.25]}
        >>> choices = judged.Choices.from_columns(["q1", "q2"], ["dense", "dense"], quality=quality)
        >>> judged.evaluate(None, choices, "Quality").mean()
        {'Quality': 0.375}
    """
    return view.chosen


Quality = Measure(
    "Quality",
    chosen_quality,
    title="The quality of the chosen experts.",
    family="routing",
    bounds=(-math.inf, math.inf),
)


def entropy(view: RoutingView) -> Floats:
    r"""Return the information of each choice in bits; the mean is the entropy of the experts' shares.

    $$\mathrm{Entropy} = -\sum_e p_e \log_2 p_e = \frac{1}{|Q|} \sum_{q \in Q} -\log_2 p_{\mathrm{route}_q}$$

    where $p_e$ is the share of queries that went to expert $e$. 0: one expert has all.

    References: Shannon. A mathematical theory of communication. 1948. doi:10.1002/j.1538-7305.1948.tb01338.x

    Example:
        Two experts with half of the queries each:

        >>> choices = judged.Choices.from_columns(["q1", "q2"], ["dense", "bm25"], optimal=["dense", "graph"])
        >>> judged.evaluate(None, choices, "Entropy").mean()
        {'Entropy': 1.0}
    """
    return 0.0 - log2(view.share)


Entropy = Measure(
    "Entropy",
    entropy,
    title="The entropy of the experts' shares of the queries, in bits.",
    family="routing",
    bounds=(0.0, math.inf),
    higher_is_better=None,
)


def balance(view: RoutingView) -> Floats:
    r"""Return the information of each choice against that of equal shares; the mean is the normalised entropy.

    $$\mathrm{Balance} = \frac{-\sum_e p_e \log_2 p_e}{\log_2 E}$$

    where $p_e$ is the share of queries that went to expert $e$ of $E$. 1: all have the same load; 0: one has all. A
    single expert is undefined. Balance describes and does not praise: a router that chooses at random is balanced.

    References: Shannon. A mathematical theory of communication. 1948. doi:10.1002/j.1538-7305.1948.tb01338.x

    Example:
        Two of four experts, with half of the queries each:

        >>> choices = judged.Choices.from_columns(["q1", "q2"], ["dense", "bm25"], optimal=["graph", "web"])
        >>> judged.evaluate(None, choices, "Balance")["Balance"]
        0.5
    """
    share, most = np.full(len(view), np.nan), log2(view.experts)
    np.divide(entropy(view), most, out=share, where=most > 0)
    return share


Balance = Measure(
    "Balance",
    balance,
    title="How evenly queries are spread over the experts: their entropy against that of equal shares.",
    family="routing",
    bounds=(0.0, math.inf),
    higher_is_better=None,
    companions=("Accuracy",),
)


def skip_efficiency(view: SkipView) -> Floats:
    r"""Return 100 where retrieval was skipped and not needed, else 0; the mean is a percentage of all queries.

    $$\mathrm{SkipEfficiency} = 100 \cdot \frac{|\mathrm{skipped} \setminus \mathrm{needed}|}{|Q|}$$

    A skip policy that always skips has the highest value there is, so precision, recall, wrong skips and the quality lost are
    always shown with it.

    References: Retrieval Metrics Specification, §4.2 (document 004 in docs/concepts/sources.md).

    Example:
        One of four queries was rightly skipped:

        >>> rows = [
        ...     {"query": "q1", "retrieved": False, "needed": False},
        ...     {"query": "q2", "retrieved": False, "needed": True},
        ...     {"query": "q3", "retrieved": True, "needed": True},
        ...     {"query": "q4", "retrieved": True, "needed": False},
        ... ]
        >>> judged.evaluate_routing(rows, "SkipEfficiency", name="policy")["policy"]["SkipEfficiency"]
        25.0
    """
    return 100.0 * (view.skipped & ~view.needed).astype(np.float64)


SkipEfficiency = Measure(
    "SkipEfficiency",
    skip_efficiency,
    title="Retrievals that were rightly skipped, in percent of all queries.",
    family="skipping",
    unit="%",
    bounds=(0.0, 100.0),
    companions=("SkipPrecision", "SkipRecall", "WrongSkips", "QualityLost"),
)


def skip_precision(view: SkipView) -> Floats:
    r"""Return for each skipped query 1 if retrieval was not needed, else 0; the mean is the precision of skips.

    $$\mathrm{SkipPrecision} = \frac{|\mathrm{skipped} \setminus \mathrm{needed}|}{|\mathrm{skipped}|}$$

    Queries that were not skipped are undefined and left out of the mean.

    References: Added to §4.2 of document 004 in docs/concepts/sources.md, whose efficiency means nothing without it.

    Example:
        Of two skipped queries one needed no retrieval:

        >>> rows = [
        ...     {"query": "q1", "retrieved": False, "needed": False},
        ...     {"query": "q2", "retrieved": False, "needed": True},
        ...     {"query": "q3", "retrieved": True, "needed": True},
        ...     {"query": "q4", "retrieved": True, "needed": False},
        ... ]
        >>> judged.evaluate_routing(rows, "SkipPrecision", name="policy")["policy"]["SkipPrecision"]
        0.5
    """
    return np.where(view.skipped, ~view.needed, np.nan)


SkipPrecision = Measure(
    "SkipPrecision",
    skip_precision,
    title="The share of skipped queries that needed no retrieval.",
    family="skipping",
    values="binary",
)


def skip_recall(view: SkipView) -> Floats:
    r"""Return for each query that needed no retrieval 1 if it was skipped, else 0; the mean is the recall of skips.

    $$\mathrm{SkipRecall} = \frac{|\mathrm{skipped} \setminus \mathrm{needed}|}{|Q \setminus \mathrm{needed}|}$$

    Queries that needed retrieval are undefined and left out of the mean.

    References: Added to §4.2 of document 004 in docs/concepts/sources.md.

    Example:
        Of two queries without need one was skipped:

        >>> rows = [
        ...     {"query": "q1", "retrieved": False, "needed": False},
        ...     {"query": "q2", "retrieved": False, "needed": True},
        ...     {"query": "q3", "retrieved": True, "needed": True},
        ...     {"query": "q4", "retrieved": True, "needed": False},
        ... ]
        >>> judged.evaluate_routing(rows, "SkipRecall", name="policy")["policy"]["SkipRecall"]
        0.5
    """
    return np.where(view.needed, np.nan, view.skipped)


SkipRecall = Measure(
    "SkipRecall",
    skip_recall,
    title="The share of queries without need of retrieval that were skipped.",
    family="skipping",
    values="binary",
)


def wrong_skips(view: SkipView) -> Floats:
    r"""Return 100 where retrieval was skipped and needed, else 0; the mean is a percentage of all queries.

    $$\mathrm{WrongSkips} = 100 \cdot \frac{|\mathrm{skipped} \cap \mathrm{needed}|}{|Q|}$$

    References: Added to §4.2 of document 004 in docs/concepts/sources.md.

    Example:
        One of four queries was wrongly skipped:

        >>> rows = [
        ...     {"query": "q1", "retrieved": False, "needed": False},
        ...     {"query": "q2", "retrieved": False, "needed": True},
        ...     {"query": "q3", "retrieved": True, "needed": True},
        ...     {"query": "q4", "retrieved": True, "needed": False},
        ... ]
        >>> judged.evaluate_routing(rows, "WrongSkips", name="policy")["policy"]["WrongSkips"]
        25.0
    """
    return 100.0 * (view.skipped & view.needed).astype(np.float64)


WrongSkips = Measure(
    "WrongSkips",
    wrong_skips,
    title="Retrievals that were wrongly skipped, in percent of all queries.",
    family="skipping",
    unit="%",
    bounds=(0.0, 100.0),
    higher_is_better=False,
)


def quality_lost(view: SkipView) -> Floats:
    r"""Return what each wrong skip cost: the quality with retrieval less that without; 0 for all other queries.

    $$\mathrm{QualityLost} = \frac{1}{|Q|} \sum_{q\, \in\, \mathrm{skipped} \cap \mathrm{needed}} m_q(\mathrm{retrieve}) - m_q(\mathrm{skip})$$

    where $m_q$ is the value of any measure on query $q$. A wrong skip without both qualities is undefined, and so is every
    query where no qualities are known at all.

    References: Added to §4.2 of document 004 in docs/concepts/sources.md.

    Example:
        One of two skips cost half a point:

        >>> rows = [
        ...     {"query": "q1", "retrieved": False, "quality_retrieved": 0.5, "quality_skipped": 0.5},
        ...     {"query": "q2", "retrieved": False, "quality_retrieved": 0.75, "quality_skipped": 0.25},
        ... ]
        >>> judged.evaluate_routing(rows, "QualityLost", name="policy")["policy"].mean()
        {'QualityLost': 0.25}
    """
    difference = view.retrieved_quality - view.skipped_quality
    if np.isnan(difference).all():
        return difference
    return np.where(view.skipped & view.needed, difference, 0.0)


QualityLost = Measure(
    "QualityLost",
    quality_lost,
    title="The quality lost by wrong skips, as a mean over all queries.",
    family="skipping",
    bounds=(-math.inf, math.inf),
    higher_is_better=False,
)


def improvement(view: RerankingView) -> Floats:
    r"""Return what each query adds to the relative change of the mean, in percent; their mean is that change.

    $$\mathrm{Improvement} = 100 \cdot \frac{\overline{m}_{\mathrm{after}} - \overline{m}_{\mathrm{before}}}{\overline{m}_{\mathrm{before}}}$$

    where $\overline{m}$ is the mean of any measure over the queries. This is the ratio of means, not the mean of ratios,
    which a few queries near 0 decide. With a mean of 0 (or below) before, it is undefined, not infinite.

    References: Retrieval Metrics Specification, §4.3 (document 004 in docs/concepts/sources.md).

    Example:
        Means of 0.5 and 0.75, a change of 50 %:

        >>> rows = [{"query": "q1", "before": 0.25, "after": 0.75}, {"query": "q2", "before": 0.75, "after": 0.75}]
        >>> judged.evaluate_routing(rows, name="reranker")["reranker"].mean()
        {'Improvement': 50.0}
    """
    percent = np.full(len(view), np.nan)
    np.divide(100.0 * (view.after - view.before), view.base, out=percent, where=view.base > 0)
    return percent


Improvement = Measure(
    "Improvement",
    improvement,
    title="The relative change of the mean by reranking, in percent.",
    family="reranking",
    unit="%",
    bounds=(-math.inf, math.inf),
)
